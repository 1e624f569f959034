"""The marks that a drawing consists of, and its two products: SVG text and an array of pixels.

A drawing is a list of layers, each with marks in pixels, x to the right and y downward. Both
products draw the same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import groupby
from typing import Any, Literal, TypeAlias
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from linkwork import extras
from linkwork.errors import InputError

Floats = NDArray[np.float64]
Anchor = Literal["start", "middle", "end"]
FONT = "'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"


@dataclass(frozen=True, slots=True)
class Path:
    """Lines through points (n, 2), or the area that they surround.

    ``seam`` is the width of a line in the colour of the area, by which neighbours leave no gap.
    ``of`` names what it belongs to, such as a joint.
    """

    lines: tuple[Floats, ...]
    stroke: str | None = None
    width: float = 1.0
    fill: str | None = None
    closed: bool = False
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    seam: float = 0.0
    of: str = ""

    def points(self) -> Floats:
        """All points (n, 2)."""
        return np.concatenate(self.lines)


@dataclass(frozen=True, slots=True)
class Circle:
    """A circle around a point (2,)."""

    center: Floats
    radius: float
    stroke: str | None = None
    width: float = 1.0
    fill: str | None = None
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    of: str = ""

    def points(self) -> Floats:
        """Two corners of the square around it (2, 2)."""
        return np.array([self.center - self.radius, self.center + self.radius])


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text whose foot is at a point (2,): its beginning, middle or end."""

    at: Floats
    text: str
    size: float = 12.0
    anchor: Anchor = "start"
    fill: str = "#767c85"
    bold: bool = False
    of: str = ""

    def points(self) -> Floats:
        """Two corners of the box around it (2, 2), by estimated widths of letters."""
        width = text_width(self.text, self.size)
        left = self.at[0] - {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor] * width
        top, bottom = self.at[1] - 0.78 * self.size, self.at[1] + 0.24 * self.size
        return np.array([[left, top], [left + width, bottom]])


Mark: TypeAlias = Path | Circle | Text


@dataclass(frozen=True, slots=True)
class Layer:
    """Marks that are drawn one over the other, and seen through together."""

    name: str
    marks: tuple[Mark, ...]
    opacity: float = 1.0


_NARROW, _WIDE = frozenset("iljtfrI.,:;|!'()[] "), frozenset("mwMWQOGD@%&")


def text_width(text: str, size: float) -> float:
    """The width of a text in pixels, estimated so that it is rarely more."""
    widths = (
        1.05 if ord(c) > 0x2E80 else 0.34 if c in _NARROW else 0.88 if c in _WIDE else 0.61
        for c in text
    )
    return size * sum(widths)


def hull(points: Floats) -> Floats:
    """The corners (k, 2) of the smallest convex area around points (n, 2).

    Source: A. M. Andrew, "Another efficient algorithm for convex hulls in two dimensions",
    Information Processing Letters 9 (1979).
    """
    found = sorted({(x, y) for x, y in points.tolist()})
    if len(found) < 3:
        return np.array(found)

    def half(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
        line: list[tuple[float, float]] = []
        for x, y in ordered:
            while len(line) > 1:
                (ax, ay), (bx, by) = line[-2], line[-1]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 1e-9:
                    break
                line.pop()
            line.append((x, y))
        return line[:-1]

    return np.array(half(found) + half(found[::-1]))


# --- SVG ------------------------------------------------------------------------------------------


def svg(layers: Iterable[Layer], size: tuple[float, float], title: str, message: str) -> str:
    """The drawing as an SVG document without a background.

    Source: https://www.w3.org/TR/SVG2/
    """
    w, h = (_decimal(x) for x in size)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
        f'role="img" font-family="{FONT}" fill="none" stroke-linecap="round" '
        'stroke-linejoin="round">',
        f"<title>{escape(_fit(title))}</title>",
        *([f"<desc>{escape(_fit(message))}</desc>"] if message else []),
    ]
    for layer in layers:
        if not layer.marks:
            continue
        faint = f' opacity="{_decimal(layer.opacity, 2)}"' if layer.opacity < 1.0 else ""
        parts.append(f'<g class="{layer.name}"{faint}>')
        for of, marks in groupby(layer.marks, key=lambda mark: mark.of):
            inner = _elements(marks)
            if of:
                parts.append(f"<g><title>{escape(_fit(of))}</title>")
                parts.extend(inner)
                parts.append("</g>")
            else:
                parts.extend(inner)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>\n"])


