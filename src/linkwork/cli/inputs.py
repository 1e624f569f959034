"""From what was typed to robots, configurations and poses."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.cli import files
from linkwork.cli.angles import Angles
from linkwork.cli.arguments import RobotArguments
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import labels

Floats = NDArray[np.float64]

RESULT_COLUMNS = ("success", "position_error", "rotation_error")
"""What `linkwork ik` writes beside the joints, and a file of joint positions may therefore hold."""

RADIANS = Angles()
POSITION = ("x", "y", "z")
RPY = ("roll", "pitch", "yaw")
WXYZ = ("qw", "qx", "qy", "qz")


# the robot


def open_robot(given: RobotArguments, frame: str | None, angles: Angles = RADIANS) -> lw.Robot:
    """The robot of a command, with joints locked, or the chain to ``frame`` cut out."""
    if given.floating and given.base_frame is not None:
        raise InputError("a chain between two frames has no floating base: leave out one of them")
    robot = lw.load(given.source, base="floating" if given.floating else "fixed")
    if given.lock:
        at = angles.typed_by_name(robot.mechanism, named_values(given.lock, "--lock"))
        robot = robot.with_locked(list(at), at)
    if frame is not None:
        check_frame(robot, frame, "--frame")
    if given.base_frame is not None:
        check_frame(robot, given.base_frame, "--from")
        robot = robot.subchain(given.base_frame, robot.tip if frame is None else frame)
    return robot


def check_frame(robot: lw.Robot, frame: str, option: str) -> None:
    """Refuse a frame that the robot does not have, naming the option that it was given with."""
    if frame not in robot.frame_names:
        raise InputError(f"{option}: {UnknownNameError('frame', frame, robot.frame_names)}")


def position_labels(m: Mechanism) -> list[str]:
    """A name for each number of q: the joint's, with /x, /y, ... where it has several."""
    return labels(m, velocities=False)


def velocity_labels(m: Mechanism) -> list[str]:
    """A name for each number of v."""
    return labels(m, velocities=True)


# joint positions


def configurations(
    robot: lw.Robot, q: list[str] | None, q_file: str | None, angles: Angles = RADIANS
) -> Floats:
    """The configurations that are meant: one (nq,), or those of a file (n, nq)."""
    if q_file is None:
        return configuration(robot, q, "--q", angles)
    if q:
        raise InputError("give --q or --q-file, not both")
    return _from_file(robot, q_file)


def configuration(
    robot: lw.Robot, entries: list[str] | None, option: str, angles: Angles = RADIANS
) -> Floats:
    """One configuration (nq,) from "0 0.1 ..." or from name=value; neutral without any."""
    if not entries:
        return robot.neutral()
    if any("=" in entry for entry in entries):
        named = named_values(entries, option)
        return robot.configuration(angles.typed_by_name(robot.mechanism, named))
    values = [value for entry in entries for value in numbers(entry, option)]
    if len(values) != robot.n_q:
        raise ShapeError(
            f"{option} takes {robot.n_q} numbers for '{robot.name}' "
            f"({_listed(position_labels(robot.mechanism))}), not {len(values)}"
        )
    return angles.typed_positions(robot.mechanism, values)


def numbers(text: str, option: str) -> list[float]:
    """The finite numbers in a text, parted by spaces or commas."""
    values: list[float] = []
    for piece in re.split(r"\s*,\s*|\s+", text.strip()):
        value = files.number(piece)
        if value is None:
            raise InputError(f"{option}: {piece!r} is not a finite number")
        values.append(value)
    return values


def named_values(entries: Sequence[str], option: str) -> dict[str, float | list[float]]:
    """The values in name=value, by name. A name may hold spaces where it stands alone."""
    found: dict[str, float | list[float]] = {}
    for entry in entries:
        alone = entry.count("=") == 1
        for pair in [entry] if alone else re.split(r"\s*,\s+|\s+", entry.strip()):
            name, equals, text = (part.strip() for part in pair.rpartition("="))
            if not equals or not name:
                raise InputError(f"{option} takes name=value, not {pair!r}")
            if name in found:
                raise InputError(f"{option} names '{name}' twice")
            values = numbers(text, f"{option} {name}")
            found[name] = values[0] if len(values) == 1 else values
    return found


