"""The forms in which inverse kinematics takes its arguments: one thing for all targets, or a list.

`asked_axes` and `tolerances` read for one target and for many what single steps, whole solutions
and batches have in common; `Wanted` says it in tasks of the core.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates.math import (
    convert_legacy_axis_to_mask,
    normalize_mask,
    rotation_log,
)

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
OLDER = ("translation_axis", "rotation_axis")
"""Older names of masks, which named the axes that do not count."""
_ONE = (bool, int, float, np.generic)
_BACKENDS = ["numpy", "jax"]
_BASES = {"planar": 3, "6dof": 6}
"""The ways in which a robot's base may move, and the degrees of freedom of each."""


def listed(value: Any) -> list[Any]:
    """A list or tuple as a list, and any other thing as a list of it alone."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def listed_or_none(value: Any) -> list[Any]:
    """A list or tuple as a list, None as none, and any other thing as a list of it alone."""
    return [] if value is None else listed(value)


def listed_numbers(value: Any, count: int, what: str) -> list[float]:
    """One number for each of ``count`` targets, or one for all.

    Raises: InputError for what is none, ShapeError for a matrix.
    """
    given = real_array(value, what)
    if given.ndim > 1:
        raise ShapeError(f"{what} is one number, or a list of them, not of shape {given.shape}")
    return [float(given)] * count if given.ndim == 0 else given.tolist()


def check_backend(backend: Any) -> None:
    """Refuse the name of a backend that is none; all are the core's solver.

    Raises: InputError.
    """
    if backend not in (None, *_BACKENDS):
        raise InputError(f"Unknown backend: {backend!r:.40}. Available backends: {_BACKENDS}")


def check_lists(link_list: Any, joint_list: Any) -> None:
    """Refuse a chain that is given in both ways.

    Raises: InputError.
    """
    if link_list is not None and joint_list is not None:
        raise InputError("Specify either link_list or joint_list, not both.")


def base_of(use_base: Any) -> Any:
    """The way the base is to move, "planar" or "6dof"; None where it stays.

    Raises: InputError for anything else.
    """
    if use_base is None or use_base is False:
        return None
    if not isinstance(use_base, str) or use_base not in _BASES:
        raise InputError(f"use_base must be False, 'planar', or '6dof', got {use_base!r:.40}")
    return use_base


def base_weight(base: str, weight: Any) -> float | tuple[float, ...]:
    """The readiness of a base to move: a number, or one for each degree of freedom.

    Raises: ShapeError for another number of them; InputError for one that is not above 0.
    """
    values, n = real_array(1.0 if weight is None else weight, "base_weight"), _BASES[base]
    if values.shape not in ((), (1,), (n,)):
        raise ShapeError(f"base_weight is one number, or {n} for '{base}', not {values.shape}")
    if not ((values > 0.0) & np.isfinite(values)).all():
        raise InputError(f"base_weight must be strictly positive, not {weight!r:.60}")
    return float(values.reshape(())) if values.size == 1 else tuple(values.tolist())


def nested(chains: Any) -> list[list[Any]]:
    """One chain, or a list of chains, as a list of chains."""
    if not chains:
        return [[]]
    if isinstance(chains[0], (list, tuple)):
        return [list(chain) for chain in chains]
    return [list(chains)]


def holds_several(value: Any) -> bool:
    """Whether it is a list with one thing for each target, and not one thing of three numbers."""
    if isinstance(value, np.ndarray):
        return value.ndim > 1
    if not isinstance(value, (list, tuple)):
        return False
    return len(value) != 3 or not all(isinstance(each, _ONE) for each in value)


def one_each(value: Any, count: int, what: str) -> list[Any]:
    """The value for each of ``count`` targets.

    Raises: InputError where a list has another number of them.
    """
    if not holds_several(value):
        return [value] * count
    if len(value) != count:
        raise InputError(f"{what} has {len(value)} entries, one for each of {count} targets")
    return list(value)


_NOTHING: Mapping[str, Any] = {}


class Axes(NamedTuple):
    """The axes of position and of rotation (3,) that count for one target, and its mirror."""

    where: Flags
    turns: Flags
    mirror: str | None

    @property
    def n_rows(self) -> int:
        """The number of rows that it has in a Jacobian: with a mirror all three turns."""
        return int(self.where.sum()) + (3 if self.mirror else int(self.turns.sum()))


def asked_axes(
    count: int,
    position: Any,
    rotation: Any,
    mirror: Any,
    older: Mapping[str, Any] = _NOTHING,
    *,
    none: bool = True,
) -> list[Axes]:
    """The axes that masks and mirrors ask of each of ``count`` targets; mask None: all or ``none``.

    ``older``: ``translation_axis`` and ``rotation_axis`` in the place of the masks, which name the
    axes that do not count ("zm" also a mirror).

    Raises: InputError for what is no mask or mirror, and for lists of other lengths.
    """
    if "translation_axis" in older:
        given = one_each(older["translation_axis"], count, "translation_axis")
        position = [convert_legacy_axis_to_mask(each)[0] for each in given]
    if "rotation_axis" in older:
        given = one_each(older["rotation_axis"], count, "rotation_axis")
        rotation, mirrors = zip(*map(convert_legacy_axis_to_mask, given), strict=True)
        mirror = list(mirrors) if mirror is None else mirror
    where, turns = (
        [
            normalize_mask(none if mask is None else mask) != 0
            for mask in one_each(each, count, what)
        ]
        for each, what in ((position, "position_mask"), (rotation, "rotation_mask"))
    )
    if not isinstance(mirror, (list, tuple)):
        mirror = [mirror] * count
    if len(mirror) != count:
        raise InputError(f"rotation_mirror has {len(mirror)} axes, for {count} targets")
    axes = (mirror_axis(each) for each in mirror)
    return [Axes(*each) for each in zip(where, turns, axes, strict=True)]


def mirror_axis(axis: Any) -> str | None:
    """The axis of a mirror, "x" also by its older name "xm".

    Raises: InputError for what is none.
    """
    if axis is None or axis is False or axis == "":
        return None
    name = axis.removesuffix("m") if isinstance(axis, str) else axis
    if not isinstance(name, str) or name not in ("x", "y", "z"):
        raise InputError(f"rotation_mirror must be 'x', 'y' or 'z', or None; not {axis!r:.40}")
    return name


def tolerances(given: Any, count: int, what: str) -> list[tuple[float, float, float]]:
    """Half widths for each of ``count`` targets, one for all axes or three; None is none, 0.

    Raises: InputError for other numbers of them, and for what is negative or not finite.
    """
    several = (
        np.ndim(given) != 0 if isinstance(given, np.ndarray) else isinstance(given, (list, tuple))
    )
    several = several and any(np.ndim(each) for each in given if each is not None)
    found: list[tuple[float, float, float]] = []
    for each in one_each(given, count, what) if several else [given] * count:
        row = [each] * 3 if each is None or np.ndim(each) == 0 else list(each)
        row = [0.0 if width is None else float(width) for width in row]
        if len(row) != 3 or not all(0.0 <= width < math.inf for width in row):
            raise InputError(f"{what}: three values from 0, or None, each; not {given!r:.60}")
        found.append((row[0], row[1], row[2]))
    return found


class Wanted(NamedTuple):
    """The demands on one frame: axes of position and rotation, and what is allowed to them.

    ``slack`` (3,) in axes of the target and ``turn_slack`` (3,) in the frame's are half widths: an
    error within counts as zero. With a ``mirror``, half a turn about that axis is as good.
    """

    where: Flags
    turns: Flags
    mirror: str | None
    slack: Floats
    turn_slack: Floats
    thre: float = 0.0
    rthre: float = 0.0

    @property
    def is_something(self) -> bool:
        """Whether any axis counts."""
        return bool(self.where.any() or self.turns.any())

    @property
    def is_whole(self) -> bool:
        """Whether it is a pose of which everything counts."""
        plain = self.mirror is None and not self.slack.any() and not self.turn_slack.any()
        return plain and bool(self.where.all() and self.turns.all())

    @property
    def is_exact(self) -> bool:
        """Whether the core's tasks say the same: not where both masks and slacks turn away."""
        return not self.slack.any() or bool(self.where.all()) or bool(self.turns.all())

    @property
    def key(self) -> tuple[Any, ...]:
        """The key that tells it from others, thresholds aside."""
        arrays = (self.where, self.turns, self.slack, self.turn_slack)
        return (self.mirror, *(each.tobytes() for each in arrays))

    def errors(self, frame: Floats, target: Floats) -> tuple[Floats, Floats]:
        """The differences of position (3,) and rotation (3,) that count, in the frame's axes."""
        R, wanted = frame[:3, :3], target[:3, :3]
        way = target[:3, 3] - frame[:3, 3]
        if self.slack.any():
            way = wanted.T @ way
            way = wanted @ np.where(np.abs(way) <= self.slack, 0.0, way)
        if self.mirror is not None:
            turned = wanted * np.where(np.arange(3) == "xyz".index(self.mirror), 1.0, -1.0)
            wanted = turned if np.vdot(R, turned) > np.vdot(R, wanted) else wanted
        turn = rotation_log(R.T @ wanted)
        within = (np.abs(turn) <= self.turn_slack) & (self.turn_slack > 0.0)
        return (R.T @ way) * self.where, np.where(within, 0.0, turn) * self.turns

    def is_reached(self, frame: Floats, target: Floats) -> bool:
        """Whether a frame (4, 4) is where it is wanted, by the thresholds."""
        way, turn = self.errors(frame, target)
        return bool(np.linalg.norm(way) <= self.thre and np.linalg.norm(turn) <= self.rthre)

    def fields(self, along: str, narrower: float = 0.0) -> list[dict[str, Any]]:
        """The fields of the core's tasks (`linkwork.ik.Pose`) that ask for it: one, two or none.

        Positions count along the axes of ``along``, "tool" or "world", with slack along those of
        the target; rotations about those of the frame. Half widths are made a little smaller where
        solutions are ``narrower`` than nothing, so that what is at one of them counts as within.
        """
        if self.is_whole:
            return [{"position": "xyz", "rotation": "xyz"}]
        where, turns = (
            "".join(axis for axis, on in zip("xyz", each, strict=True) if on)
            for each in (self.where, self.turns)
        )
        slack, turn_slack = (
            np.maximum(0.0, each[on] * (1.0 - 1.0e3 * narrower) - 2.0 * narrower).tolist()
            for each, on in ((self.slack, self.where), (self.turn_slack, self.turns))
        )
        mirror = self.mirror if turns else None
        of = "target" if self.slack.any() else along
        if where in ("", "xyz") and not self.slack.any():
            of = "tool"  # any axes are as good
        if not self.is_something:
            return []
        if of == "tool" or not turns or (turns == "xyz" and not self.turn_slack.any()):
            return [
                {"position": where, "rotation": turns, "axes_of": of, "mirror": mirror,
                 "slack": slack + turn_slack}
            ]  # fmt: skip
        return [
            {"position": where, "rotation": "", "axes_of": of, "slack": slack},
            {"position": "", "rotation": turns, "axes_of": "tool", "mirror": mirror,
             "slack": turn_slack},
        ]  # fmt: skip


def all_wanted(count: int, axes: list[Axes], translation: Any, rotation: Any) -> list[Wanted]:
    """The demands on each of ``count`` targets: its axes, and tolerances of both kinds.

    Raises: InputError for tolerances, see `tolerances`.
    """
    slacks = (
        map(np.array, tolerances(given, count, name))
        for given, name in (
            (translation, "translation_tolerance"), (rotation, "rotation_tolerance")
        )
    )  # fmt: skip
    return [Wanted(*each, *wide) for each, *wide in zip(axes, *slacks, strict=True)]
