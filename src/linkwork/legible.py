"""Texts of strangers made fit for a terminal: what would move its cursor or turn its lines around.

A name in a description may hold any character that XML has. Written raw, U+009B begins a command of
the terminal, U+202E turns the rest of the line around, and a new line forges a line of its own.
"""

from __future__ import annotations

import math
import re

_UNFIT = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff]"
)


def legible(text: str, *, lines: bool = False) -> str:
    r"""The text in which control characters, bidi marks and line separators are escapes like \x9b.

    With ``lines`` new lines and tabs stay, for texts of several lines whose names are legible.
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNFIT.sub(
        lambda found: found[0] if lines and found[0] in "\n\t" else ascii(found[0])[1:-1], text
    )


def short(value: float) -> str:
    """A number as short as it can be said in six digits; infinity is a dash."""
    return f"{float(value) + 0.0:.6g}" if math.isfinite(value) else "-"
