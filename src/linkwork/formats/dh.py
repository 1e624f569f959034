"""Tables of Denavit and Hartenberg's parameters: records, CSV and YAML, and the URDF of a table.

With q in place of the joint's own parameter, a row of each convention is the pose of its link's
frame in the frame before it::

    standard  Rz(theta + q) Tz(d) Tx(a) Rx(alpha)                   a joint that turns
              Rz(theta) Tz(d + q) Tx(a) Rx(alpha)                   one that slides
    craig     Rx(alpha) Tx(a) Rz(theta + q) Tz(d)                   ("modified")
    khalil    Rz(gamma) Tz(b) Rx(alpha) Tx(d) Rz(theta + q) Tz(r)   gamma and b where links branch

Lengths are metres, angles radians; a column of a file whose name ends in ``_deg`` is in degrees.

Sources: J. Denavit, R. S. Hartenberg, A kinematic notation for lower-pair mechanisms based on
matrices, J. Appl. Mech. 22 (1955); J. J. Craig, Introduction to Robotics (1986), section 3.4;
W. Khalil, J.-F. Kleinfinger, A new geometric notation for open and closed-loop robots, ICRA 1986.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias, cast

import numpy as np

from linkwork.checks import finite_number, real_array, rigid_pose, shown
from linkwork.errors import DescriptionError, Finding, InputError, ShapeError
from linkwork.formats.urdf import records
from linkwork.formats.urdf.source import bytes_of_file
from linkwork.formats.urdf.validate import checked
from linkwork.formats.yaml import LONGEST_FILE, Node, parse
from linkwork.ops.numpy import PLAIN
from linkwork.spatial.poses import pose_matrix
from linkwork.spatial.rotations import from_rpy, rotation_x, rotation_z, to_rpy

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Denavit-Hartenberg tables
dh | error | A row or a column of the table does not fit. | See the line.
"""

Convention = Literal["standard", "craig", "khalil"]
Matrix4: TypeAlias = "tuple[tuple[float, float, float, float], ...]"
Vector3 = records.Vector3

COLUMNS: Mapping[str, tuple[str, str, str, str]] = {
    "standard": ("theta", "d", "a", "alpha"),
    "craig": ("alpha", "a", "d", "theta"),
    "khalil": ("alpha", "d", "theta", "r"),
}
"""The four parameters of a row, in the order of the product that they stand for."""

IDENTITY: Matrix4 = tuple(tuple(row) for row in np.eye(4).tolist())  # pyright: ignore[reportAssignmentType]

