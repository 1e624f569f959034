"""A graph as one C99 file: for a microcontroller, a simulator, any program without Python.

The file needs math.h and nothing else, allocates nothing and keeps no state. Products and sums are
written plainly: a compiler that contracts them into fused multiply-adds rounds less often, never
more, so the promise (4 ulp of the scale) holds either way, and processors with such an instruction
use it. Constants are the shortest decimals that read back as the same number: exact with every
compiler that follows IEEE 754, and still recognisable as the numbers of the description.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from linkwork.algorithms.registry import ALGORITHMS
from linkwork.compile.graph import Graph, Node
from linkwork.compile.recipe import Signature
from linkwork.errors import InputError, UnsupportedFeatureError

Labels = Mapping[str, Sequence[str]]
About = Mapping[str, str]

_CALL = re.compile(r"\b([a-z][a-z0-9]*)\(")
_NUMBER = re.compile(r"\b\d+\.\d*")
_CONVENTIONS = (
    "Units: metre, radian, kilogram, second. Matrices are row-major. Twists and wrenches have",
    "the linear part first. Quaternions are w x y z.",
)


def c_source(
    graph: Graph,
    signature: Signature,
    *,
    name: str = "",
    about: About | None = None,
    labels: Labels | None = None,
    single: bool = False,
) -> str:
    """The C99 text of ``int NAME(const double *in..., double *out...)``, also valid C++.

    The function returns 0, or 1 where an input or a result is not finite. ``name`` is by default
    made of the robot's, the algorithm's and the frame's; ``about`` gives these and what else the
    comment should say (``{"robot": "ur5e", "frame": "tool0"}``), ``labels`` what each element of an
    input, or each part of an output, is. ``single`` writes float instead of double. The graph may
    have its multiply-adds paired or not.

    Raises: InputError for a name that C does not take; UnsupportedFeatureError for a constant that
    float cannot hold.
    """
    face = _Face(signature, name, about or {}, single)
    body = _Body(graph, face)
    lines = [
        *_comment(face, signature, about or {}, labels or {}, body.n_variables),
        "",
        "#include <math.h>",
        "",
        "#if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__",
        '#error "compile this file without -ffast-math: it would remove the tests for NaN"',
        "#endif",
        "",
        "#ifdef __cplusplus",
        'extern "C"',
        "#endif",
        f"{face.prototype};",
        "",
        f"static int {face.finite}(const {face.type} *x, int n)",
        "{",
        "    int good = 1;",
        "    for (int k = 0; k < n; k++)",
        f"        good &= x[k] - x[k] == {_number(0.0, single)};",
        "    return good;",
        "}",
        "",
        face.prototype,
        "{",
        *body.lines,
        "}",
    ]
    return "\n".join(lines) + "\n"


def c_header(
    signature: Signature,
    *,
    name: str = "",
    about: About | None = None,
    labels: Labels | None = None,
    single: bool = False,
) -> str:
    """The header file for `c_source` of the same arguments: sizes by name, and the prototype.

    Raises: InputError for a name that C does not take.
    """
    face = _Face(signature, name, about or {}, single)
    guard = f"{face.name.upper()}_H"
    sizes = [
        f"#define {face.name.upper()}_{given.upper()} {math.prod(shape)}"
        for given, shape in zip(
            (*face.inputs, *face.outputs),
            (*signature.input_shapes, *signature.output_shapes),
            strict=True,
        )
    ]
    lines = [
        *_comment(face, signature, about or {}, labels or {}, 0),
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "/* How many numbers each array holds. */",
        *sizes,
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        f"{face.prototype};",
        "",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {guard} */",
    ]
    return "\n".join(lines) + "\n"


class _Face:
    """The names and the prototype that source and header agree on."""

    def __init__(self, signature: Signature, name: str, about: About, single: bool) -> None:
        self.single = single
        self.type = "float" if single else "double"
        self.name = _function_name(signature, name, about)
        self.finite = f"{self.name}_finite"
        self.names = Names()
        self.names.take(self.name)
        self.names.take(self.finite)
        self.inputs = [self.names.new(n) for n in signature.input_names]
        self.outputs = [
            self.names.new("result" if identifier(n) == self.name else n)
            for n in signature.output_names
        ]
        self.sizes_in = [math.prod(shape) for shape in signature.input_shapes]
        self.sizes_out = [math.prod(shape) for shape in signature.output_shapes]
        arguments = [
            *[_argument(f"const {self.type}", n, k) for n, k in _pairs(self.inputs, self.sizes_in)],
            *[_argument(self.type, n, k) for n, k in _pairs(self.outputs, self.sizes_out)],
        ]
        self.prototype = f"int {self.name}({', '.join(arguments)})"


def _pairs(names: Sequence[str], sizes: Sequence[int]) -> Iterator[tuple[str, int]]:
    return zip(names, sizes, strict=True)


def _argument(kind: str, name: str, size: int) -> str:
    return f"{kind} {name}[{size}]" if size else f"{kind} *{name}"


def _function_name(signature: Signature, name: str, about: About) -> str:
    if not name:
        parts = (about.get("robot", ""), signature.name, about.get("frame", ""))
        return identifier("_".join(part for part in parts if part))
    if not is_identifier(name):
        raise InputError(
            "name must be a name for a C function: letters, digits and single underscores, a "
            "letter first, 63 at most, and no word of C or C++; "
            f"{name!r:.60} is none, {identifier(name)!r} would do"
        )
    return name


class _Body:
    """The statements, with variables used again as soon as their value is needed no more.

    So the stack that the function takes, even without optimisation, is what the graph holds alive
    at once, and not one variable for each of its thousands of operations.
    """

    def __init__(self, graph: Graph, face: _Face) -> None:
        self._graph, self._face = graph, face
        self._slot = face.names.prefix("w")
        self._n_slots = 0
        copies = self._copies()
        statements = list(self._statements())
        self.n_variables = len(copies) + self._n_slots
        tests_in = [f"!{face.finite}({n}, {k})" for n, k in _pairs(face.inputs, face.sizes_in) if k]
        tests_out = [
            f"{face.finite}({n}, {k})" for n, k in _pairs(face.outputs, face.sizes_out) if k
        ]
        unused = [n for n, k in (*_pairs(face.inputs, face.sizes_in),
                                 *_pairs(face.outputs, face.sizes_out)) if not k]  # fmt: skip
        lines = [*copies, *self._declarations()]
        lines += [f"(void){n};" for n in unused]
        if tests_in:
            lines += [f"if ({' || '.join(tests_in)})", "    return 1;"]
        lines += [
            *statements,
            f"return {' && '.join(tests_out)} ? 0 : 1;" if tests_out else "return 0;",
        ]
        self.lines = [f"    {line}" for line in lines]

    def _copies(self) -> list[str]:
        """Inputs are read before anything is written, so that the arrays may overlap."""
        self._inputs: dict[int, str] = {}
        lines: list[str] = []
        read = [
            (n.args, position) for position, n in enumerate(self._graph.nodes) if n.kind == "input"
        ]
        for (argument, element), position in sorted(read):
            given = self._face.inputs[argument]
            copy = self._inputs[position] = self._face.names.new(f"{given}_{element}")
            lines.append(f"const {self._face.type} {copy} = {given}[{element}];")
        return lines

    def _declarations(self) -> list[str]:
        names = [f"{self._slot}{k}" for k in range(self._n_slots)]
        rows = [names[k : k + 10] for k in range(0, len(names), 10)]
        return [f"{self._face.type} {', '.join(row)};" for row in rows]

    def _statements(self) -> Iterator[str]:
        zero = _number(0.0, self._face.single)
        wanted: dict[int, list[str]] = {}  # where each value goes
        for name, size, output in zip(
            self._face.outputs, self._graph.output_sizes, self._graph.outputs, strict=True
        ):
            for element, position in output.items():
                wanted.setdefault(position, []).append(f"{name}[{element}]")
            yield from (f"{name}[{e}] = {zero};" for e in range(size) if e not in output)
        last = _last_uses(self._graph)
        slots: dict[int, int] = {}
        free: list[int] = []
        for position, node in enumerate(self._graph.nodes):
            if node.kind not in ("input", "const"):
                text = self._expression(node, slots)
                ended = [slots[a] for a in set(node.args) if a in slots and last[a] == position]
                free += sorted(ended, reverse=True)
                if not free:
                    free, self._n_slots = [self._n_slots], self._n_slots + 1
                slots[position] = free.pop()
                yield f"{self._slot}{slots[position]} = {text};"
            for place in wanted.get(position, ()):
                yield f"{place} = {self._value(position, slots)};"
            if position in slots and position not in last:
                free.append(slots[position])

    def _value(self, position: int, slots: Mapping[int, int]) -> str:
        node = self._graph.nodes[position]
        if node.kind == "const":
            return _number(node.value, self._face.single)
        if node.kind == "input":
            return self._inputs[position]
        return f"{self._slot}{slots[position]}"

    def _expression(self, node: Node, slots: Mapping[int, int]) -> str:
        template = node.op.c if node.op is not None else ""
        if self._face.single:
            template = _CALL.sub(r"\1f(", template.replace("(double)", "(float)"))
            template = _NUMBER.sub(r"\g<0>f", template)
        return template.format(*[self._value(a, slots) for a in node.args])


def _last_uses(graph: Graph) -> dict[int, int]:
    """The last assignment that takes each value; what only outputs take is not in it."""
    last: dict[int, int] = {}
    for position, node in enumerate(graph.nodes):
        if node.kind != "input":
            last.update(dict.fromkeys(node.args, position))
    return last


def _number(value: float, single: bool) -> str:
    """A constant that reads back as the same number, in brackets where it is negative."""
    if math.isnan(value):
        return "(double)NAN"
    if math.isinf(value):
        text = "(double)INFINITY"
    elif single:
        rounded = np.float32(value)
        if not np.isfinite(rounded) or (rounded == 0 and value != 0):
            raise UnsupportedFeatureError(
                f"the constant {value!r} is out of the range of float: write double (single=False)"
            )
        text = str(abs(rounded))
        text = f"{text if '.' in text or 'e' in text else text + '.0'}f"
    else:
        text = repr(abs(value))
    return f"(-{text})" if math.copysign(1.0, value) < 0 else text


# --- the comment ---------------------------------------------------------------------------------


def plain(text: str) -> str:
    """Text that cannot end a comment, nor be anything but text in one."""
    kept = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", kept)


def _documentation(signature: Signature) -> list[str]:
    """The algorithm's own documentation, but for the errors that it raises in Python."""
    entry = ALGORITHMS.get(signature.name)
    text = (entry.function.__doc__ or "") if entry is not None else ""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        if not paragraph.lstrip().startswith("Raises:"):
            lines += ["", *[plain(line) for line in paragraph.strip().splitlines()]]
    return lines[1:]


