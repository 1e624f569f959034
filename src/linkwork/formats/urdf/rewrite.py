"""The text of a description with a few changes in it: what did not change stays byte for byte.

The nodes that the source says and the nodes that it is to say are compared, element by element;
``position`` tells which element of the source a node is. Only what differs is written: a value
between its quotes, an element in the indentation of its neighbours. A rewritten text is read back,
so that a source with oddities (an element twice, of which one counts) never comes to say something
else; such a link or joint is then written anew as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwork.formats.urdf.schema import ROBOT, Child, Element

# ---- XML that is to be written

STEP = "  "
"""The indentation of an element's inside."""


@dataclass(slots=True, eq=False)
class Node:
    """An element, or where ``tag`` is empty XML that is taken as it is (``text``).

    ``attributes`` are escaped; from ``ordered`` on they are those that are kept in their order,
    since they fill no field. ``text`` of an element is all that stands in it. ``position`` is
    that of the record, or its place in the layout of the record; None for what was made in code.
    ``silent`` is a comment. ``whose`` names the record where something unknown stands in it.
    """

    tag: str
    attributes: dict[str, str]
    position: int | None
    children: list[Node] = field(default_factory=list["Node"])
    text: str | None = None
    silent: bool = False
    whose: str = ""
    ordered: int = 0

    @property
    def in_order(self) -> list[str]:
        """The names of the attributes whose order counts."""
        return list(self.attributes)[self.ordered :]

    def same(self, other: Node) -> bool:
        """Whether two nodes are the same XML, whatever the order of attributes with fields."""
        return (
            self.tag == other.tag
            and self.attributes == other.attributes
            and self.in_order == other.in_order
            and self.text == other.text
            and len(self.children) == len(other.children)
            and all(a.same(b) for a, b in zip(self.children, other.children, strict=True))
        )

    def says(self) -> Any:
        """The content of an element for a reader of the robot: all but comments."""
        children = [child.says() for child in self.children if not child.silent]
        return self.tag, self.attributes, self.in_order, self.text, children


def lines_of(node: Node, indent: str, step: str) -> Iterator[tuple[str, str]]:
    """The lines of a node, each with the record to which unknown XML in it belongs, or nothing."""
    if not node.tag:
        yield indent + (node.text or ""), node.whose
        return
    opening = f"{indent}<{node.tag}" + "".join(f' {k}="{v}"' for k, v in node.attributes.items())
    if node.text is not None:
        yield f"{opening}>{node.text}</{node.tag}>", node.whose
    elif not node.children:
        yield f"{opening}/>", node.whose
    else:
        yield f"{opening}>", node.whose
        for child in node.children:
            yield from lines_of(child, indent + step, step)
        yield f"{indent}</{node.tag}>", ""


# ---- changes of a text

Said = Callable[[str], "list[Node] | None"]

