"""Row S2-030: the base of all elements, with tables that say how one is read and written.

Files are read and written by `linkwork.formats.urdf`, not here: an element of the standard becomes
a record there, and a class goes from records to objects and back by its attributes (see `values`).
Single elements go the same way, inside the smallest description that holds them.

The tables count for what a program changes in them, in subclasses or in the classes here:
attributes and elements that it adds are taken from, and put back into, what the reader keeps as
unknown; what it leaves out is not read; what it requires, or no longer requires, is checked so.

An object that was read keeps its record: unknown elements, comments and order stay there, and so do
the numbers as they were written (roll-pitch-yaw, an axis that is not a unit vector), as long as the
object's value is still the one that was made of them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from inspect import Parameter, Signature, signature
from itertools import takewhile
from typing import Any, ClassVar, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

from linkwork.errors import DescriptionError, InputError
from linkwork.faces.urdfpy.utils import Floats, caller_level
from linkwork.faces.urdfpy.values import Source, Value, Writer, scale_factors
from linkwork.formats.urdf import records
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import Reader
from linkwork.formats.urdf.schema import ELEMENTS, ROBOT, Element
from linkwork.formats.urdf.write import to_text

Attributes = Mapping[str, tuple[Any, bool]]
Elements = Mapping[str, tuple[Any, bool, bool]]


class Tables(NamedTuple):
    """The tables of a class of this face, before any program changed them."""

    attributes: Attributes
    elements: Elements
    tag: str


class URDFType:
    """The base of every element.

    ``_ATTRIBS`` maps the name of an XML attribute to (type, required); ``_ELEMENTS`` maps the name
    of an attribute to (class, required, multiple) of the children that it holds, whose tag is their
    class's; ``_TAG`` is the element's own tag. A subclass that is read by these tables gets their
    values as keywords of the same names, several children as a list. The classes of the standard
    have theirs from their checked attributes and the schema of URDF.
    """

    _ATTRIBS: ClassVar[Attributes] = {}
    _ELEMENTS: ClassVar[Elements] = {}
    _TAG: ClassVar[str] = ""
    kinematic: ClassVar[bool] = False  # whether poses of links depend on its attributes
    record: Any = None
    """The record of `linkwork.urdf` that it was read from; what has no attribute stays there."""

    reading: Mapping[str, Any] | None = None
    """The values of a record, which have been judged, while an object is made of them."""

    _RECORD: ClassVar[Any] = None  # the class of its records, if it is one of the standard's
    _needed: ClassVar[int | None] = None
    """The number of attributes that a constructor must be given; by default the first required."""
    _names: ClassVar[Sequence[str]] = ("name",)
    """The attributes that a copy prefixes."""
    _is_place: ClassVar[bool] = False  # whether messages on what is written name it
    _values: ClassVar[Mapping[str, Value]] = {}
    """Its attributes, in the order that the constructor takes them in."""
    _judged: ClassVar[Sequence[Value]] = ()  # those that a record may lack
    _required: ClassVar[Sequence[str]] = ()  # those that a constructor must be given
    _standard: ClassVar[Tables] = Tables({}, {}, "")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        every = [pair for kind in reversed(cls.__mro__) for pair in vars(kind).items()]
        cls._values = {name: value for name, value in every if isinstance(value, Value)}
        cls._judged = [v for v in cls._values.values() if type(v).judge is not Value.judge]
        needed = cls._needed
        if needed is None:
            first = takewhile(lambda v: v.required and not v.several, cls._values.values())
            needed = len(list(first))
        cls._required = list(cls._values)[:needed]
        cls.__signature__ = cls._signature()
        if cls.__module__.startswith(f"{__package__}."):
            cls._set_tables(ELEMENTS.get(cls._RECORD))

    @classmethod
    def _set_tables(cls, element: Element | None) -> None:
        """Make the tables of a class of the standard, whose element it is where it has a record."""
        values = cls._values.items()
        own = [(name, value) for name, value in values if element is None or name in element.known]
        cls._standard = Tables(
            {n: (v.kind, v.required) for n, v in own if v.kind and v.several is None},
            {n: (v.kind, v.required, v.several) for n, v in values if v.several is not None},
            cls._TAG if element is None else element.tag,
        )
        attributes, elements, tag = cls._standard
        tables = {"_ATTRIBS": dict(attributes), "_ELEMENTS": dict(elements), "_TAG": tag}
        for name, table in tables.items():
            setattr(cls, name, table)

    def __init__(self, *given: Any, **named: Any) -> None:
        fields = self._values
        values = {**dict(zip(fields, given, strict=False)), **named}
        lacking = [name for name in self._required if name not in values]
        if lacking or len(values) < len(given) + len(named) or not values.keys() <= fields.keys():
            takes = f"{type(self).__name__}{self._signature()}"
            what = f"'{lacking[0]}' is missing" if lacking else "other arguments came"
            raise TypeError(f"{takes}: {what}")
        for name in fields:
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
                Parameter(name, place, default=Parameter.empty if name in cls._required else None)
                for name in cls._values
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
            warnings.warn(f"{type(self).__name__}.copy: {text}", stacklevel=caller_level())
        return other

    def parts(self, seen: set[int] | None = None) -> Iterator[Any]:
        """This element and all in it, each once."""
        seen = set() if seen is None else seen
        if id(self) in seen:
            return
        seen.add(id(self))
        yield self
        for name in type(self)._ELEMENTS:
            for child in self._children(name):
                if isinstance(child, URDFType):
                    yield from child.parts(seen)

    def _held(self, name: str) -> Any:
        """The value of an attribute of `_ELEMENTS`."""
        return getattr(self, name)

    def _children(self, name: str) -> list[Any]:
        """The elements in an attribute of `_ELEMENTS`, one or several."""
        held = self._held(name)
        several = (held or []) if type(self)._ELEMENTS[name][2] else [held]
        return [child for child in several if child is not None]

    def _add_prefix(self, prefix: str) -> None:
        for name in self._names:
            if name in self._values and getattr(self, name) is not None:
                setattr(self, name, prefix + getattr(self, name))

    def _scale_lengths(self, factors: Floats) -> None:
        """Scale by three factors along its own axes."""

    def _open(self) -> None:
        """Read the file that it names now."""

    # from XML and to XML

    @classmethod
    def _from_xml(cls, node: Any, path: str, lazy_load_meshes: bool | None = None) -> Any:
        """The object that an XML element describes; ``path`` is the folder of its file.

        Meshes are opened when first asked for, or at once with ``lazy_load_meshes=False``.
        Raises: InputError or DescriptionError for what is missing or wrong.
        """
        if cls._RECORD is None:
            return cls(**cls._parse(node, path, lazy_load_meshes))
        place, xml = _PLACES[cls._RECORD], ET.tostring(_plain(node), encoding="unicode")
        for opened in reversed(place.tags):
            xml = f"{opened}{xml}</{_tag_of(opened)}>"
        findings = Findings(None)
        robot = Reader(xml.encode(), findings).read()
        if robot is None or findings.failed:
            raise findings.error()
        record: Any = robot
        for field in place.fields:
            held = getattr(record, field, None)
            record = next(iter(held), None) if isinstance(held, tuple) else held
        shape = cls._RECORD is records.Shape and record is not None
        if type(record) is not cls._RECORD and not shape:
            raise InputError(f"<{node.tag}> says nothing that a {cls.__name__} is made of")
        made = cls._of_judged(record, Source(os.path.join(path, "element.urdf") if path else None))
        for part in made.parts() if lazy_load_meshes is False else ():
            part._open()
        return made

    @classmethod
    def _parse(cls, node: Any, path: str, lazy_load_meshes: bool | None = None) -> dict[str, Any]:
        """The keywords of the tables, from an XML element.

        Raises: InputError for a required attribute or element that is missing, or an unreadable
        value.
        """
        texts = {name: node.get(name) for name in cls._ATTRIBS}
        children = {kind._TAG: node.findall(kind._TAG) for kind, _, _ in cls._ELEMENTS.values()}
        return cls._by_names(
            [*cls._ATTRIBS, *cls._ELEMENTS], texts, children, path, lazy_load_meshes
        )

    @classmethod
    def _by_names(
        cls,
        names: list[str],
        texts: Mapping[str, str | None],
        children: Mapping[str, list[Any]],
        path: str,
        lazy_load_meshes: bool | None = None,
    ) -> dict[str, Any]:
        """The keywords of some entries of the tables, from texts by name and elements by tag."""
        values: dict[str, Any] = {}
        options = {} if lazy_load_meshes is None else {"lazy_load_meshes": lazy_load_meshes}
        for name in names:
            if name in cls._ATTRIBS:
                kind, required = cls._ATTRIBS[name]
                text = texts.get(name)
                values[name] = None if text is None else _parsed(cls, name, kind, text)
                lacking = text is None and f"attribute '{name}'"
            else:
                kind, required, multiple = cls._ELEMENTS[name]
                nodes = children.get(kind._TAG, [])
                found = [kind._from_xml(child, path, **options) for child in nodes]
                values[name] = found if multiple else (found or [None])[0]
                lacking = not found and f"element <{kind._TAG}>"
            if required and lacking:
                raise _missing(cls, lacking)
        return values

    def _to_xml(self, parent: Any, path: str) -> Any:
        """This object as an XML element of ``xml.etree``; ``parent`` may be None.

        Raises: InputError for values that no file could hold.
        """
        del parent
        if self._RECORD is None:
            return self._unparse(path)
        place, made = _PLACES[self._RECORD], self._to_record(Writer())
        for host, field in zip(reversed(place.hosts), reversed(place.fields), strict=True):
            several = isinstance(getattr(host, field), tuple)
            made = replace(host, **{field: (made,) if several else made})
        element = ET.fromstring(to_text(made).encode())
        for tag in [*map(_tag_of, place.tags), self._standard.tag][1:]:
            element = next(child for child in element if child.tag == tag)
        element.tag, element.tail = self._TAG, None
        return element

    def _unparse(self, path: str) -> Any:
        """The XML element of the tables, from the attributes of the same names."""
        node = ET.Element(self._TAG)
        for name in self._ATTRIBS:
            value = getattr(self, name)
            if value is not None:
                node.set(name, _unparsed(value))
        for name in self._ELEMENTS:
            for child in self._children(name):
                node.append(child._to_xml(node, path))
        return node

    # from records and to records

    @classmethod
    def _kind_of(cls, name: str) -> Any:
        """The class that the table names for the children in an attribute."""
        return (cls._ELEMENTS.get(name) or cls._standard.elements[name])[0]

    @classmethod
    def _judge(cls, record: Any, source: Source, of: str = "") -> None:
        """Note as errors what the tables need and a record, named ``of``, does not say."""
        for value in cls._judged:
            value.judge(cls, record, source, of)

    @classmethod
    def _of_judged(cls, record: Any, source: Source) -> Any:
        """The object of a record, if there is nothing wrong with that."""
        cls._judge(record, source)
        if source.problems:
            raise DescriptionError(sorted(source.problems, key=lambda problem: problem.line))
        return cls._of_record(record, source)

    @classmethod
    def _of_record(cls, record: Any, source: Source, **more: Any) -> Any:
        """The object of a record; ``more`` is what its constructor takes beside its attributes."""
        values = {name: each.read(cls, record, source) for name, each in cls._values.items()}
        made = cls.__new__(cls)
        made.reading = values
        made.__init__(**cls._by_tables(values, record.extra, source), **more)
        made.record = record
        del made.reading
        return made

    def _to_record(self, writer: Writer) -> Any:
        """The record of an object."""
        if self._is_place:
            own = self._values.get("name")
            named = "" if own is None else f" '{own.__get__(self) or ''}'"
            writer.path.append(f"{self._standard.tag}{named}")
        fields: dict[str, Any] = {}
        for value in self._values.values():
            fields |= value.written(self, writer)
        made = self._RECORD(**fields) if self.record is None else replace(self.record, **fields)
        if self._is_place:
            writer.path.pop()
        return replace(made, extra=self._extra(made.extra))

    @classmethod
    def _added(cls) -> list[str]:
        """The attributes and children that the tables have beyond the standard."""
        tables = cls._standard
        added = [name for name in cls._ATTRIBS if name not in tables.attributes]
        return added + [name for name in cls._ELEMENTS if name not in tables.elements]

    @classmethod
    def _by_tables(
        cls, values: dict[str, Any], extra: records.Extra, source: Source
    ) -> dict[str, Any]:
        """The keywords of the constructor: what was read and tables name, and what they add.

        What they add comes from what the reader kept as unknown.

        Raises: InputError for something required that is not there, or that cannot be read.
        """
        tables = cls._standard
        if cls._ATTRIBS == tables.attributes and cls._ELEMENTS == tables.elements:
            return values
        kept: dict[str, Any] = {}
        for name, value in values.items():
            kind, required, *_ = {**cls._ATTRIBS, **cls._ELEMENTS}.get(name, (None, False))
            if kind is None and (name in tables.attributes or name in tables.elements):
                continue
            if required and (value is None or value == []):
                raise _missing(cls, f"'{name}'")
            standard_kind = tables.attributes.get(name, (kind,))[0]
            as_it_is = value is None or kind is standard_kind or name in tables.elements
            kept[name] = value if as_it_is else _parsed(cls, name, kind, _unparsed(value))
        texts: dict[str, str | None] = {}
        children: dict[str, list[Any]] = {}
        for each in extra:
            if each.within == tables.tag and isinstance(each, records.ExtraElement):
                children.setdefault(each.tag, []).append(ET.fromstring(each.xml))
            elif each.within == tables.tag and isinstance(each, records.ExtraAttribute):
                texts.setdefault(each.name, each.value)
        folder = "" if source.file is None else os.path.dirname(source.file)
        return kept | cls._by_names(cls._added(), texts, children, folder)

    @classmethod
    def _replaces(cls, each: records.ExtraElement | records.ExtraAttribute) -> bool:
        """Whether the tables have an attribute for what a record keeps as unknown."""
        names = [name for name in cls._added() if name in cls._ATTRIBS]
        if isinstance(each, records.ExtraElement):
            names = [cls._kind_of(name)._TAG for name in cls._added() if name in cls._ELEMENTS]
        said = each.tag if isinstance(each, records.ExtraElement) else each.name
        return each.within == cls._standard.tag and said in names

    def _extra(self, extra: records.Extra) -> records.Extra:
        """The unknown parts of a record, with those that a program's tables add as it is now."""
        added, tag = self._added(), self._standard.tag
        if not added:
            return extra
        made: list[records.ExtraElement | records.ExtraAttribute] = []
        for name in added:
            if name in self._ATTRIBS:
                value = getattr(self, name)
                if value is not None:
                    made.append(records.ExtraAttribute(tag, name, _unparsed(value)))
                continue
            for child in self._children(name):
                xml = ET.tostring(child._to_xml(None, ""), encoding="unicode")
                made.append(records.ExtraElement(tag, self._kind_of(name)._TAG, xml))
        return (*(each for each in extra if not self._replaces(each)), *made)


