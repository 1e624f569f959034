"""A mechanism with some of its numbers given as blocks: how parameters reach the algorithms.

Algorithms ask a mechanism for placements, masses, gravity and so on; this one answers with blocks
where something named plays a part, and with the constants that were there elsewhere. What has been
asked for is remembered, so that a parameter without effect is refused instead of ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np

from linkwork.algorithms.body_masses import PLACES, inertia_of_point
from linkwork.algorithms.vector3 import (
    Rotation,
    Scalar,
    all_constant,
    is_constant_rotation,
    plus_applied,
    product,
    rows_of,
    symmetric,
    times,
    total,
    transposed,
)
from linkwork.mechanism import parameters, rigid
from linkwork.mechanism.model import Floats, Mechanism, Placement
from linkwork.mechanism.parameters import Parameter, Quantity
from linkwork.ops.protocol import Block, Ops
from linkwork.spatial.rotations import from_rpy


class Parametric(Mechanism):
    """A mechanism whose named parameters are blocks; its arrays stay as they were."""

    def __init__(self, o: Ops, m: Mechanism, given: Mapping[str, Block]) -> None:
        """The blocks by name, each a vector of the parameter's size.

        Raises: as `parameters.find`.
        """
        super().__init__(**{field.name: getattr(m, field.name) for field in fields(m)})
        found = parameters.find(m, list(given))
        self._o = o
        self.given = found
        self._named = dict(given)
        self._blocks: dict[tuple[Quantity, int], Block] = {
            (p.quantity, p.frame): given[p.name] for p in found
        }
        self._quantities_asked: set[tuple[Quantity, int]] = set()
        self._placements: dict[int, Placement] = {}
        self._links: dict[int, Placement | None] = {}
        self._own = {name: m.frame(name) for name in m.body_names}
        joints = range(m.n_link_frames, m.n_link_frames + m.n_joint_frames)
        self._joint_of = {int(m.frame_link[k]): k for k in joints}
        # the links whose joints have changed, and the bodies that weigh something else
        poses = {p.frame for p in found if p.quantity in ("xyz", "rpy")}
        self._shifted = {int(m.frame_link[k]) for k in poses.intersection(joints)}
        weights = [p.frame for p in found if p.quantity in ("mass", "com", "inertia", "payload")]
        self._weighed = {int(m.frame_body[k]) for k in [*self._shifted, *weights]}

    def asked(self) -> list[str]:
        """The names of the parameters that have been asked for, given or not.

        Where nothing is given, these are all that an algorithm depends on.
        """
        found = parameters.find(self, parameters.every_name(self))
        return [p.name for p in found if (p.quantity, p.frame) in self._quantities_asked]

    def unused(self) -> list[str]:
        """The given ones that nobody has asked for."""
        return [
            _name(self, quantity, frame)
            for quantity, frame in self._blocks
            if (quantity, frame) not in self._quantities_asked
        ]

    def ask(self, parameter: Parameter) -> Block:
        """The block of a parameter that is given."""
        self._quantities_asked.add((parameter.quantity, parameter.frame))
        return self._named[parameter.name]

    def _get(self, quantity: Quantity, frame: int) -> Block | None:
        self._quantities_asked.add((quantity, frame))
        return self._blocks.get((quantity, frame))

    # where things are

    def placement(self, body: int) -> Placement:
        """The joint frame of a body in the frame of its parent."""
        if body not in self._placements:
            self._placements[body] = self._joint_placement(body)
        return self._placements[body]

    def _joint_placement(self, body: int) -> Placement:
        constant = super().placement(body)
        link = self._own[self.body_names[body]]
        parent = int(self.link_parent[link])
        if parent < 0 or self.frame_body[parent] != self.parent[body]:
            return constant
        above, local = self._link(parent), self._origin(link)
        if above is None and link not in self._shifted:
            return constant
        at = self._composed(above or super().frame_placement(parent), local)
        if above is None and is_constant_rotation(at.R):
            return Placement(constant.R, at.p)  # to the last bit
        align = self.R_body_frame[link].T.tolist()
        return Placement(_composed_rotation(self._o, at.R, align), at.p)

    def frame_placement(self, frame: int) -> Placement:
        """A frame in the frame of its body."""
        link = int(self.frame_link[frame])
        if not parameters.is_joint(self, frame):
            xyz, rpy = self._get("xyz", frame), self._get("rpy", frame)
            if xyz is not None or rpy is not None:
                own = self._own[self.body_names[int(self.frame_body[frame])]]
                local = self._given(*parameters.on_body(self, frame), xyz, rpy)
                return self._composed(super().frame_placement(own), local)
        above = self._link(link)
        if above is None:
            return super().frame_placement(frame)
        if link == frame or parameters.is_joint(self, frame):
            return above
        R = self.R_body_frame[link].T
        turn, shift = R @ self.R_body_frame[frame], self.p_body_frame[frame]
        shift = R @ (shift - self.p_body_frame[link])
        return self._composed(above, Placement(rigid.exact(turn).tolist(), shift.tolist()))

    def _link(self, link: int) -> Placement | None:
        """A link in the frame of its body, where the joints put it; None where it was before."""
        way: list[int] = []
        at = link
        while at not in self._links:
            parent = int(self.link_parent[at])
            if parent >= 0 and self.frame_body[parent] == self.frame_body[at]:
                way.append(at)
                at = parent
            else:
                self._links[at] = None  # the body's own link
        for at in reversed(way):
            parent = int(self.link_parent[at])
            above, local = self._links[parent], self._origin(at)
            if above is None and at not in self._shifted:
                self._links[at] = None
            else:
                base = above or super().frame_placement(parent)
                self._links[at] = self._composed(base, local)
        return self._links[link]

    def _origin(self, link: int) -> Placement:
        joint = self._joint_of[link]
        xyz, rpy = self._get("xyz", joint), self._get("rpy", joint)
        return self._given(*parameters.origin(self, link), xyz, rpy)

    def _given(self, R: Floats, p: Floats, xyz: Block | None, rpy: Block | None) -> Placement:
        """This pose, but for what is given as a block."""
        return Placement(
            R.tolist() if rpy is None else from_rpy(self._o, rpy),
            p.tolist() if xyz is None else _three(xyz),
        )

    def _composed(self, a: Placement, b: Placement) -> Placement:
        return Placement(_composed_rotation(self._o, a.R, b.R), _moved(a, b.p))

    # what things weigh

    def body_mass(self, body: int) -> Scalar:
        """The mass of a body."""
        masses = [self._link_mass(link) for link in self._links_on(body)]
        masses += [payload[0] for _, payload in self._payloads(body)]
        return super().body_mass(body) if all_constant(masses) else _sum(masses)

    def body_moment(self, body: int) -> list[Scalar]:
        """The mass of a body times its centre of mass, in the frame of the body."""
        points = self._points(body)
        terms = [[times(mass, x) for x in at] for mass, at in points]
        if all(all_constant(term) for term in terms):
            return super().body_moment(body)
        return [_sum([term[j] for term in terms]) for j in range(3)]

    def body_inertia(self, body: int) -> list[Scalar]:
        """The inertia of a body about the origin of its frame, in its axes: six numbers."""
        terms = [inertia_of_point(mass, at) for mass, at in self._points(body)]
        for link in self._links_on(body):
            given = self._get("inertia", link)
            own = list(self.link_I_com[link][np.triu_indices(3)].tolist())
            if given is not None:
                own = [given[j] for j in range(6)]
            R = rows_of(self._placed(link).R)
            turned = product(product(R, symmetric(own)), transposed(R))
            terms.append([turned[i][j] for i, j in PLACES])
        if all(all_constant(term) for term in terms):
            return super().body_inertia(body)
        return [_sum([term[j] for term in terms]) for j in range(6)]

    def joint_armature(self, k: int) -> Scalar:
        """The inertia that rotors add to velocity k."""
        given = self._get("armature", -1)
        return super().joint_armature(k) if given is None else given[k]

    def joint_damping(self, k: int) -> Scalar:
        """The damping of velocity k that counts."""
        return self._of_velocity("damping", k)

    def joint_friction(self, k: int) -> Scalar:
        """The Coulomb friction of velocity k that counts."""
        return self._of_velocity("friction", k)

    def joint_spring(self, k: int) -> tuple[Scalar, Scalar]:
        """The stiffness of velocity k that counts, and where the spring is at rest."""
        return self._of_velocity("stiffness", k), float(self.spring_position[k])

    def wrenches(self, body: int) -> list[tuple[int, Block]]:
        """The external wrenches on a body: their frames and blocks (6,)."""
        frames = np.flatnonzero(self.frame_body == body).tolist()
        found = [(k, self._get("wrench", k)) for k in frames]
        return [(k, wrench) for k, wrench in found if wrench is not None]

    def gravity(self) -> list[Scalar]:
        """The free-fall acceleration in the world."""
        given = self._get("gravity", -1)
        return super().gravity() if given is None else _three(given)

    def _of_velocity(self, quantity: Quantity, k: int) -> Scalar:
        given = self._get(quantity, -1)
        return 0.0 if given is None else given[k]

    def _points(self, body: int) -> list[tuple[Scalar, list[Scalar]]]:
        """Masses and where their centres are, of links and payloads; none as in `_links_on`."""
        points: list[tuple[Scalar, list[Scalar]]] = []
        for link in self._links_on(body):
            com = self._get("com", link)
            local = self.link_com[link].tolist() if com is None else _three(com)
            points.append((self._link_mass(link), _moved(self._placed(link), local)))
        for frame, payload in self._payloads(body):
            local = [payload[1], payload[2], payload[3]]
            points.append((payload[0], _moved(self.frame_placement(frame), local)))
        return points

    def _placed(self, link: int) -> Placement:
        """A link in the frame of its body."""
        return self._link(link) or super().frame_placement(link)

    def _links_on(self, body: int) -> list[int]:
        """The links of a body, where something given plays a part in its weight, else none."""
        if self._blocks and body not in self._weighed:
            return []
        return np.flatnonzero(self.frame_body[: self.n_link_frames] == body).tolist()

    def _link_mass(self, link: int) -> Scalar:
        mass = self._get("mass", link)
        return float(self.link_mass[link]) if mass is None else mass[0]

    def _payloads(self, body: int) -> list[tuple[int, Block]]:
        """The payloads on a body: their frames and numbers."""
        if self._blocks and body not in self._weighed:
            return []
        frames = np.flatnonzero(self.frame_body == body).tolist()
        found = [(k, self._get("payload", k)) for k in frames]
        return [(k, payload) for k, payload in found if payload is not None]


def _name(m: Mechanism, quantity: Quantity, frame: int) -> str:
    return quantity if frame < 0 else f"{quantity}:{m.frame_names[frame]}"


def _three(v: Block) -> list[Scalar]:
    return [v[0], v[1], v[2]]


def _sum(values: list[Scalar]) -> Scalar:
    """The sum, the constants first, so that they become one."""
    return total(sorted(values, key=lambda value: type(value) is not float))


def _moved(at: Placement, local: list[Scalar]) -> list[Scalar]:
    """A point given in a frame, where that frame is placed."""
    return plus_applied(at.p, rows_of(at.R), local)


def _composed_rotation(o: Ops, A: Rotation, B: Rotation) -> Rotation:
    if is_constant_rotation(A) and is_constant_rotation(B):
        return rigid.exact(np.array(A) @ np.array(B)).tolist()
    return o.const(A) @ o.const(B)
