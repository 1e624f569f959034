"""The text of an attribute to its value, and back, exactly: plain decimal numbers in any locale."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection
from enum import Enum
from math import inf, isfinite, isnan
from numbers import Real
from typing import Any, NamedTuple

from linkwork.legible import legible

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Files
too-long | error | A name, text, tag or comment beyond its limit. | Shorten it.
# Names and elements
empty-name | error | A name is empty. | Give one.
odd-name | warning | Control characters, or white space around a name. | Remove it.
# Numbers
number | error, warning | Not a plain decimal number; a warning in colours and scales. | No commas,
    units or expressions.
not-finite | error | nan, infinite, or too large for a number. | Write a number.
count | error, warning | Too many or too few numbers; a warning in colours and scales. | See how
    many are needed.
too-large | error | Poses would overflow: beyond 1e100. | Write the true length.
range | warning | A size, effort, colour, ... outside its range. | See the range.
# Joints
joint-type | error | No type that URDF has. | See the list.
# Records and mechanisms made in code
type | error | A value of another type than the field has. | See the type.
character | error | A character that XML cannot hold. | Remove it.
white-space | error | White space that would not read back. | Remove it.
"""


LONGEST = 65536
"""The longest attribute that is read, in characters."""

LARGEST = 1e100
"""Lengths, axes and factors beyond this overflow when poses are multiplied."""

SPACE = " \t\r\n"
"""The white space of XML; a no-break space, for one, is text."""

SHORT = 256
"""Longer texts are read the long way, and not remembered."""

_REMEMBERED = 10_000  # texts of one kind

JOINT_TYPES = ("fixed", "prismatic", "revolute", "continuous", "floating", "planar", "spherical")
"""The types that a joint may have; the last is an extension that MuJoCo and Bullet read too."""

_FOREIGN = re.compile(r"[^0-9eE+\-. \t\r\n]")
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BAD_NAME = re.compile(r"[\x00-\x1f\x7f]|^\s|\s$")


class Kind(Enum):
    """The meaning of an attribute's text."""

    NAME = "a name that is not empty"
    LABEL = "any text"
    CONTENT = "a text without white space around it"
    JOINT_TYPE = "one of the joint types"
    NUMBER = "a number"
    FACTOR = "a number that others are multiplied by"
    POSITIVE = "a number above zero"
    NOT_NEGATIVE = "a number not below zero"
    LENGTHS = "three numbers, metre"
    ANGLES = "three numbers, radian"
    DIRECTION = "three numbers, a direction"
    SIZES = "three numbers above zero"
    SCALES = "three numbers other than zero"
    RGBA = "four numbers from 0 to 1"


class Complaint(NamedTuple):
    """A fault of a text: a code, a message, and what to do."""

    code: str
    message: str
    hint: str = ""


