"""The pairs of links that are checked for collisions, and why the others are not.

Pairs are left out in this order, each with its reason: links of one body; what an SRDF says; links
that a joint joins; links that always touch, touch at the neutral configuration, or never touch.
The last three are found in random states. "Never" is then looked for harder: from the nearest
states of each pair a search goes on downhill, and where a pair depends on one or two joints alone
it is proven. All else is seen, not proven, and says so.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import combinations
from typing import Any, TypeAlias, cast, overload

import numpy as np

from linkwork.algorithms import configuration
from linkwork.collision.proof import Motion, joints_between, motions_of, stays_apart, ways_between
from linkwork.errors import Finding, InputError, ShapeError, UnknownNameError
from linkwork.formats import srdf as srdf_format
from linkwork.formats.srdf import LinkPair, Srdf
from linkwork.legible import legible
from linkwork.mechanism.loops import Loop
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.neutral import neutral, quaternion_starts

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Collisions
contact | note | Two links that no joint joins touch where all joints are neutral. | Are the shapes
    right? If not, mend them.
"""

Distances: TypeAlias = "Callable[[Floats, Sequence[int]], Floats]"
"""From configurations (n, nq) and k pairs of a table, as their places in it, to signed distances
(n, k), metre, below zero where they touch; what is far may be given as less than it is."""

Names: TypeAlias = "str | tuple[str, str] | Pair | Iterable[str | tuple[str, str] | Pair]"
"""A pair of links, a link that stands for all its pairs, or a list of such."""

SAME_BODY, ADJACENT, YOU = "same body", "adjacent", "you"
AT_NEUTRAL, ALWAYS, NEVER = "in contact at neutral", "always touch", "never touch"
PROVEN, BY_SRDF = "cannot touch (proven)", "SRDF"

_WORDS = {
    **{SAME_BODY: "Adjacent", ADJACENT: "Adjacent", AT_NEUTRAL: "Default", ALWAYS: "Always"},
    **{NEVER: "Never", PROVEN: "Never", YOU: "User"},
}
"""The words that MoveIt's assistant has for these reasons."""

