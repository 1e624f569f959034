"""The tree of a description as text for others to draw: Mermaid, DOT, and a finished SVG picture.

Links are boxes, joints the lines between them, with name and type; a dotted line leads from a joint
that mimics another one to its leader. Any name is a label: what a format takes for markup is
escaped.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import escape

from linkwork.errors import InputError
from linkwork.formats.tidy_tree import positions
from linkwork.formats.urdf.records import Joint, Robot

Direction = Literal["down", "right"]

LONGEST_LABEL = 48
"""Characters of a label in a picture; a longer name is cut, and whole in its tooltip."""


@dataclass(frozen=True, slots=True)
class _Tree:
    """The links as numbers, root first and parents before children, and the joint above each."""

    links: tuple[str, ...]
    joints: tuple[Joint | None, ...]
    parents: tuple[int, ...]
    leaders: tuple[tuple[int, int], ...]  # below a follower, below its leader

    def labels(self) -> list[str]:
        """What stands at the line above each link."""
        return [f"{joint.name} ({joint.type})" if joint else "" for joint in self.joints]


def _tree(robot: Robot) -> _Tree:
    below: dict[str, list[Joint]] = {link.name: [] for link in robot.links}
    children: set[str] = set()
    for joint in robot.joints:
        if joint.parent in below:
            below[joint.parent].append(joint)
            children.add(joint.child)
    roots = [link.name for link in robot.links if link.name not in children]
    links: list[str] = []
    joints: list[Joint | None] = []
    parents: list[int] = []
    waiting: list[tuple[str, Joint | None, int]] = [(name, None, -1) for name in roots[:1]]
    while waiting:
        link, joint, parent = waiting.pop()
        if link in below:
            waiting += [(j.child, j, len(links)) for j in reversed(below.pop(link))]
            links.append(link)
            joints.append(joint)
            parents.append(parent)
    if len(links) != len(robot.links) or len(robot.joints) != len(links) - 1:
        raise InputError(f"the links and joints of '{robot.name}' are no tree; check it first")
    at = {joint.name: k for k, joint in enumerate(joints) if joint is not None}
    leaders = tuple(
        (k, at[joint.mimic.joint])
        for k, joint in enumerate(joints)
        if joint is not None and joint.mimic is not None and joint.mimic.joint in at
    )
    return _Tree(tuple(links), tuple(joints), tuple(parents), leaders)


# Mermaid and DOT


def mermaid(robot: Robot) -> str:
    """The tree as a Mermaid flowchart, root on top.

    Source: https://mermaid.js.org/syntax/flowchart.html

    Raises: InputError for records that are no tree.
    """
    tree = _tree(robot)
    lines = ["flowchart TD"]
    lines += [f'  n{k}["{_for_mermaid(name)}"]' for k, name in enumerate(tree.links)]
    for k, (parent, label) in enumerate(zip(tree.parents, tree.labels(), strict=True)):
        if parent >= 0:
            lines.append(f'  n{parent} -->|"{_for_mermaid(label)}"| n{k}')
    lines += [f'  n{a} -.->|"mimics"| n{b}' for a, b in tree.leaders]
    return "\n".join(lines) + "\n"


def _for_mermaid(text: str) -> str:
    """A text between quotes: all ASCII signs but a few as #number; which Mermaid reads back."""
    return re.sub(r"[^\w\s./()-]|_(?=_)", lambda m: f"#{ord(m[0])};", " ".join(text.split()))


def dot(robot: Robot) -> str:
    """The tree as a Graphviz graph, root on top.

    Source: https://graphviz.org/doc/info/lang.html

    Raises: InputError for records that are no tree.
    """
    tree = _tree(robot)
    lines = [
        f"digraph {_for_dot(robot.name)} {{",
        '  graph [rankdir=TB, charset="UTF-8"];',
        '  node [shape=box, style=rounded, fontname="monospace", fontsize=11];',
        '  edge [fontname="monospace", fontsize=9];',
    ]
    lines += [f"  n{k} [label={_for_dot(name)}];" for k, name in enumerate(tree.links)]
    for k, (parent, joint) in enumerate(zip(tree.parents, tree.joints, strict=True)):
        if joint is not None:
            label = _for_dot(f"{joint.name}\n({joint.type})")
            style = ", style=dashed" if joint.type == "fixed" else ""
            lines.append(f"  n{parent} -> n{k} [label={label}{style}];")
    dotted = 'style=dotted, constraint=false, label="mimics"'
    lines += [f"  n{a} -> n{b} [{dotted}];" for a, b in tree.leaders]
    return "\n".join([*lines, "}"]) + "\n"


