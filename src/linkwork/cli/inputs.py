"""From words and files that people give to robots, configurations and poses.

Files of numbers are .csv or .npy; every fault of one is told with its place.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import linkwork as lw
from linkwork.cli import output
from linkwork.cli.arguments import RobotArguments
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.formats import moveit_scene
from linkwork.formats.urdf.source import bytes_of_file
from linkwork.legible import short
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.mechanism.named_positions import labels
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]

POSITION = ("x", "y", "z")
RPY = ("roll", "pitch", "yaw")
WXYZ = ("qw", "qx", "qy", "qz")


# angles


@dataclass(frozen=True)
class Angles:
    """The unit that people use for angles at the terminal; everything else is in radians."""

    degrees: bool = False

    @property
    def unit(self) -> str:
        """The unit's name: "rad" or "deg"."""
        return "deg" if self.degrees else "rad"

    def typed(self, values: ArrayLike, where: ArrayLike = True) -> Floats:
        """Values in radians, of what was typed; ``where`` says which of them are angles."""
        given = np.asarray(values, np.float64)
        return np.where(where, np.deg2rad(given), given) if self.degrees else given

    def shown(self, values: ArrayLike, where: ArrayLike = True) -> Floats:
        """Values to print, of radians; ``where`` says which of them are angles."""
        given = np.asarray(values, np.float64)
        return np.where(where, np.rad2deg(given), given) if self.degrees else given

    def typed_by_name(
        self, m: Mechanism, values: Mapping[str, float | Sequence[float]]
    ) -> dict[str, float | list[float]]:
        """Positions of joints by name, coupled ones included; other names stay as they are."""
        kinds = dict(zip(m.body_joint_names, m.body_joint_types, strict=True))
        found: dict[str, float | list[float]] = {}
        for name, value in values.items():
            listed = list(np.atleast_1d(value))
            turning = position_angles([kinds.get(name, JointType.FIXED)])
            for k, turns in enumerate(turning[: len(listed)]):
                listed[k] = float(self.typed(listed[k], turns))
            found[name] = listed[0] if np.ndim(value) == 0 else listed
        return found


def position_angles(kinds: Iterable[JointType]) -> NDArray[np.bool_]:
    """The positions (nq,) of joints of these kinds that are angles."""
    return np.array([each == "angle" for kind in kinds for each in kind.kinds_of_q], bool)


def velocity_angles(kinds: Iterable[JointType]) -> NDArray[np.bool_]:
    """The velocities (nv,) of joints of these kinds that are angles a second."""
    return np.array([each == "angle" for kind in kinds for each in kind.kinds_of_v], bool)


RADIANS = Angles()


# scenes


def open_scene(path: str, allow: Sequence[str] = ()) -> lw.Scene:
    """The scene of a file of ours, or of MoveIt's: its text or its message PlanningScene.

    Raises: InputError, MissingFileError.
    """
    text = bytes_of_file(path, moveit_scene.LONGEST_FILE)
    if Path(path).suffix.lower() == ".scene" or re.search(rb"^world\s*:", text, re.MULTILINE):
        return lw.Scene.from_moveit(path, allow=tuple(allow))
    return lw.Scene.from_yaml(path, allow=tuple(allow))


# the robot


def open_robot(given: RobotArguments, frame: str | None) -> lw.Robot:
    """The robot of a command, with joints locked, or the chain to ``frame`` cut out."""
    if given.floating and given.base_frame is not None:
        raise InputError("a chain between two frames has no floating base: leave out one of them")
    robot = lw.load(given.source, base="floating" if given.floating else "fixed")
    if given.lock:
        angles = Angles(given.deg)
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


def joint_table(
    robot: lw.Robot, q: Floats, angles: Angles, given: Sequence[str] | None = None
) -> TextTable:
    """The positions q (nq,) by joint, with their limits, and where asked which were ``given``."""
    position = "position (deg, m)" if angles.degrees else "position"
    columns = ("joint", position, "lower", "upper")
    shown = TextTable(columns if given is None else (*columns, ""), numbers=3)
    turning = position_angles(robot.mechanism.joint_types)
    values = (q, robot.limits.lower, robot.limits.upper)
    told = [angles.shown(each, turning) for each in values]
    for name, at, lower, upper in zip(position_labels(robot.mechanism), *told, strict=True):
        marks = () if given is None else ("given" if name in given else "",)
        shown.add_row(name, output.number(at), short(lower), short(upper), *marks)
    return shown


# joint positions


def configurations(
    robot: lw.Robot, q: list[str] | None, q_file: str | None, angles: Angles = RADIANS
) -> Floats:
    """The configurations that are meant: one (nq,), or those of a file (n, nq)."""
    if q_file is None:
        return configuration(robot, q, "--q", angles)
    if q:
        raise InputError("give --q or --q-file, not both")
    labels, read, n_q = position_labels(robot.mechanism), read_numbers(q_file), robot.n_q
    if not isinstance(read, Table):
        if read.ndim > 2 or read.shape[-1] != n_q:
            raise ShapeError(
                f"{q_file} has the shape {read.shape}; joint positions of '{robot.name}' have "
                f"({n_q},) or (n, {n_q})"
            )
        return np.atleast_2d(read)
    if read.header is not None:
        return columns(read, labels, output.RESULT_COLUMNS)
    n = read.values.shape[1]
    if n != n_q:
        listed = _listed(labels)
        raise ShapeError(f"{q_file} has {n} columns; '{robot.name}' takes {n_q} ({listed})")
    return read.values


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
    return angles.typed(values, position_angles(robot.mechanism.joint_types))


