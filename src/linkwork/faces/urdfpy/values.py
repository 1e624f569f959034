"""Checked attributes: each knows what it takes, and which fields of a record of URDF say it.

An attribute refuses what it does not take before it changes. By its table of attributes a class is
read from a record of `linkwork.formats.urdf` (`Value.read`), judged (`Value.judge`) and written
into one (`Value.written`).

What link poses are computed from must be noticed when it changes. Every assignment to an object
whose class is ``kinematic`` moves `EPOCH` on. Arrays can also be changed in place, but only by
whoever got them: a joint's arrays that have been handed out are remembered on the joint, and
compared before poses are computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork.errors import Finding, InputError, LinkworkError, UnknownNameError
from linkwork.faces.urdfpy.utils import (
    FileReference,
    Floats,
    WrongTypeError,
    numbers,
    pose,
    pose_of_numbers,
    written_rpy,
)
from linkwork.locating import Folders

SHORTEST_AXIS = 1e-100
"""Shorter axes have no direction: their squares vanish."""


class ForeignError(UnknownNameError):
    """A link, joint, transmission or material that belongs to no robot, or to another one."""

    def __init__(self, kind: str, name: str, valid: Sequence[str]) -> None:
        super().__init__(kind, name, valid)
        there = f"take the one of its name: robot.{kind}_map['{name}']"
        hint = there if name in self.valid else "none has its name"
        self.text = f"the {kind} '{name:.80}' is no {kind} of this robot; {hint}"
        self.args = (self.text,)

    def __reduce__(self) -> tuple[type[ForeignError], tuple[str, str, tuple[str, ...]]]:
        return (ForeignError, (self.kind, self.name, self.valid))


class Epoch:
    """A number that grows whenever something is assigned that poses may depend on."""

    now = 0


EPOCH = Epoch()


@dataclass(frozen=True)
class Source:
    """The place that a description comes from, and what this face finds wrong with it."""

    file: str | None = None
    allow: Folders = ()
    joined: bool = False  # meshes are read as one, as those of collisions
    problems: list[Finding] = field(default_factory=list[Finding])

    @property
    def later(self) -> FileReference:
        """The way to files that the description names."""
        return FileReference(self.file, self.allow, self.joined)

    def wrong(
        self,
        element: str,
        record: Any,
        message: str,
        code: str = "missing-element",
        of: str = "",
    ) -> None:
        """Note an error; ``of`` is the name of what has the record, where that has none."""
        name = getattr(record, "name", None) or of
        self.problems.append(
            Finding("error", code, message, self.file or "", record.line, element, name)
        )


class Writer:
    """The materials that have been defined so far, and the element that is being written."""

    def __init__(self, defined: set[str] | None = None) -> None:
        self.defined: set[str] = defined or set()
        self.path: list[str] = []

    @property
    def where(self) -> str:
        """The element that is being written, as messages name it."""
        return ", ".join(self.path) or "an element"


class Value:
    """An attribute whose values pass through ``check(owner, name, value)``.

    ``field`` is the field of the record that says it, by default of its own name. ``kind`` is the
    type that a class's table gives for it, where it is an attribute or element of URDF, and
    ``several`` whether an element may stand there several times; None for an attribute.
    """

    kind: Any = None
    several: bool | None = None

    def __init__(self, doc: str, *, required: bool = False, field: str = "") -> None:
        self.__doc__ = doc
        self.name = self.slot = ""
        self.required, self.field = required, field

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.slot, self.field = name, f"_{name}", self.field or name

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else owner.__dict__[self.slot]

    def __set__(self, owner: Any, value: Any) -> None:
        owner.__dict__[self.slot] = self.check(owner, value)
        if owner.kinematic:
            EPOCH.now += 1

    def check(self, owner: Any, value: Any) -> Any:
        """The value as it is kept."""
        return value

    def what(self, owner: Any) -> str:
        """The attribute as messages name it."""
        return f"{type(owner).__name__}.{self.name}"

    def read(self, cls: Any, record: Any, source: Source) -> Any:
        """The value that a record has, as the constructor of ``cls`` takes it."""
        return getattr(record, self.field)

    def judge(self, cls: Any, record: Any, source: Source, of: str) -> None:
        """Note as errors what the table of ``cls`` needs and a record does not say."""

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """The fields of a record that say the value."""
        return {self.field: owner.__dict__[self.slot]}


class Text(Value):
    """Text; anything else is turned into it. What is ``filled`` is not empty.

    An empty one that is ``unsaid`` is not in a file.
    """

    kind = str

    def __init__(
        self,
        doc: str,
        *,
        optional: bool = False,
        filled: bool = False,
        unsaid: bool = False,
        field: str = "",
    ) -> None:
        super().__init__(doc, required=not optional, field=field)
        self.filled, self.unsaid = filled, unsaid

    def check(self, owner: Any, value: Any) -> str | None:
        """Raises: WrongTypeError for None where there must be text; InputError for an empty one."""
        if value is None:
            if not self.required:
                return None
            raise WrongTypeError(f"{self.what(owner)} is a text, not None")
        text = str(value)
        if self.filled and not text:
            raise InputError(f"{self.what(owner)} must not be empty: a file could not say it")
        return text

    def read(self, cls: Any, record: Any, source: Source) -> Any:
        """The text; an empty one where it is not said."""
        text = getattr(record, self.field)
        return "" if text is None and self.unsaid else text

    def judge(self, cls: Any, record: Any, source: Source, of: str) -> None:
        """Names must be there, and what is only sometimes left out."""
        tag, text = cls._standard.tag, getattr(record, self.field)
        if self.filled and not text:
            an = "an" if tag[0] in "aeiou" else "a"
            whose = "" if tag == "transmission" else f" of transmission '{of}'"
            message = f"{an} {tag}{whose} has no {self.name}"
            source.wrong(tag, record, message, "missing-attribute")
        elif self.unsaid and text is None:
            source.wrong(tag, record, f"it has no <{self.field}>", "transmission-type")

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """The text; None where it need not be said."""
        text = owner.__dict__[self.slot]
        return {self.field: None if self.unsaid and not text else text}


class Number(Value):
    """A number; None is ``default`` where it may be left out, and is written as ``unsaid``."""

    kind = float

    def __init__(
        self,
        doc: str,
        *,
        optional: bool = False,
        default: float | None = None,
        unsaid: float | None = None,
        bound: bool = False,
    ) -> None:
        super().__init__(doc, required=not optional)
        self.default, self.unsaid, self.bound = default, unsaid, bound

    def check(self, owner: Any, value: Any) -> float | None:
        """Raises: WrongTypeError or InputError for what is no number; InputError for nan and inf.

        A ``bound`` may be infinite.
        """
        if type(value) is float and math.isfinite(value):
            return value
        # a program's table may say that a file may leave it out
        if value is None and not (
            self.required and owner._ATTRIBS.get(self.name, (float, True))[1]
        ):
            return self.default
        given: Any = value
        try:
            number = float(given)
        except TypeError:
            kind = type(value).__name__
            raise WrongTypeError(f"{self.what(owner)} is a number, not {kind}") from None
        except ValueError:
            raise InputError(f"{self.what(owner)} is a number, not {value!r:.60}") from None
        if math.isnan(number) or (math.isinf(number) and not self.bound):
            raise InputError(f"{self.what(owner)} must be finite, not {number}")
        return number

    def judge(self, cls: Any, record: Any, source: Source, of: str) -> None:
        """Numbers that the table requires must be there."""
        _, required = cls._ATTRIBS.get(self.name, (float, False))
        if required and getattr(record, self.field) is None:
            source.wrong(
                cls._standard.tag, record, f"it has no '{self.name}'", "missing-attribute", of
            )

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """The number; None for no bound, and for what the file left out and still is."""
        value, record = owner.__dict__[self.slot], owner.record
        if self.bound and not self.required and value is not None and math.isinf(value):
            value = None
        left_out = record is not None and getattr(record, self.field) is None
        if left_out and value == self.default:
            value = None
        return {self.field: self.unsaid if value is None else value}


class Part(Value):
    """An object of one class, or None where that is allowed."""

    several = False

    def __init__(self, doc: str, kind: type, *, required: bool = False, field: str = "") -> None:
        super().__init__(doc, required=required, field=field)
        self.kind = kind

    def check(self, owner: Any, value: Any) -> Any:
        """Raises: WrongTypeError."""
        if isinstance(value, self.kind) or (value is None and not self.required):
            return value
        given = type(value).__name__
        raise WrongTypeError(f"{self.what(owner)} is a {self.kind.__name__}, not {given}")

    def read(self, cls: Any, record: Any, source: Source) -> Any:
        """The object of the part's record, of the class that the table names."""
        part = getattr(record, self.field)
        return None if part is None else cls._kind_of(self.name)._of_record(part, source)

    def judge(self, cls: Any, record: Any, source: Source, of: str) -> None:
        """The part is judged in its turn."""
        part = getattr(record, self.field)
        if part is not None:
            cls._kind_of(self.name)._judge(part, source, getattr(record, "name", None) or of)
        elif self.required:
            text = f"<{self.name}> is missing"
            source.wrong(cls._standard.tag, record, text, of=of)

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """The part's record."""
        part = owner._held(self.name)
        return {self.field: None if part is None else part._to_record(writer)}


