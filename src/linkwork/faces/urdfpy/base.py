"""Row S2-030: the base of all elements, with tables that say how one is read and written.

Files are read and written by `linkwork.formats.urdf`, not here: an element of the standard becomes
a record there, and `reading` and `writing` go from records to objects and back. The tables count
for what a program changes in them, in subclasses or in the classes here: attributes and elements
that it adds are taken from, and put back into, what the reader keeps as unknown; what it leaves out
is not read; what it requires, or no longer requires, is checked so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from linkwork.errors import InputError
from linkwork.faces.urdfpy.values import Floats, Value, outside, scale_factors

Attributes = Mapping[str, tuple[Any, bool]]
Elements = Mapping[str, tuple[Any, bool, bool]]


class Tables(NamedTuple):
    """What a class's tables say; of a class of this face, before any program changed them."""

    attributes: Attributes
    elements: Elements
    tag: str


STANDARD: dict[type, Tables] = {}
"""Class of this face to its tables."""


class URDFType:
    """The base of every element.

    ``_ATTRIBS`` maps the name of an XML attribute to (type, required); ``_ELEMENTS`` maps the name
    of an attribute to (class, required, multiple) of the children that it holds, whose tag is their
    class's; ``_TAG`` is the element's own tag. A subclass that is read by these tables gets their
    values as keywords of the same names, several children as a list.
    """

    _ATTRIBS: ClassVar[Attributes] = {}
    _ELEMENTS: ClassVar[Elements] = {}
    _TAG: ClassVar[str] = ""
    kinematic: ClassVar[bool] = False  # whether poses of links depend on its attributes
    record: Any = None
    """The record of `linkwork.urdf` that it was read from; what has no attribute stays there."""

    _needed: ClassVar[int] = 0
    """How many of its attributes a constructor must be given."""
    _fields: ClassVar[tuple[str, ...]] = ()
    """Its attributes, in the order that the constructor takes them in."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        kinds = reversed(cls.__mro__)
        fields = [name for k in kinds for name, x in vars(k).items() if isinstance(x, Value)]
        cls._fields = tuple(dict.fromkeys(fields))
        cls.__signature__ = cls._signature()
        if cls.__module__.startswith(f"{__package__}."):
            STANDARD[cls] = Tables(dict(cls._ATTRIBS), dict(cls._ELEMENTS), cls._TAG)

    def __init__(self, *given: Any, **named: Any) -> None:
        values = dict(zip(self._fields, given, strict=False))
        twice = [name for name in named if name in values or name not in self._fields]
        values.update(named)
        lacking = [name for name in self._fields[: self._needed] if name not in values]
        if twice or lacking or len(given) > len(self._fields):
            takes = f"{type(self).__name__}{self._signature()}"
            what = f"'{(lacking or twice)[0]}' is missing" if lacking else "other arguments came"
            raise TypeError(f"{takes}: {what}")
        for name in self._fields:
            setattr(self, name, values.get(name))

    @classmethod
    def _signature(cls) -> Signature:
        """The parameters of the constructor."""
        if cls.__init__ is not URDFType.__init__:
            own = signature(cls.__init__)
            return own.replace(parameters=list(own.parameters.values())[1:])
        place = Parameter.POSITIONAL_OR_KEYWORD
        return Signature(
            [
                Parameter(name, place, default=Parameter.empty if k < cls._needed else None)
                for k, name in enumerate(cls._fields)
            ]
        )

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy that shares nothing that can change; records cannot."""
        other: Any = object.__new__(type(self))
        memo[id(self)] = other
        for name, value in self.__dict__.items():
            other.__dict__[name] = value if name == "record" else deepcopy(value, memo)
        return other

    def copy(self, prefix: str = "", scale: Any = None) -> Any:
        """A copy that shares nothing, with ``prefix`` before its names, and its lengths scaled.

        ``scale`` is one number above zero, or three: one for each axis. Every frame is then scaled
        along its own axes; where frames are turned against each other this stretches each shape by
        itself, not the whole, and there is a warning. Densities stay as they are.

        Raises: InputError for another scale, or a shape that would be none of its kind.
        """
        factors = None if scale is None else scale_factors(scale)
        other = deepcopy(self)
        parts = list(other.parts())
        for part in parts if prefix else ():
            part._add_prefix(prefix)
        for part in () if factors is None else parts:
            part._scale_lengths(factors)
        if factors is not None and np.ptp(factors) and any(map(_is_turned, parts)):
            text = "frames that are turned against each other are each scaled along their own axes"
            warnings.warn(f"{type(self).__name__}.copy: {text}", stacklevel=outside())
        return other

    def parts(self, seen: set[int] | None = None) -> Iterator[Any]:
        """This element and all in it, each once."""
        seen = set() if seen is None else seen
        if id(self) in seen:
            return
        seen.add(id(self))
        yield self
        for name, (_, _, multiple) in type(self)._ELEMENTS.items():
            held = self._held(name)
            for child in (held or []) if multiple else [held]:
                if isinstance(child, URDFType):
                    yield from child.parts(seen)

    def _held(self, name: str) -> Any:
        """What an attribute of `_ELEMENTS` holds."""
        return getattr(self, name)

    def _add_prefix(self, prefix: str) -> None:
        """Put a text before the names that it has."""

    def _scale_lengths(self, factors: Floats) -> None:
        """Scale by three factors along its own axes."""

    @classmethod
    def _from_xml(cls, node: Any, path: str, lazy_load_meshes: bool | None = None) -> Any:
        """The object that an XML element describes; ``path`` is the folder of its file.

        Meshes are opened when first asked for, or at once with ``lazy_load_meshes=False``.
        Raises: InputError or DescriptionError for what is missing or wrong.
        """
        reader = standard(cls, READERS)
        if reader is not None:
            return reader(cls, node, path, lazy_load_meshes)
        return cls(**cls._parse(node, path, lazy_load_meshes))

    @classmethod
    def _parse(cls, node: Any, path: str, lazy_load_meshes: bool | None = None) -> dict[str, Any]:
        """The keywords of the tables, from an XML element.

        Raises: InputError for a required attribute or element that is missing, or an unreadable
        value.
        """
        values: dict[str, Any] = {}
        for name, (kind, required) in cls._ATTRIBS.items():
            text = node.get(name)
            if text is None and required:
                raise missing(cls, f"attribute '{name}'")
            values[name] = None if text is None else parsed(cls, name, kind, text)
        options = {} if lazy_load_meshes is None else {"lazy_load_meshes": lazy_load_meshes}
        for name, (kind, required, multiple) in cls._ELEMENTS.items():
            children = node.findall(kind._TAG)
            found = [kind._from_xml(child, path, **options) for child in children]
            if not found and required:
                raise missing(cls, f"element <{kind._TAG}>")
            values[name] = found if multiple else (found or [None])[0]
        return values

    def _to_xml(self, parent: Any, path: str) -> Any:
        """This object as an XML element of ``xml.etree``; ``parent`` may be None.

        Raises: InputError for values that no file could hold.
        """
        del parent
        writer = standard(type(self), WRITERS)
        return writer(self, path) if writer is not None else self._unparse(path)

    def _unparse(self, path: str) -> Any:
        """The XML element of the tables, from the attributes of the same names."""
        node = ET.Element(self._TAG)
        for name in self._ATTRIBS:
            value = getattr(self, name)
            if value is not None:
                node.set(name, unparsed(value))
        for name, (_, _, multiple) in self._ELEMENTS.items():
            held = getattr(self, name)
            for child in (held or []) if multiple else [held]:
                if child is not None:
                    node.append(child._to_xml(node, path))
        return node


