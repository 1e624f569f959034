"""Graphs as JavaScript: functions over Float64Arrays for a page, Node, any engine of the language.

What an operation is in JavaScript is read from its C expression in the op table: the two languages
write it alike but for names and truth values. There is no fused multiply-add, so graphs come with
their products and sums unpaired. The text is short: what is used once stands where it is used,
variables have one letter and are used again, constants are the shortest decimals that read back as
the same number.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from linkwork.compile.c_source import About, Labels, Names, described, is_identifier, plain
from linkwork.compile.graph import Graph, Node
from linkwork.compile.optable import Op
from linkwork.compile.recipe import Signature
from linkwork.errors import InputError

LONGEST_PART = 1_500
"""Assignments of one function. V8 leaves those of more than 60 KB of its bytecode to its
interpreter: 14,000 assignments (inverse dynamics of the Stewart platform) took 130 microseconds as
one function and 4 in parts of 1,000 to 4,000; 6,400 (the mass matrix of Talos) 410 and 7."""

_DEEPEST = 40
"""Operations inside one another, as far as an expression is written in one piece."""

_MATH = {
    "s": ("sin", "Math.sin"),
    "c": ("cos", "Math.cos"),
    "t": ("atan2", "Math.atan2"),
    "r": ("sqrt", "Math.sqrt"),
    "b": ("fabs", "Math.abs"),
    "f": ("floor", "Math.floor"),
    # a number that is none gives way to the other, as in C
    "m": ("fmin", "(x,y)=>x<y||y!=y?x:y"),
    "M": ("fmax", "(x,y)=>x>y||y!=y?x:y"),
}
"""Names of functions, what they are called in C, and what they are in JavaScript."""

_CALLED = {name: short for short, (name, _) in _MATH.items()}
_SCRATCH = "W"
"""The array that values pass through from one part of a function to the next."""


def js_source(
    graph: Graph,
    signature: Signature,
    *,
    name: str = "",
    about: About | None = None,
    labels: Labels | None = None,
) -> str:
    """The text of ``const NAME = function (in..., out...)``, for a script or a module.

    Arrays are Float64Arrays or anything else with numbers at 0, 1, ...; an output that is not given
    is a new Float64Array, and the first output is what the function returns. ``name``, ``about``
    and ``labels`` are as in `c_source`.

    Raises: InputError for a name that JavaScript does not take.
    """
    if name and not is_js_identifier(name):
        raise InputError(
            "name must be a name for a JavaScript function: letters, digits and single "
            f"underscores, a letter first, and no word of JavaScript, C or C++; {name!r:.60} is "
            "none"
        )
    given = about or {}
    parts = (given.get("robot", ""), signature.name, given.get("frame", ""))
    names = Names()
    for word in (*_RESERVED, *_MATH, _SCRATCH):
        names.take(word)
    own = name or names.new("_".join(part for part in parts if part))
    names.take(own)
    inputs = [names.new(each) for each in signature.input_names]
    single = len(signature.output_names) == 1
    outputs = [names.new("out" if single else each) for each in signature.output_names]
    script = Script(between=";\n  ")
    inner = f"{own}_" if own in (*_MATH, _SCRATCH) else own
    script.add(inner, graph, inputs, outputs, results=True)
    comment = [f"{own}: {plain(signature.name)}"]
    comment += [f"{plain(key).capitalize()}: {plain(value)}" for key, value in given.items()]
    comment += ["", *described(signature, inputs, outputs, labels or {})]
    comment += [
        "",
        "Returns the first output. An output must not be an input. What is not finite is not",
        "looked for: it shows in the result.",
        "",
        "Written by Linkwork. What Linkwork writes is yours: use it under any terms you like.",
    ]
    told = "\n".join(f" * {line}".rstrip() for line in comment)
    return f"/*\n{told}\n */\nconst {own} = (() => {{\n{script.text()}\nreturn {inner};\n}})();\n"


_RESERVED = frozenset(
    (
        "arguments async await catch class const debugger delete enum eval export extends false "
        "finally function implements import in instanceof interface let new null of package "
        "private protected public static super this throw true try typeof undefined var with yield "
        "Float64Array Math NaN Infinity"
    ).split()
)
"""Words of JavaScript that C does not reserve, and the names that the text uses."""


def is_js_identifier(name: str) -> bool:
    """Whether JavaScript lets a function have this name, and C too."""
    return is_identifier(name) and name not in _RESERVED


class Script:
    """Functions of graphs that share what they are written with, in one text.

    `text` is a list of statements that belongs into a function or a module of its own.
    """

    def __init__(self, *, between: str = ";") -> None:
        self._between = between
        self._functions: list[str] = []
        self._math: set[str] = set()
        self._memory = 0

    def add(
        self,
        name: str,
        graph: Graph,
        inputs: Sequence[str] = (),
        outputs: Sequence[str] = (),
        *,
        results: bool = False,
        cleared: bool = False,
    ) -> None:
        """Add a function of the arrays of a graph's inputs, then of its outputs.

        ``results``: outputs that are left out are made, and the first is returned. ``cleared``:
        what is zero in all configurations is not written, since the caller's arrays begin with it.
        """
        inputs = inputs or [f"q{k or ''}" for k in range(len(graph.input_sizes))]
        outputs = outputs or [f"o{k or ''}" for k in range(len(graph.output_sizes))]
        arrays = [*inputs, *outputs]
        n = len(graph.nodes)
        n_parts = max(1, -(-n // LONGEST_PART))
        spans = list(pairwise([n * k // n_parts for k in range(n_parts + 1)]))
        memory = _passed_on(graph, spans, self._memory)
        self._memory += len(memory)
        bodies: list[list[str]] = []
        for span in spans:
            part = _Part(graph, span, memory, self._math, inputs, outputs)
            bodies.append(part.statements())
        zeros = [] if cleared else list(_zeros(graph, outputs))
        made = [
            f"{each}=new Float64Array({size})" if results else each
            for each, size in zip(outputs, graph.output_sizes, strict=True)
        ]
        head = f"function {name}({','.join([*inputs, *made])})"
        calls: list[str] = []
        if len(bodies) > 1:
            for k, body in enumerate(bodies):
                own = f"{name}$" + str(k)
                self._write(f"function {own}({','.join(arrays)})", body)
                calls.append(f"{own}({','.join(arrays)})")
        last = [f"return {outputs[0]}"] if results else []
        self._write(head, [*zeros, *(calls or bodies[0]), *last])

    def _write(self, head: str, statements: Sequence[str]) -> None:
        lead = self._between[1:]
        self._functions.append(f"{head}{{{lead}{self._between.join(statements)}}}")

    def text(self) -> str:
        """The functions, and before them what they use."""
        shared = [f"{name}={_MATH[name][1]}" for name in sorted(self._math)]
        if self._memory:
            shared.append(f"{_SCRATCH}=new Float64Array({self._memory})")
        head = f"const {','.join(shared)};\n" if shared else ""
        return head + "\n".join(self._functions)


def _zeros(graph: Graph, outputs: Sequence[str]) -> Iterator[str]:
    for name, size, output in zip(outputs, graph.output_sizes, graph.outputs, strict=True):
        places = [f"{name}[{e}]=" for e in range(size) if e not in output]
        for k in range(0, len(places), 50):
            yield f"{''.join(places[k : k + 50])}0"


def _passed_on(graph: Graph, spans: Sequence[tuple[int, int]], first: int) -> dict[int, int]:
    """Places of the values that a later part takes from an earlier one."""
    part = [k for k, (start, stop) in enumerate(spans) for _ in range(start, stop)]
    found: dict[int, int] = {}
    for position, node in enumerate(graph.nodes):
        for a in () if node.kind == "input" else node.args:
            if graph.nodes[a].kind == "op" and part[a] < part[position]:
                found.setdefault(a, first + len(found))
    return found


# --- operations ----------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """An argument in the text of an operation: how tightly it must hold, and as what it counts."""

    argument: int
    level: int
    truth: bool


class _Form(NamedTuple):
    """An operation in JavaScript: text and arguments in turn, how tightly it holds, and its kind.

    ``truth``: it gives a truth value, not a number.
    """

    pieces: tuple[str | _Piece, ...]
    level: int
    truth: bool
    function: str = ""


_CHOICE, _OR, _AND, _EQUAL, _LESS, _SUM, _PRODUCT, _SIGN, _ATOM = range(2, 11)
_LEVELS = {
    "?": _CHOICE,
    "||": _OR,
    "&&": _AND,
    "<": _LESS,
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
}
_TOKEN = re.compile(r"\{(\d)\}( [!=]= 0)?|([^{]+)")


@cache
def _form(op: Op) -> _Form:
    """The JavaScript of an operation's C expression."""
    text, truth = op.c.replace("0.0", "0"), False
    if text.startswith("(double)("):
        text, truth = text[len("(double)(") : -1], True
    elif text.startswith("("):
        text = text[1:-1]
    call = re.fullmatch(r"(\w+)\((.*)\)", text)
    if call:
        listed = tuple(_Piece(k, _CHOICE, False) for k in range(op.arity))
        return _Form(listed, _ATOM, False, call[1])
    if text == "-({0})":
        return _Form(("-", _Piece(0, _ATOM, False)), _SIGN, False)
    operator = next((o for o in _LEVELS if f" {o} " in text), "")
    level = _LEVELS.get(operator, _SIGN)
    pieces: list[str | _Piece] = []
    for argument, compared, other in _TOKEN.findall(text):
        if other:
            pieces.append(other.replace(" ", ""))
            continue
        if compared == " == 0":
            pieces.append("!")
        # what stands on the left of an operator may hold as tightly as it does
        first = not pieces and operator not in ("?", "<")
        pieces.append(_Piece(int(argument), level + (not first), bool(compared)))
    return _Form(tuple(pieces), level, truth)