def _elements(marks: Iterable[Mark]) -> Iterator[str]:
    """The elements of marks; neighbouring areas with seams share what they have in common."""
    for seam, own in groupby(marks, key=lambda m: m.seam if isinstance(m, Path) else 0.0):
        if seam:
            width = _decimal(seam, 2)
            yield f'<g fill="currentColor" stroke="currentColor" stroke-width="{width}">'
            for mark in own:
                if isinstance(mark, Path):
                    yield f'<path color="{mark.fill}" d="{_path_data(mark)}"/>'
            yield "</g>"
        else:
            yield from map(_element, own)


def _element(mark: Mark) -> str:
    if isinstance(mark, Text):
        at = f'x="{_decimal(float(mark.at[0]))}" y="{_decimal(float(mark.at[1]))}"'
        anchor = "" if mark.anchor == "start" else f' text-anchor="{mark.anchor}"'
        weight = ' font-weight="bold"' if mark.bold else ""
        size = _decimal(mark.size)
        return (
            f'<text {at} font-size="{size}" fill="{mark.fill}"{anchor}{weight}>'
            f"{escape(_fit(mark.text))}</text>"
        )
    how = f' fill="{mark.fill}"' if mark.fill else ""
    if mark.stroke:
        how += f' stroke="{mark.stroke}"'
        how += f' stroke-width="{_decimal(mark.width, 2)}"' if mark.width != 1.0 else ""
    if mark.dash:
        how += f" stroke-dasharray={quoteattr(' '.join(_decimal(x) for x in mark.dash))}"
    if mark.opacity < 1.0:
        how += f' opacity="{_decimal(mark.opacity, 2)}"'
    if isinstance(mark, Circle):
        x, y, r = (_decimal(float(v), 2) for v in (*mark.center, mark.radius))
        return f'<circle cx="{x}" cy="{y}" r="{r}"{how}/>'
    return f'<path d="{_path_data(mark)}"{how}/>'


def _path_data(path: Path) -> str:
    """The lines in tenths of pixels, each point from the one before."""
    found: list[str] = []
    for line in path.lines:
        tenths = np.rint(10.0 * line).astype(int)
        steps: list[list[int]] = np.diff(tenths, axis=0).tolist()
        found.append(f"M{_tenths(int(tenths[0, 0]))},{_tenths(int(tenths[0, 1]))}l")
        text = ""
        for dx, dy in steps:
            if dx or dy:
                x, y = _tenths(dx), _tenths(dy)
                text += (" " if text and x[0] != "-" else "") + x
                text += y if y[0] == "-" else f" {y}"
        found.append(text or "0 0")
        if path.closed:
            found.append("z")
    return "".join(found)


def _tenths(n: int) -> str:
    whole, rest = divmod(abs(n), 10)
    sign = "-" if n < 0 else ""
    return f"{sign}{whole or ''}.{rest}" if rest else f"{sign}{whole}"


def _decimal(x: float, digits: int = 1) -> str:
    return f"{round(x, digits) + 0.0:.{digits}f}".rstrip("0").rstrip(".")


def _fit(text: str) -> str:
    """The text without what XML has no place for."""
    return "".join(
        c if c >= " " and not 0xD800 <= ord(c) < 0xE000 and ord(c) not in (0xFFFE, 0xFFFF) else "�"
        for c in text
    )


# --- pixels ---------------------------------------------------------------------------------------