class URDFTypeWithMesh(URDFType):
    """The base of elements that hold meshes, or hold what holds them."""


def _is_turned(part: URDFType) -> bool:
    """Whether a part's frame has other directions than the frame that it stands in."""
    origin = part.__dict__.get("_origin")
    return origin is not None and not np.array_equal(origin[:3, :3], np.eye(3))


class _Place(NamedTuple):
    """The place of an element in a description: tags around it, records around it, their fields."""

    tags: tuple[str, ...] = ()
    hosts: tuple[Any, ...] = ()
    fields: tuple[str, ...] = ()


_HOSTS: dict[Any, tuple[str, Any]] = {
    records.Robot: ('<robot name="r">', records.Robot("r")),
    records.Link: ('<link name="l">', records.Link("l")),
    records.Joint: (
        '<joint name="j" type="fixed"><parent link="a"/><child link="b"/>',
        records.Joint("j", "fixed", "a", "b"),
    ),
    records.Transmission: ('<transmission name="t">', records.Transmission("t")),
    records.Visual: ("<visual>", records.Visual(None, records.ZERO, records.ZERO, None)),
    None: ("<geometry>", None),
}
"""The least of each element that others stand in: how it begins, and its record."""


def _places(element: Element, around: _Place) -> Iterator[tuple[Any, _Place]]:
    """The records below an element, each in its place, those further inside first."""
    opened, host = _HOSTS[element.record]
    around = around._replace(tags=(*around.tags, opened))
    if host is not None:
        around = around._replace(hosts=(*around.hosts, host))
    for child in element.children:
        place = around._replace(fields=(*around.fields, child.field)) if child.field else around
        for inner in child.elements:
            if inner.children and inner.record in _HOSTS:
                yield from _places(inner, place)
            if inner.record is not None:
                yield inner.record, place