def _for_dot(text: str) -> str:
    """A quoted text, in which neither escapes nor entities mean anything but themselves."""
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return '"' + plain.replace("\r", " ").replace("\n", "\\n") + '"'


# SVG

_SIZE, _SMALL = 12.0, 10.0  # of letters, pixels
_LETTER = 0.602  # the width of a letter by its size, in the monospace fonts of browsers
_BOX, _PAD, _GAP = 22.0, 8.0, 14.0
_LAYER = 46.0  # between boxes of one layer and the next
_MARGIN = 12.0
_SAG = 14.0  # how far a dotted line leaves its layer
# Legible on white and on black: no background is drawn.
_STYLE = """<style>
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #fff; text-anchor: middle; }
text.j { font-size: 10px; fill: #7b7b7b; }
text.m { font-size: 10px; fill: #b8650a; }
rect { fill: #3d6489; }
path { fill: none; stroke: #8a8a8a; stroke-width: 1.2; }
path.f { stroke-dasharray: 4 3; }
path.c { stroke: #9467bd; stroke-dasharray: 1.5 3; stroke-linecap: round; stroke-width: 1.6; }
</style>"""


def svg(robot: Robot, direction: Direction | None = None) -> str:
    """The tree as a picture, with the root on top or (``direction="right"``) at the left.

    Without a direction the root is on top, unless the tree would be too wide for a screen. Names of
    joints that move are brown, those of fixed joints grey with a dashed line.

    Source: positions by `tidy_tree`; https://www.w3.org/TR/SVG11/

    Raises: InputError for records that are no tree.
    """
    tree = _tree(robot)
    if direction not in (None, "down", "right"):
        raise InputError(f"a direction is 'down' or 'right', not {direction!r}")
    if direction is not None:
        return _drawn(_laid_out(tree, direction), robot.name)
    both = [_laid_out(tree, "down"), _laid_out(tree, "right")]
    return _drawn(max(both, key=lambda picture: round(picture.fit(), 3)), robot.name)


@dataclass(frozen=True, slots=True)
class _Picture:
    """Centres and widths of boxes, in pixels; ``stems`` is where each layer's lines bend."""

    tree: _Tree
    direction: Direction
    x: list[float]
    y: list[float]
    widths: list[float]
    stems: list[float]
    width: float
    height: float

    def fit(self) -> float:
        """How much it is reduced to be seen at once, at most 1."""
        return min(1.0, 1600 / self.width, 1000 / self.height)


def _laid_out(tree: _Tree, direction: Direction) -> _Picture:
    boxes = [_wide(name, _SIZE) + 2 * _PAD for name in tree.links]
    labels = [_wide(label, _SMALL) for label in tree.labels()]
    depth = [0] * len(tree.links)
    for k, parent in enumerate(tree.parents):
        depth[k] = depth[parent] + 1 if parent >= 0 else 0
    return (_downward if direction == "down" else _rightward)(tree, boxes, labels, depth)


def _downward(tree: _Tree, boxes: list[float], labels: list[float], depth: list[int]) -> _Picture:
    widths = [max(pair) for pair in zip(boxes, labels, strict=True)]
    x = positions(tree.parents, [width + _GAP for width in widths])
    left = min(v - w / 2 for v, w in zip(x, widths, strict=True)) - _MARGIN
    right = max(v + w / 2 for v, w in zip(x, widths, strict=True)) + _MARGIN
    y = [_MARGIN + _BOX / 2 + d * (_BOX + _LAYER) for d in depth]
    stems = [v - _BOX / 2 - _LAYER * 0.6 for v in y]
    height = max(y) + _BOX / 2 + _MARGIN + (_SAG if tree.leaders else 0.0)
    return _Picture(tree, "down", [v - left for v in x], y, boxes, stems, right - left, height)


def _rightward(tree: _Tree, boxes: list[float], labels: list[float], depth: list[int]) -> _Picture:
    rows = positions(tree.parents, [_BOX + _GAP * 0.6] * len(boxes))
    top = min(rows) - _MARGIN - _BOX / 2
    layers = max(depth) + 1
    widest, before = [0.0] * layers, [0.0] * layers
    for d, box, label in zip(depth, boxes, labels, strict=True):
        widest[d] = max(widest[d], box)
        before[d] = max(before[d], label + 3 * _PAD if d else 0.0)
    starts = [_MARGIN]
    for d in range(1, layers):
        starts.append(starts[-1] + widest[d - 1] + before[d])
    x = [starts[d] + w / 2 for d, w in zip(depth, boxes, strict=True)]
    stems = [starts[d] - before[d] + _PAD for d in depth]
    width = starts[-1] + widest[-1] + _MARGIN + (_SAG if tree.leaders else 0.0)
    height = max(rows) - top + _BOX / 2 + _MARGIN
    return _Picture(tree, "right", x, [v - top for v in rows], boxes, stems, width, height)