class BadText(ValueError):
    """A text that has no value; ``complaint`` says why."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        self.complaint = Complaint(code, message, hint)
        super().__init__(message)


def show(text: str, longest: int = 80) -> str:
    """A text for a message: one line, no control characters, cut where it is long."""
    cut = text[: longest - 3] + "..." if len(text) > longest else text
    return legible(cut)


def listed(names: Collection[str], most: int = 5, longest: int = 80) -> str:
    """Names for a message: the first few in quotes, and how many more there are."""
    shown = [f"'{show(name, longest)}'" for name in list(names)[:most]]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown) + more


def _foreign(text: str, character: str) -> BadText:
    """The reason why a character cannot stand in a number."""
    lowered = text.strip(SPACE).lower()
    if re.search(r"(^|[ \t\r\n+\-])(nan|inf|infinity)($|[ \t\r\n])", lowered):
        return BadText("not-finite", f"'{show(text)}' is not finite", "every number must be finite")
    if character == ",":
        hint = "write 1.5, not 1,5; spaces between numbers, no commas"
    elif character in "${}()":
        hint = "this looks like xacro; expand the file first"
    elif re.search(r"^[+\-]?0[xX]", lowered):
        hint = "hexadecimal numbers are not allowed"
    elif re.search(r"\d *(mm|cm|m|deg|rad|kg|g|°)$", lowered):
        hint = "numbers carry no unit: metre, radian and kilogram are meant"
    else:
        hint = "digits, one point, a sign and an exponent are allowed"
    return BadText("number", f"'{show(text)}' is not a number: '{show(character)}'", hint)


def numbers(text: str, count: int) -> tuple[float, ...]:
    """Exactly ``count`` finite decimal numbers.

    Raises: BadText for anything else: nan and inf, commas, units, hexadecimal, underscores.
    """
    foreign = _FOREIGN.search(_label(text))
    if foreign:
        raise _foreign(text, foreign[0])
    parts = text.split()
    if len(parts) != count:
        wanted = "one number is" if count == 1 else f"{count} numbers are"
        raise BadText("count", f"{wanted} needed, there are {len(parts)}: '{show(text)}'")
    values: list[float] = []
    for part in parts:
        try:
            value = float(part)
        except ValueError:
            raise BadText("number", f"'{show(part)}' is not a number") from None
        if not isfinite(value):
            message = f"'{show(part)}' is too large for a number"
            raise BadText("not-finite", message, "at most 1.7e308")
        values.append(value)
    return tuple(values)


def _bounded(values: tuple[float, ...]) -> tuple[float, ...]:
    largest = max(map(abs, values))
    if largest > LARGEST:
        raise BadText(
            "too-large",
            f"{largest:g} is too large",
            f"what is computed from it would overflow; at most {LARGEST:g}",
        )
    return values


def _name(text: str) -> str:
    if not text.strip():
        raise BadText("empty-name", "the name is empty", "give it a name of its own")
    return _label(text)


def _label(text: str) -> str:
    if len(text) > LONGEST:
        raise BadText("too-long", f"the text is longer than {LONGEST} characters")
    return text


def _joint_type(text: str) -> str:
    if text not in JOINT_TYPES:
        near = (
            ["spherical"]
            if text == "ball"
            else difflib.get_close_matches(text[:20].strip().lower(), JOINT_TYPES, n=1)
        )
        guess = f"did you mean '{near[0]}'? " if near else ""
        raise BadText(
            "joint-type",
            f"unknown joint type '{show(text)}'",
            guess + "there are: " + ", ".join(JOINT_TYPES),
        )
    return text


def _within(
    lower: float, upper: float, wanted: str, *, strict: bool = False
) -> Callable[[Any], Complaint | None]:
    """A judgement of numbers that should lie in a range."""

    def judge(value: Any) -> Complaint | None:
        for number in value if isinstance(value, tuple) else (value,):
            if number < lower or number > upper or (strict and number == lower):
                return Complaint("range", f"{number:g} is not {wanted}")
        return None

    return judge


def _odd_name(value: str) -> Complaint | None:
    if value.isprintable() and value[0] != " " and value[-1] != " ":
        return None
    if _BAD_NAME.search(value):
        return Complaint("odd-name", "the name has control characters, or white space around it")
    return None


def number_text(value: Any) -> str:
    """The shortest decimal number that reads back as the same bits.

    Raises: BadText for what is no finite number, and integers that no float64 is equal to.
    """
    number = value
    if type(value) is not float:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise BadText("type", f"{_what(value)} is not a number")
        try:
            number = float(value)
        except OverflowError:
            raise BadText("not-finite", "the number is too large", "at most 1.7e308") from None
        if number != value and not isnan(number):
            raise BadText("number", f"{_what(value)} has no float64 that is equal to it")
    if not isfinite(number):
        raise BadText("not-finite", f"{number} is not finite", "every number must be finite")
    text = repr(number)
    if text.endswith(".0"):
        return text[:-2]
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if e else text


def _what(value: object) -> str:
    return f"{show(repr(value), 40)} ({type(value).__name__})"


def _texts(count: int, *, bounded: bool = True) -> Callable[[Any], str]:
    """A writer of so many numbers, from a tuple, a list or an array of them."""

    def write(value: Any) -> str:
        parts = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(parts, (tuple, list)) or len(parts) != count:
            raise BadText("count", f"{count} numbers are needed, not {_what(value)}")
        text = " ".join([number_text(part) for part in parts])
        if bounded:
            _bounded(tuple(parts))
        return text

    return write


def _factor_text(value: Any) -> str:
    text = number_text(value)
    _bounded((value,))
    return text


def label_text(value: Any) -> str:
    """A text as it is, if XML can hold it and reading would take it.

    Raises: BadText for another type, for control characters, lone surrogates, and over `LONGEST`.
    """
    if not isinstance(value, str):
        raise BadText("type", f"{_what(value)} is not a text")
    if value.isprintable():
        return _label(value)
    found = _NOT_XML.search(value)
    if found:
        raise BadText("character", f"XML cannot hold the character {found[0]!a}")
    return _label(value)


def content_text(value: Any) -> str:
    """The text between two tags, without the white space around it, which reading drops.

    Raises: BadText as `label_text`.
    """
    text = label_text(value)
    if text != text.strip(SPACE):
        raise BadText("white-space", f"{show(ascii(text), 40)} has white space around it")
    return text


_LEAST, _MOST = 5e-324, 1.7976931348623157e308  # the least number above zero, and the largest
_ABOVE_ZERO = _within(0.0, inf, "above zero", strict=True)


def _flat_scale(value: tuple[float, float, float]) -> Complaint | None:
    return Complaint("range", "a scale of 0 makes the mesh flat") if 0.0 in value else None


class Values(dict[str, Any]):
    """The values of texts of one kind that have come before; others are read when asked for.

    Raises: BadText for a text without a value or with an odd one, which is not remembered.

    ``read`` makes a value of a text and raises BadText, ``write`` makes the text that ``read``
    gives back, ``judge`` finds what is odd about a value. Of ``count`` numbers between ``low`` and
    ``high`` neither has anything to say: these are read here, which is much quicker.
    """

    __slots__ = ("count", "high", "judge", "low", "read", "write")

    def __init__(
        self,
        read: Callable[[str], Any],
        write: Callable[[Any], str],
        judge: Callable[[Any], Complaint | None] | None = None,
        *,
        plain: tuple[int, float, float] = (0, 0.0, 0.0),
    ) -> None:
        self.read, self.write, self.judge = read, write, judge
        self.count, self.low, self.high = plain

    def __missing__(self, text: str) -> Any:
        # Python's `float` takes no such text for a finite number that `read` would refuse.
        if self.count and len(text) < SHORT and "_" not in text and text.isascii():
            try:
                several = [float(part) for part in text.split()]
            except ValueError:
                several = []  # the long way says why
            low, high = self.low, self.high
            if len(several) == self.count and all([low <= number <= high for number in several]):
                return self._keep(text, tuple(several) if self.count > 1 else several[0])
        value = self.read(text)
        if self.judge is not None and (complaint := self.judge(value)) is not None:
            raise BadText(*complaint)
        return self._keep(text, value)

    def judged(self, text: str) -> tuple[Any, Complaint | None]:
        """The value of a text, and what is odd about it.

        Raises: BadText for a text without a value.
        """
        try:
            return self[text], None
        except BadText:
            value = self.read(text)
            return value, self.judge(value) if self.judge else None

    def _keep(self, text: str, value: Any) -> Any:
        """The value, remembered where its text is short."""
        if len(text) < SHORT:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[text] = value
        return value


def _number(low: float, high: float, judge: Callable[[Any], Complaint | None] | None = None) -> Any:
    return Values(lambda text: numbers(text, 1)[0], number_text, judge, plain=(1, low, high))


def _vector(low: float, judge: Callable[[Any], Complaint | None] | None = None) -> Any:
    def read(text: str) -> Any:
        return _bounded(numbers(text, 3))

    return Values(read, _texts(3), judge, plain=(3, low, LARGEST))


VALUES: dict[Kind, Values] = {
    Kind.NAME: Values(_name, lambda value: _name(label_text(value)), _odd_name),
    Kind.LABEL: Values(_label, label_text),
    Kind.CONTENT: Values(lambda text: _label(text).strip(SPACE), content_text),
    Kind.JOINT_TYPE: Values(_joint_type, lambda value: _joint_type(label_text(value))),
    Kind.NUMBER: _number(-_MOST, _MOST),
    Kind.FACTOR: Values(
        lambda text: _bounded(numbers(text, 1))[0],
        _factor_text,
        plain=(1, -LARGEST, LARGEST),
    ),
    Kind.POSITIVE: _number(_LEAST, _MOST, _ABOVE_ZERO),
    Kind.NOT_NEGATIVE: _number(0.0, _MOST, _within(0.0, inf, "at or above zero")),
    Kind.LENGTHS: _vector(-LARGEST),
    Kind.ANGLES: _vector(-LARGEST),
    Kind.DIRECTION: _vector(-LARGEST),
    Kind.SIZES: _vector(_LEAST, _ABOVE_ZERO),
    Kind.SCALES: Values(lambda text: _bounded(numbers(text, 3)), _texts(3), _flat_scale),
    Kind.RGBA: Values(
        lambda text: numbers(text, 4),
        _texts(4, bounded=False),
        _within(0.0, 1.0, "between 0 and 1"),
    ),
}
"""Kind to the values of its texts, for all files of a process."""
