"""A small language: Python functions over numbers, pointers and lanes that are also compiled.

Collision, search trees and planners are loops and branches over tables, which no graph of
expressions can hold. They are written as plain Python functions with annotated types, marked
`@typed`. Called from Python they run as Python does, slowly: that is the reference. `library`
compiles them, with all that they call, into machine code.

Types: `F64`, `F32`, `I64`, `Bool`; pointers `PtrF64`, `PtrF32`, `PtrI64` (in Python, 1-D arrays);
`Lanes` (`WIDTH` numbers F64) with `Mask`, `Lanes32` (`WIDTH32` numbers F32) with `Mask32`. A result
has one type, is None, or is a tuple of types.

A NamedTuple of such types is a record: a parameter, a result or a variable, which is made once,
``r = Record(a, b)``, read from by ``r.name`` and handed on whole. In machine code it is its fields,
one after the other, as if each were a parameter.

A variable keeps the type of its first value. Whole literals are I64 and others F64 where nothing
else is said; beside a number of another type they take that type. Numbers of two types do not mix:
`f32(x)`, `f64(x)` and `i64(x)` convert. A number beside lanes is spread over them.

Statements: assignment to names, to ``a, b`` and to ``p[k]``, ``+=`` and its like, if, while,
``for k in range(...)``, break, continue, return, pass, a call alone. ``a * b + c`` is rounded once
where the processor can, in this order alone: the same text gives the same bits.
"""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from llvmlite import ir

from linkwork.compile.compiler import Compiler
from linkwork.compile.machine_code import COMPILING, MachineCode, object_code
from linkwork.compile.target import Target, new_module

WIDTH, WIDTH32 = 8, 16
"""Lanes of `Lanes` and `Lanes32` on every processor: a narrower one takes several steps."""

_F64, _F32 = ir.DoubleType(), ir.FloatType()
_I64, _I32, _I1 = ir.IntType(64), ir.IntType(32), ir.IntType(1)


class Kind(NamedTuple):
    """A type of the language."""

    name: str
    type: Any  # LLVM's
    of: str = ""  # of a pointer or of lanes: what it points to or what a lane is
    width: int = 1


_VECTOR64, _VECTOR32 = ir.VectorType(_F64, WIDTH), ir.VectorType(_F32, WIDTH32)
KINDS = {
    kind.name: kind
    for kind in (
        Kind("F64", _F64),
        Kind("F32", _F32),
        Kind("I64", _I64),
        Kind("Bool", _I1),
        Kind("PtrF64", _F64.as_pointer(), "F64"),
        Kind("PtrF32", _F32.as_pointer(), "F32"),
        Kind("PtrI64", _I64.as_pointer(), "I64"),
        Kind("Lanes", _VECTOR64, "F64", WIDTH),
        Kind("Lanes32", _VECTOR32, "F32", WIDTH32),
        Kind("Mask", ir.VectorType(_I1, WIDTH), "Bool", WIDTH),
        Kind("Mask32", ir.VectorType(_I1, WIDTH32), "Bool", WIDTH32),
        Kind("None", ir.VoidType()),
    )
}
_LANES_OF = {"F64": "Lanes", "F32": "Lanes32"}
_MASK_OF = {WIDTH: "Mask", WIDTH32: "Mask32"}
_LITERALS = ("whole", "real")
_FLOATS = ("F64", "F32", "Lanes", "Lanes32")
_POINTERS = ("PtrF64", "PtrF32", "PtrI64")

# For annotations; whoever reads them with a type checker sees what Python gives.
F64 = F32 = float
I64 = int
Bool = bool
PtrF64 = PtrF32 = PtrI64 = Lanes = Lanes32 = Mask = Mask32 = Any


class Typed:
    """A function of the small language; a call runs it in Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function

    def __call__(self, *args: Any) -> Any:
        """Run it in Python."""
        return self.function(*args)

    def __repr__(self) -> str:
        return f"<typed function {self.function.__module__}.{self.__name__}>"


def typed(function: Callable[..., Any]) -> Typed:
    """The mark of a function that is written in the small language (see the module)."""
    return Typed(function)


# --- what the language knows, as Python runs it ---------------------------------------------------


def sqrt(x: Any) -> Any:
    """The square root; NaN below 0."""
    if np.ndim(x):
        return np.sqrt(x)
    single = getattr(x, "dtype", None) == np.float32
    root = math.sqrt(x) if x >= 0 else math.nan
    return np.float32(root) if single else root


def fma(a: Any, b: Any, c: Any) -> Any:
    """a b + c, rounded once where the processor can."""
    return a * b + c


def f64(x: Any) -> Any:
    """The number as F64."""
    return float(x)


def f32(x: Any) -> Any:
    """The number as F32."""
    return np.float32(x)


def i64(x: Any) -> Any:
    """The number without its fraction, as I64."""
    return int(x)


def offset(p: Any, k: int) -> Any:
    """The pointer that is k numbers further."""
    return p[k:]


def local_f64(n: int) -> Any:
    """An array of n numbers on the stack; n is a literal or a constant of the module."""
    return np.full(n, np.nan)


def local_f32(n: int) -> Any:
    """An array of n numbers F32 on the stack."""
    return np.full(n, np.nan, np.float32)


def local_i64(n: int) -> Any:
    """An array of n whole numbers on the stack."""
    return np.full(n, -(2**62), np.int64)


def lanes(p: Any, k: int) -> Any:
    """The lanes whose numbers are p[k], p[k + 1], ..."""
    return p[k : k + (WIDTH32 if p.dtype == np.float32 else WIDTH)].copy()


def put(p: Any, k: int, value: Any) -> None:
    """Store the lanes at p[k], p[k + 1], ...; those of F64 are rounded where p is of F32."""
    p[k : k + len(value)] = value


def splat(x: Any) -> Any:
    """The number in every lane."""
    single = getattr(x, "dtype", None) == np.float32
    return np.full(WIDTH32 if single else WIDTH, x, np.float32 if single else np.float64)


def select(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``; both are evaluated."""
    if np.ndim(condition):
        return np.where(condition, a, b)
    return a if condition else b