_TURNING = (JointType.REVOLUTE, JointType.CONTINUOUS, JointType.SPHERICAL)
_SAME_PLACE = 1e-6  # metres
_MEETING = " and at neutral"
_ROWS_SHOWN = 60
_HEAD = ("link_a", "link_b", "checked", "reason")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two links, whether they are checked for collisions, and why."""

    link_a: str
    link_b: str
    checked: bool
    reason: str = ""

    @property
    def key(self) -> frozenset[str]:
        """The same for both orders of the links."""
        return frozenset((self.link_a, self.link_b))


@dataclass(frozen=True, repr=False)
class PairTable(Sequence[Pair]):
    """All pairs of the links that have shapes; a new one is made where something is to change.

    ``notes`` say what the reasons rest on, ``findings`` what is odd about the ``srdf`` it began
    with. ``margin`` (m): pairs that are left out because they never touch come no nearer than
    this; what an SRDF says, and who asks for it, knows of no margin. ``held``: those of the
    ``links`` that are objects, of which an SRDF says nothing.
    """

    pairs: tuple[Pair, ...]
    links: tuple[str, ...]
    robot: str = ""
    notes: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    srdf: Srdf | None = None
    margin: float = math.inf
    held: tuple[str, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Pair, ...]: ...
    def __getitem__(self, index: int | slice) -> Pair | tuple[Pair, ...]:
        return self.pairs[index]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def checked(self) -> tuple[Pair, ...]:
        """The pairs that are checked."""
        return tuple(pair for pair in self.pairs if pair.checked)

    @property
    def ignored(self) -> tuple[Pair, ...]:
        """The pairs that are left out."""
        return tuple(pair for pair in self.pairs if not pair.checked)

    def reason(self, link_a: str, link_b: str) -> str:
        """Why a pair is checked or left out, in either order of its links.

        Raises: UnknownNameError; InputError for one link twice.
        """
        return self.pairs[self._place((link_a, link_b))].reason

    def with_checked(self, names: Names) -> PairTable:
        """The table in which these pairs are checked: (a, b), a link for all of its, or a list.

        A `Pair` of a table is a pair, too.
        Links of one body cannot move against each other: of a link's pairs they stay left out.

        Raises: UnknownNameError; InputError for a pair of one body.
        """
        return self._with(names, checked=True)

    def with_ignored(self, names: Names) -> PairTable:
        """The table in which these pairs are left out: (a, b), a link for all of its, or a list.

        Raises: UnknownNameError; InputError for one link twice.
        """
        return self._with(names, checked=False)

    def to_srdf(self, path: str | os.PathLike[str]) -> None:
        """Write an SRDF that leaves the same pairs of links out; what else a file holds stays.

        The groups, states and so on are those of the file at ``path``, if there is one, or else of
        the SRDF that this table began with.

        Raises: InputError where the file cannot be written, is a xacro file, or is the SRDF of
        another robot; DescriptionError where there is a file that cannot be read as an SRDF.
        """
        if os.fspath(path).lower().endswith(".xacro"):
            raise InputError(f"{os.fspath(path)} is a xacro file, a program: write to a .srdf file")
        base = self.srdf or Srdf(self.robot)
        if os.path.lexists(path) and os.fspath(path) != base.file:
            base = srdf_format.read(path)
            if base.name != self.robot:
                raise InputError(
                    f"{os.fspath(path)} is the SRDF of '{legible(base.name)}', not of "
                    f"'{legible(self.robot)}': write to another file"
                )
        own = {pair.key for pair in self.pairs}
        disabled = [pair for pair in base.disabled if pair.key not in own]
        enabled = [pair for pair in base.enabled if pair.key not in own]
        for pair in self.pairs:
            if pair.link_a in self.held or pair.link_b in self.held:
                continue
            written = LinkPair(pair.link_a, pair.link_b, _word(pair.reason))
            if not pair.checked:
                disabled.append(written)
            elif pair.reason == YOU or pair.reason.startswith(BY_SRDF):
                enabled.append(written)
        pairs = {"disabled": tuple(disabled), "enabled": tuple(enabled)}
        srdf_format.write(path, replace(base, **pairs))

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON takes it."""
        names = ("link_a", "link_b", "checked", "reason")
        pairs = [{name: getattr(pair, name) for name in names} for pair in self.pairs]
        return {
            "robot": self.robot,
            "links": list(self.links),
            "notes": list(self.notes),
            "pairs": pairs,
        }

    def __repr__(self) -> str:
        """The table as text; a long one is cut."""
        rows = [_HEAD, *map(_row, self.pairs[:_ROWS_SHOWN])]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        lines = [
            "  ".join([*(cell.ljust(w) for cell, w in zip(row[:3], widths, strict=True)), row[3]])
            for row in rows
        ]
        return "\n".join([self._heading, *map(str.rstrip, lines), *self._rest()])

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _row(pair)) + "</tr>"
            for pair in self.pairs[:_ROWS_SHOWN]
        )
        head = "".join(f"<th>{name}</th>" for name in _HEAD)
        rest = "".join(f"<div>{escape(line)}</div>" for line in self._rest())
        return f"<b>{escape(self._heading)}</b><table><tr>{head}</tr>{rows}</table>{rest}"

    @property
    def _heading(self) -> str:
        n, checked = len(self.pairs), len(self.checked)
        whose = f"{legible(self.robot)}: " if self.robot else ""
        return f"{whose}{n} pairs of {len(self.links)} links, {checked} checked"

    def _rest(self) -> list[str]:
        """The lines below the rows that are shown."""
        more = len(self.pairs) - _ROWS_SHOWN
        return [*([f"and {more} more"] if more > 0 else []), *map(legible, self.notes)]

    @cached_property
    def _places(self) -> dict[frozenset[str], int]:
        return {pair.key: k for k, pair in enumerate(self.pairs)}

    def _place(self, names: tuple[str, str]) -> int:
        """The place of a pair in the table."""
        for name in names:
            if name not in self.links:
                raise UnknownNameError("link with shapes", name, self.links)
        if names[0] == names[1]:
            raise InputError(f"a pair has two links, not '{legible(names[0])}' twice")
        return self._places[frozenset(names)]

    def _with(self, names: Names, *, checked: bool) -> PairTable:
        changed = list(self.pairs)
        for name in _listed(names):
            alone = isinstance(name, str)
            if alone and name not in self.links:
                raise UnknownNameError("link with shapes", name, self.links)
            if alone:
                places = [k for k, pair in enumerate(self.pairs) if name in pair.key]
            else:
                places = [self._place(_two(name))]
            for k in places:
                pair = self.pairs[k]
                if pair.reason != SAME_BODY:
                    changed[k] = replace(pair, checked=checked, reason=YOU)
                elif checked and not alone:
                    text = f"'{legible(pair.link_a)}' and '{legible(pair.link_b)}'"
                    raise InputError(f"{text} are of one body: nothing moves between them")
        return replace(self, pairs=tuple(changed))


