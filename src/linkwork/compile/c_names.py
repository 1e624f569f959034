"""Names that C and C++ take, made of any text."""

from __future__ import annotations

import keyword
import re

_LONGEST = 63
"""C99 promises that so many characters of a name are told apart inside a file."""

_C_KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if "
    "inline int long register restrict return short signed sizeof static struct switch typedef "
    "union unsigned void volatile while"
)
_CPP_KEYWORDS = (
    "alignas alignof and and_eq asm bitand bitor bool catch char8_t char16_t char32_t class "
    "co_await co_return co_yield compl concept consteval constexpr constinit const_cast decltype "
    "delete dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq "
    "nullptr operator or or_eq private protected public reinterpret_cast requires static_assert "
    "static_cast template this thread_local throw true try typeid typename using virtual wchar_t "
    "xor xor_eq main errno signgam linux unix i386 arm typeof"
)
# math.h, with the functions that POSIX and GNU add to it; f and l are appended to each
_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 "
    "fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 "
    "log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo "
    "rint round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc j0 j1 jn y0 y1 yn gamma drem "
    "finite significand scalb exp10 pow10 sincos isnan isinf fpclassify isfinite isnormal signbit "
    "isgreater isgreaterequal isless islessequal islessgreater isunordered roundeven abs div"
)
RESERVED = frozenset(
    {
        *_C_KEYWORDS.split(),
        *_CPP_KEYWORDS.split(),
        *(f"{name}{suffix}" for name in _MATH.split() for suffix in ("", "f", "l")),
    }
)
"""Words that a generated name may not be: of the languages, of math.h, and a few common macros."""


def is_identifier(name: str) -> bool:
    """Whether C and C++ let a function have this name."""
    form = re.fullmatch(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*_?", name)
    return form is not None and len(name) <= _LONGEST and name not in RESERVED


def identifier(text: str) -> str:
    """The text with everything that a C name cannot hold turned into underscores.

    Names that begin with a digit, are empty, or are taken by C, C++, math.h or Python get a letter
    in front or an ``_`` and a letter behind. Names in capitals alone may be macros: they become
    small. Never two underscores beside each other, nor one at either end.
    """
    name = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9_]", "_", text)).strip("_")
    name = name[:_LONGEST].strip("_") or "x"
    if name[0].isdigit():
        name = f"x{name}"
    if len(name) > 1 and name.isupper():
        name = name.lower()
    taken = name in RESERVED or keyword.iskeyword(name)
    return f"{name[: _LONGEST - 2]}_v" if taken else name


class Names:
    """Names of one scope, each used once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, name: str) -> None:
        """Keep a name from being given out."""
        self._taken.add(name)

    def new(self, text: str) -> str:
        """An identifier made of the text, and of a number where it is taken already."""
        base = name = identifier(text)
        number = 2
        while name in self._taken:
            name, number = f"{base}_{number}", number + 1
        self._taken.add(name)
        return name

    def prefix(self, letter: str) -> str:
        """Letters that, with a number behind, make no name given out so far."""
        prefix = letter
        while any(re.fullmatch(rf"{prefix}\d+", name) for name in self._taken):
            prefix += letter
        return prefix