def any_of(mask: Any) -> bool:
    """Whether a lane of the mask is set."""
    return bool(np.any(mask))


def bits_of(mask: Any) -> int:
    """The mask as bits of a whole number, lane 0 the lowest."""
    return int(sum(1 << k for k, on in enumerate(mask) if on))


def mask_of(bits: int) -> Any:
    """The Mask32 whose lanes are the bits of a whole number, lane 0 the lowest."""
    return np.array([bits >> k & 1 for k in range(WIDTH32)], bool)


def lane_max(v: Any) -> Any:
    """The greatest of the lanes; no lane may be NaN."""
    return v.max()


def lane_min(v: Any) -> Any:
    """The least of the lanes; no lane may be NaN."""
    return v.min()


def lane(v: Any, k: int) -> Any:
    """The number in lane k."""
    return v[k]


def spread(p: Any, k: int) -> Any:
    """p[k] in every lane."""
    return splat(p[k])


def lowest_bit(bits: int) -> int:
    """The place of the lowest bit that is set, of a number that is not 0."""
    return (bits & -bits).bit_length() - 1


def bit_count(bits: int) -> int:
    """The number of bits that are set."""
    return bin(bits).count("1")


def call_at(address: int, *args: Any) -> None:
    """Call the function without a result that lies at an address, with pointers."""
    raise NotImplementedError("functions are called by address in compiled code only")


def status_at(address: int, *args: Any) -> int:
    """The number I64 that the function at an address gives for numbers and pointers."""
    raise NotImplementedError("functions are called by address in compiled code only")


def call_as(function: Any, address: int, *args: Any) -> Any:
    """The result of a typed function that lies at an address, compiled by another `library`.

    Its arguments are checked as those of a call by name.
    """
    raise NotImplementedError("functions are called by address in compiled code only")


def pointer_f64(address: int) -> Any:
    """The PtrF64 to an address."""
    raise NotImplementedError("addresses become pointers in compiled code only")


def pointer_f32(address: int) -> Any:
    """The PtrF32 to an address."""
    raise NotImplementedError("addresses become pointers in compiled code only")


def pointer_i64(address: int) -> Any:
    """The PtrI64 to an address."""
    raise NotImplementedError("addresses become pointers in compiled code only")


_INTRINSICS = {
    *("pointer_f64", "pointer_f32", "pointer_i64"),
    *("sqrt", "fma", "f64", "f32", "i64", "offset", "local_f64", "local_f32", "local_i64"),
    *("lanes", "put", "splat", "select", "any_of", "bits_of", "mask_of", "lane_max", "lane_min"),
    *("lane", "spread", "lowest_bit", "bit_count", "abs", "min", "max"),
    *("call_at", "call_as", "status_at"),
}


# --- compiled -------------------------------------------------------------------------------------


class _Value(NamedTuple):
    """A value in a function that is being written; literals have no LLVM value yet."""

    kind: str  # a name of KINDS, or "whole" and "real" for literals
    value: Any


@dataclass
class _Signature:
    given: list[tuple[str, Any]]  # parameters as they are written: name, kind or record
    result: list[str]  # several for a tuple, none for None
    made: Any = None  # the record that the result is

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """Names and kinds, with the fields of records in their places."""
        return [
            each
            for name, kind in self.given
            for each in ([(name, kind)] if isinstance(kind, str) else _fields(name, kind))
        ]

    @property
    def result_type(self) -> Any:
        types = [KINDS[name].type for name in self.result]
        if not types:
            return ir.VoidType()
        return types[0] if len(types) == 1 else ir.LiteralStructType(types)


def _kinds(record: Any) -> list[str]:
    """The kinds of a record's fields, which Python keeps as forward references."""
    return [getattr(kind, "__forward_arg__", "") for kind in record.__annotations__.values()]


def _fields(name: str, record: Any) -> list[tuple[str, str]]:
    """The fields of a record that has a name, as ``name.field``, and their kinds."""
    return [(f"{name}.{k}", kind) for k, kind in zip(record._fields, _kinds(record), strict=True)]


class Module:
    """Typed functions as one module of LLVM, with all that they call."""

    def __init__(self, name: str, target: Target) -> None:
        self.fused = target.fused
        self.module = new_module(name, target)
        self._written: dict[Typed, tuple[Any, _Signature]] = {}

    def export(self, function: Typed) -> None:
        """Write a function that is found by its own name."""
        self.function(function)[0].linkage = "external"

    def function(self, function: Typed) -> tuple[Any, _Signature]:
        """A function's LLVM function and its signature, written at first use."""
        known = self._written.get(function)
        if known is None:
            text = _Text(function)
            signature = text.signature()
            kind = ir.FunctionType(
                signature.result_type, [KINDS[k].type for _, k in signature.parameters]
            )
            name = function.__name__
            if name in self.module.globals:
                name = f"{function.function.__module__}.{name}"
            made: Any = ir.Function(self.module, kind, name)
            made.linkage = "internal"
            known = self._written[function] = made, signature
            _Writer(self, text, made, signature).write()
        return known

    def external(self, name: str, result: Any, arguments: Sequence[Any]) -> Any:
        """An intrinsic of LLVM, declared once."""
        found = self.module.globals.get(name)
        if found is None:
            found = ir.Function(self.module, ir.FunctionType(result, list(arguments)), name)
        return found


def module_of(functions: Iterable[Typed], target: Target, name: str = "typed") -> ir.Module:
    """A module of LLVM with these functions, found by their names, and all that they call.

    Raises: TypeError with file and line for text that is not of the language.
    """
    made = Module(name, target)
    for function in functions:
        made.export(function)
    return made.module


