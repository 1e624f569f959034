"""What a COLLADA file says of itself, and whether reading it stays within bounds.

One pass of expat over the elements; numbers are left to pycollada. Document types are refused, and
with them entities and what they load.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from linkwork.errors import InputError
from linkwork.geometry.guards import check_pieces, refuse, show

DEEPEST = 200
"""Elements inside each other."""

_PIECES = frozenset({"triangles", "polylist", "polygons", "tristrips", "trifans"})
_FREE = 8 * 2**20  # bytes of geometry that instances may add up to in any file
_TIMES = 8  # and as a multiple of the file
_VISIT = 128  # bytes that each showing of a node counts as, however little it holds
_LONGEST_CHAIN = 32  # nodes that show each other: pycollada looks through all of them for each
_MOST = 10**15
_NOT_A_NUMBER = re.compile(rb"[\s>+-]nan[\s<]", re.IGNORECASE)


@dataclass(slots=True)
class Collada:
    """What a COLLADA file says: metres a unit, the axis that is up, and its images as written.

    ``strided`` says whether an accessor of a shape skips numbers of its array.
    """

    unit: float = 1.0
    up: str = "Y_UP"
    images: list[str] = field(default_factory=list[str])
    strided: bool = False


def examine(data: bytes, path: Path) -> Collada:
    """What the file says of itself.

    Raises: InputError for what is no COLLADA, has a document type, nests too deep, has far more
    elements than bytes to show for, poses shapes by <lookat>, or whose instances of instances
    would fill the memory.
    """
    if not data:
        raise refuse(path, "the file is empty")
    scan = _Scan(path, 30_000 + len(data) // 32)
    try:
        scan.feed(data)
    except expat.ExpatError as error:
        message = f"no XML that can be read: {expat.ErrorString(error.code)}"
        raise refuse(path, f"{message} (line {error.lineno}, column {error.offset + 1})") from None
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise refuse(path, f"no XML that can be read: {error}") from None
    pieces, size = scan.shown()
    check_pieces(pieces, path)
    if size > max(_FREE, _TIMES * len(data)):
        raise refuse(path, "its instances of instances come to more than 8 times the file")
    return scan.found


@dataclass(slots=True)
class _Shape:
    """A geometry: its pieces and its bytes."""

    pieces: int = 0
    size: int = 0
    started: int = 0


@dataclass(slots=True)
class _Shown:
    """A node with all below it: pieces and bytes, and how many nodes show each other in a row."""

    pieces: int = 0
    size: int = _VISIT
    chain: int = 0


def _target(attributes: dict[str, str]) -> str:
    return attributes.get("url", "").lstrip("#")


class _Scan:
    """The handlers of the pass, and what they collect."""

    def __init__(self, path: Path, most: int) -> None:
        self.path, self.most = path, most
        self.found = Collada()
        self._look_at_numbers = False
        self.scenes: dict[str, list[int]] = {}
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._elements = 0
        self._within: list[str] = []
        self._text: list[str] = []
        self._shapes: dict[str, _Shape] = {}
        self._shape: _Shape | None = None
        # What nodes show, by their numbers: geometries, nodes within them, nodes by their names.
        self._nodes = 0
        self._shown: dict[int, list[str]] = {}
        self._within_node: dict[int, list[int]] = {}
        self._called: dict[int, list[str]] = {}
        self._open: list[int] = []
        self._named: dict[str, list[int]] = {}
        self._scene: list[int] | None = None
        self._chosen = ""
        self._unposed: dict[int, str] = {}
        self._source = ""
        self._array = ""
        self._accessor: dict[str, str] = {}
        self._params: list[str] = []
        self._positions: set[str] = set()
        self._not_numbers: dict[str, int] = {}
        self._starts: dict[str, Callable[[dict[str, str]], None]] = {
            "geometry": self._geometry,
            "node": self._node,
            "visual_scene": self._visual_scene,
            "instance_visual_scene": self._choose,
            "instance_node": self._show_node,
            "instance_geometry": self._show_geometry,
            "instance_controller": self._refuse_skin,
            "lookat": self._unread_pose,
            "skew": self._unread_pose,
            "unit": self._unit,
            "float_array": self._enter_array,
            "accessor": self._enter_accessor,
            "param": self._param,
            "source": self._enter_source,
            "input": self._input,
            "up_axis": self._listen,
            "init_from": self._listen,
            "ref": self._listen,  # of COLLADA 1.5, within init_from
        }

    def feed(self, data: bytes) -> None:
        """Go through the whole document.

        Raises: ExpatError, LookupError, UnicodeError, ValueError; InputError.
        """
        # Seldom; pycollada takes it for 0, which normals may be.
        self._look_at_numbers = _NOT_A_NUMBER.search(data) is not None
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.Parse(data, True)
        for source in self._positions & self._not_numbers.keys():
            count = self._not_numbers[source]
            raise refuse(self.path, f"{count:,} numbers of its vertices are not finite (nan)")

    def _doctype(self, *_: Any) -> None:
        raise refuse(self.path, "has a document type (<!DOCTYPE>), which is not read in a mesh")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        self._elements += 1
        if not self._within and tag != "COLLADA":
            raise refuse(self.path, f"no COLLADA file: its first element is <{show(tag)[:80]}>")
        if len(self._within) >= DEEPEST:
            raise refuse(self.path, f"more than {DEEPEST} elements inside each other")
        if self._elements > self.most:
            raise refuse(self.path, f"more than {self.most:,} elements")
        self._within.append(tag)
        handle = self._starts.get(tag)
        if handle is not None:
            handle(attributes)
        elif tag in _PIECES and self._shape is not None:
            self._shape.pieces += 1

    def _end(self, name: str) -> None:
        tag = name.rpartition(" ")[2]
        self._within.pop()
        if tag == "geometry" and self._shape is not None:
            self._shape.size = self._parser.CurrentByteIndex - self._shape.started
            self._shape = None
        elif tag == "node" and self._open:
            self._open.pop()
        elif tag == "visual_scene":
            self._scene = None
        elif tag == "accessor" and self._shape is not None:
            self._leave_accessor()
        elif tag in ("up_axis", "init_from", "ref") or (
            tag == "float_array" and self._look_at_numbers
        ):
            self._heard(tag)

    def _listen(self, _: dict[str, str]) -> None:
        self._text = []
        # Only here: numbers would otherwise pass through Python, too.
        self._parser.CharacterDataHandler = self._text.append

    def _heard(self, tag: str) -> None:
        self._parser.CharacterDataHandler = None
        text, self._text = "".join(self._text).strip(), []
        if tag == "float_array":
            bad = sum(word.lower().lstrip("+-") == "nan" for word in text.split())
            if bad:
                self._not_numbers[self._source] = bad
        elif tag == "up_axis" and self._within == ["COLLADA", "asset"]:
            self.found.up = text
        elif text and "image" in self._within:
            self.found.images.append(text)

    def _enter_source(self, attributes: dict[str, str]) -> None:
        self._source = attributes.get("id", "")

    def _input(self, attributes: dict[str, str]) -> None:
        if attributes.get("semantic") == "POSITION":
            self._positions.add(attributes.get("source", "").lstrip("#"))

    def _enter_array(self, attributes: dict[str, str]) -> None:
        self._array = attributes.get("id", "")
        if self._look_at_numbers:
            self._listen(attributes)

    def _enter_accessor(self, attributes: dict[str, str]) -> None:
        self._accessor, self._params = attributes, []

    def _param(self, attributes: dict[str, str]) -> None:
        self._params.append(attributes.get("name", ""))

    def _leave_accessor(self) -> None:
        """Note whether the accessor takes all numbers of its array; pycollada goes by its params.

        Raises: InputError where it reads another array.
        """
        first, each = int(self._accessor.get("offset", "0")), len(self._params)
        stride = int(self._accessor.get("stride", each))
        if first < 0 or stride < each:
            raise refuse(self.path, f"an accessor takes {each} of every {stride} from {first} on")
        if first or stride > each or not all(self._params):
            self.found.strided = True
        source = self._accessor.get("source", "")
        if source.lstrip("#") != self._array:
            message = f"an accessor reads '{show(source)[:80]}', which is not the array beside it"
            raise refuse(self.path, message)

    def _geometry(self, attributes: dict[str, str]) -> None:
        self._shape = _Shape(started=self._parser.CurrentByteIndex)
        self._shapes.setdefault(attributes.get("id", ""), self._shape)

    def _node(self, attributes: dict[str, str]) -> None:
        here = self._nodes
        self._nodes += 1
        if attributes.get("id"):
            self._named.setdefault(attributes["id"], []).append(here)
        if self._open:
            self._within_node.setdefault(self._open[-1], []).append(here)
        elif self._scene is not None:
            self._scene.append(here)
        self._open.append(here)

    def _visual_scene(self, attributes: dict[str, str]) -> None:
        self._scene = self.scenes.setdefault(attributes.get("id", ""), [])

    def _choose(self, attributes: dict[str, str]) -> None:
        self._chosen = _target(attributes)

    def _show_node(self, attributes: dict[str, str]) -> None:
        if self._open:
            self._called.setdefault(self._open[-1], []).append(_target(attributes))

    def _show_geometry(self, attributes: dict[str, str]) -> None:
        if self._open:
            self._shown.setdefault(self._open[-1], []).append(_target(attributes))

    def _unread_pose(self, _: dict[str, str]) -> None:
        if self._open:
            self._unposed[self._open[-1]] = self._within[-1]

    def _refuse_skin(self, _: dict[str, str]) -> None:
        raise refuse(self.path, "shows a skin or a morph (<instance_controller>), not read here")

    def _unit(self, attributes: dict[str, str]) -> None:
        if self._within[:-1] != ["COLLADA", "asset"] or "meter" not in attributes:
            return
        try:
            self.found.unit = float(attributes["meter"])
        except ValueError:
            self.found.unit = float("nan")
        if not 0 < self.found.unit < float("inf"):
            written = show(attributes["meter"])[:80]
            raise refuse(self.path, f"its unit is '{written}' metres; a positive number is needed")

    def shown(self) -> tuple[int, int]:
        """How many pieces the scene shows, and the bytes of them all, instances counted each.

        Raises: InputError without a scene, for nodes that show themselves or each other in a long
        row, and for shapes under a pose that is not read.
        """
        if self._chosen not in self.scenes:
            raise refuse(self.path, "has no <scene> with a <visual_scene>, so it shows nothing")
        done: dict[int, _Shown] = {}
        entered: set[int] = set()
        stack = list(range(self._nodes))
        while stack:
            here = stack[-1]
            called = [
                node for name in self._called.get(here, []) for node in self._named.get(name, [])
            ]
            below = [*self._within_node.get(here, []), *called]
            waiting = [node for node in below if node not in done]
            if here in done:
                stack.pop()
            elif waiting:
                # What was entered and is not done lies on the way from the root to here.
                entered.add(here)
                if not entered.isdisjoint(waiting):
                    raise refuse(self.path, "a node of its scene shows itself")
                stack.extend(waiting)
            else:
                done[here] = self._summed(here, [done[node] for node in below])
                chain = max((done[node].chain + 1 for node in called), default=0)
                done[here].chain = max(done[here].chain, chain)
                if chain > _LONGEST_CHAIN:
                    longest = f"more than {_LONGEST_CHAIN} nodes show each other in a row"
                    raise refuse(self.path, longest)
                stack.pop()
        roots = [done[node] for node in self.scenes[self._chosen]]
        return sum(each.pieces for each in roots), sum(each.size for each in roots)

    def _summed(self, node: int, below: list[_Shown]) -> _Shown:
        """A node with all below it."""
        shapes = [self._shapes[n] for n in self._shown.get(node, []) if n in self._shapes]
        found = _Shown(chain=max((each.chain for each in below), default=0))
        for each in (*shapes, *below):
            found.pieces = min(found.pieces + each.pieces, _MOST)
            found.size = min(found.size + each.size, _MOST)
        if found.pieces and node in self._unposed:
            pose = self._unposed[node]
            raise refuse(self.path, f"poses a shape by <{pose}>, which is not read; use <matrix>")
        return found
