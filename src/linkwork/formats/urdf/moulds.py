"""Elements of one shape: what their text between the values says, found out once.

A file has many elements that differ in the values of their attributes only: the joints of an arm,
the links of a program that wrote the file. What is left of such an element without its values is
its shape. From a shape it follows which value goes where in which record, on which line every
record begins, and which comments and unknown elements there are: its mould. `cuts` reads elements
whose mould is known with it, and all others as any.

A shape with something wrong in it has no mould, and a value that is wrong or odd is refused, so
every problem is found and told by `reader` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from linkwork.formats.urdf.convert import LONGEST, READ, SPACE
from linkwork.formats.urdf.nodes import WIDTH, Node, NoMouldError, parsed
from linkwork.formats.urdf.plans import DOCUMENT, TAGS, Branch, Memo, Plan
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement
from linkwork.formats.urdf.schema import Kind
from linkwork.formats.urdf.unknown import MISPLACED, Unknown

_ROBOT = DOCUMENT.children["robot"].plan
# Single numbers are mostly different, so they are read without asking whether they came before.
_READ = {list(Kind).index(kind): READ[kind] for kind in (Kind.NUMBER, Kind.FACTOR)}

Texts = list[str]
Stray = Callable[[Texts, int], Any]
"""From the values and the line of an element to what its record has besides its fields."""


@dataclass(slots=True)
class _Sample:
    """A text with gaps for values: what stands between the gaps, and which values fill them."""

    constants: list[str]
    numbers: list[int]

    def filled(self, texts: Texts) -> str:
        """The text with these values."""
        parts = [self.constants[0]]
        for number, constant in zip(self.numbers, self.constants[1:], strict=True):
            parts += ('"', texts[number], '"', constant)
        return "".join(parts)


class Recipe(NamedTuple):
    """How one record is made: a tuple, since it is taken apart for every record."""

    plan: Plan
    template: list[Any]
    line: int
    numbers: tuple[tuple[int, int, Callable[[str], float]], ...]  # place, which value, its reader
    values: tuple[tuple[int, int, int], ...]  # likewise, and the memo of its kind
    records: tuple[tuple[int, Recipe], ...]
    several: tuple[tuple[int, tuple[Recipe, ...]], ...]
    strays: tuple[tuple[int, tuple[Stray, ...]], ...]
    packed: int  # as in a plan
    upper: Callable[[Any], Any]


def made(recipe: Recipe, texts: Texts, line: int, memos: list[Memo], position: int = -1) -> Any:
    """The record of these values, which begins on this line.

    Raises: BadText for a value that is none, or odd.
    """
    plan, template, at, numbers, others, records, several, strays, packed, upper = recipe
    values = template.copy()
    values[at] += line
    for place, number, read in numbers:
        values[place] = read(texts[number])
    for place, number, memo in others:
        values[place] = memos[memo][texts[number]]
    for place, below in records:
        values[place] = made(below, texts, line, memos)
    if several:
        for place, recipes in several:
            values[place] = tuple([made(below, texts, line, memos) for below in recipes])
    if strays:
        for place, kept in strays:
            values[place] = tuple([stray(texts, line) for stray in kept])
    if packed:
        xx, xy, xz, yy, yz, zz = upper(values)
        values[packed] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        del values[plan.n_fields :]
    if position >= 0:
        values[plan.position] = position
    record = plan.draft(*values)
    record.__class__ = plan.record
    return record


@dataclass(slots=True)
class _Spec:
    """A recipe while it is found out."""

    plan: Plan
    template: list[Any]
    values: list[tuple[int, int, int]] = field(default_factory=list[Any])
    records: list[tuple[int, Recipe]] = field(default_factory=list[Any])
    several: dict[int, list[Recipe]] = field(default_factory=dict[int, Any])
    strays: dict[int, list[Stray]] = field(default_factory=dict[int, Any])
    packed: int = 0
    upper: Callable[[Any], Any] = tuple

    def recipe(self) -> Recipe:
        """What the record is made by."""
        plan, template = self.plan, self.template
        if plan.layout:
            template[plan.layout] = tuple(template[plan.layout])
        if not self.packed:
            del template[plan.n_fields :]
        return Recipe(
            plan,
            template,
            plan.line,
            tuple([(place, k, _READ[memo]) for place, k, memo in self.values if memo in _READ]),
            tuple([way for way in self.values if way[2] not in _READ]),
            tuple(self.records),
            tuple([(place, tuple(recipes)) for place, recipes in self.several.items()]),
            tuple([(place, tuple(strays)) for place, strays in self.strays.items()]),
            self.packed,
            self.upper,
        )


@dataclass(slots=True)
class Mould:
    """How elements of one shape below the root are read.

    ``recipe`` is None for an element that URDF does not have: its text is kept as it is.
    """

    index: int  # the field of the root that it goes to
    breaks: int  # line breaks between the values
    tabs: int
    tag: str
    recipe: Recipe | None
    name: int = -1  # which value is its name
    notes: list[Callable[[Unknown, int, str], None]] = field(default_factory=list[Any])


def mould(parts: list[str]) -> Mould:
    """The mould of the shape that has these parts between its values.

    Raises: NoMouldError.
    """
    return _Maker(parts).mould()


class _Maker:
    """Goes through one shape, with numbers for its values."""

    def __init__(self, parts: list[str]) -> None:
        shape = [parts[0]]
        for number, part in enumerate(parts[1:]):
            shape += (f"{number:0{WIDTH}d}", part)
        self.text = '"'.join(shape)
        self.tabs = sum(part.count("\t") for part in parts)
        self.used: list[int] = []
        self.count = len(parts) - 1
        self.notes: list[Callable[[Unknown, int, str], None]] = []

    def mould(self) -> Mould:
        """As the function."""
        node = parsed(self.text)
        branch = _ROBOT.children.get(node.tag)
        breaks = self.text.count("\n")
        if branch is None:
            if ":" in node.tag or "\n" in node.tag or node.tag in MISPLACED:
                raise NoMouldError
            self._note_element(_ROBOT, node.tag, 0)
            return Mould(_ROBOT.extra, breaks, self.tabs, node.tag, None, -1, self.notes)
        recipe = self._recipe(branch.plan, node, 0)
        if sorted(self.used) != list(range(self.count)):
            raise NoMouldError  # one stands where no value is
        name = next((number for place, number, _ in recipe.values if place == 0), -1)
        return Mould(branch.index, breaks, self.tabs, node.tag, recipe, name, self.notes)

    def _recipe(self, plan: Plan, node: Node, position: int) -> Recipe:
        spec = _Spec(plan, plan.template.copy())
        spec.template[plan.line] = node.line
        spec.template[plan.position] = position
        self._fill(plan, spec, node)
        self._children(plan, spec, node)
        return spec.recipe()

    def _fill(self, plan: Plan, spec: _Spec, node: Node) -> None:
        """The values of the attributes."""
        unknown: list[str] = []
        for name, text in node.attributes.items():
            if len(text) != WIDTH or not text.isdecimal():
                raise NoMouldError
            number = int(text)
            self.used.append(number)
            way = plan.ways.get(name)
            if way is not None:
                spec.values.append((way[0], number, way[1]))
                continue
            if "\n" in name:
                raise NoMouldError
            unknown.append(name)
            position = None if plan.template else spec.template[plan.count] - 1
            self._stray(spec, plan.extra, _attribute(plan.tag, name, number, position, node.line))
        if not plan.needed <= node.attributes.keys():
            raise NoMouldError
        if plan.packed:
            spec.packed, spec.upper = plan.packed, plan.upper
        if unknown:
            self._note_attributes(plan, unknown, node.line)

    def _stray(self, spec: _Spec, place: int, stray: Stray) -> None:
        spec.strays.setdefault(place, []).append(stray)

    def _children(self, plan: Plan, spec: _Spec, node: Node) -> None:
        """What stands in an element, for the record that it belongs to."""
        values = spec.template
        if any(text.strip(SPACE) for text in node.texts):
            raise NoMouldError
        for child in node.children:
            branch = plan.children.get(child.tag)
            position = values[plan.count]
            values[plan.count] = position + 1
            if plan.layout:
                values[plan.layout] = (*values[plan.layout], child.tag if branch else "")
            if branch is None:
                self._other(plan, spec, child, position)
                continue
            if not branch.repeated:
                if values[branch.seen]:
                    raise NoMouldError
                values[branch.seen] = True
            self._child(branch, spec, child, position)
        if not all(values[seen] for seen, _, _ in plan.needed_children):
            raise NoMouldError

    def _child(self, branch: Branch, spec: _Spec, node: Node, position: int) -> None:
        """An element that has its place."""
        plan, index, values = branch.plan, branch.index, spec.template
        if plan.text:
            text = self._text(node)
            if branch.repeated:
                values[index] = (*values[index], text)
            elif any(place == index for place, _, _ in spec.values):
                raise NoMouldError  # an attribute has filled the same field
            else:
                values[index] = text
        elif index < 0:
            self._fill(plan, spec, node)
            self._children(plan, spec, node)
        elif branch.repeated:
            spec.several.setdefault(index, []).append(self._recipe(plan, node, position))
        else:
            spec.records.append((index, self._recipe(plan, node, position)))

    def _text(self, node: Node) -> str:
        """The text of an element that holds one."""
        text = "".join(node.texts).strip(SPACE)
        if node.attributes or node.children or len(text) > LONGEST or '"' in text:
            raise NoMouldError
        return text

    def _other(self, plan: Plan, spec: _Spec, node: Node, position: int) -> None:
        """A comment or an unknown element."""
        if not node.tag:
            sample = self._sample(node.texts[0])
            self._stray(spec, plan.comments, _comment(plan.tag, sample, position, node.line))
            return
        if "\n" in node.tag or node.tag in MISPLACED:
            raise NoMouldError
        sample = self._sample(self.text[node.start : node.stop])
        stray = _element(plan.tag, node.tag, sample, position, node.line)
        self._stray(spec, plan.extra, stray)
        self._note_element(plan, node.tag, node.line)

    def _sample(self, text: str) -> _Sample:
        parts = text.split('"')
        try:
            numbers = [int(part) for part in parts[1::2]]
        except ValueError:
            raise NoMouldError from None
        if len(parts) % 2 == 0 or any(len(part) != WIDTH for part in parts[1::2]):
            raise NoMouldError
        self.used += numbers
        return _Sample(parts[::2], numbers)

    def _note_element(self, plan: Plan, tag: str, offset: int) -> None:
        known = tuple(plan.children)

        def note(unknown: Unknown, line: int, name: str) -> None:
            unknown.element(plan.tag, known, tag, tags=TAGS, line=line + offset, name=name)

        self.notes.append(note)

    def _note_attributes(self, plan: Plan, names: list[str], offset: int) -> None:
        def note(unknown: Unknown, line: int, name: str) -> None:
            unknown.attributes(plan.tag, plan.places, names, line=line + offset, name=name)

        self.notes.append(note)


def _attribute(
    tag: str, name: str, number: int, position: int | None, offset: int
) -> Callable[[Texts, int], ExtraAttribute]:
    return lambda texts, line: ExtraAttribute(tag, name, texts[number], position, line + offset)


def _comment(
    tag: str, sample: _Sample, position: int, offset: int
) -> Callable[[Texts, int], Comment]:
    return lambda texts, line: Comment(tag, sample.filled(texts), position, line + offset)


def _element(
    within: str, tag: str, sample: _Sample, position: int, offset: int
) -> Callable[[Texts, int], ExtraElement]:
    return lambda texts, line: ExtraElement(
        within, tag, sample.filled(texts), position, line + offset
    )
