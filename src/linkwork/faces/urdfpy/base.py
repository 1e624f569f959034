"""Row S2-030: the base of all elements, with tables that say how one is read and written.

Files are read and written by `linkwork.formats.urdf`, not here: an element of the standard becomes
a record there, and `reading` and `writing` go from records to objects and back. The tables count
for what a program adds: attributes and elements of its own, in subclasses of `URDFType` or of the
classes here. What they name is taken from, and put back into, what the reader keeps as unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from functools import cache
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

import numpy as np

from linkwork.errors import InputError

Attributes = Mapping[str, tuple[Any, bool]]
Elements = Mapping[str, tuple[Any, bool, bool]]


class URDFType:
    """The base of every element.

    ``_ATTRIBS`` maps the name of an XML attribute to (type, required); ``_ELEMENTS`` maps the tag
    of a child to (class, required, multiple); ``_TAG`` is the element's own tag. A subclass that
    is read by these tables gets their values as keywords: an attribute and a single child by its
    name, several children as a list named with an "s".
    """

    _ATTRIBS: ClassVar[Attributes] = {}
    _ELEMENTS: ClassVar[Elements] = {}
    _TAG: ClassVar[str] = ""
    kinematic: ClassVar[bool] = False  # whether poses of links depend on its attributes
    record: Any = None
    """The record of `linkwork.urdf` that it was read from; what has no attribute stays there."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A copy that shares nothing that can change; records cannot."""
        other: Any = object.__new__(type(self))
        memo[id(self)] = other
        for name, value in self.__dict__.items():
            other.__dict__[name] = value if name == "record" else deepcopy(value, memo)
        return other

    @classmethod
    def _from_xml(cls, node: Any, path: str) -> Any:
        """The object that an XML element describes; ``path`` is the folder of its file.

        Raises: InputError or DescriptionError for what is missing or wrong.
        """
        reader = standard(cls, READERS)
        if reader is not None:
            return reader(cls, node, path)
        return cls(**cls._parse(node, path))

    @classmethod
    def _parse(cls, node: Any, path: str) -> dict[str, Any]:
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
        for tag, (kind, required, multiple) in cls._ELEMENTS.items():
            found = [kind._from_xml(child, path) for child in node.findall(tag)]
            if not found and required:
                raise missing(cls, f"element <{tag}>")
            if multiple:
                values[f"{tag}s"] = found
            else:
                values[tag] = found[0] if found else None
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
        for tag, (_, _, multiple) in self._ELEMENTS.items():
            held = getattr(self, f"{tag}s" if multiple else tag)
            for child in (held or []) if multiple else [held]:
                if child is not None:
                    node.append(child._to_xml(node, path))
        return node


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
    return next(kind for kind in cls.__mro__ if kind.__module__.startswith(__package__ or "?"))


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
