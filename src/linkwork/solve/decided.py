"""Contacts that a target decides: of bodies whose places are known before any search.

A body stays where no joint below it moves, and comes where the target says when it is rigid with a
frame that a `Pose` of priority 0 asks for, whole. Where two such bodies touch in one solution by
more than the tolerances can change, they touch in all of them: the search can end.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.mechanism.model import JointType
from linkwork.solve.clearance import Clear, Contact, Placed
from linkwork.solve.inputs import Options
from linkwork.solve.problem import Problem, way
from linkwork.solve.tasks import BoundTask, Pose

Floats = NDArray[np.float64]

_STILL = -1
"""The number, in the place of a task's, of a body that stays."""


class _Place(NamedTuple):
    """The place of a body: by a task, or `_STILL`, and how far it reaches from the task's frame."""

    task: int
    reach: float


class Decided:
    """The pairs of a problem's bodies whose distances its targets decide."""

    def __init__(self, problem: Problem, clear: Clear) -> None:
        self._problem, self._clear = problem, clear
        self._moved = set(problem.coordinates)
        carriers = clear.model.carriers if isinstance(clear.model, Placed) else {}
        self._places = {
            body: self._place(frame, reach) for body, (frame, reach) in carriers.items()
        }
        self._known = any(place is not None for place in self._places.values())

    @cached_property
    def _looked_at(self) -> Clear:
        """The clearance of a model that looks at decided pairs alone, and at the scene."""
        model = self._clear.model
        if not isinstance(model, Placed):
            return self._clear
        pairs = [(pair.link_a, pair.link_b) for pair in model.pairs if pair.checked]
        others = [pair for pair in pairs if None in (self._places[pair[0]], self._places[pair[1]])]
        return self._clear._replace(model=model.with_pairs(ignore=others))

    def contacts(self, q: Floats, options: Options) -> list[Contact | None]:
        """For each solution q (N, nq) the pair that touches in every other one too."""
        told: list[Contact | None] = [None] * len(q)
        if not self._known or not len(q):
            return told
        clear = self._looked_at
        rows = np.flatnonzero(~(clear.verdict(q) >= clear.margin))  # which takes no time, mostly
        near, names = clear.below(q[rows])
        for at, k in np.argwhere(near.distance < clear.margin).tolist():
            a, b = map(int, near.bodies[at, k])
            contact = clear.contact(float(near.distance[at, k]), a, b, names)
            own = contact.pair[:1] if contact.obstacle else contact.pair  # an obstacle stays
            change = sum(self._change(body, options) for body in own)
            if told[rows[at]] is None and contact.distance + change < clear.margin:
                told[rows[at]] = contact
        return told

    def messages(self, q: Floats, options: Options) -> list[str]:
        """The messages on what touches at solutions q (N, nq), and on what stays there."""
        told: list[str] = []
        m, decided = self._problem.mechanism, self.contacts(q, options)
        for nearest, certain in zip(self._clear.touches(q), decided, strict=True):
            contact = certain or nearest
            text = self._clear.message(contact) + (", in every solution" if certain else "")
            resting = sorted(self._clear.coordinates(m, contact) - self._moved)
            if resting:
                names = ", ".join(f"'{m.joint_names[c]}'" for c in resting[:3])
                more = f" and {len(resting) - 3} more" if len(resting) > 3 else ""
                stay = "stays" if len(resting) == 1 else "stay"
                text += f" while {names}{more} {stay}: joints= names what moves"
            told.append(text)
        return told

    def _change(self, body: str, options: Options) -> float:
        """The most that a body's points are apart in two solutions of a target (m)."""
        place = self._places.get(body, _Place(_STILL, 0.0))  # of others nothing is known
        if place is None:
            return math.inf
        if place.task == _STILL:
            return 0.0
        by = self._problem.tasks[place.task].tolerances
        given = options.position_tolerance, options.rotation_tolerance
        shift, turn = (max(own, asked or 0.0) for own, asked in zip(by, given, strict=True))
        return 2.0 * (shift + turn * place.reach)

    def _place(self, frame: str, reach: float) -> _Place | None:
        """The place of a body that a frame carries; None where what moves decides on it."""
        path = self._path(frame)
        if not self._moves(path):
            return _Place(_STILL, 0.0)
        m = self._problem.mechanism
        for k in self._problem.priority0_tasks:
            task = self._problem.tasks[k]
            if _is_whole(task):
                own = task.frames[0]
                between = path ^ self._path(own)
                if not self._moves(between) and all(self._is_bounded(b) for b in between):
                    return _Place(k, reach + way(m, frame) + way(m, own))
        return None

    def _path(self, frame: str) -> set[int]:
        m = self._problem.mechanism
        return set(map(int, m.ancestry(int(m.frame_body[m.frame(frame)]))))

    def _is_bounded(self, body: int) -> bool:
        """Whether a joint shifts its body by a known length at most."""
        m = self._problem.mechanism
        kind, c = m.body_joint_types[body], int(m.coordinate[body])
        if kind is JointType.PRISMATIC:
            part = m.q_slice(c)
            return bool(np.isfinite([m.lower[part], m.upper[part]]).all())
        return kind not in (JointType.FLOATING, JointType.PLANAR)

    def _moves(self, bodies: set[int]) -> bool:
        coordinate = self._problem.mechanism.coordinate
        return any(int(coordinate[b]) in self._moved for b in bodies)


def _is_whole(task: BoundTask) -> bool:
    """Whether a task asks for one pose of its frame, and nothing less."""
    asked = task.task
    return (
        isinstance(asked, Pose)
        and not (asked.held or asked.mirror or any(task.slack))
        and task.n_rows == 6
    )