class _Text(NamedTuple):
    """An expression: its text, how tightly it holds, whether it is a truth value, its depth, and
    the variables that it takes."""

    text: str
    level: int
    truth: bool = False
    depth: int = 0
    uses: tuple[int, ...] = ()

    def as_part(self, piece: _Piece) -> str:
        """The text as an argument of an operation."""
        text, level = self.text, self.level
        if piece.truth and not self.truth:
            text, level = f"{_bracketed(text, level, _EQUAL)}!=0", _EQUAL
        elif self.truth and not piece.truth:
            text, level = f"+{_bracketed(text, level, _ATOM)}", _SIGN
        return _bracketed(text, level, piece.level)


def _bracketed(text: str, level: int, needed: int) -> str:
    return text if level >= needed else f"({text})"


# --- one function --------------------------------------------------------------------------------


@dataclass
class _Part:
    """The statements of a span of a graph's nodes."""

    graph: Graph
    span: tuple[int, int]
    memory: Mapping[int, int]
    math: set[str]
    inputs: Sequence[str]
    outputs: Sequence[str]

    def statements(self) -> list[str]:
        """The declaration of the variables, and one assignment after the other."""
        self._uses, self._places = self._count()
        self._left = Counter(self._uses)
        self._texts: dict[int, _Text] = {}
        self._names: dict[int, str] = {}
        self._fresh = _short_names({*self.inputs, *self.outputs})
        self._free: list[str] = []
        self._all: list[str] = []
        self._lines: list[str] = []
        for position in range(*self.span):
            if self.graph.nodes[position].kind == "op":
                self._operation(position)
            elif position in self._places:
                self._lines.append(f"{''.join(self._places[position])}{self._value(position).text}")
        head = [f"let {','.join(self._all)}"] if self._all else []
        return head + self._lines

    def _count(self) -> tuple[Counter[int], dict[int, list[str]]]:
        """Counts of how often operations take each value, and the outputs that each goes to."""
        uses: Counter[int] = Counter()
        for position in range(*self.span):
            node = self.graph.nodes[position]
            if node.kind == "op":
                uses.update(node.args)
        places: dict[int, list[str]] = {}
        for name, output in zip(self.outputs, self.graph.outputs, strict=True):
            for element, position in output.items():
                if self.span[0] <= position < self.span[1]:
                    places.setdefault(position, []).append(f"{name}[{element}]=")
        return uses, places

    def _operation(self, position: int) -> None:
        text = self._applied(self.graph.nodes[position])
        uses = self._uses[position]
        stored = [*self._places.get(position, ())]
        if position in self.memory:
            stored.append(f"{_SCRATCH}[{self.memory[position]}]=")
        if uses == 1 and not stored and text.depth < _DEEPEST:
            self._texts[position] = text
            return
        self._release(text)
        own = ""
        if uses:
            own = self._names[position] = self._new_name()
            self._texts[position] = _Text(own, _ATOM, text.truth, 0, (position,))
            own += "="
        self._lines.append(f"{''.join(stored)}{own}{text.text}")

    def _applied(self, node: Node) -> _Text:
        if node.op is None:
            raise AssertionError("an operation has its row of the table")
        form = _form(node.op)
        arguments = [self._value(a) for a in node.args]
        depth = 1 + max(each.depth for each in arguments)
        used = tuple(k for each in arguments for k in each.uses)
        if form.function:
            own = _CALLED[form.function]
            self.math.add(own)
            listed = [
                arguments[p.argument].as_part(p) for p in form.pieces if isinstance(p, _Piece)
            ]
            return _Text(f"{own}({','.join(listed)})", _ATOM, False, depth, used)
        text = ""
        for piece in form.pieces:
            more = piece if isinstance(piece, str) else arguments[piece.argument].as_part(piece)
            # two signs beside each other would be another operator
            text += f" {more}" if text[-1:] in ("+", "-") and more[0] == text[-1] else more
        return _Text(text, form.level, form.truth, depth, used)

    def _value(self, position: int) -> _Text:
        """The text of a value where it is taken."""
        found = self._texts.get(position)
        if found is not None:
            return found
        node = self.graph.nodes[position]
        if node.kind == "const":
            text = number(node.value)
            found = _Text(text, _SIGN if text[0] == "-" else _ATOM)
        elif node.kind == "input":
            which, element = node.args
            found = _Text(f"{self.inputs[which]}[{element}]", _ATOM)
        else:
            found = _Text(f"{_SCRATCH}[{self.memory[position]}]", _ATOM)
        times = self._uses[position]
        if times > 1 and times * len(found.text) > len(found.text) + 3 + times:
            name = self._names[position] = self._new_name()
            self._lines.append(f"{name}={found.text}")
            found = _Text(name, _ATOM, False, 0, (position,))
        self._texts[position] = found
        return found

    def _release(self, text: _Text) -> None:
        """Let variables go whose last use this text is."""
        for position in text.uses:
            self._left[position] -= 1
            if self._left[position] == 0:
                self._free.append(self._names[position])

    def _new_name(self) -> str:
        if not self._free:
            self._free.append(next(self._fresh))
            self._all.append(self._free[-1])
        return self._free.pop()