def described(
    signature: Signature, inputs: Sequence[str], outputs: Sequence[str], labels: Labels
) -> list[str]:
    """The comment of a generated function: its formula, its arrays and the conventions."""
    documentation = _documentation(signature)
    lines = [*documentation, ""] if documentation else []
    return [*lines, *_arrays(signature, inputs, outputs, labels), "", *_CONVENTIONS]


def _arrays(
    signature: Signature, inputs: Sequence[str], outputs: Sequence[str], labels: Labels
) -> Iterator[str]:
    given = zip(inputs, signature.input_names, signature.input_shapes, strict=True)
    made = zip(outputs, signature.output_names, signature.output_shapes, strict=True)
    for text, name, shape in given:
        yield f"{text}: in, {_plural(math.prod(shape))}{_called(text, name)}"
        yield from (f"  [{k}] {plain(label)}" for k, label in enumerate(labels.get(name, ())))
    for text, name, shape in made:
        if len(shape) < 2:
            yield f"{text}: out, {_plural(math.prod(shape))}{_called(text, name)}"
        else:
            letters = "ijklmn"[: len(shape)]
            steps = [math.prod(shape[k + 1 :]) for k in range(len(shape))]
            terms = [f"{s} * {a}" if s > 1 else a for s, a in zip(steps, letters, strict=True)]
            index = f"({', '.join(letters)}) is {text}[{' + '.join(terms)}]"
            size = " x ".join(str(n) for n in shape)
            yield f"{text}: out, {size}{_called(text, name)}; element {index}"
        yield from (f"  [{k}] {plain(label)}" for k, label in enumerate(labels.get(name, ())))


