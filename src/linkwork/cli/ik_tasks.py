"""From what was typed behind --task and --target to tasks of inverse kinematics."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.cli import inputs
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError, UnknownNameError

Floats = NDArray[np.float64]
Numbers = list[float]

_TEXTS = ("position", "rotation", "axes", "axes_of", "mirror", "name")
"""Arguments of tasks that are words; all others are numbers."""


class Kind(NamedTuple):
    """The words behind the name of a kind: names, then numbers, then ARGUMENT=VALUE."""

    make: Any  # the task's class: what it takes differs
    names: tuple[str, ...]
    counts: tuple[int, ...]  # of numbers that may be given
    target: Callable[[Numbers], Any]


def _pose(values: Numbers) -> Floats:
    """x y z, then roll pitch yaw or a quaternion."""
    if len(values) == 6:
        return lw.pose(values[:3], rpy=values[3:])
    return lw.pose(values[:3], wxyz=values[3:])


def _rotation(values: Numbers) -> Floats:
    return _pose([0.0, 0.0, 0.0, *values])[:3, :3]


_FRAME = ("FRAME",)
KINDS: Mapping[str, Kind] = {
    "pose": Kind(lw.ik.Pose, _FRAME, (6, 7), _pose),
    "position": Kind(lw.ik.Position, _FRAME, (3,), list),
    "orientation": Kind(lw.ik.Orientation, _FRAME, (3, 4), _rotation),
    "pointing": Kind(lw.ik.Pointing, _FRAME, (3,), list),
    "direction": Kind(lw.ik.Direction, _FRAME, (3,), list),
    "line": Kind(lw.ik.OnLine, _FRAME, (6,), list),
    "plane": Kind(lw.ik.OnPlane, _FRAME, (6,), list),
    "relative": Kind(lw.ik.RelativePose, ("FRAME", "OTHER"), (6, 7), _pose),
    "com": Kind(lw.ik.CenterOfMass, (), (3,), list),
    "posture": Kind(lw.ik.Posture, (), (), list),
    "coupling": Kind(lw.ik.JointCoupling, ("JOINT", "OTHER"), (0,), list),
    "manipulability": Kind(lw.ik.Manipulability, _FRAME, (1,), list),
}


def task_of(text: str, home: Floats) -> lw.ik.Task:
    """The task that a text means, such as "pointing tool0 1 0 0.5 priority=1".

    ``home`` (nq,) is what a posture without numbers is.

    Raises: UnknownNameError for a kind or an argument; InputError for all else.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"--task {text!r}: {str(error).lower()}") from None
    if not words:
        raise InputError(f"--task is empty: say a kind, one of {', '.join(KINDS)}")
    kind = KINDS.get(words[0])
    if kind is None:
        raise UnknownNameError("kind of task", words[0], list(KINDS))
    named = [word for word in words[1:] if "=" in word]
    plain = [word for word in words[1:] if "=" not in word]
    names, rest = plain[: len(kind.names)], plain[len(kind.names) :]
    if len(names) < len(kind.names):
        raise InputError(f"--task {text!r} takes: {_form(words[0], kind)}")
    values = inputs.numbers(" ".join(rest), f"--task {text!r}") if rest else []
    chosen = _arguments(kind, named, text)
    if words[0] == "posture":
        target: Any = values if values or "joints" in chosen else home
    elif len(values) not in kind.counts:
        raise InputError(
            f"--task {text!r} takes {_counts(kind)} numbers, not {len(values)}: "
            f"{_form(words[0], kind)}"
        )
    else:
        target = kind.target(values) if values else None
    given = names if target is None else [*names, _one(target)]
    return kind.make(*given, **chosen)


def _one(target: Any) -> Any:
    """A single number instead of a list of it."""
    return target[0] if isinstance(target, list) and len(target) == 1 else target


def _counts(kind: Kind) -> str:
    return " or ".join(str(count) for count in kind.counts)


def _form(name: str, kind: Kind) -> str:
    """The form of a task of this kind."""
    numbers = [f"{_counts(kind)} numbers"] if kind.counts != (0,) else []
    return ", ".join([" ".join([name, *kind.names]), *numbers, "ARGUMENT=VALUE"])


def _arguments(kind: Kind, entries: Sequence[str], text: str) -> dict[str, Any]:
    """The arguments of a task by name, as its class takes them."""
    allowed = [
        field.name
        for field in dataclasses.fields(kind.make)
        if field.name not in ("frame", "other", "joint", "target", "at_least")
    ]
    found: dict[str, Any] = {}
    for entry in entries:
        key, _, value = entry.partition("=")
        name = key.replace("-", "_")
        if name not in allowed:
            raise UnknownNameError("argument of this task", key, allowed)
        if name in found:
            raise InputError(f"--task {text!r} gives {key} twice")
        found[name] = _value(name, value, f"--task {text!r}: {key}")
    return found


def _value(name: str, value: str, what: str) -> Any:
    if name in _TEXTS:
        return value
    if name == "joints":
        return [part.strip() for part in value.split(",")]
    numbers = inputs.numbers(value, what)
    if name == "priority":
        if len(numbers) != 1 or not numbers[0].is_integer():
            raise InputError(f"{what} must be a whole number from 0, not {value!r}")
        return int(numbers[0])
    return numbers[0] if len(numbers) == 1 else numbers


def target_task(frame: str, text: str, angles: Angles) -> lw.ik.Task:
    """The task that --target gives a frame: a position, or a whole pose.

    Raises: InputError.
    """
    values = inputs.numbers(text, "--target")
    if len(values) == 3:
        return lw.ik.Position(frame, values)
    if len(values) == 6:
        values[3:] = angles.typed(values[3:]).tolist()
    if len(values) in (6, 7):
        return lw.ik.Pose(frame, _pose(values))
    raise InputError(
        "--target takes 3 numbers (the position alone), 6 (with roll, pitch, yaw) or 7 (with a "
        f"quaternion w, x, y, z), not {len(values)}: {text!r}"
    )