def _listed(names: Any) -> Iterable[Any]:
    """Links and pairs; a tuple of two links is one pair, where a list would be of two links."""
    a_pair = isinstance(names, tuple) and len(names) == 2 and all(isinstance(n, str) for n in names)
    listed = (names,) if a_pair or isinstance(names, (str, Pair)) else names
    if not isinstance(listed, Iterable):
        raise InputError(
            f"a link or a pair (link_a, link_b) is needed, or a list of such, not {names!r:.60}"
        )
    return cast("Iterable[Any]", listed)


def _two(name: Any) -> tuple[str, str]:
    if isinstance(name, Pair):
        return name.link_a, name.link_b
    if isinstance(name, (tuple, list)) and len(name) == 2:
        return str(name[0]), str(name[1])
    raise InputError(f"a link or a pair (link_a, link_b) is needed, not {name!r:.60}")


def _row(pair: Pair) -> tuple[str, str, str, str]:
    """The cells of a pair."""
    names = legible(pair.link_a), legible(pair.link_b)
    return (*names, "yes" if pair.checked else "no", legible(pair.reason))


def _word(reason: str) -> str:
    """The word of an SRDF for a reason."""
    if reason.startswith(BY_SRDF):
        return reason.removeprefix(BY_SRDF).removeprefix(": ")
    return next((word for start, word in _WORDS.items() if reason.startswith(start)), reason)


# ---- what the description and its SRDF say


def described_pairs(
    mechanism: Mechanism, links: Sequence[str], srdf: Srdf | None = None
) -> PairTable:
    """All pairs of the ``links`` with shapes; left out is what needs no distances to be known.

    These are links of one body; what the SRDF says; and links that a joint, or a loop, joins. Links
    without shapes between them do not count where all joints between turn about one point.

    Raises: UnknownNameError for a link that is not the mechanism's.
    """
    m = mechanism
    frames = {name: m.frame(name) for name in links}
    adjacent = _adjacent(m, frames)
    decided = srdf.decisions() if srdf else {}
    whole = {default.link for default in srdf.defaults} if srdf else set[str]()

    def pair_of(a: str, b: str) -> Pair:
        key = frozenset((a, b))
        if m.frame_body[frames[a]] == m.frame_body[frames[b]]:
            return Pair(a, b, False, SAME_BODY)
        if key in decided:
            checked, word = decided[key]
            return Pair(a, b, checked, f"{BY_SRDF}: {word}" if word else BY_SRDF)
        if key & whole:
            return Pair(a, b, False, f"{BY_SRDF}: default of {' and '.join(sorted(key & whole))}")
        if key in adjacent:
            return Pair(a, b, False, ADJACENT)
        return Pair(a, b, True)

    pairs = tuple(pair_of(a, b) for a, b in combinations(links, 2))
    return PairTable(pairs, tuple(links), m.name, (), findings_of(m, srdf), srdf)