def _short_names(taken: set[str]) -> Iterator[str]:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
    taken = taken | {"do", "if", "in", "of", "as", _SCRATCH, *_MATH}
    yield from (a for a in letters if a not in taken)
    for a in letters:
        yield from (a + b for b in letters + "0123456789" if a + b not in taken)
    for k in range(10**9):
        if (name := f"_{k}") not in taken:
            yield name


def number(value: float) -> str:
    """A number as the shortest text that JavaScript reads back as the same."""
    if math.isnan(value):
        return "NaN"
    sign = "-" if math.copysign(1.0, value) < 0 else ""
    if math.isinf(value):
        return f"{sign}Infinity"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, rest = mantissa.partition(".")
    rest, power = rest.rstrip("0"), int(exponent or 0)
    digits = (whole + rest).lstrip("0")
    power -= len(rest)
    trimmed = digits.rstrip("0")
    power += len(digits) - len(trimmed)
    if not trimmed:
        return f"{sign}0"
    point = len(trimmed) + power  # digits before the decimal point
    if power >= 0:
        forms = [trimmed + "0" * power] if power < 25 else []
    elif point > 0:
        forms = [f"{trimmed[:point]}.{trimmed[point:]}"]
    else:
        forms = [f".{'0' * -point}{trimmed}"]
    if power:
        forms.append(f"{trimmed}e{power}")
    return sign + min(forms, key=len)