def library(functions: Sequence[Typed], compiler: Compiler, what: str) -> MachineCode:
    """The compiled functions, made now or found in the cache; each lies at ``.address(name)``.

    A process has them once. ``what`` is their name for people who wait.
    """
    key = ("typed", *[f"{f.function.__module__}.{f.__name__}" for f in functions])

    def make() -> tuple[dict[str, Any], bytes]:
        module = module_of(functions, compiler.target)
        return {}, object_code(module, compiler.target, simplify=True, branches=True)

    with COMPILING:
        if key not in compiler.libraries:
            compiler.libraries[key] = compiler.code(key, make, what=what).code
        return compiler.libraries[key]


class _Text:
    """The syntax tree of a function, and where its lines are."""

    def __init__(self, typed_function: Typed) -> None:
        function = typed_function.function
        self.names = function.__globals__
        self.file = function.__code__.co_filename
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
        ast.increment_lineno(tree, first - 1)
        found = tree.body[0]
        if not isinstance(found, ast.FunctionDef):
            raise TypeError(f"{self.file}:{first}: only functions are typed")
        self.tree = found

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        raise TypeError(f"{self.file}:{getattr(node, 'lineno', 0)}: {self.tree.name}: {why}")

    def signature(self) -> _Signature:
        given = self.tree.args
        if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
            self.fail(self.tree, "a typed function has plain parameters without defaults")
        parameters = [(a.arg, self._kind_or_record(a.annotation, a)) for a in given.args]
        returns = self.tree.returns
        if returns is None or (isinstance(returns, ast.Constant) and returns.value is None):
            return _Signature(parameters, [])
        if record := self.record(getattr(returns, "id", "")):
            return _Signature(parameters, _kinds(record), record)
        if isinstance(returns, ast.Subscript):
            items = returns.slice.elts if isinstance(returns.slice, ast.Tuple) else [returns.slice]
            return _Signature(parameters, [self._kind(item, item) for item in items])
        return _Signature(parameters, [self._kind(returns, returns)])

    def record(self, name: str) -> Any:
        """The record that a name stands for, if it does."""
        found = self.names.get(name)
        if not (isinstance(found, type) and issubclass(found, tuple)):
            return None
        if not KINDS.keys() >= set(_kinds(found)):
            self.fail(self.tree, f"the fields of {name} are of {', '.join(KINDS)}")
        return found

    def _kind_or_record(self, annotation: ast.AST | None, node: ast.AST) -> Any:
        return self.record(getattr(annotation, "id", "")) or self._kind(annotation, node)

    def _kind(self, annotation: ast.AST | None, node: ast.AST) -> str:
        if not isinstance(annotation, ast.Name) or annotation.id not in KINDS:
            self.fail(node, f"a type is one of {', '.join(KINDS)}")
        return annotation.id