def findings_of(mechanism: Mechanism, srdf: Srdf | None) -> tuple[Finding, ...]:
    """The findings on an SRDF for a mechanism."""
    if srdf is None:
        return ()
    own = mechanism.frame_names[: mechanism.n_link_frames]
    return (*srdf.findings, *srdf_format.check(srdf, mechanism.name, own))


def _adjacent(m: Mechanism, frames: Mapping[str, int]) -> set[frozenset[str]]:
    """The pairs that joints join: a link, and the nearest above it that has shapes."""
    of_frame = {frame: name for name, frame in frames.items()}

    def above(frame: int) -> str | None:
        while frame >= 0 and frame not in of_frame:
            frame = int(m.link_parent[frame])
        return of_frame.get(frame)

    found: set[frozenset[str]] = set()
    for name, frame in frames.items():
        parent = above(int(m.link_parent[frame]))
        if parent is not None and _is_one_joint(m, parent, name):
            found.add(frozenset((name, parent)))
    for loop in m.loops:
        ends = [above(int(m.frame_link[m.frame(end)])) for end in (loop.frame_a, loop.frame_b)]
        bodies = [m.frame_body[m.frame(end)] for end in (loop.frame_a, loop.frame_b)]
        same = [end and m.frame_body[frames[end]] == b for end, b in zip(ends, bodies, strict=True)]
        if _meets(loop) and all(same):
            found.add(frozenset(str(end) for end in ends))
    return {key for key in found if len(key) == 2}


def _is_one_joint(m: Mechanism, above: str, link: str) -> bool:
    """Whether one joint is between two links, or several that turn about the same point.

    Links are missing shapes more often than not: a hand is no neighbour of a base because of that.
    """
    _, way = ways_between(m, above, link)
    turning = (m.body_joint_types[body] in _TURNING for body in way[1:])
    return all(turning) and not (np.abs(m.p_parent_joint[way[1:]]) > _SAME_PLACE).any()


def _meets(loop: Loop) -> bool:
    """Whether the frames of a loop come together, as those at the ends of a rod do not."""
    return loop.kind != "distance"