def png(
    layers: Iterable[Layer], size: tuple[float, float], *, scale: float, background: str | None
) -> bytes:
    """The drawing as a PNG file, ``scale`` pixels for each of the drawing's.

    Raises: MissingExtraError where matplotlib is not installed; InputError for a background that is
    no colour.
    """
    what = "save('NAME.svg') needs no package, but a PNG needs"
    with extras.needed(what, "matplotlib", "plot"):
        from matplotlib import colors, image  # noqa: PLC0415  an extra
    if background is not None and not colors.is_color_like(background):
        raise InputError(f"background must be a colour like '#f4f6f8', not {background!r:.40}")
    written = BytesIO()
    pixels = _pixels(layers, size, scale=scale, background=background)
    image.imsave(written, pixels, format="png", dpi=72.0 * scale)
    return written.getvalue()


def _pixels(
    layers: Iterable[Layer], size: tuple[float, float], *, scale: float, background: str | None
) -> NDArray[np.uint8]:
    """The drawing as an array (h, w, 4); each layer is laid over those before it as a whole."""
    from matplotlib import colors  # noqa: PLC0415  an extra

    found: Any = None
    for layer in layers:
        drawn = _layer_pixels(layer.marks, size, scale).astype(np.float64) / 255.0
        if found is None:
            found = np.zeros(drawn.shape)
            if background is not None:
                found[:] = [*colors.to_rgb(background), 1.0]
        over = drawn[..., 3:] * layer.opacity
        under = found[..., 3:] * (1.0 - over)
        alpha = over + under
        mixed = drawn[..., :3] * over + found[..., :3] * under
        found = np.concatenate([mixed / np.maximum(alpha, 1e-9), alpha], axis=2)
    return np.rint(255.0 * np.clip(found, 0.0, 1.0)).astype(np.uint8)


def _layer_pixels(marks: Sequence[Mark], size: tuple[float, float], scale: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  an extra
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.transforms import Affine2D  # noqa: PLC0415

    w, h = size
    figure = Figure(figsize=(w / 72.0, h / 72.0), dpi=72.0 * scale)  # a point is a pixel
    figure.patch.set_alpha(0.0)
    canvas = FigureCanvasAgg(figure)
    downward = Affine2D().scale(1.0, -1.0).translate(0.0, h).scale(scale)
    for mark in marks:
        figure.add_artist(_artist(mark, downward))
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())


def _artist(mark: Mark, downward: Any) -> Any:
    """A mark for matplotlib, whose y goes upward."""
    from matplotlib.patches import Circle as Disc  # noqa: PLC0415  an extra
    from matplotlib.patches import PathPatch  # noqa: PLC0415
    from matplotlib.path import Path as Outline  # noqa: PLC0415
    from matplotlib.text import Text as Words  # noqa: PLC0415

    if isinstance(mark, Text):
        x, y = mark.at.tolist()
        return Words(
            x, y, mark.text, color=mark.fill, fontsize=mark.size, va="baseline",
            ha={"start": "left", "middle": "center", "end": "right"}[mark.anchor],
            fontweight="bold" if mark.bold else "normal", fontfamily="DejaVu Sans",
            parse_math=False, usetex=False, transform=downward,
        )  # fmt: skip
    stroke, width = mark.stroke, mark.width
    if isinstance(mark, Path) and mark.seam:
        stroke, width = mark.fill, mark.seam
    how: Any = {
        "facecolor": mark.fill or "none",
        "edgecolor": stroke or "none",
        "linewidth": width if stroke else 0.0,
        "alpha": mark.opacity,
        "capstyle": "round",
        "joinstyle": "round",
        "transform": downward,
    }
    if mark.dash:
        how["linestyle"] = (0.0, tuple(x / width for x in mark.dash))
    if isinstance(mark, Circle):
        return Disc((float(mark.center[0]), float(mark.center[1])), mark.radius, **how)
    vertices: list[Floats] = []
    codes: list[int] = []
    for line in mark.lines:
        vertices.append(line)
        codes += [int(Outline.MOVETO), *[int(Outline.LINETO)] * (len(line) - 1)]
        if mark.closed:
            vertices.append(line[:1])
            codes.append(int(Outline.CLOSEPOLY))
    return PathPatch(Outline(np.concatenate(vertices), codes), **how)