class _Writer:
    """Writes one function."""

    def __init__(self, module: Module, text: _Text, function: Any, signature: _Signature) -> None:
        self.module, self.text, self.function, self.signature = module, text, function, signature
        self.entry = function.append_basic_block("entry")
        self.start = function.append_basic_block("start")
        self.b: Any = ir.IRBuilder(self.start)
        self.variables: dict[str, tuple[str, Any]] = {}  # fields of records as "record.field"
        self.records = dict(signature.given)
        self.loops: list[tuple[Any, Any]] = []  # where continue and break go

    def write(self) -> None:
        for (name, kind), value in zip(self.signature.parameters, self.function.args, strict=True):
            self.assign(name, _Value(kind, value), self.text.tree)
        self.body(self.text.tree.body)
        if not self.b.block.is_terminated:
            if self.signature.result:
                self.fail(self.text.tree, "not every way through it ends with a result")
            self.b.ret_void()
        ir.IRBuilder(self.entry).branch(self.start)

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        self.text.fail(node, why)

    def reserve(self, kind: Any, size: int | None = None) -> Any:
        """Room on the stack, taken once when the function begins."""
        b = ir.IRBuilder(self.entry)
        made: Any = b.alloca(kind, size=None if size is None else ir.Constant(_I32, size))
        if size is not None:
            made.align = 64
        return made

    # values

    def as_kind(self, value: _Value, kind: str, node: ast.AST) -> Any:
        """LLVM's value of this kind: literals become it, numbers are spread over lanes."""
        if value.kind == kind:
            return value.value
        known = KINDS[kind]
        if value.kind in _LITERALS:
            base = known.of if known.width > 1 else kind
            if base in ("F64", "F32") or (base == "I64" and value.kind == "whole"):
                number = value.value
                if base == "F32":
                    number = float(np.float32(number))
                elif base == "F64":
                    number = float(number)
                many = [number] * known.width
                return ir.Constant(known.type, many if known.width > 1 else number)
        elif known.width > 1 and known.of == value.kind:
            return self.spread(value.value, known)
        self.fail(node, f"this is {value.kind} where {kind} is needed")

    def spread(self, value: Any, known: Kind) -> Any:
        empty = ir.Constant(known.type, ir.Undefined)
        first = self.b.insert_element(empty, value, ir.Constant(_I32, 0))
        zeros = ir.Constant(ir.VectorType(_I32, known.width), [0] * known.width)
        return self.b.shuffle_vector(first, empty, zeros)

    def settled(self, value: _Value, node: ast.AST) -> _Value:
        """The value, a literal with the type that it has by itself."""
        kind = {"whole": "I64", "real": "F64"}.get(value.kind, value.kind)
        return _Value(kind, self.as_kind(value, kind, node))

    def common(self, x: _Value, y: _Value, node: ast.AST) -> tuple[str, Any, Any]:
        """Two values as the one kind that both can be."""
        kind = x.kind
        if kind in _LITERALS:
            kind = y.kind
        if kind in _LITERALS:
            kind = "F64" if "real" in (x.kind, y.kind) else "I64"
        elif KINDS[kind].width == 1 and y.kind in KINDS and KINDS[y.kind].width > 1:
            kind = y.kind
        return kind, self.as_kind(x, kind, node), self.as_kind(y, kind, node)

    def assign(self, name: str, value: _Value, node: ast.AST) -> None:
        if name not in self.variables:
            value = self.settled(value, node)
            self.variables[name] = value.kind, self.reserve(KINDS[value.kind].type)
        kind, place = self.variables[name]
        self.b.store(self.as_kind(value, kind, node), place)

    # statements

    def body(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.b.block.is_terminated:
                return
            write = getattr(self, f"_{type(statement).__name__.lower()}", None)
            if write is None:
                self.fail(statement, f"{type(statement).__name__} is not of the small language")
            write(statement)

    def _pass(self, _node: ast.Pass) -> None:
        pass

    def _expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):  # a docstring
            return
        if not isinstance(node.value, ast.Call):
            self.fail(node, "only a call may stand alone")
        self.call(node.value)

    def _assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            self.fail(node, "one target at a time")
        target = node.targets[0]
        if isinstance(target, ast.Tuple):
            if isinstance(node.value, ast.Tuple):
                found = [self.settled(self.value(v), v) for v in node.value.elts]
            else:
                found = self.results(node.value)
            if len(found) != len(target.elts):
                self.fail(node, f"{len(found)} values for {len(target.elts)} targets")
            for one, value in zip(target.elts, found, strict=True):
                self.store(one, value)
        elif record := self.record_of(node.value):
            if not isinstance(target, ast.Name) or target.id in self.records:
                self.fail(node, "a record is a variable of its own, and is made once")
            values = self.fields(node.value, record)
            for (name, _), value in zip(_fields(target.id, record), values, strict=True):
                self.assign(name, value, node)
            self.records[target.id] = record
        else:
            self.store(target, self.value(node.value))

    def _annassign(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            self.fail(node, "a variable needs a value")
        self.store(node.target, self.value(node.value))

    def _augassign(self, node: ast.AugAssign) -> None:
        load: Any
        if isinstance(node.target, ast.Name):
            load = ast.Name(node.target.id, ast.Load())
        elif isinstance(node.target, ast.Subscript):
            load = ast.Subscript(node.target.value, node.target.slice, ast.Load())
        else:
            self.fail(node, "only names and p[k] are assigned to")
        result = ast.BinOp(load, node.op, node.value)
        for made in (load, result):
            ast.copy_location(made, node)
        self.store(node.target, self.value(result))

    def store(self, target: ast.expr, value: _Value) -> None:
        if isinstance(target, ast.Name):
            self.assign(target.id, value, target)
        elif isinstance(target, ast.Subscript):
            place, of = self.place(target)
            self.b.store(self.as_kind(value, of, target), place)
        else:
            self.fail(target, "only names and p[k] are assigned to")

    def place(self, node: ast.Subscript) -> tuple[Any, str]:
        pointer = self.value(node.value)
        if pointer.kind not in _POINTERS:
            self.fail(node, f"{pointer.kind} has no elements")
        index = self.as_kind(self.value(node.slice), "I64", node)
        return self.b.gep(pointer.value, [index], inbounds=True), KINDS[pointer.kind].of

    def _return(self, node: ast.Return) -> None:
        wanted = self.signature.result
        if node.value is None or not wanted:
            if wanted or node.value is not None:
                self.fail(node, f"the result is {wanted or None}")
            self.b.ret_void()
            return
        if len(wanted) == 1:
            self.b.ret(self.as_kind(self.value(node.value), wanted[0], node))
            return
        if self.signature.made:
            found = self.fields(node.value, self.signature.made)
        elif isinstance(node.value, ast.Tuple):
            found = [self.value(v) for v in node.value.elts]
        else:
            found = self.results(node.value)
        if len(found) != len(wanted):
            self.fail(node, f"{len(found)} values for a result of {len(wanted)}")
        made: Any = ir.Constant(self.signature.result_type, ir.Undefined)
        for k, (value, kind) in enumerate(zip(found, wanted, strict=True)):
            made = self.b.insert_value(made, self.as_kind(value, kind, node), k)
        self.b.ret(made)

    def _if(self, node: ast.If) -> None:
        condition = self.condition(node.test)
        then, after = self.block(), self.block()
        other = self.block() if node.orelse else after
        self.b.cbranch(condition, then, other)
        for block, statements in ((then, node.body), (other, node.orelse)):
            if block is after:
                continue
            self.b.position_at_end(block)
            self.body(statements)
            if not self.b.block.is_terminated:
                self.b.branch(after)
        self.continue_at(after)

    def continue_at(self, block: Any) -> None:
        """Write on in a block, which ends at once where nothing goes there."""
        self.b.position_at_end(block)
        if not any(block in b.terminator.operands for b in self.function.blocks if b.terminator):
            self.b.unreachable()

    def block(self) -> Any:
        return self.function.append_basic_block()

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            self.fail(node, "a loop has no else")
        head, work, after = self.block(), self.block(), self.block()
        self.b.branch(head)
        self.b.position_at_end(head)
        if isinstance(node.test, ast.Constant) and node.test.value is True:
            self.b.branch(work)
        else:
            self.b.cbranch(self.condition(node.test), work, after)
        self.turn(work, node.body, head, after)
        self.continue_at(after)

    def _for(self, node: ast.For) -> None:
        given = node.iter
        if not (
            isinstance(given, ast.Call)
            and isinstance(given.func, ast.Name)
            and given.func.id == "range"
            and isinstance(node.target, ast.Name)
            and not node.orelse
        ):
            self.fail(node, "a loop is: for name in range(...)")
        ends = [self.as_kind(self.value(v), "I64", node) for v in given.args]
        first, stop, step = ir.Constant(_I64, 0), ends[0], ir.Constant(_I64, 1)
        if len(ends) > 1:
            first, stop, step = ends[0], ends[1], [*ends[2:], step][0]
        down = isinstance(step, ir.Constant) and step.constant < 0
        counter = self.reserve(_I64)
        self.b.store(first, counter)
        head, work, following, after = (self.block() for _ in range(4))
        self.b.branch(head)
        self.b.position_at_end(head)
        k = self.b.load(counter)
        self.b.cbranch(self.b.icmp_signed(">" if down else "<", k, stop), work, after)
        self.b.position_at_end(work)
        self.assign(node.target.id, _Value("I64", k), node)
        self.turn(work, node.body, following, after)
        self.b.position_at_end(following)
        self.b.store(self.b.add(self.b.load(counter), step), counter)
        self.b.branch(head)
        self.b.position_at_end(after)

    def turn(self, work: Any, statements: Sequence[ast.stmt], again: Any, after: Any) -> None:
        """Write one turn of a loop."""
        self.loops.append((again, after))
        self.b.position_at_end(work)
        self.body(statements)
        if not self.b.block.is_terminated:
            self.b.branch(again)
        self.loops.pop()

    def _break(self, node: ast.Break) -> None:
        if not self.loops:
            self.fail(node, "break stands in no loop")
        self.b.branch(self.loops[-1][1])

    def _continue(self, node: ast.Continue) -> None:
        if not self.loops:
            self.fail(node, "continue stands in no loop")
        self.b.branch(self.loops[-1][0])

    # expressions

    def condition(self, node: ast.expr) -> Any:
        return self.as_kind(self.value(node), "Bool", node)

    def value(self, node: ast.expr) -> _Value:
        write = getattr(self, f"_{type(node).__name__.lower()}_value", None)
        if write is None:
            self.fail(node, f"{type(node).__name__} is not of the small language")
        return write(node)

    def _constant_value(self, node: ast.Constant) -> _Value:
        return self.literal(node.value, node)

    def literal(self, value: Any, node: ast.AST) -> _Value:
        if isinstance(value, bool):
            return _Value("Bool", ir.Constant(_I1, int(value)))
        if isinstance(value, int):
            return _Value("whole", value)
        if isinstance(value, float):
            return _Value("real", value)
        self.fail(node, f"{value!r} is no number")

    def _name_value(self, node: ast.Name) -> _Value:
        if node.id in self.variables:
            kind, place = self.variables[node.id]
            return _Value(kind, self.b.load(place))
        if node.id not in self.text.names:
            self.fail(node, f"'{node.id}' has no value here")
        return self.literal(self.text.names[node.id], node)

    def _attribute_value(self, node: ast.Attribute) -> _Value:
        name = f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""
        if name not in self.variables:
            self.fail(node, "only the fields of records are read so")
        kind, place = self.variables[name]
        return _Value(kind, self.b.load(place))

    def _subscript_value(self, node: ast.Subscript) -> _Value:
        place, of = self.place(node)
        return _Value(of, self.b.load(place))

    def _unaryop_value(self, node: ast.UnaryOp) -> _Value:
        value = self.value(node.operand)
        if isinstance(node.op, ast.USub):
            if value.kind in _LITERALS:
                return _Value(value.kind, -value.value)
            made = self.b.fneg if value.kind in _FLOATS else self.b.neg
            return _Value(value.kind, made(value.value))
        if isinstance(node.op, ast.Not) and value.kind == "Bool":
            return _Value("Bool", self.b.not_(value.value))
        if isinstance(node.op, ast.Invert) and value.kind in ("I64", "Mask", "Mask32"):
            return _Value(value.kind, self.b.not_(value.value))
        self.fail(node, f"no such operation for {value.kind}")

    def _binop_value(self, node: ast.BinOp) -> _Value:
        if isinstance(node.op, (ast.Add, ast.Sub)):
            fused = self.fused(node)
            if fused is not None:
                return fused
        x, y = self.value(node.left), self.value(node.right)
        return self.operation(node.op, x, y, node)

    def operation(self, op: ast.operator, x: _Value, y: _Value, node: ast.AST) -> _Value:
        if x.kind in _LITERALS and y.kind in _LITERALS:
            made = _PLAIN.get(type(op))
            if made is None:
                self.fail(node, "no such operation of literals")
            return self.literal(made(x.value, y.value), node)
        kind, a, b = self.common(x, y, node)
        name = _OPERATIONS["float" if kind in _FLOATS else "I64" if kind == "I64" else "Bool"]
        if kind in _POINTERS:
            name = {}
        if type(op) not in name:
            self.fail(node, f"{type(op).__name__} is no operation of {kind}")
        return _Value(kind, getattr(self.b, name[type(op)])(a, b))

    def fused(self, node: ast.BinOp) -> _Value | None:
        """``a * b + c``, ``a * b - c``, ``c + a * b`` or ``c - a * b``, rounded once."""
        product, rest, left = node.left, node.right, True
        if not (isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult)):
            product, rest, left = node.right, node.left, False
        if not (isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult)):
            return None
        a, b, c = self.value(product.left), self.value(product.right), self.value(rest)
        literal = a.kind in _LITERALS and b.kind in _LITERALS
        if literal or not {a.kind, b.kind, c.kind}.intersection(_FLOATS):
            made = self.operation(product.op, a, b, node)
            return self.operation(node.op, *((made, c) if left else (c, made)), node)
        if isinstance(node.op, ast.Sub):
            if left:
                c = self.negative(c)
            else:
                a = self.negative(a)
        return self.multiply_add(a, b, c, node)

    def negative(self, x: _Value) -> _Value:
        if x.kind in _LITERALS:
            return _Value(x.kind, -x.value)
        return _Value(x.kind, self.b.fneg(x.value))

    def multiply_add(self, a: _Value, b: _Value, c: _Value, node: ast.AST) -> _Value:
        kind = "real"
        for each in (a, b, c):
            if each.kind in _FLOATS and (kind == "real" or KINDS[each.kind].width > 1):
                kind = each.kind
        if kind == "real":
            kind = "F64"
        x, y, z = (self.as_kind(v, kind, node) for v in (a, b, c))
        if not self.module.fused:
            return _Value(kind, self.b.fadd(self.b.fmul(x, y), z))
        return self.intrinsic("fma", kind, x, y, z)

    def intrinsic(self, name: str, kind: str, *args: Any) -> _Value:
        known = KINDS[kind]
        bits = {"F64": "f64", "F32": "f32", "I64": "i64"}[known.of if known.width > 1 else kind]
        full = f"llvm.{name}.v{known.width}{bits}" if known.width > 1 else f"llvm.{name}.{bits}"
        function = self.module.external(full, known.type, [known.type] * len(args))
        return _Value(kind, self.b.call(function, args))

    def _compare_value(self, node: ast.Compare) -> _Value:
        if len(node.ops) != 1:
            self.fail(node, "one comparison at a time")
        sign = _SIGNS.get(type(node.ops[0]))
        if sign is None:
            self.fail(node, f"{type(node.ops[0]).__name__} is not of the small language")
        kind, a, b = self.common(self.value(node.left), self.value(node.comparators[0]), node)
        if kind in _FLOATS:
            compare = self.b.fcmp_unordered if sign == "!=" else self.b.fcmp_ordered
            return _Value(_MASK_OF.get(KINDS[kind].width, "Bool"), compare(sign, a, b))
        if kind not in ("I64", "Bool"):
            self.fail(node, f"{kind} is not compared")
        return _Value("Bool", self.b.icmp_signed(sign, a, b))

    def _boolop_value(self, node: ast.BoolOp) -> _Value:
        """``and`` and ``or``, which leave out what no longer matters."""
        place = self.reserve(_I1)
        after = self.block()
        for k, part in enumerate(node.values):
            found = self.condition(part)
            self.b.store(found, place)
            if k == len(node.values) - 1:
                self.b.branch(after)
            else:
                following = self.block()
                both = (following, after) if isinstance(node.op, ast.And) else (after, following)
                self.b.cbranch(found, *both)
                self.b.position_at_end(following)
        self.b.position_at_end(after)
        return _Value("Bool", self.b.load(place))

    def _ifexp_value(self, node: ast.IfExp) -> _Value:
        condition = self.condition(node.test)
        then, other, after = self.block(), self.block(), self.block()
        self.b.cbranch(condition, then, other)
        self.b.position_at_end(then)
        x, x_end = self.value(node.body), self.b.block
        self.b.position_at_end(other)
        y, y_end = self.value(node.orelse), self.b.block
        kind = self.kind_of_both(x, y)
        self.b.position_at_end(x_end)
        a = self.as_kind(x, kind, node)
        self.b.branch(after)
        self.b.position_at_end(y_end)
        b = self.as_kind(y, kind, node)
        self.b.branch(after)
        self.b.position_at_end(after)
        phi: Any = self.b.phi(KINDS[kind].type)
        phi.add_incoming(a, x_end)
        phi.add_incoming(b, y_end)
        return _Value(kind, phi)

    def kind_of_both(self, x: _Value, y: _Value) -> str:
        """The kind that two values can both be."""
        known = [v.kind for v in (x, y) if v.kind in KINDS]
        if not known:
            return "F64" if "real" in (x.kind, y.kind) else "I64"
        return max(known, key=lambda name: KINDS[name].width)

    # calls

    def _call_value(self, node: ast.Call) -> _Value:
        found = self.call(node)
        if len(found) != 1:
            self.fail(node, f"this call has {len(found)} results, where one is needed")
        return found[0]

    def results(self, node: ast.expr) -> list[_Value]:
        if not isinstance(node, ast.Call):
            self.fail(node, "several values come of a call or stand side by side")
        return self.call(node)

    def call(self, node: ast.Call) -> list[_Value]:
        if not isinstance(node.func, ast.Name) or node.keywords:
            self.fail(node, "a call is a name and plain arguments")
        name = node.func.id
        called = self.text.names.get(name)
        if isinstance(called, Typed):
            return self.call_typed(called, node)
        if name not in _INTRINSICS:
            self.fail(node, f"'{name}' is not of the small language")
        if name in ("local_f64", "local_f32", "local_i64"):
            return [self.local(name, node)]
        if name == "call_as":
            return self.call_as(node)
        args = [self.value(v) for v in node.args]
        return (
            getattr(self, f"do_{name}")(node, *args)
            if name in _OWN
            else [getattr(self, f"do_{name}")(node, *args)]
        )

    def call_typed(self, called: Typed, node: ast.Call) -> list[_Value]:
        function, signature = self.module.function(called)
        return self.called(called, function, signature, node.args, node)

    def call_as(self, node: ast.Call) -> list[_Value]:
        first = node.args[0] if len(node.args) > 1 else None
        called = self.text.names.get(first.id) if isinstance(first, ast.Name) else None
        if not isinstance(called, Typed):
            self.fail(node, "call_as has a typed function, its address and its arguments")
        signature = _Text(called).signature()
        kind = ir.FunctionType(
            signature.result_type, [KINDS[k].type for _, k in signature.parameters]
        )
        address = self.as_kind(self.value(node.args[1]), "I64", node)
        function = self.b.inttoptr(address, kind.as_pointer())
        return self.called(called, function, signature, node.args[2:], node)

    def called(
        self,
        called: Typed,
        function: Any,
        signature: _Signature,
        given: list[ast.expr],
        node: ast.Call,
    ) -> list[_Value]:
        if len(signature.given) != len(given):
            self.fail(node, f"{called.__name__} has {len(signature.given)} parameters")
        args: list[Any] = []
        for v, (_, kind) in zip(given, signature.given, strict=True):
            if isinstance(kind, str):
                args.append(self.as_kind(self.value(v), kind, v))
            else:
                args += [value.value for value in self.fields(v, kind)]
        result = self.b.call(function, args)
        if len(signature.result) == 1:
            return [_Value(signature.result[0], result)]
        return [
            _Value(kind, self.b.extract_value(result, k)) for k, kind in enumerate(signature.result)
        ]

    def record_of(self, node: ast.expr) -> Any:
        """The record that a call makes or gives, if it does."""
        name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        called = self.text.names.get(name)
        if isinstance(called, Typed):
            return self.module.function(called)[1].made
        return self.text.record(name)

    def fields(self, node: ast.expr, record: Any) -> list[_Value]:
        """The fields of a record that a name or a call stands for."""
        if isinstance(node, ast.Name) and self.records.get(node.id) is record:
            own = [self.variables[name] for name, _ in _fields(node.id, record)]
            return [_Value(kind, self.b.load(place)) for kind, place in own]
        if not isinstance(node, ast.Call) or self.record_of(node) is not record:
            self.fail(node, f"this is no {record.__name__}")
        if self.text.record(getattr(node.func, "id", "")) is None:
            return self.call(node)
        kinds = _kinds(record)
        if node.keywords or len(node.args) != len(kinds):
            self.fail(node, f"a {record.__name__} has {len(kinds)} fields, in their order")
        given = zip(node.args, kinds, strict=True)
        return [_Value(kind, self.as_kind(self.value(v), kind, v)) for v, kind in given]

    def local(self, name: str, node: ast.Call) -> _Value:
        size = self.value(node.args[0])
        if size.kind != "whole":
            self.fail(node, "the size of an array is a literal or a constant of the module")
        kind = {"local_f64": "PtrF64", "local_f32": "PtrF32", "local_i64": "PtrI64"}[name]
        return _Value(kind, self.reserve(KINDS[KINDS[kind].of].type, size.value))

    def call_there(
        self, result: Any, node: ast.Call, address: _Value, args: Sequence[_Value]
    ) -> Any:
        given = [self.settled(v, v_node) for v, v_node in zip(args, node.args[1:], strict=True)]
        kind = ir.FunctionType(result, [KINDS[v.kind].type for v in given])
        function = self.b.inttoptr(self.as_kind(address, "I64", node), kind.as_pointer())
        return self.b.call(function, [v.value for v in given])

    def do_call_at(self, node: ast.Call, address: _Value, *args: _Value) -> list[_Value]:
        self.call_there(ir.VoidType(), node, address, args)
        return []

    def do_status_at(self, node: ast.Call, address: _Value, *args: _Value) -> _Value:
        return _Value("I64", self.call_there(_I64, node, address, args))

    def do_put(self, node: ast.Call, p: _Value, k: _Value, value: _Value) -> list[_Value]:
        kind = _LANES_OF.get(KINDS[p.kind].of)
        if kind is None:
            self.fail(node, f"no lanes are stored through {p.kind}")
        place = self.lane_place(p, k, kind, node)
        if value.kind == "Lanes" and kind == "Lanes32":
            kept: Any = self.b.fptrunc(value.value, ir.VectorType(_F32, WIDTH))
            place = self.b.bitcast(place, kept.type.as_pointer())
        else:
            kept = self.as_kind(value, kind, node)
        stored: Any = self.b.store(kept, place)
        stored.align = self.lane_bytes(kind)
        return []

    def lane_place(self, p: _Value, k: _Value, kind: str, node: ast.AST) -> Any:
        place = self.b.gep(p.value, [self.as_kind(k, "I64", node)], inbounds=True)
        return self.b.bitcast(place, KINDS[kind].type.as_pointer())

    def lane_bytes(self, kind: str) -> int:
        return 8 if KINDS[kind].of == "F64" else 4

    def do_lanes(self, node: ast.Call, p: _Value, k: _Value) -> _Value:
        kind = _LANES_OF.get(KINDS[p.kind].of if p.kind in KINDS else "")
        if kind is None:
            self.fail(node, f"no lanes are loaded through {p.kind}")
        loaded: Any = self.b.load(self.lane_place(p, k, kind, node))
        loaded.align = self.lane_bytes(kind)
        return _Value(kind, loaded)

    def do_splat(self, node: ast.Call, x: _Value) -> _Value:
        x = self.settled(x, node)
        if x.kind not in _LANES_OF:
            self.fail(node, f"no lanes are made of {x.kind}")
        kind = _LANES_OF[x.kind]
        return _Value(kind, self.as_kind(x, kind, node))

    def do_spread(self, node: ast.Call, p: _Value, k: _Value) -> _Value:
        place = self.b.gep(p.value, [self.as_kind(k, "I64", node)], inbounds=True)
        return self.do_splat(node, _Value(KINDS[p.kind].of, self.b.load(place)))

    def do_select(self, node: ast.Call, condition: _Value, x: _Value, y: _Value) -> _Value:
        kind = self.kind_of_both(x, y)
        width = KINDS[condition.kind].width
        if KINDS[kind].width != width:
            if KINDS[kind].width != 1 or width == 1:
                self.fail(node, f"{condition.kind} does not choose between {kind}")
            kind = "Lanes" if width == WIDTH else "Lanes32"
        a, b = self.as_kind(x, kind, node), self.as_kind(y, kind, node)
        return _Value(kind, self.b.select(condition.value, a, b))

    def mask_bits(self, mask: _Value, node: ast.AST) -> Any:
        if mask.kind not in ("Mask", "Mask32"):
            self.fail(node, f"{mask.kind} is no mask")
        return self.b.bitcast(mask.value, ir.IntType(KINDS[mask.kind].width))

    def do_any_of(self, node: ast.Call, mask: _Value) -> _Value:
        bits = self.mask_bits(mask, node)
        return _Value("Bool", self.b.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0)))

    def do_bits_of(self, node: ast.Call, mask: _Value) -> _Value:
        return _Value("I64", self.b.zext(self.mask_bits(mask, node), _I64))

    def do_mask_of(self, node: ast.Call, bits: _Value) -> _Value:
        narrow = self.b.trunc(self.as_kind(bits, "I64", node), ir.IntType(WIDTH32))
        return _Value("Mask32", self.b.bitcast(narrow, KINDS["Mask32"].type))

    def reduced(self, node: ast.AST, v: _Value, name: str) -> _Value:
        known = KINDS[v.kind]
        if known.width == 1:
            self.fail(node, f"{v.kind} has no lanes")
        bits = "f64" if known.of == "F64" else "f32"
        full = f"llvm.vector.reduce.{name}.v{known.width}{bits}"
        function = self.module.external(full, KINDS[known.of].type, [known.type])
        return _Value(known.of, self.b.call(function, [v.value], fastmath=("nnan", "nsz")))

    def do_lane_max(self, node: ast.Call, v: _Value) -> _Value:
        return self.reduced(node, v, "fmax")

    def do_lane_min(self, node: ast.Call, v: _Value) -> _Value:
        return self.reduced(node, v, "fmin")

    def do_lane(self, node: ast.Call, v: _Value, k: _Value) -> _Value:
        at = self.as_kind(k, "I64", node)
        return _Value(KINDS[v.kind].of, self.b.extract_element(v.value, at))

    def pointed(self, node: ast.Call, address: _Value, kind: str) -> _Value:
        at = self.as_kind(address, "I64", node)
        return _Value(kind, self.b.inttoptr(at, KINDS[kind].type))

    def do_pointer_f64(self, node: ast.Call, address: _Value) -> _Value:
        return self.pointed(node, address, "PtrF64")

    def do_pointer_f32(self, node: ast.Call, address: _Value) -> _Value:
        return self.pointed(node, address, "PtrF32")

    def do_pointer_i64(self, node: ast.Call, address: _Value) -> _Value:
        return self.pointed(node, address, "PtrI64")

    def do_offset(self, node: ast.Call, p: _Value, k: _Value) -> _Value:
        if p.kind not in _POINTERS:
            self.fail(node, f"{p.kind} is no pointer")
        index = self.as_kind(k, "I64", node)
        return _Value(p.kind, self.b.gep(p.value, [index], inbounds=True))

    def do_sqrt(self, node: ast.Call, x: _Value) -> _Value:
        x = self.settled(x, node)
        return self.intrinsic("sqrt", x.kind, x.value)

    def do_abs(self, node: ast.Call, x: _Value) -> _Value:
        if x.kind in _FLOATS:
            return self.intrinsic("fabs", x.kind, x.value)
        value = self.as_kind(x, "I64", node)
        negative = self.b.icmp_signed("<", value, ir.Constant(_I64, 0))
        return _Value("I64", self.b.select(negative, self.b.neg(value), value))

    def do_fma(self, node: ast.Call, a: _Value, b: _Value, c: _Value) -> _Value:
        return self.multiply_add(a, b, c, node)

    def least(self, node: ast.AST, x: _Value, y: _Value, sign: str) -> _Value:
        """The second where it is less (or greater), else the first, as Python has it."""
        kind, a, b = self.common(x, y, node)
        if kind in ("F64", "F32"):
            return _Value(kind, self.b.select(self.b.fcmp_ordered(sign, b, a), b, a))
        if kind != "I64":
            self.fail(node, f"min and max are of numbers: use select for {kind}")
        return _Value(kind, self.b.select(self.b.icmp_signed(sign, b, a), b, a))

    def do_min(self, node: ast.Call, x: _Value, y: _Value) -> _Value:
        return self.least(node, x, y, "<")

    def do_max(self, node: ast.Call, x: _Value, y: _Value) -> _Value:
        return self.least(node, x, y, ">")

    def do_f64(self, node: ast.Call, x: _Value) -> _Value:
        if x.kind in _LITERALS:
            return _Value("F64", self.as_kind(x, "F64", node))
        if x.kind == "I64":
            return _Value("F64", self.b.sitofp(x.value, _F64))
        if x.kind == "Bool":
            return _Value("F64", self.b.uitofp(x.value, _F64))
        return _Value("F64", self.b.fpext(x.value, _F64) if x.kind == "F32" else x.value)

    def do_f32(self, node: ast.Call, x: _Value) -> _Value:
        if x.kind in _LITERALS:
            return _Value("F32", self.as_kind(x, "F32", node))
        if x.kind == "I64":
            return _Value("F32", self.b.sitofp(x.value, _F32))
        return _Value("F32", self.b.fptrunc(x.value, _F32) if x.kind == "F64" else x.value)

    def do_i64(self, node: ast.Call, x: _Value) -> _Value:
        if x.kind in ("F64", "F32"):
            return _Value("I64", self.b.fptosi(x.value, _I64))
        if x.kind == "Bool":
            return _Value("I64", self.b.zext(x.value, _I64))
        return _Value("I64", self.as_kind(x, "I64", node))

    def do_lowest_bit(self, node: ast.Call, bits: _Value) -> _Value:
        value = self.as_kind(bits, "I64", node)
        return _Value("I64", self.b.cttz(value, ir.Constant(_I1, 1)))

    def do_bit_count(self, node: ast.Call, bits: _Value) -> _Value:
        return _Value("I64", self.b.ctpop(self.as_kind(bits, "I64", node)))


_OPERATIONS: dict[str, dict[type[ast.operator], str]] = {
    "float": {ast.Add: "fadd", ast.Sub: "fsub", ast.Mult: "fmul", ast.Div: "fdiv"},
    "I64": {
        **{ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "sdiv"},
        **{ast.Mod: "srem", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"},
        **{ast.LShift: "shl", ast.RShift: "ashr"},
    },
    "Bool": {ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor"},
}
_OWN = ("call_at", "put")  # what gives a list of results, here none
_SIGNS: dict[type[ast.cmpop], str] = {
    **{ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
}
_PLAIN: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: lambda x, y: x * y,
    ast.Div: lambda x, y: x / y,
    ast.FloorDiv: lambda x, y: x // y,
    ast.LShift: lambda x, y: x << y,
}