# ---- what distances say


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """The sampling that tells pairs apart by their distances.

    A pair that touches (within ``touching``, metre) in a share of ``always`` of the ``states`` is
    left out, and so is one that never comes nearer than ``margin`` (metre), seen or proven. One
    that touches at neutral is left out where it has at most ``near`` joints between its links, or
    touches in half of the states: a hand that hangs in a leg where all joints are at zero may hit
    it elsewhere.
    ``steps`` is how long the search for nearer states goes on for each pair, with ``tries`` states
    a step. ``cells`` is how many parts of the ranges of joints a proof may look at.
    """

    states: int = 1000
    always: float = 0.95
    margin: float = 0.02
    near: int = 2
    touching: float = 1e-6
    steps: int = 12
    tries: int = 16
    cells: int = 4000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("states", "near", "steps", "tries", "cells"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < (1 if name == "states" else 0):
                raise InputError(
                    f"{name} must be a whole number from 0, states from 1; not {value!r}"
                )
        if not 0.0 < self.always <= 1.0 or not 0.0 <= self.margin < np.inf:
            raise InputError("always is a share above 0, at most 1; margin is a length, metre")


def derive_pairs(
    table: PairTable,
    mechanism: Mechanism,
    distances_of: Distances,
    *,
    q0: Floats | None = None,
    random: Callable[[int], Floats] | None = None,
    reach: Mapping[str, float] | None = None,
    sampling: Sampling | None = None,
) -> PairTable:
    """The table in which those pairs are left out that always touch, touch at q0, or never touch.

    What the ``table`` of `described_pairs` has decided stays. ``q0`` (nq,) is the neutral
    configuration, and ``random(n)`` gives configurations (n, nq): both have to be given where loops
    are to be closed, and no search leads from there. ``reach`` has, for each link, the distance of
    its farthest point from its frame's origin (m): with it there are proofs.

    Raises: InputError for distances that are no numbers; ShapeError.
    """
    how = Sampling() if sampling is None else sampling
    open_ = [k for k, pair in enumerate(table.pairs) if pair.checked and not pair.reason]
    if not open_:
        return table
    m, rng = mechanism, np.random.default_rng(how.seed)
    if m.is_closed and (q0 is None or random is None):
        raise InputError(f"the loops of '{legible(m.name)}' have to be closed: give q0 and random")
    look = _Look(table, m, distances_of, how, rng)
    drawn = configuration.random(m, rng, how.states) if random is None else random(how.states)
    at_neutral = look.distances((neutral(m) if q0 is None else np.asarray(q0))[None], open_)[0]
    seen = look.distances(drawn, open_)
    if not len(drawn):
        raise InputError("random gave no configurations")
    changed = list(table.pairs)
    for column, k in enumerate(open_):
        found = look.judged(k, float(at_neutral[column]), seen[:, column])
        if found is None:
            found = look.far(k, drawn, seen[:, column], reach=reach, searching=random is None)
        changed[k] = found
    notes = (*table.notes, *_notes(m, len(drawn), random is None))
    return replace(table, pairs=tuple(changed), notes=notes, margin=how.margin)


def _notes(m: Mechanism, states: int, drawn: bool) -> list[str]:
    """The notes on what the reasons rest on."""
    missed = 100.0 * (1.0 - 0.05 ** (1.0 / states))
    notes = [
        f"seen in {states:,} random states, not proven: what touches in less than {missed:.2g} % "
        "of all may have been missed"
    ]
    free = [
        name
        for name, kind, q in zip(m.joint_names, m.joint_types, m.q_start, strict=False)
        if kind.n_q == 1 and not np.isfinite([m.lower[q], m.upper[q]]).all()
    ]
    if free and drawn:
        listed = ", ".join(free[:6]) + (f" and {len(free) - 6} more" if len(free) > 6 else "")
        notes.append(f"without limits, taken from -pi to pi or -1 m to 1 m: {listed}")
    return notes


@dataclass(frozen=True)
class _Look:
    """Distances of the pairs of a table, and what they say of one."""

    table: PairTable
    m: Mechanism
    of: Distances
    how: Sampling
    rng: np.random.Generator = field(repr=False)

    def distances(self, q: Floats, places: Sequence[int]) -> Floats:
        """Distances (n, k) of k pairs, which are numbers."""
        found = np.asarray(self.of(q, places), np.float64)
        if found.shape != (len(q), len(places)):
            wanted = (len(q), len(places))
            raise ShapeError(f"distances have the shape {found.shape}, not {wanted}")
        if np.isnan(found).any():
            pair = self.table.pairs[places[int(np.argwhere(np.isnan(found))[0, 1])]]
            raise InputError(f"the distance of '{pair.link_a}' and '{pair.link_b}' is no number")
        return found

    def judged(self, k: int, at_neutral: float, seen: Floats) -> Pair | None:
        """The pair with what the states say of it; None where they never come near."""
        pair, n = self.table.pairs[k], len(seen)
        count = int(np.count_nonzero(seen <= self.how.touching))
        of = f"{count:,} of {n:,} random states"
        if count >= self.how.always * n:
            return replace(pair, checked=False, reason=f"{ALWAYS} ({of})")
        meeting = at_neutral <= self.how.touching
        if meeting and (2 * count >= n or self._are_near(pair)):
            deep = f"{AT_NEUTRAL} ({max(0.0, -1e3 * at_neutral):.3g} mm deep)"
            return replace(pair, checked=False, reason=f"{deep}, and in {of}")
        if meeting or count:
            also = _MEETING if meeting else ""
            return replace(pair, reason=f"touch in {of}{also}")
        if float(seen.min()) <= self.how.margin:
            return replace(pair, reason=_near(float(seen.min())))
        return None

    def _are_near(self, pair: Pair) -> bool:
        between = joints_between(self.m, pair.link_a, pair.link_b)
        return len(between) <= self.how.near

    def far(
        self,
        k: int,
        q: Floats,
        seen: Floats,
        *,
        reach: Mapping[str, float] | None,
        searching: bool,
    ) -> Pair:
        """The pair that never came near, after a proof or a search."""
        pair = self.table.pairs[k]
        if reach is not None:
            motion = motions_of(self.m, pair.link_a, pair.link_b, reach)
            if motion is not None and self._proven(k, q[0], motion):
                return replace(pair, checked=False, reason=PROVEN)
        nearest = self._searched(k, q, seen) if searching else float(seen.min())
        if nearest <= self.how.touching:
            return replace(pair, reason="touch in states that a search found")
        if nearest <= self.how.margin:
            return replace(pair, reason=_near(nearest))
        how = " and a search" if searching else ""
        said = f"no nearer than {1e3 * nearest:.3g} mm in {len(q):,} random states{how}"
        return replace(pair, checked=False, reason=f"{NEVER} ({said})")

    def _proven(self, k: int, q: Floats, motion: Motion) -> bool:
        def distance(values: Floats) -> Floats:
            many = np.repeat(q[None], len(values), axis=0)
            many[:, motion.places] = values
            return self.distances(many, [k])[:, 0]

        least = max(self.how.touching, self.how.margin)
        return stays_apart(distance, motion, least=least, most=self.how.cells)

    def _searched(self, k: int, q: Floats, seen: Floats) -> float:
        """The least distance that is found going on from the nearest states.

        Each step tries states around the best ones, ever nearer to them.
        """
        lower, upper = configuration.ranges(self.m)
        turned = np.zeros(self.m.n_q, bool)
        for start in quaternion_starts(self.m):
            turned[start : start + 4] = True  # they turn as they were drawn
        span = np.where(turned, 0.0, upper - lower)
        few = np.argsort(seen)[:4]
        best, least = q[few], seen[few]
        for step in range(self.how.steps):
            width = 0.3 * 0.7**step * span
            picked = best[self.rng.integers(len(best), size=self.how.tries)]
            shift = self.rng.standard_normal(picked.shape) * width
            shift *= self.rng.random(picked.shape) < 0.5  # some joints at a time
            tried = np.where(turned, picked, np.clip(picked + shift, lower, upper))
            every = np.concatenate([best, tried])
            all_ = np.concatenate([least, self.distances(tried, [k])[:, 0]])
            order = np.argsort(all_, kind="stable")[: len(best)]
            best, least = every[order], all_[order]
            if least[0] <= self.how.touching:
                break
        return float(least[0])


def _near(distance: float) -> str:
    return f"come as near as {1e3 * distance:.3g} mm"


# ---- what a check of the description says


def contact_findings(table: PairTable, file: str = "") -> tuple[Finding, ...]:
    """Findings on the links that touch at neutral, or always, though no joint joins them."""
    found: list[Finding] = []
    for pair in table.pairs:
        told = f"are {pair.reason}" if pair.reason.startswith(AT_NEUTRAL) else pair.reason
        if pair.reason.startswith((AT_NEUTRAL, ALWAYS)) or pair.reason.endswith(_MEETING):
            message = f"no joint joins it to '{legible(pair.link_b)}', and they {told}"
            how = f"the pair is {'' if pair.checked else 'not '}checked; are the shapes right?"
            found.append(Finding("note", "contact", message, file, 0, "link", pair.link_a, how))
    return tuple(found)
