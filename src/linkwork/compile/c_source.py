"""A graph as one C99 file: for a microcontroller, a simulator, any program without Python.

The file needs math.h and nothing else, allocates nothing and keeps no state. Products and sums are
written plainly: a compiler that contracts them into fused multiply-adds rounds less often, never
more, so the promise (4 ulp of the scale) holds either way, and processors with such an instruction
use it. Constants are the shortest decimals that read back as the same number: exact with every
compiler that follows IEEE 754, and still recognisable as the numbers of the description.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from linkwork.algorithms.registry import ALGORITHMS
from linkwork.compile.c_names import Names, identifier, is_identifier
from linkwork.compile.graph import Graph, Node
from linkwork.compile.signature import Signature
from linkwork.errors import InputError, UnsupportedFeatureError

Labels = Mapping[str, Sequence[str]]
About = Mapping[str, str]

_FUSED = {"fma": "{0} * {1} + {2}", "fms": "{0} * {1} - {2}", "fnma": "{2} - {0} * {1}"}
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
        *_finite_test(face),
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


def _finite_test(face: _Face) -> list[str]:
    return [
        f"static int {face.finite}(const {face.type} *x, int n)",
        "{",
        "    int good = 1;",
        "    for (int k = 0; k < n; k++)",
        f"        good &= x[k] - x[k] == {_number(0.0, face.single)};",
        "    return good;",
        "}",
    ]


class _Body:
    """The statements, with variables used again as soon as their value is needed no more.

    So the stack that the function takes, even without optimisation, is what the graph holds alive
    at once, and not one variable for each of its thousands of operations.
    """

    def __init__(self, graph: Graph, face: _Face) -> None:
        self._graph, self._face = graph, face
        self._slot = face.names.prefix("w")
        self._free: list[int] = []
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
        lines += [*statements, f"return {_returned(tests_out)};"]
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
        for position, node in enumerate(self._graph.nodes):
            if node.kind not in ("input", "const"):
                text = self._expression(node, slots)
                self._release(
                    slots[a] for a in set(node.args) if a in slots and last[a] == position
                )
                slots[position] = self._slot_for()
                yield f"{self._slot}{slots[position]} = {text};"
            for place in wanted.get(position, ()):
                yield f"{place} = {self._value(position, slots)};"
            if position in slots and position not in last:
                self._release([slots[position]])

    def _release(self, slots: Iterable[int]) -> None:
        self._free.extend(sorted(slots, reverse=True))

    def _slot_for(self) -> int:
        if self._free:
            return self._free.pop()
        self._n_slots += 1
        return self._n_slots - 1

    def _value(self, position: int, slots: Mapping[int, int]) -> str:
        node = self._graph.nodes[position]
        if node.kind == "const":
            return _number(node.value, self._face.single)
        if node.kind == "input":
            return self._inputs[position]
        return f"{self._slot}{slots[position]}"

    def _expression(self, node: Node, slots: Mapping[int, int]) -> str:
        template = _FUSED[node.kind] if node.op is None else node.op.c
        if self._face.single:
            template = _in_float(template)
        return template.format(*[self._value(a, slots) for a in node.args])


def _in_float(template: str) -> str:
    """The same expression on floats."""
    return _NUMBER.sub(r"\g<0>f", _CALL.sub(r"\1f(", template.replace("(double)", "(float)")))


def _returned(tests: Sequence[str]) -> str:
    return f"{' && '.join(tests)} ? 0 : 1" if tests else "0"


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


def _plain(text: str) -> str:
    """Text that cannot end a comment, nor be anything but text in one."""
    kept = " ".join(text.split()).encode("ascii", "backslashreplace").decode()
    return re.sub(r"\*(?=/)|/(?=\*)|\?(?=\?)", r"\g<0> ", kept)


def _documentation(signature: Signature) -> list[str]:
    """What the algorithm says about itself, but for what it raises in Python."""
    entry = ALGORITHMS.get(signature.name)
    text = (entry.function.__doc__ or "") if entry is not None else ""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        if not paragraph.lstrip().startswith("Raises:"):
            lines += ["", *[_plain(line) for line in paragraph.strip().splitlines()]]
    return lines[1:]


def _arrays(face: _Face, signature: Signature, labels: Labels) -> Iterator[str]:
    given = list(zip(face.inputs, signature.input_names, signature.input_shapes, strict=True))
    made = list(zip(face.outputs, signature.output_names, signature.output_shapes, strict=True))
    for text, name, shape in given:
        yield f"{text}: in, {_plural(math.prod(shape))}{_called(text, name)}"
        yield from (f"  [{k}] {_plain(label)}" for k, label in enumerate(labels.get(name, ())))
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
        yield from (f"  [{k}] {_plain(label)}" for k, label in enumerate(labels.get(name, ())))


def _plural(count: int) -> str:
    return f"{count} number{'' if count == 1 else 's'}"


def _called(text: str, name: str) -> str:
    return "" if text == name else f" ('{_plain(name)}')"


def _comment(
    face: _Face, signature: Signature, about: About, labels: Labels, n_variables: int
) -> list[str]:
    lines = [f"{face.name}: {_plain(signature.name)}"]
    lines += [f"{_plain(key).capitalize()}: {_plain(value)}" for key, value in about.items()]
    documentation = _documentation(signature)
    lines += ["", *documentation] if documentation else []
    lines += ["", *_arrays(face, signature, labels), "", *_CONVENTIONS, ""]
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