def numbers(text: str, option: str) -> list[float]:
    """The finite numbers in a text, parted by spaces or commas."""
    values: list[float] = []
    for piece in re.split(r"\s*,\s*|\s+", text.strip()):
        value = number_of(piece)
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


def columns(table: Table, wanted: Sequence[str], ignored: Sequence[str] = ()) -> Floats:
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


def texts_by_name(entries: Sequence[str] | None, option: str, sign: str) -> dict[str, str]:
    """The values in name:=value (or another sign), by name.

    Raises: InputError for anything else, and for a name given twice.
    """
    found: dict[str, str] = {}
    for entry in entries or ():
        name, between, value = entry.partition(sign)
        if not between or not name.strip():
            raise InputError(f"{option} takes name{sign}value, not {entry!r}")
        if name.strip() in found:
            raise InputError(f"{option} names '{name.strip()}' twice")
        found[name.strip()] = value
    return found


# poses


def pose_of(xyz: str, rpy: str | None, wxyz: str | None, angles: Angles = RADIANS) -> Floats:
    """The pose (4, 4) that --xyz and --rpy or --wxyz mean."""
    if rpy is not None and wxyz is not None:
        raise InputError("give --rpy or --wxyz, not both")
    found: dict[str, Any] = {}
    for name, text, n in (("xyz", xyz, 3), ("rpy", rpy, 3), ("wxyz", wxyz, 4)):
        if text is not None:
            found[name] = values = numbers(text, f"--{name}")
            if len(values) != n:
                given = f"{len(values)}: {text!r}"
                raise InputError(f"--{name} takes {n} numbers in quotes, not {given}")
    if "wxyz" in found and not any(found["wxyz"]):
        raise InputError("--wxyz must not be four zeros; unturned is '1 0 0 0'")
    if "rpy" in found:
        found["rpy"] = angles.typed(found["rpy"])
    return lw.pose(**found)


def poses_from(name: str) -> Floats:
    """The poses (n, 4, 4) of a file."""
    read = read_numbers(name)
    if isinstance(read, Table):
        values, header = read.values, set(read.header or ())
        if header and not header & {*RPY, *WXYZ}:
            text = "name them roll, pitch, yaw or qw, qx, qy, qz"
            raise InputError(f"{name}: no columns for the rotation; {text}")
        if header:
            turned = RPY if header & set(RPY) and not header & set(WXYZ) else WXYZ
            values = columns(read, (*POSITION, *turned))
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


# files of numbers


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of numbers (n, columns), and the names of the columns where the file has a header."""

    file: str
    header: tuple[str, ...] | None
    values: Floats


def number_of(text: str) -> float | None:
    """The finite number that a piece of text is, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    # float() also takes underscores and the digits of other scripts
    return value if math.isfinite(value) and text.isascii() and "_" not in text else None


def read_numbers(name: str) -> Table | Floats:
    """A .csv file as a table, a .npy file as a float64 array.

    Raises: InputError for another kind of file, one that cannot be read, or a cell that is no
    finite number, by file and line.
    """
    kind = Path(name).suffix.lower()
    if kind not in output.NUMBER_FILES:
        raise InputError(f"{name}: the file's name must end in .csv or .npy")
    try:
        return _read_csv(name) if kind == ".csv" else _read_npy(name)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None


def _read_csv(name: str) -> Table:
    header: tuple[str, ...] | None = None
    rows: list[list[float | None]] = []
    width = 0
    try:
        # a byte order mark in front, as spreadsheets write it, does not count
        with open(name, encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file, strict=True)
            for cells in lines:
                if not any(cell.strip() for cell in cells):
                    continue
                if not width:
                    width = len(cells)
                    if all(number_of(cell) is None for cell in cells):
                        header = tuple(cell.strip() for cell in cells)
                        continue
                where = f"{name}:{lines.line_num}"
                if len(cells) != width:
                    raise InputError(
                        f"{where}: this line has {len(cells)} cells, the first has {width}; cells "
                        "are parted by commas"
                    )
                row = [number_of(cell) for cell in cells]
                if None in row:
                    k = row.index(None)
                    bad = f"{cells[k].strip()!r}"
                    raise InputError(f"{where}: cell {k + 1} is not a finite number: {bad}")
                rows.append(row)
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{name} is not a .csv file in UTF-8: {error}") from None
    if not rows:
        raise InputError(f"{name} holds no rows of numbers; cells are parted by commas")
    return Table(name, header, np.array(rows, np.float64))


def _read_npy(name: str) -> Floats:
    try:
        with open(name, "rb") as file:
            array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    except (ValueError, EOFError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{name} is not a .npy array of numbers: {reason}") from None
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} holds {array.dtype}, not numbers")
    if array.size == 0:
        raise InputError(f"{name} holds an empty array, of shape {array.shape}")
    values = np.ascontiguousarray(array, np.float64)
    if not np.isfinite(values).all():
        where = ", ".join(str(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise InputError(f"{name}: the value at [{where}] is not a finite number")
    return values