class Parts(Value):
    """A list of objects of one class; None is an empty one."""

    several = True

    def __init__(
        self,
        doc: str,
        kind: type,
        error: type[LinkworkError] = WrongTypeError,
        *,
        required: bool = False,
    ) -> None:
        super().__init__(doc, required=required)
        self.kind, self.error = kind, error

    def check(self, owner: Any, value: Any) -> list[Any]:
        """Raises: the attribute's error for what is no list, or a member of another class."""
        if value is None:
            return []
        what, kind = self.what(owner), self.kind
        if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
            given = type(value).__name__
            raise self.error(f"{what} is a list of {kind.__name__}, not {given}")
        listed = list(value)
        for k, member in enumerate(listed):
            if not isinstance(member, kind):
                given = type(member).__name__
                raise self.error(f"{what}[{k}] is a {kind.__name__}, not {given}")
        return listed

    def read(self, cls: Any, record: Any, source: Source) -> list[Any]:
        """The objects of the records, of the class that the table names."""
        kind = cls._kind_of(self.name)
        return [kind._of_record(each, source) for each in getattr(record, self.field)]

    def judge(self, cls: Any, record: Any, source: Source, of: str) -> None:
        """Each is judged in its turn."""
        kind = cls._kind_of(self.name)
        for each in getattr(record, self.field):
            kind._judge(each, source, record.name or of)

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """The records of all."""
        held = owner.__dict__[self.slot]
        return {self.field: tuple(each._to_record(writer) for each in held)}


