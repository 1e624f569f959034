"""COLLADA files: what one says of itself, whether reading it stays within bounds, and plain forms.

One pass of expat makes the tree of elements, within limits; numbers are left to pycollada. Document
types are refused, and with them entities and what they load.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element
from xml.parsers import expat

from linkwork.errors import InputError
from linkwork.geometry.guards import check_pieces, refuse, show

DEEPEST = 200
"""Elements inside each other."""

_PIECES = frozenset({"triangles", "polylist", "polygons", "tristrips", "trifans"})
_FREE = 8 * 2**20  # characters of geometry that instances may add up to in any file
_TIMES = 8  # and as a multiple of the file
_VISIT = 128  # characters that each showing of a node counts as, however little it holds
_LONGEST_CHAIN = 32  # nodes that show each other: pycollada looks through all of them for each
_MOST = 10**15
_NAN = re.compile(r"nan", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Collada:
    """The head of a COLLADA file: metres a unit, the axis that is up, its images as written.

    ``strided`` says whether an accessor of a shape skips numbers of its array.
    """

    unit: float
    up: str
    images: tuple[str, ...]
    strided: bool


def examine(data: bytes, path: Path) -> Collada:
    """The head of the file, which was seen to be within bounds.

    Raises: InputError for what is no COLLADA, has a document type, nests too deep, has far more
    elements than bytes to show for, poses shapes by <lookat>, or whose instances of instances
    would fill the memory.
    """
    if not data:
        raise refuse(path, "the file is empty")
    try:
        root = _tree(data, path)
        strided = _has_strided_accessors(root, path)
    except expat.ExpatError as error:
        message = f"no XML that can be read: {expat.ErrorString(error.code)}"
        raise refuse(path, f"{message} (line {error.lineno}, column {error.offset + 1})") from None
    except (LookupError, UnicodeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise refuse(path, f"no XML that can be read: {error}") from None
    _check_positions(root, path)
    _check_instances(root, path, len(data))
    written = "1"
    for unit in root.iterfind("asset/unit"):
        written = unit.get("meter", written)
    try:
        metres = float(written)
    except ValueError:
        metres = float("nan")
    if not 0 < metres < float("inf"):
        message = f"its unit is '{show(written)[:80]}' metres; a positive number is needed"
        raise refuse(path, message)
    names = (e.text or "" for image in root.iter("image") for e in image.iter()
             if e.tag in ("init_from", "ref"))  # fmt: skip
    up = root.find("asset/up_axis")
    return Collada(
        metres,
        "Y_UP" if up is None else (up.text or "").strip(),
        tuple(name.strip() for name in names if name.strip()),
        strided,
    )


def _tree(data: bytes, path: Path) -> Element:
    """The elements, without their name space."""
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate(namespace_separator=" ")
    depth = count = 0
    most = 30_000 + len(data) // 32

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        tag = name.rpartition(" ")[2]
        depth, count = depth + 1, count + 1
        if depth == 1 and tag != "COLLADA":
            raise refuse(path, f"no COLLADA file: its first element is <{show(tag)[:80]}>")
        if depth > DEEPEST:
            raise refuse(path, f"more than {DEEPEST} elements inside each other")
        if count > most:
            raise refuse(path, f"more than {most:,} elements")
        if tag == "instance_controller":
            raise refuse(path, "shows a skin or a morph (<instance_controller>), not read here")
        builder.start(tag, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(name.rpartition(" ")[2])

    def doctype(*_: Any) -> None:
        raise refuse(path, "has a document type (<!DOCTYPE>), which is not read in a mesh")

    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = doctype
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.Parse(data, True)
    return builder.close()


def _has_strided_accessors(root: Element, path: Path) -> bool:
    """Whether an accessor of a shape skips numbers; pycollada goes by its params alone.

    Raises: InputError where one reads another array; ValueError for what are no whole numbers.
    """
    strided = False
    for source in root.iterfind(".//geometry//source"):
        arrays = [each.get("id", "") for each in source if each.tag.endswith("_array")]
        for accessor in source.iter("accessor"):
            params = [param.get("name", "") for param in accessor.iter("param")]
            first, each = int(accessor.get("offset", "0")), len(params)
            stride = int(accessor.get("stride", each))
            if first < 0 or stride < each:
                raise refuse(path, f"an accessor takes {each} of every {stride} from {first} on")
            strided = strided or bool(first) or stride > each or not all(params)
            named = accessor.get("source", "")
            if named.lstrip("#") not in arrays:
                message = f"an accessor reads '{show(named)[:80]}'"
                raise refuse(path, f"{message}, which is not the array beside it")
    return strided


def _check_positions(root: Element, path: Path) -> None:
    """See whether the vertices are finite: pycollada takes nan for 0, which normals may be."""
    inputs = [e for e in root.iter("input") if e.get("semantic") == "POSITION"]
    positions = {each.get("source", "").lstrip("#") for each in inputs}
    for source in root.iter("source"):
        if source.get("id", "") not in positions:
            continue
        for array in source.iter("float_array"):
            text = array.text or ""
            bad = _NAN.search(text) and sum(
                word.lower().lstrip("+-") == "nan" for word in text.split()
            )
            if bad:
                raise refuse(path, f"{bad:,} numbers of its vertices are not finite (nan)")


# instances of instances


@dataclass(slots=True)
class _Shown:
    """A shape, or a node with all below it: pieces, characters, nodes that show each other."""

    pieces: int = 0
    size: int = 0
    chain: int = 0


def _check_instances(  # noqa: C901 -- one walk
    root: Element, path: Path, length: int
) -> None:
    """See how many pieces the scene shows, and how large they all are, instances counted each.

    Raises: InputError without a scene, for nodes that show themselves or each other in a long
    row, for shapes under a pose that is not read, and for what would fill the memory.
    """
    shapes: dict[str, _Shown] = {}
    for geometry in root.iter("geometry"):
        size = sum(len(each.text or "") for each in geometry.iter())
        pieces = sum(each.tag in _PIECES for each in geometry.iter())
        shapes.setdefault(geometry.get("id", ""), _Shown(pieces, size))
    named: dict[str, list[Element]] = {}
    for node in root.iter("node"):
        named.setdefault(node.get("id", ""), []).append(node)
    named.pop("", None)
    done: dict[Element, _Shown] = {}
    entered: set[Element] = set()
    waiting = list(root.iter("node"))
    while waiting:
        node = waiting[-1]
        called = [each for name in _urls(node, "instance_node") for each in named.get(name, [])]
        below = [*node.findall("node"), *called]
        unknown = [each for each in below if each not in done]
        if node in done or not unknown:
            waiting.pop()
            if node not in done:
                own = [shapes[n] for n in _urls(node, "instance_geometry") if n in shapes]
                inside = [*own, *(done[each] for each in below)]
                chains = [*(each.chain for each in inside), *(done[c].chain + 1 for c in called)]
                done[node] = whole = _Shown(
                    min(sum(each.pieces for each in inside), _MOST),
                    min(_VISIT + sum(each.size for each in inside), _MOST),
                    max(chains, default=0),
                )
                for tag in ("lookat", "skew"):
                    if whole.pieces and node.find(tag) is not None:
                        message = f"poses a shape by <{tag}>, which is not read; use <matrix>"
                        raise refuse(path, message)
                if whole.chain > _LONGEST_CHAIN:
                    longest = f"more than {_LONGEST_CHAIN} nodes show each other in a row"
                    raise refuse(path, longest)
        else:
            entered.add(node)  # what was entered and is not done lies on the way from the root
            if not entered.isdisjoint(unknown):
                raise refuse(path, "a node of its scene shows itself")
            waiting.extend(unknown)
    chosen = [
        url for scene in root.findall("scene") for url in _urls(scene, "instance_visual_scene")
    ]
    scenes = [s for s in root.iter("visual_scene") if chosen and s.get("id", "") == chosen[-1]]
    if not scenes:
        raise refuse(path, "has no <scene> with a <visual_scene>, so it shows nothing")
    roots = [done[node] for scene in scenes for node in scene.findall("node")]
    check_pieces(sum(each.pieces for each in roots), path)
    if sum(each.size for each in roots) > max(_FREE, _TIMES * length):
        raise refuse(path, "its instances of instances come to more than 8 times the file")


def _urls(element: Element, tag: str) -> list[str]:
    return [each.get("url", "").lstrip("#") for each in element.findall(tag)]


# plain forms, for what pycollada cannot read


def without(data: bytes, tags: frozenset[str]) -> bytes:
    """A COLLADA file without the elements of these tags."""
    root = ElementTree.fromstring(data)
    for element in list(root.iter()):
        element[:] = [child for child in element if child.tag.rpartition("}")[2] not in tags]
    return _document(root)


def plain_accessors(data: bytes) -> bytes:
    """A COLLADA file whose accessors take every number of their array, from the first on."""
    root = ElementTree.fromstring(data)
    for source in root.iterfind(".//{*}source"):
        array = source.find("{*}float_array")
        accessor = source.find("{*}technique_common/{*}accessor")
        if array is None or accessor is None:
            continue
        every, numbers = accessor.findall("{*}param"), (array.text or "").split()
        used = [k for k, param in enumerate(every) if param.get("name")]
        stride, first = int(accessor.get("stride", len(every))), int(accessor.get("offset", "0"))
        rows = range(first, len(numbers) - max(used, default=0), max(stride, 1))
        rows = rows[: max(int(accessor.get("count", len(rows))), 0)]
        array.text = " ".join(numbers[row + k] for row in rows for k in used)
        accessor.attrib.update(stride=str(len(used)), offset="0")
        accessor[:] = [every[k] for k in used]
    return _document(root)


def _document(root: Element) -> bytes:
    if root.tag.startswith("{"):
        ElementTree.register_namespace("", root.tag[1:].partition("}")[0])
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
