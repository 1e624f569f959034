"""The tree of a description as text for others to draw: Mermaid, DOT, and a finished SVG picture.

Links are boxes, joints the lines between them, with name and type; a dotted line leads from a joint
that mimics another one to its leader. Any name is a label: what a format takes for markup is
escaped.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from xml.sax.saxutils import escape

from linkwork.errors import InputError
from linkwork.formats.structure import root_first
from linkwork.formats.urdf.records import Joint, Robot

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
        """The label at the line above each link."""
        return [f"{joint.name} ({joint.type})" if joint else "" for joint in self.joints]


def _tree(robot: Robot) -> _Tree:
    ends = [(joint.parent, joint.child) for joint in robot.joints]
    found = root_first([link.name for link in robot.links], ends)
    if found is None:
        raise InputError(f"the links and joints of '{robot.name}' are no tree; check it first")
    root, order = found
    joints = [robot.joints[k] for k in order]
    links = {link: k for k, link in enumerate((root, *(joint.child for joint in joints)))}
    at = {joint.name: k for k, joint in enumerate(joints, start=1)}
    leaders = tuple(
        (k, at[joint.mimic.joint])
        for k, joint in enumerate(joints, start=1)
        if joint.mimic is not None and joint.mimic.joint in at
    )
    parents = (-1, *(links[joint.parent] for joint in joints))
    return _Tree(tuple(links), (None, *joints), parents, leaders)


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

_ROW, _INDENT, _BOX, _PAD, _MARGIN = 28.0, 24.0, 22.0, 8.0, 12.0  # pixels
_LETTER, _SMALL_LETTER = 7.2, 6.0  # widths in the monospace fonts of browsers, of 12 and 10 pixels
# Legible on white and on black: no background is drawn.
_STYLE = """<style>
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #fff; }
text.j { font-size: 10px; fill: #7b7b7b; }
text.m { font-size: 10px; fill: #b8650a; }
rect { fill: #3d6489; }
path { fill: none; stroke: #8a8a8a; stroke-width: 1.2; }
path.f { stroke-dasharray: 4 3; }
path.c { stroke: #9467bd; stroke-dasharray: 1.5 3; stroke-linecap: round; stroke-width: 1.6; }
</style>"""


def svg(robot: Robot) -> str:
    """The tree as a picture: a line for each link, indented below the one that carries it.

    Names of joints that move are brown, those of fixed joints grey with a dashed line.

    Source: https://www.w3.org/TR/SVG11/

    Raises: InputError for records that are no tree.
    """
    tree = _tree(robot)
    left: list[float] = []  # where a link's line begins, and where its box does and ends
    boxes: list[tuple[float, float]] = []
    shapes: list[str] = []
    for k, (link, joint, parent) in enumerate(
        zip(tree.links, tree.joints, tree.parents, strict=True)
    ):
        y = _MARGIN + _BOX / 2 + k * _ROW
        left.append(_MARGIN if joint is None else left[parent] + _INDENT)
        start = left[k]
        if joint is not None:
            label, fixed = f"{joint.name} ({joint.type})", joint.type == "fixed"
            stem, above = left[parent] + _PAD, _MARGIN + _BOX + parent * _ROW
            line = f"M{_n(stem)} {_n(above)}V{_n(y)}H{_n(start)}"
            shapes.append(f'<path class="{"f" if fixed else "l"}" d="{line}"/>')
            shapes.append(_text(start + 4.0, y + 3.4, label, "j" if fixed else "m"))
            start += _wide(label, _SMALL_LETTER) + _PAD
        width = _wide(link, _LETTER) + 2 * _PAD
        boxes.append((start, start + width))
        place = f'x="{_n(start)}" y="{_n(y - _BOX / 2)}" width="{_n(width)}" height="{_n(_BOX)}"'
        shapes += [f'<rect {place} rx="4"/>', _text(start + _PAD, y + 4.1, link)]
    for pair in tree.leaders:  # a curve between two boxes, on the side where no labels are
        (x, y), (u, v) = ((boxes[k][1], _MARGIN + _BOX / 2 + k * _ROW) for k in pair)
        bend = max(x, u) + 2 * _INDENT
        curve = f"M{_n(x)} {_n(y)}C{_n(bend)} {_n(y)} {_n(bend)} {_n(v)} {_n(u)} {_n(v)}"
        shapes.append(f'<path class="c" d="{curve}"/>')
    width = _n(max(end for _, end in boxes) + _MARGIN + 2 * _INDENT * bool(tree.leaders))
    height = _n(2 * _MARGIN + (len(boxes) - 1) * _ROW + _BOX)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
    title = f"<title>{_for_xml(robot.name)}</title>"
    return "\n".join([head, title, _STYLE, *shapes, "</svg>"]) + "\n"


def _text(x: float, y: float, text: str, kind: str = "") -> str:
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


def _wide(text: str, letter: float) -> float:
    """The width of a label in pixels, as good as it can be known without the font."""
    return letter * sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in _cut(text))


def _for_xml(text: str) -> str:
    """A text in an XML document; characters that XML has no place for become �."""
    return escape(re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "�", text))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