_PLACES = {records.Robot: _Place(), **dict(_places(ROBOT, _Place()))}
_PLACES[records.Shape] = _PLACES[records.Box]._replace(tags=_PLACES[records.Box].tags[:-1])


def _tag_of(opened: str) -> str:
    return opened[1:].partition(">")[0].partition(" ")[0]


def _plain(node: Any) -> Any:
    """The element as one of ``xml.etree``; one of lxml has the same attributes."""
    made = ET.Element(str(node.tag), {str(k): str(v) for k, v in node.attrib.items()})
    made.text = node.text
    for child in node:
        if isinstance(child.tag, str):  # comments have a function there
            inner = _plain(child)
            inner.tail = child.tail
            made.append(inner)
    return made


def _missing(cls: type, what: str) -> InputError:
    """The error of something required that is not there."""
    return InputError(f"missing {what} when reading an object of type {cls.__name__}")


def _parsed(cls: type, name: str, kind: Any, text: str) -> Any:
    """The value of an attribute's text."""
    try:
        if kind is np.ndarray:
            return np.array([float(part) for part in text.split()])
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text.strip().lower()]
        return kind(text)
    except (KeyError, TypeError, ValueError):
        label = getattr(kind, "__name__", str(kind))
        raise InputError(f"{cls.__name__}.{name}: '{text:.80}' is no {label}") from None


def _unparsed(value: Any) -> str:
    """The text of an attribute: numbers as short as they read back exactly."""
    if isinstance(value, (np.ndarray, list, tuple)):
        return " ".join(repr(float(x)) for x in np.ravel(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