def _from_file(robot: lw.Robot, name: str) -> Floats:
    labels = position_labels(robot.mechanism)
    read = files.read(name)
    if not isinstance(read, files.Table):
        if read.ndim > 2 or read.shape[-1] != robot.n_q:
            raise ShapeError(
                f"{name} has the shape {read.shape}; joint positions of '{robot.name}' have "
                f"({robot.n_q},) or (n, {robot.n_q})"
            )
        return np.atleast_2d(read)
    if read.header is not None:
        return columns(read, labels, RESULT_COLUMNS)
    if read.values.shape[1] != robot.n_q:
        raise ShapeError(
            f"{name} has {read.values.shape[1]} columns; '{robot.name}' takes {robot.n_q} "
            f"({_listed(labels)})"
        )
    return read.values


def columns(table: files.Table, wanted: Sequence[str], ignored: Sequence[str] = ()) -> Floats:
    """The columns with these names, in this order; all must be there, and no others."""
    header = table.header or ()
    for name in header:
        if name not in wanted and name not in ignored:
            raise InputError(f"{table.file}: {UnknownNameError('column', name, wanted)}")
        if header.count(name) > 1:
            raise InputError(f"{table.file}: there are {header.count(name)} columns '{name}'")
    missing = [name for name in wanted if name not in header]
    if missing:
        raise InputError(f"{table.file}: no column {_listed(missing)}")
    return np.ascontiguousarray(table.values[:, [header.index(name) for name in wanted]])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 12 else ", ".join((*names[:12], "..."))


# poses


def pose_of(xyz: str, rpy: str | None, wxyz: str | None, angles: Angles = RADIANS) -> Floats:
    """The pose (4, 4) that --xyz and --rpy or --wxyz mean."""
    if rpy is not None and wxyz is not None:
        raise InputError("give --rpy or --wxyz, not both")
    position = _exactly(xyz, "--xyz", 3)
    if wxyz is not None:
        quaternion = _exactly(wxyz, "--wxyz", 4)
        if not any(quaternion):
            raise InputError("--wxyz must not be four zeros; unturned is '1 0 0 0'")
        return lw.pose(position, wxyz=quaternion)
    return lw.pose(position, rpy=None if rpy is None else angles.typed(_exactly(rpy, "--rpy", 3)))


def _exactly(text: str, option: str, n: int) -> list[float]:
    values = numbers(text, option)
    if len(values) != n:
        raise InputError(f"{option} takes {n} numbers in quotes, not {len(values)}: {text!r}")
    return values


def poses_from(name: str) -> Floats:
    """The poses (n, 4, 4) of a file."""
    read = files.read(name)
    if isinstance(read, files.Table):
        values = read.values if read.header is None else _pose_columns(read)
    elif read.shape[-2:] == (4, 4) and read.ndim <= 3:
        return read.reshape(-1, 4, 4)
    else:
        values = np.atleast_2d(read)
    if values.ndim != 2 or values.shape[1] not in (6, 7):
        raise ShapeError(
            f"{name} has the shape {values.shape}; poses are (n, 6) for x, y, z, roll, pitch, yaw, "
            "(n, 7) for x, y, z, qw, qx, qy, qz, or in a .npy file (n, 4, 4)"
        )
    try:
        if values.shape[1] == 6:
            return lw.pose(values[:, :3], rpy=values[:, 3:])
        return lw.pose(values[:, :3], wxyz=values[:, 3:])
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _pose_columns(table: files.Table) -> Floats:
    header = set(table.header or ())
    turned = RPY if header & set(RPY) and not header & set(WXYZ) else WXYZ
    if not header & {*RPY, *WXYZ}:
        raise InputError(
            f"{table.file}: no columns for the rotation; name them roll, pitch, yaw or qw, qx, qy, "
            "qz"
        )
    return columns(table, (*POSITION, *turned))