class Array(Value):
    """An array that is kept as a copy of what was given; see the module's text for ``watched``."""

    kind = np.ndarray

    def __init__(
        self,
        doc: str,
        check: Callable[[str, Any], Any],
        *,
        watched: bool = False,
        required: bool = True,
        field: str = "",
    ) -> None:
        super().__init__(doc, required=required, field=field)
        self._check, self.watched = check, watched

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        if owner is None:
            return self
        state = owner.__dict__
        if self.watched and self.slot not in state["_lent"]:
            state["_lent"].add(self.slot)
            EPOCH.now += 1
        return state[self.slot]

    def __set__(self, owner: Any, value: Any) -> None:
        super().__set__(owner, value)
        if self.watched:
            owner.__dict__.setdefault("_lent", set()).discard(self.slot)

    def check(self, owner: Any, value: Any) -> Any:
        """The value as an array of its own."""
        return self._check(self.what(owner), value)

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """The numbers as tuples."""
        array = owner.__dict__[self.slot]
        return {self.field: None if array is None else tuple(array.tolist())}


class Origin(Array):
    """A pose (4, 4), of the fields ``xyz`` and ``rpy``."""

    def __init__(self, doc: str, *, watched: bool = False) -> None:
        super().__init__(doc, pose, watched=watched, required=False)

    def read(self, cls: Any, record: Any, source: Source) -> Floats:
        """The pose that they are."""
        return pose_of_numbers(record.xyz, record.rpy)

    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        """xyz and rpy: as they were read, where the pose is still what they give.

        Where the upper left part scales too, which no file can say, its rotation is written, with
        a warning.

        Raises: InputError where it is mirrored or flat, or not finite.
        """
        origin: Floats = owner.__dict__[self.slot]
        record = owner.record
        if record is not None:
            as_read = pose_of_numbers(record.xyz, record.rpy)
            if np.array_equal(origin, as_read):
                return {"xyz": record.xyz, "rpy": record.rpy}
            if np.array_equal(origin[:3, :3], as_read[:3, :3]):
                return {"xyz": tuple(origin[:3, 3].tolist()), "rpy": record.rpy}
        if not np.isfinite(origin).all():
            raise InputError(f"{writer.where}: its origin is not finite")
        rpy = written_rpy(origin[:3, :3], writer.where)
        return {"xyz": tuple(origin[:3, 3].tolist()), "rpy": tuple(rpy.tolist())}


def vector(what: str, value: Any) -> Floats:
    """Three numbers."""
    return numbers(what, value, (3,))


def colour(what: str, value: Any) -> Floats | None:
    """Four numbers, moved into 0 to 1; None for no colour."""
    return None if value is None else np.clip(numbers(what, value, (4,)), 0.0, 1.0)


def symmetric(what: str, value: Any) -> Floats:
    """A symmetric matrix (3, 3)."""
    array = numbers(what, value, (3, 3))
    rows = array.tolist()
    if rows != list(map(list, zip(*rows, strict=True))) and not np.allclose(array, array.T):
        raise InputError(f"{what} must be symmetric, not {array.tolist()}")
    return array


def scale_factors(scale: Any) -> Floats:
    """Three factors above zero: as given, or one for all.

    Raises: InputError.
    """
    try:
        factors = np.array(scale, np.float64)
    except (TypeError, ValueError):
        factors = np.zeros(0)
    fits = factors.shape in ((), (1,), (3,))
    if not fits or not ((0.0 < factors) & (factors < np.inf)).all():
        raise InputError(f"scale is a number above zero, or three of them, not {scale!r:.60}")
    return np.broadcast_to(factors, 3)


def direction(what: str, value: Any) -> Floats | None:
    """A unit vector (3,); None for a zero one."""
    x, y, z = vector(what, value).tolist()
    largest = max(abs(x), abs(y), abs(z))
    if largest < SHORTEST_AXIS:
        return None
    x, y, z = x / largest, y / largest, z / largest  # so that squares neither overflow nor vanish
    length = math.sqrt(x * x + y * y + z * z)
    return np.array([x / length, y / length, z / length])