def _drawn(picture: _Picture, name: str) -> str:
    width, height = _n(picture.width), _n(picture.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    pieces = [f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">']
    pieces += [f"<title>{_for_xml(name)}</title>", _STYLE]
    pieces += _lines(picture)
    pieces += _boxes(picture)
    return "\n".join([*pieces, "</svg>"]) + "\n"


def _lines(picture: _Picture) -> Iterable[str]:
    tree, down = picture.tree, picture.direction == "down"
    for k, (parent, joint) in enumerate(zip(tree.parents, tree.joints, strict=True)):
        if joint is None:
            continue
        x, y, px, py = picture.x[k], picture.y[k], picture.x[parent], picture.y[parent]
        bend, kind = _n(picture.stems[k]), ' class="f"' if joint.type == "fixed" else ""
        if down:  # the label sits on the box, and the line ends above it
            end = y - _BOX / 2 - _SMALL * 1.7
            path = f"M{_n(px)} {_n(py + _BOX / 2)}V{bend}H{_n(x)}V{_n(end)}"
        else:
            start, end = px + picture.widths[parent] / 2, x - picture.widths[k] / 2
            path = f"M{_n(start)} {_n(py)}H{bend}V{_n(y)}H{_n(end)}"
        yield f'<path{kind} d="{path}"/>'
    for a, b in tree.leaders:
        yield f'<path class="c" d="{_coupling(picture, a, b)}"/>'


def _coupling(picture: _Picture, follower: int, leader: int) -> str:
    """A curve between two boxes on the side where no labels are."""
    if picture.direction == "down":
        ends = [(picture.x[k], picture.y[k] + _BOX / 2) for k in (follower, leader)]
        middle = ((ends[0][0] + ends[1][0]) / 2, max(end[1] for end in ends) + 2 * _SAG)
    else:
        ends = [(picture.x[k] + picture.widths[k] / 2, picture.y[k]) for k in (follower, leader)]
        middle = (max(end[0] for end in ends) + 2 * _SAG, (ends[0][1] + ends[1][1]) / 2)
    start, bend, end = (f"{_n(x)} {_n(y)}" for x, y in (ends[0], middle, ends[1]))
    return f"M{start}Q{bend} {end}"


def _boxes(picture: _Picture) -> Iterable[str]:
    tree = picture.tree
    for k, (link, label) in enumerate(zip(tree.links, tree.labels(), strict=True)):
        x, y, width, joint = picture.x[k], picture.y[k], picture.widths[k], tree.joints[k]
        place = f'x="{_n(x - width / 2)}" y="{_n(y - _BOX / 2)}"'
        yield f'<rect {place} width="{_n(width)}" height="{_n(_BOX)}" rx="4"/>'
        yield _text(x, y + _SIZE * 0.34, link, "")
        if joint is not None:
            px, py = _label_place(picture, k)
            yield _text(px, py, label, "j" if joint.type == "fixed" else "m")


def _label_place(picture: _Picture, k: int) -> tuple[float, float]:
    """Where the label of the joint above a link is: the middle of its base line."""
    if picture.direction == "down":
        return picture.x[k], picture.y[k] - _BOX / 2 - _SMALL * 0.5
    left = picture.x[k] - picture.widths[k] / 2
    return (picture.stems[k] + left) / 2, picture.y[k] - _SMALL * 0.4


def _text(x: float, y: float, text: str, kind: str) -> str:
    shown = _cut(text)
    tip = f"<title>{_for_xml(text)}</title>" if shown != text else ""
    of = f' class="{kind}"' if kind else ""
    return f'<text{of} x="{_n(x)}" y="{_n(y)}">{tip}{_for_xml(shown)}</text>'


def _cut(text: str) -> str:
    one_line = " ".join(text.split())
    if len(one_line) <= LONGEST_LABEL:
        return one_line
    half = LONGEST_LABEL // 2 - 1
    return f"{one_line[:half]}…{one_line[-half:]}"


def _wide(text: str, size: float) -> float:
    """The width of a label in pixels, as good as it can be known without the font."""
    letters = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in _cut(text))
    return letters * size * _LETTER


def _for_xml(text: str) -> str:
    """A text in an XML document; characters that XML has no place for become �."""
    return escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