_TYPES = {
    **dict.fromkeys(("revolute", "r", "0"), "revolute"),
    **dict.fromkeys(("prismatic", "p", "1"), "prismatic"),
    **dict.fromkeys(("fixed", "f", "2"), "fixed"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DHRow:
    """One row: the joint, where its link's frame lies, and the link.

    ``a`` and ``alpha`` are along and about x, ``d`` and ``theta`` along and about z: the "d" and
    "r" of Khalil are a and d. The parameter that the joint moves counts from the value that stands
    here: q = 0 is at ``theta`` or ``d``. ``gamma`` and ``b`` (khalil) come before, where several
    links hang on one. ``parent`` is the link of another row, or the base's name; by default the
    row before. Limits (rad or m, rad/s or m/s, N m or N) are None where there are none; ``com``
    and ``inertia`` (ixx ixy ixz iyy iyz izz about it) are in the link's frame.
    """

    theta: float = 0.0
    d: float = 0.0
    a: float = 0.0
    alpha: float = 0.0
    type: Literal["revolute", "prismatic", "fixed"] = "revolute"
    joint: str = ""
    link: str = ""
    parent: str = ""
    gamma: float = 0.0
    b: float = 0.0
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    mass: float | None = None
    com: tuple[float, float, float] = (0.0, 0.0, 0.0)
    inertia: tuple[float, float, float, float, float, float] | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DHTable:
    """A table of parameters: rows, their convention, the base in the world, the tool on the last.

    ``base`` and ``tool`` are poses (4, 4); ``name`` is the robot's.
    """

    rows: tuple[DHRow, ...]
    convention: Convention = "standard"
    base: Matrix4 = IDENTITY
    tool: Matrix4 = IDENTITY
    name: str = "robot"
    file: str = field(default="", compare=False)

    def __str__(self) -> str:
        """The table in aligned columns, angles in radians."""
        names = _columns_used(self)
        cells = [names] + [
            [_cell(each, row, self.convention) for each in names] for row in self.rows
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(f"{c:>{w}}" for c, w in zip(row, widths, strict=True)) for row in cells]
        return "\n".join([f"{self.name} ({self.convention})", *lines])


# ---- from what people give


def table_of(
    rows: Any,
    *,
    convention: Convention = "standard",
    types: Sequence[str] | str | None = None,
    base: Any = None,
    tool: Any = None,
    name: str = "robot",
) -> DHTable:
    """The table of rows in any form that `linkwork.from_dh` takes.

    Raises: InputError, ShapeError; DescriptionError for rows that do not fit.
    """
    check_convention(convention)
    if not isinstance(rows, Iterable):
        raise InputError(f"rows are a table, or a row for each joint, not {type(rows).__name__}")
    reader = _Rows("", convention)
    made = [_given_row(given, k, reader) for k, given in enumerate(rows)]
    if types is not None:
        if len(types) != len(made):
            raise ShapeError(f"types has {len(types)} entries for {len(made)} rows")
        kinds = [reader.type(kind, f"types[{k}]", 0) for k, kind in enumerate(types)]
        made = [replace(row, type=kind) for row, kind in zip(made, kinds, strict=True)]
    if not made:
        raise InputError("a table has at least one row")
    return DHTable(
        rows=tuple(made),
        convention=convention,
        base=matrix_of(np.eye(4) if base is None else base, "base"),
        tool=matrix_of(np.eye(4) if tool is None else tool, "tool"),
        name=name,
    )


def _given_row(given: Any, k: int, reader: _Rows) -> DHRow:
    """A row that is a record, a mapping, or the four numbers of its convention."""
    if isinstance(given, DHRow):
        return given
    if not isinstance(given, Mapping):
        columns = COLUMNS[reader.convention]
        numbers = real_array(given, f"row {k}")
        if numbers.shape != (4,):
            names = ", ".join(columns)
            raise ShapeError(
                f"row {k} must be four numbers ({names}) or a mapping, not {numbers.shape}"
            )
        given = dict(zip(columns, numbers.tolist(), strict=True))
    return reader.row(cast("Mapping[str, Any]", given), f"row {k}", 0)


def check_convention(convention: str) -> None:
    """Refuse what is no convention.

    Raises: InputError.
    """
    if convention not in COLUMNS:
        raise InputError(f"convention is one of {', '.join(COLUMNS)}, not {shown(convention)}")


def matrix_of(T: Any, name: str = "T") -> Matrix4:
    """A pose (4, 4) as a tuple of rows.

    Raises: ShapeError; InputError for what is not a rigid pose.
    """
    return tuple(tuple(row) for row in rigid_pose(T, name).tolist())  # pyright: ignore[reportReturnType]


_ANGLES = {"theta", "alpha", "gamma"}
_TURNING = {"offset", "lower", "upper", "velocity"}  # angles of a joint that turns
_TEXTS = ("joint", "link", "parent")
_SPREAD = {
    "com": ("com_x", "com_y", "com_z"),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
}
_NUMBERS = tuple(
    each.name for each in fields(DHRow) if each.name not in (*_TEXTS, *_SPREAD, "type", "line")
)


_FIRST = {*_NUMBERS[:4], "r"}


class _Rows:
    """Reads rows of one table; what is wrong is said with its place."""

    def __init__(self, file: str, convention: Convention) -> None:
        self.file = file
        self.convention: Convention = convention

    def fail(self, why: str, line: int) -> NoReturn:
        """Refuse a row.

        Raises: DescriptionError.
        """
        raise DescriptionError([Finding("error", "dh", why, self.file, line)]) from None

    def rows(self, given: Iterable[tuple[Mapping[str, Any], int]]) -> tuple[DHRow, ...]:
        """The rows of mappings and their lines.

        Raises: DescriptionError with the first fault of each row.
        """
        made: list[DHRow] = []
        problems: list[Finding] = []
        for k, (values, line) in enumerate(given):
            try:
                made.append(self.row(values, f"row {k}", line))
            except DescriptionError as error:
                problems += error.problems
        if problems:
            raise DescriptionError(problems)
        return tuple(made)

    def type(self, given: Any, where: str, line: int) -> Any:
        """The type of a joint, also by its letter or Khalil's sigma.

        Raises: DescriptionError.
        """
        found = _TYPES.get(str(given).strip().lower())
        if found is None:
            self.fail(f"{where}: type is revolute, prismatic or fixed, not {shown(given)}", line)
        return found

    def row(self, given: Mapping[str, Any], where: str, line: int) -> DHRow:
        """The row of names and values; those that are not named have their defaults.

        Raises: DescriptionError naming the column.
        """
        left = {k: v for k, v in given.items() if not (v is None or (isinstance(v, str) and not v))}
        kind = self.type(left.pop("type", "revolute"), where, line)
        made: dict[str, Any] = {each: str(left.pop(each)) for each in _TEXTS if each in left}
        for whole, parts in _SPREAD.items():
            found = self._spread(left, whole, parts, f"{where}: {whole}", line)
            if found is not None:
                made[whole] = found
        numbers: dict[str, Any] = {}
        for column in left:
            name, number = self._number(left, column, kind, where, line)
            if name in numbers:
                twin = column.removesuffix("_deg")
                self.fail(f"{where} has both {twin} and {twin}_deg: give one of them", line)
            numbers[name] = number
        moved = numbers.pop("offset", 0.0)
        if moved:
            own = "d" if kind == "prismatic" else "theta"
            numbers[own] = numbers.get(own, 0.0) + moved
        return DHRow(type=kind, line=line, **made, **numbers)

    def _spread(
        self, left: dict[str, Any], whole: str, parts: Sequence[str], where: str, line: int
    ) -> tuple[float, ...] | None:
        """Several numbers: under one name, or each under its own."""
        if whole in left:
            value = left.pop(whole)
            try:
                numbers = real_array(value, where)
            except InputError as error:
                self.fail(str(error), line)
            if whole == "inertia" and numbers.shape == (3, 3):
                numbers = numbers[np.triu_indices(3)]
            if numbers.shape != (len(parts),) or not np.isfinite(numbers).all():
                self.fail(f"{where} is {len(parts)} finite numbers, not {shown(value)}", line)
            return tuple(numbers.tolist())
        if not any(each in left for each in parts):
            return None
        return tuple(self._finite(left.pop(each, 0.0), f"{where}: {each}", line) for each in parts)

    def _finite(self, value: Any, where: str, line: int) -> float:
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                hint = "the parameter that the joint moves counts from the number given here"
                self.fail(f"{where} is a number, not {shown(value)}; {hint}", line)
        try:
            return finite_number(value, where)
        except InputError as error:
            self.fail(str(error), line)

    def _number(
        self, left: dict[str, Any], column: str, kind: str, where: str, line: int
    ) -> tuple[str, float]:
        """The field that a column means, and its value in radians and metres."""
        name = column.removesuffix("_deg")
        value = self._finite(left[column], f"{where}: {column}", line)
        if name != column:
            if not (name in _ANGLES or (name in _TURNING and kind == "revolute")):
                self.fail(f"{where}: {column} would be degrees, and {name} is no angle", line)
            value = math.radians(value)
        allowed = {*COLUMNS[self.convention], *_NUMBERS[4:], "offset"}
        if self.convention != "khalil":
            allowed -= {"gamma", "b"}
        if name not in allowed:
            known = ", ".join([*COLUMNS[self.convention], *sorted({*allowed} - _FIRST)])
            self.fail(f"{where} has '{column}'; a {self.convention} table has {known}", line)
        if name in ("d", "r") and self.convention == "khalil":
            name = "a" if name == "d" else "d"
        return name, value


# ---- files

SUFFIXES = (".csv", ".yaml", ".yml")
_HEAD = re.compile(r"#\s*(convention|name|base|tool)\s*:\s*(.*)")


def read(path: Path) -> DHTable:
    """The table of a CSV or a YAML file.

    CSV: a line of column names (``type, theta, d, a, alpha, lower, ...``), then one line a joint;
    ``# convention: craig`` before, and the same for ``name``, ``base`` and ``tool`` (x y z roll
    pitch yaw). YAML: ``dh: craig``, ``name``, ``base``, ``tool`` and ``rows``, a list of mappings.

    Raises: DescriptionError with file and line; MissingFileError.
    """
    data = bytes_of_file(str(path), 4 * LONGEST_FILE)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DescriptionError(
            [Finding("error", "dh", f"cannot be read: {error}", str(path))]
        ) from None
    make = from_csv if path.suffix.lower() == ".csv" else from_yaml
    return make(text, str(path), name=path.stem.removesuffix(".dh"))


def from_csv(text: str, file: str = "", *, name: str = "robot") -> DHTable:
    """The table of a CSV text (see `read`); cells are separated by commas, semicolons or tabs.

    Raises: DescriptionError.
    """
    head: dict[str, str] = {"name": name, "convention": "standard"}
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        found = _HEAD.match(line)
        if found:
            head[found[1]] = found[2].strip().strip('"')
        elif line.strip() and not line.lstrip().startswith("#"):
            lines.append((number, line))
    reader = _Rows(file, cast("Convention", head["convention"]))
    if head["convention"] not in COLUMNS:
        reader.fail(f"convention is one of {', '.join(COLUMNS)}, not {head['convention']!r}", 1)
    if len(lines) < 2:
        reader.fail("a table has a line of column names and a line for each joint", len(lines))
    separator = max(",;\t", key=lines[0][1].count)
    cells = [
        [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        for _, line in lines
    ]
    columns = [each.lower() for each in cells[0]]
    twice = [each for each in columns if columns.count(each) > 1]
    if twice:
        reader.fail(f"the column '{twice[0]}' stands twice", lines[0][0])
    numbers = [number for number, _ in lines[1:]]
    for k, (line, row) in enumerate(zip(numbers, cells[1:], strict=True)):
        if len(row) != len(columns):
            reader.fail(f"row {k} has {len(row)} cells for {len(columns)} columns", line)
    named = [dict(zip(columns, row, strict=True)) for row in cells[1:]]
    rows = reader.rows(zip(named, numbers, strict=True))
    placed = {
        key: _placed(head[key].replace(",", " ").split(), key, reader, 1)
        for key in ("base", "tool")
        if key in head
    }
    return DHTable(rows=rows, convention=reader.convention, name=head["name"], file=file, **placed)


def from_yaml(text: str, file: str = "", *, name: str = "robot") -> DHTable:
    """The table of a YAML text (see `read`).

    Raises: DescriptionError.
    """
    node = parse(text, file)
    given = node.value if isinstance(node.value, dict) else {}
    at = cast("dict[str, Node]", given)
    reader = _Rows(file, "standard")
    if "dh" not in at:
        reader.fail("a table begins with 'dh: standard', 'dh: craig' or 'dh: khalil'", node.line)
    convention = at["dh"].value
    if convention not in COLUMNS:
        reader.fail(f"dh is one of {', '.join(COLUMNS)}, not {shown(convention)}", at["dh"].line)
    for key, value in at.items():
        if key not in ("dh", "name", "base", "tool", "rows"):
            reader.fail(
                f"a table has dh, name, base, tool and rows; '{key:.60}' is none", value.line
            )
    reader.convention = cast("Convention", convention)
    listed = at["rows"].value if "rows" in at else None
    if not isinstance(listed, list) or not listed:
        reader.fail("rows is a list of mappings, one for each joint", at.get("rows", node).line)
    nodes = cast("list[Node]", listed)
    for k, each in enumerate(nodes):
        if not isinstance(each.value, dict):
            reader.fail(f"row {k} is a mapping such as {{theta: 0, d: 0.1}}", each.line)
    rows = reader.rows((each.plain(), each.line) for each in nodes)
    placed = {
        key: _placed(at[key].plain(), key, reader, at[key].line)
        for key in ("base", "tool")
        if key in at
    }
    named = at["name"].value if "name" in at else name
    if not isinstance(named, str):
        reader.fail(f"name is a text, not {shown(named)}", at["name"].line)
    return DHTable(rows=rows, convention=reader.convention, name=named, file=file, **placed)


def _placed(given: Any, what: str, reader: _Rows, line: int) -> Matrix4:
    """The pose of six numbers x y z roll pitch yaw, or of a matrix (4, 4)."""
    try:
        numbers = (
            np.array([float(x) for x in given]) if np.ndim(given) == 1 else real_array(given, what)
        )
        if numbers.shape == (6,):
            numbers = pose_matrix(from_rpy(PLAIN, numbers[3:].tolist()), numbers[:3])
        return matrix_of(numbers, what)
    except (InputError, ValueError, TypeError) as error:
        reader.fail(f"{what} is x y z roll pitch yaw, or a pose (4, 4): {error}", line)


def to_csv(table: DHTable) -> str:
    """The text of a CSV file, in which every number is exact."""
    names = _columns_used(table)
    lines = [f"# name: {table.name}", f"# convention: {table.convention}"]
    out = io.StringIO()
    for key, T in (("base", table.base), ("tool", table.tool)):
        if T != IDENTITY:
            lines.append(f"# {key}: {' '.join(map(repr, _six(T)))}")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(each, row, table.convention) for each in names] for row in table.rows)
    return "\n".join([*lines, out.getvalue()])


def to_yaml(table: DHTable) -> str:
    """The text of a YAML file, in which every number is exact."""
    import yaml  # noqa: PLC0415  few write it

    names = _columns_used(table)
    given: dict[str, Any] = {"dh": table.convention, "name": table.name}
    for key, T in (("base", table.base), ("tool", table.tool)):
        if T != IDENTITY:
            given[key] = _six(T)
    values = [{each: _value(each, row, table.convention) for each in names} for row in table.rows]
    given["rows"] = [{k: v for k, v in row.items() if v not in (None, "")} for row in values]
    return yaml.safe_dump(
        given, sort_keys=False, default_flow_style=None, allow_unicode=True, width=1000
    )


def _six(T: Matrix4) -> list[float]:
    """x y z roll pitch yaw of a pose."""
    xyz, rpy = _origin(T)
    return [*xyz, *rpy]


_OF_KHALIL = {"d": "a", "r": "d"}


def _value(column: str, row: DHRow, convention: Convention) -> Any:
    """The value of a row in a column."""
    for whole, parts in _SPREAD.items():
        if column in parts:
            given = getattr(row, whole)
            return None if given is None else given[parts.index(column)]
    return getattr(row, _OF_KHALIL.get(column, column) if convention == "khalil" else column)


def _cell(column: str, row: DHRow, convention: Convention) -> str:
    value = _value(column, row, convention)
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _columns_used(table: DHTable) -> list[str]:
    """The columns in which some row says something: joint, type, the parameters, what else is."""
    parameters = list(COLUMNS[table.convention])
    more = [each.name for each in fields(DHRow) if each.name not in (*_NUMBERS[:4], "type", "line")]
    plain, used = DHRow(), list[str]()
    for each in more:
        if any(getattr(row, each) != getattr(plain, each) for row in table.rows):
            used += _SPREAD.get(each, (each,))
    texts = [each for each in used if each in _TEXTS]
    return [*texts, "type", *parameters, *(each for each in used if each not in _TEXTS)]


# ---- the URDF of a table

Origin: TypeAlias = "tuple[Vector3, Vector3]"  # xyz and rpy, as URDF places a joint


def before(row: DHRow, convention: Convention) -> Origin:
    """The constant pose from the frame before to the joint, whose axis is z there.

    Rz and Tz commute with the joint's motion: the row of craig and khalil is the joint's place.
    """
    if convention == "standard":
        return records.ZERO, records.ZERO
    sine, cosine = math.sin(row.alpha), math.cos(row.alpha)
    x, y, z = row.a, -row.d * sine, row.d * cosine + row.b
    s, c = math.sin(row.gamma), math.cos(row.gamma)
    xyz = (c * x - s * y, s * x + c * y, z)
    if not row.theta:
        return xyz, (row.alpha, 0.0, row.gamma)
    turns = ((rotation_z, row.gamma), (rotation_x, row.alpha), (rotation_z, row.theta))
    first, second, third = (np.array(turn(PLAIN, angle)) for turn, angle in turns)
    return xyz, _rpy(first @ second @ third)


def after(row: DHRow, convention: Convention) -> Origin:
    """The constant pose from the joint, once it has moved, to the frame of the row."""
    if convention != "standard":
        return records.ZERO, records.ZERO
    xyz = (row.a * math.cos(row.theta), row.a * math.sin(row.theta), row.d)
    return xyz, (row.alpha, 0.0, row.theta)


def _rpy(R: Any) -> Vector3:
    roll, pitch, yaw = to_rpy(PLAIN, np.asarray(R))
    return float(roll), float(pitch), float(yaw)


def _origin(T: Matrix4) -> Origin:
    return (T[0][3], T[1][3], T[2][3]), _rpy([row[:3] for row in T[:3]])


_UNMOVED: Origin = (records.ZERO, records.ZERO)


_NO_FAULTS = ("missing-attribute", "missing-limits")
"""Findings of what a URDF has to say, and a table has not: no limit is no limit."""


def to_document(table: DHTable) -> records.Document:
    """The description of a table, checked as that of a file is.

    Raises: DescriptionError for names that are given twice or do not exist, and the like.
    """
    document = checked(to_urdf(table), file=table.file or None)
    found = tuple(each for each in document.problems if each.code not in _NO_FAULTS)
    return replace(document, problems=found)


def to_urdf(table: DHTable) -> records.Robot:
    """The records of a URDF with the links, joints and limits of a table.

    Links are those of the rows, each with the row's frame; where the frame of a standard row does
    not lie on its joint, a link NAME_axis without mass lies there. A base or a tool that is not
    the identity is a fixed joint, from the link "world", or to the link "tool".
    """
    links: list[records.Link] = []
    joints: list[records.Joint] = []
    if table.base != IDENTITY:
        links.append(records.Link("world"))
        origin = _origin(table.base)
        joints.append(records.Joint("world_to_base", "fixed", "world", "base", *origin))
    links.append(records.Link("base"))
    last = "base"
    for k, row in enumerate(table.rows, 1):
        joint, link = row.joint or f"joint{k}", row.link or f"link{k}"
        parent, carrier = row.parent or last, link
        start, end = before(row, table.convention), after(row, table.convention)
        if row.type == "fixed":  # one of the two is nothing
            start, end = end if start == _UNMOVED else start, _UNMOVED
        if end != _UNMOVED:
            carrier = f"{link}_axis"
            links.append(records.Link(carrier, line=row.line))
        joints.append(_joint(row, joint, parent, carrier, start))
        if end != _UNMOVED:
            joints.append(records.Joint(f"{carrier}_to_{link}", "fixed", carrier, link, *end))
        links.append(_link(row, link))
        last = link
    if table.tool != IDENTITY:
        links.append(records.Link("tool"))
        joints.append(records.Joint(f"{last}_to_tool", "fixed", last, "tool", *_origin(table.tool)))
    return records.Robot(table.name, tuple(links), tuple(joints), file=table.file or None)


def _joint(row: DHRow, name: str, parent: str, child: str, origin: Origin) -> records.Joint:
    said = (row.lower, row.upper, row.effort, row.velocity)
    limited = row.type == "prismatic" or any(each is not None for each in said)
    unbounded = row.type == "revolute" and row.lower is None and row.upper is None
    return records.Joint(
        name,
        "continuous" if unbounded else row.type,
        parent,
        child,
        *origin,
        axis=(0.0, 0.0, 1.0),
        limit=records.Limit(*said) if limited and row.type != "fixed" else None,
        dynamics=records.Dynamics(row.damping, row.friction)
        if row.damping or row.friction
        else None,
        line=row.line,
    )


def _link(row: DHRow, name: str) -> records.Link:
    if row.mass is None and row.inertia is None:
        return records.Link(name, line=row.line)
    xx, xy, xz, yy, yz, zz = row.inertia or (0.0,) * 6
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    own = records.Inertial(row.com, records.ZERO, row.mass or 0.0, inertia, line=row.line)
    return records.Link(name, own, line=row.line)