def _plural(count: int) -> str:
    return f"{count} number{'' if count == 1 else 's'}"


def _called(text: str, name: str) -> str:
    return "" if text == name else f" ('{plain(name)}')"


def _comment(
    face: _Face, signature: Signature, about: About, labels: Labels, n_variables: int
) -> list[str]:
    lines = [f"{face.name}: {plain(signature.name)}"]
    lines += [f"{plain(key).capitalize()}: {plain(value)}" for key, value in about.items()]
    lines += ["", *described(signature, face.inputs, face.outputs, labels), ""]
    lines += [
        "Returns 0, or 1 where an input or a result is not finite. Inputs are tested first: then",
        "nothing is written. They are read before anything is written, so an output may lie over",
        "an input. No state, no allocation: any number of threads may call it.",
    ]
    if n_variables:
        size = 4 if face.single else 8
        lines.append(f"Its variables take at most {n_variables * size} bytes of the stack.")
    lines += [
        "",
        "C99 or C++, needs math.h. The compiler may fuse multiplications and additions; turn that",
        "off where all compilers shall round alike (-ffp-contract=off). Not with -ffast-math.",
        "",
        "Written by Linkwork. What Linkwork writes is yours: use it under any terms you like.",
    ]
    return ["/*", *[f" * {line}".rstrip() for line in lines], " */"]


# --- names that C and C++ take ---

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
