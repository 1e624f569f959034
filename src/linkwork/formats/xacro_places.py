"""Which file and line the elements of an expanded xacro file come from.

The `xacro` package works on ``xml.dom.minidom``, which forgets lines. Here a document is built
whose elements have a ``place``; copies keep it, and the text that is written at last knows it for
each of its lines. Errors and warnings find theirs in the functions of the package that are running.

This module is used in the process that expands the file (`xacro_child`).
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NoReturn
from xml.dom import expatbuilder, minidom

from linkwork.formats.xacro_guard import RefusedError

DEEPEST = 256
"""How deep elements may stand in each other in a file that is read."""


class Builder(expatbuilder.ExpatBuilderNS):
    """A document whose elements have a ``place``: file and line."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.file_name, self.depth = name, 0

    def install(self, parser: Any) -> None:
        """Watch for document types as well."""
        super().install(parser)
        parser.StartDoctypeDeclHandler = self.refuse_doctype

    def refuse_doctype(self, *_: Any) -> NoReturn:
        """A document type can define entities: none is read."""
        line = self.getParser().CurrentLineNumber
        raise _at(RefusedError("doctype", "a document type is not read"), (self.file_name, line))

    def start_element_handler(self, name: str, attributes: Any) -> None:
        """Begin an element."""
        super().start_element_handler(name, attributes)
        line = self.getParser().CurrentLineNumber
        vars(self.curNode)["place"] = (self.file_name, line)
        self.depth += 1
        if self.depth > DEEPEST:
            error = RefusedError(
                "too-deep", f"elements stand more than {DEEPEST} deep in each other"
            )
            raise _at(error, (self.file_name, line))

    def end_element_handler(self, name: str) -> None:
        """End an element."""
        super().end_element_handler(name)
        self.depth -= 1


def _at(error: Exception, place: tuple[str, int]) -> Exception:
    vars(error)["place"] = place
    return error


def keep_places() -> None:
    """Copies of a node (a macro's body, a block) have the place of what they are copied from."""
    module: Any = minidom
    clone: Callable[..., Any] = module._clone_node

    def placed(node: Any, deep: Any, owner: Any) -> Any:
        made = clone(node, deep, owner)
        if made is not None and hasattr(node, "place"):
            made.place = node.place
        return made

    module._clone_node = placed


class Written(io.StringIO):
    """The text, and for each of its lines the place of the last element that begins in it."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self.places: list[tuple[str, int] | None] = [None]
        self.left = largest

    def write(self, text: str) -> int:
        """Append a piece."""
        self.left -= len(text)
        if self.left < 0:
            raise RefusedError("xacro-size", "the URDF that it expands to is too large")
        self.places.extend([None] * text.count("\n"))
        return super().write(text)


def written(document: Any, largest: int) -> Written:
    """A document as text, at most ``largest`` characters. Changes how elements are written."""
    out = Written(largest)
    element: Any = minidom.Element
    write = element.writexml

    def marked(node: Any, writer: Any, *layout: Any) -> None:
        out.places[-1] = getattr(node, "place", None)
        write(node, writer, *layout)

    element.writexml = marked
    document.writexml(out, "", "  ", "\n")
    return out


def place_of(error: BaseException, files: Sequence[str | None]) -> tuple[str, int]:
    """Where the element stands that was being expanded: the innermost one of the traceback."""
    found: tuple[str, int] = ((files[-1] if files else None) or "", 0)
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        for frame in _frames(current.__traceback__):
            found = _place_in(frame) or found
        current = None if found[1] else current.__context__
    return found


def _place_in(names: Mapping[str, Any]) -> tuple[str, int] | None:
    """The place of the element that a function of the package works on."""
    for name in ("node", "elt"):
        node = names.get(name)
        while node is not None and not hasattr(node, "place"):
            node = getattr(node, "parentNode", None)
        if node is not None:
            return node.place
    return None


def _frames(trace: TracebackType | None) -> Iterator[Mapping[str, Any]]:
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__") == "xacro":
            yield trace.tb_frame.f_locals
        trace = trace.tb_next


class Warnings:
    """What the package warns of, each with the place of the element that it is about."""

    def __init__(self) -> None:
        self.found: list[tuple[str, tuple[str, int] | None]] = []

    def __call__(self, *words: object, **_: object) -> None:
        """Note a warning, as `xacro.warning` is called."""
        place, frame = None, inspect.currentframe()
        while frame is not None and place is None:
            if frame.f_globals.get("__name__") == "xacro":
                place = _place_in(frame.f_locals)
            frame = frame.f_back
        said = (" ".join(map(str, words))[:1000], place)
        if said not in self.found and len(self.found) < 1000:
            self.found.append(said)