def _is_turned(part: URDFType) -> bool:
    """Whether a part's frame has other directions than the frame that it stands in."""
    origin = part.__dict__.get("_origin")
    return origin is not None and not np.array_equal(origin[:3, :3], np.eye(3))


class URDFTypeWithMesh(URDFType):
    """The base of elements that hold meshes, or hold what holds them."""


READERS: dict[type, Callable[..., Any]] = {}
"""Class of the standard to what reads it from an XML element; `fragments` fills it."""

WRITERS: dict[type, Callable[..., Any]] = {}
"""Class of the standard to what makes an XML element of it."""


def standard(cls: type, handlers: Mapping[type, Callable[..., Any]]) -> Callable[..., Any] | None:
    """What handles a class, or the class of the standard that it is a subclass of."""
    return next((handlers[kind] for kind in cls.__mro__ if kind in handlers), None)


@cache
def own_class(cls: type) -> type:
    """The class of this face that ``cls`` is, or extends."""
    return next(kind for kind in cls.__mro__ if kind in STANDARD)


def changed(cls: Any) -> bool:
    """Whether a class's tables are no longer those of the class of this face."""
    tables = STANDARD[own_class(cls)]
    return cls._ATTRIBS != tables.attributes or cls._ELEMENTS != tables.elements


def missing(cls: type, what: str) -> InputError:
    """The error of something required that is not there."""
    return InputError(f"missing {what} when reading an object of type {cls.__name__}")


def parsed(cls: type, name: str, kind: Any, text: str) -> Any:
    """The value of an attribute's text.

    Raises: InputError where it has none.
    """
    try:
        if kind is np.ndarray:
            return np.array([float(part) for part in text.split()])
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
        return kind(text)
    except (KeyError, TypeError, ValueError):
        label = getattr(kind, "__name__", str(kind))
        raise InputError(f"{cls.__name__}.{name}: '{text:.80}' is no {label}") from None


def unparsed(value: Any) -> str:
    """The text of an attribute: numbers as short as they read back exactly."""
    if isinstance(value, (np.ndarray, list, tuple)):
        return " ".join(repr(float(x)) for x in np.ravel(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