_TOKEN = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<(?:[^>\"'!?]|\"[^\"]*\"|'[^']*')+>", re.DOTALL
)
_TAG_NAME = re.compile(r"</?([^\s/>]+)")
_ATTRIBUTE = re.compile(r"\s+([^\s=]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.DOTALL)
_NUMBERS = re.compile(r"[0-9eE+\-. ]+")
_BREAK = re.compile(r"\r\n|\n|\r")


def rewritten(text: str, before: Sequence[Node], nodes: Sequence[Node], said: Said) -> str | None:
    """The text that says ``before``, changed to say ``nodes``; None where that fails.

    ``said`` gives the nodes that a text says, None for one that cannot be read.
    """
    old, new = _around(before), _around(nodes)
    if old.same(new):
        return text
    wanted = new.says()
    for whole in (False, True):
        edits = _Edits(text, whole=whole)
        edits.document(old, new)
        changed = edits.applied()
        found = said(changed)
        if found is not None and _around(found).says() == wanted:
            return changed
    return None


def _around(nodes: Sequence[Node]) -> Node:
    """The content of a file, as one node without a name of its own."""
    return Node("document", {}, None, list(nodes))


# the source


@dataclass(slots=True)
class SourceElement:
    """An element of the source, or a comment or instruction (no ``tag``), by its offsets.

    ``inside`` is where its content begins, ``close`` where its end tag does; both are ``end`` for
    an element that is closed at once. ``attributes`` gives the whole of each and its value.
    """

    tag: str
    start: int
    inside: int
    close: int = 0
    end: int = 0
    children: list[SourceElement] = field(default_factory=list["SourceElement"])

    @property
    def alone(self) -> bool:
        """Whether its one tag is both begin and end."""
        return self.inside == self.end

    def attributes(self, text: str) -> dict[str, tuple[int, int, int, int]]:
        """Name to the begin and end of an attribute with the space before it, and of its value."""
        name = _TAG_NAME.match(text, self.start)
        found: dict[str, tuple[int, int, int, int]] = {}
        at = name.end() if name else self.start
        while match := _ATTRIBUTE.match(text, at, self.inside):
            group = 2 if match[2] is not None else 3
            found[match[1]] = (match.start(), match.end(), match.start(group), match.end(group))
            at = match.end()
        return found


def scanned(text: str) -> SourceElement:
    """The elements of well-formed XML, with what stands around the root."""
    document = SourceElement("document", 0, 0, len(text), len(text))
    stack = [document]
    for match in _TOKEN.finditer(text):
        token, start, end = match[0], match.start(), match.end()
        if token.startswith("</"):
            element = stack.pop()
            element.close, element.end = start, end
        elif token.startswith("<!--") or token.startswith("<?"):
            if not token.startswith("<?xml") or token[5:6].strip():
                stack[-1].children.append(SourceElement("", start, end, end, end))
        elif not token.startswith("<!"):
            name = _TAG_NAME.match(token)
            element = SourceElement(name[1] if name else "", start, end, end, end)
            stack[-1].children.append(element)
            if not token.endswith("/>"):
                stack.append(element)
    return document


def _part(spec: Element, tag: str) -> Child | None:
    return next((part for part in spec.children if tag in part.tags), None)


def _numbered(element: SourceElement, spec: Element) -> Iterator[SourceElement]:
    """The items in the element of a record, in the order of ``position``."""
    seen: set[str] = set()
    for child in element.children:
        yield child
        part = _part(spec, child.tag)
        if part is None or part.records or (not part.repeated and child.tag in seen):
            continue
        seen.add(child.tag)
        if part.inline:
            yield from _numbered(child, part.inline)
        else:
            yield from child.children


# the changes


class _Edits:
    """The replacements in a text that make one node out of another.

    With ``whole`` every element in the root that changes is written anew.
    """

    def __init__(self, text: str, *, whole: bool) -> None:
        self.text, self.whole = text, whole
        self.replaced: list[tuple[int, int, str]] = []
        found = _BREAK.search(text)
        self.newline = found[0] if found else ""
        self.source = scanned(text)
        root = next(child for child in self.source.children if child.tag)
        self.step = self._indent_in(root) or STEP

    def document(self, old: Node, new: Node) -> None:
        """Root and comments around it."""
        self._inside(self.source, None, old, new, dict(enumerate(self.source.children)))

    def applied(self) -> str:
        """The text with all replacements; two at one place in the order in which they came."""
        pieces: list[str] = []
        at = 0
        for start, end, piece in sorted(self.replaced, key=lambda edit: edit[:2]):
            pieces += [self.text[at:start], piece]
            at = max(at, end)
        return "".join([*pieces, self.text[at:]])

    def _replace(self, start: int, end: int, piece: str) -> None:
        self.replaced.append((start, end, piece))

    def _element(
        self,
        source: SourceElement,
        spec: Element | None,
        old: Node,
        new: Node,
        places: dict[int, SourceElement],
    ) -> None:
        """One element whose node changed."""
        self._attributes(source, old, new)
        if new.text is None:
            self._inside(source, spec, old, new, places)
        elif new.text != old.text:
            if source.alone:
                self._open(source, new.text)
            else:
                self._replace(source.inside, source.close, new.text)

    def _attributes(self, source: SourceElement, old: Node, new: Node) -> None:
        present = source.attributes(self.text)
        behind = max((whole[1] for whole in present.values()), default=0)
        if not behind:
            name = _TAG_NAME.match(self.text, source.start)
            behind = name.end() if name else source.start
        moved: set[str] = set()  # unknown ones behind one that stood behind them, or was not there
        last = 0
        for name in new.in_order:
            place = present[name][0] if name in present else behind
            if place < last:
                moved.add(name)
            last = max(last, place)
        for name, value in new.attributes.items():
            if name not in present or name in moved:
                self._replace(behind, behind, f' {name}="{value}"')
            elif (before := old.attributes.get(name)) != value:
                _, _, start, end = present[name]
                single = self.text[start - 1] == "'"
                fit = _fitted(self.text[start:end], before, value)
                self._replace(start, end, fit.replace("'", "&apos;") if single else fit)
        gone = (old.attributes.keys() - new.attributes.keys()) & present.keys()
        for name in gone | moved:
            self._replace(*present[name][:2], "")

    def _inside(
        self,
        source: SourceElement,
        spec: Element | None,
        old: Node,
        new: Node,
        places: dict[int, SourceElement],
    ) -> None:
        """The items of an element: changed in their places, put in, taken out."""
        own = {id(child): k for k, child in enumerate(source.children)}
        was: dict[int, Node] = {}
        for node in old.children:
            if node.position is not None and id(places.get(node.position)) in own:
                was[node.position] = node
        matched = _matched(was, new.children)
        kept: set[int] = set()
        anchor: SourceElement | None = None
        last = -1
        inserted: dict[int, tuple[SourceElement | None, list[str]]] = {}
        for node in new.children:
            place = matched.get(id(node))
            element = None if place is None else places[place]
            if place is not None and element is not None and own[id(element)] > last:
                last, anchor = own[id(element)], element
                kept.add(place)
                self._child(element, spec, was[place], node, places)
                continue
            lines = [line for line, _ in lines_of(node, "", self.step)]
            if place is not None and element is not None and was[place].same(node):  # moved
                lines = [self.text[element.start : element.end]]
            inserted.setdefault(last, (anchor, []))[1].extend(lines)
        for place in was.keys() - kept:
            self._take_out(places[place])
        if inserted:
            self._put_in(source, inserted)

    def _child(
        self,
        element: SourceElement,
        spec: Element | None,
        old: Node,
        new: Node,
        places: dict[int, SourceElement],
    ) -> None:
        if old.same(new):
            return
        if not new.tag:
            self._replace(element.start, element.end, new.text or "")
            return
        if self.whole and spec is ROBOT:
            indent = self._indent_of(element)
            lines = [line for line, _ in lines_of(new, indent or "", self.step)]
            between = "" if indent is None else self.newline
            self._replace(element.start, element.end, between.join(lines).lstrip())
            return
        part = _part(spec, element.tag) if spec else None
        below = ROBOT if spec is None else part and part.inline
        if part is not None and part.records:
            below = next(each for each in part.records.values() if each.tag == element.tag)
        if below is not None and not (part and part.inline):
            places = dict(enumerate(_numbered(element, below)))
        self._element(element, below, old, new, places)

    # white space

    def _indent_of(self, element: SourceElement) -> str | None:
        """The white space before an element; None where something else stands on its line."""
        start = element.start  # a line may hold the whole file: it is not looked at as far as that
        while start and self.text[start - 1] in " \t\ufeff":
            start -= 1
        blank = self.newline and (start == 0 or self.text[start - 1] in "\r\n")
        return self.text[start : element.start].lstrip("\ufeff") if blank else None

    def _line_before(self, element: SourceElement) -> str:
        """The text between the begin of the line and an element."""
        start = self.text.rfind("\n", 0, element.start)
        start = max(start, self.text.rfind("\r", start + 1, element.start))
        return self.text[start + 1 : element.start]

    def _indent_in(self, source: SourceElement) -> str | None:
        """The white space before what stands in an element; None where that is on one line."""
        own = self._indent_of(source) or ""
        indents = (self._indent_of(child) for child in source.children)
        found = next((indent for indent in indents if indent is not None), None)
        if source is self.source or found is not None:
            return found if found is not None else ("" if self.newline else None)
        if source.children or not self.newline:
            return None
        return own + getattr(self, "step", STEP)

    def _take_out(self, element: SourceElement) -> None:
        """Remove an element, with its lines where it has them for itself."""
        start, end = element.start, element.end
        indent = self._indent_of(element)
        behind = re.compile(r"[ \t]*(\r\n|\n|\r)").match(self.text, end)
        if indent is not None and behind:
            start, end = start - len(indent), behind.end()
        self._replace(start, end, "")

    def _put_in(
        self, source: SourceElement, inserted: dict[int, tuple[SourceElement | None, list[str]]]
    ) -> None:
        """Put lines behind their neighbours, or first where there is none."""
        indent = self._indent_in(source)
        before = "" if indent is None else self.newline + indent
        if source is not self.source and not self.text[source.inside : source.close].strip():
            lines = [line for _, group in inserted.values() for line in group]
            text = "".join(before + line for line in lines)
            if indent is not None:
                line = self._line_before(source)
                text += self.newline + line[: len(line) - len(line.lstrip(" \t"))]
            if source.alone:
                self._open(source, text)
            else:
                self._replace(source.inside, source.close, text)
            return
        for last, (anchor, lines) in inserted.items():
            at = source.inside if anchor is None else anchor.end
            if anchor is None and source is self.source:
                at = source.children[0].start  # behind the declaration
                text = "".join(line + (self.newline or "") for line in lines)
            else:
                text = "".join(before + line for line in lines)
                for comment in source.children[last + 1 :]:  # on the line of the neighbour
                    between = self.text[at : comment.start]
                    if anchor is None or comment.tag or between.strip() or _BREAK.search(between):
                        break
                    at = comment.end
            self._replace(at, at, text)

    def _open(self, element: SourceElement, inside: str) -> None:
        """Give an element that was closed at once something to hold."""
        end = element.end - 2
        start = end
        while self.text[start - 1] in " \t\r\n":
            start -= 1
        self._replace(start, element.end, f">{inside}</{element.tag}>")


def _matched(was: dict[int, Node], nodes: Sequence[Node]) -> dict[int, int]:
    """Node to the place in the source that it comes from, where there is one.

    Of several that say the same place (a copied record does) the one is taken that did not change,
    else one of the same name, else the first.
    """
    claims: dict[int, list[Node]] = {}
    for node in nodes:
        if node.position is None or node.position not in was:
            continue
        old = was[node.position]
        if old.tag == node.tag and old.silent == node.silent:
            claims.setdefault(node.position, []).append(node)
    matched: dict[int, int] = {}
    for place, several in claims.items():
        old = was[place]
        best = next((node for node in several if node.same(old)), None)
        if best is None:
            name = old.attributes.get("name")
            best = next((n for n in several if n.attributes.get("name") == name), several[0])
        matched[id(best)] = place
    return matched


def _fitted(text: str, old: str | None, new: str) -> str:
    """The new value; of several numbers those that did not change stay as they were written."""
    numbers = None if old is None else old.split()
    pieces, values = re.split(r"(\s+)", text.strip()), new.split()
    plain = old is not None and _NUMBERS.fullmatch(old) and _NUMBERS.fullmatch(new)
    if not plain or not numbers or len(values) != len(numbers) or len(numbers) < 2:
        return new
    if len(pieces) != 2 * len(numbers) - 1:
        return new
    for k, (number, value) in enumerate(zip(numbers, values, strict=True)):
        if number != value:
            pieces[2 * k] = value
    lead = text[: len(text) - len(text.lstrip())]
    return lead + "".join(pieces) + text[len(text.rstrip()) :]
