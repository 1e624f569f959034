"""Loops, couplings and actuated joints beside the tree, and the functions that couplings are.

A loop is two frames on two bodies and the relative motion that they leave free; a coupling is a
joint whose position is a function of others'. Both are constraints on q: they take nothing away
from it. The function of a coupling is data: a Python function, traced once, as its list of
operations, by which it is compared, hashed, pickled and written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number
from linkwork.errors import InputError, UnknownNameError
from linkwork.ops.dual import Duals
from linkwork.ops.graph import ZERO, Expressions, GraphOps
from linkwork.ops.protocol import Block, Ops

Floats = NDArray[np.float64]

# --- functions of numbers -------------------------------------------------------------------------

Node: TypeAlias = tuple[str, tuple[float, ...]]
"""An operation and its arguments: places of earlier nodes, or one number for an input or a
constant."""

_OPERATIONS: dict[str, tuple[str, int, Callable[..., Block]]] = {
    "negative": ("NEG", 1, lambda o, x: -x),
    "add": ("ADD", 2, lambda o, a, b: a + b),
    "subtract": ("SUB", 2, lambda o, a, b: a - b),
    "multiply": ("MUL", 2, lambda o, a, b: a * b),
    "divide": ("DIV", 2, lambda o, a, b: a / b),
    "sin": ("SIN", 1, lambda o, x: o.sin(x)),
    "cos": ("COS", 1, lambda o, x: o.cos(x)),
    "sqrt": ("SQRT", 1, lambda o, x: o.sqrt(x)),
    "arctan2": ("ATAN2", 2, lambda o, y, x: o.atan2(y, x)),
}
"""Every operation: its name in a graph, how many arguments it has, and its meaning."""

ARITY = {"input": 0, "constant": 0, **{name: n for name, (_, n, _) in _OPERATIONS.items()}}
"""Every operation and how many arguments it has; the numbers of the first two are their own."""

_NAMES = {operation: name for name, (operation, _, _) in _OPERATIONS.items()}
_MOST_NODES = 10_000


@dataclass(frozen=True)
class Expression:
    """A function of ``n_inputs`` numbers; the last node is its value."""

    n_inputs: int
    nodes: tuple[Node, ...]

    def value(self, o: Ops, inputs: Sequence[Block]) -> Block:
        """The value at ``inputs``, scalars of one back end."""
        values: list[Block] = []
        for operation, arguments in self.nodes:
            if operation == "constant":
                values.append(o.const(arguments[0]))
            elif operation == "input":
                values.append(inputs[int(arguments[0])])
            else:
                meaning = _OPERATIONS[operation][2]
                values.append(meaning(o, *(values[int(k)] for k in arguments)))
        return values[-1]

    def value_and_slopes(self, o: Ops, inputs: Sequence[Block]) -> tuple[Block, list[Block]]:
        """The value and its derivatives by each input."""
        duals = Duals(o)
        found = self.value(duals, [duals.block(x, {k: o.const(1.0)}) for k, x in enumerate(inputs)])
        return found.value, [duals.change(found, k) for k in range(self.n_inputs)]

    @property
    def is_affine(self) -> bool:
        """Whether the slopes are constants, as the operations show."""
        o = GraphOps()
        _, slopes = self.value_and_slopes(o, _inputs(o, self.n_inputs))
        return all(o.graph.values[k] is not None for slope in slopes for k in slope.numbers)

    def with_input(self, index: int, value: float) -> Expression:
        """The function of the other inputs, this one being a constant."""
        o = GraphOps()
        others = _inputs(o, self.n_inputs - 1)
        given = [*others[:index], o.const(float(value)), *others[index:]]
        return _read(self.n_inputs - 1, self.value(o, given))


def affine(rates: Sequence[float], offset: float = 0.0) -> Expression:
    """The sum of ``rates`` times the inputs, plus ``offset``.

    Raises: InputError for numbers that are not finite.
    """
    o = GraphOps()
    factors = [finite_number(rate, "rate of a coupling") for rate in rates]
    terms = [rate * x for rate, x in zip(factors, _inputs(o, len(factors)), strict=True)]
    return _read(len(factors), sum(terms, o.const(finite_number(offset, "offset of a coupling"))))


def traced(function: Callable[..., Any], n_inputs: int) -> Expression:
    """The expression of a Python function of numbers.

    Raises: InputError where it gives no number, cannot be called with numbers, or branches on them;
    UnsupportedFeatureError, from within it, for a function of NumPy's that cannot be traced.
    """
    o = GraphOps()
    try:
        result: Any = function(*_inputs(o, n_inputs))
    except TypeError as error:
        raise InputError(
            f"a coupling's function works on numbers, one for each leader ({n_inputs}): {error}"
        ) from error
    if isinstance(result, np.ndarray) and result.shape in ((), (1,)):
        result = cast("Any", result).reshape(-1)[0]
    one = isinstance(result, Expressions) and len(result.numbers) == 1
    plain = isinstance(result, (int, float, np.integer, np.floating))
    if isinstance(result, bool) or not (one or plain):
        raise InputError(f"a coupling's function must give one number, not {result!r:.60}")
    return _read(n_inputs, o.const(result))


def checked(n_inputs: int, nodes: Sequence[Node]) -> Expression:
    """An expression from outside.

    Raises: InputError saying which node is none.
    """
    if not nodes or len(nodes) > _MOST_NODES:
        raise InputError(f"an expression has from 1 to {_MOST_NODES} nodes, not {len(nodes)}")
    for place, (operation, arguments) in enumerate(nodes):
        if operation not in ARITY:
            raise InputError(f"node {place}: there is no operation {operation!r:.40}")
        count = ARITY[operation] or 1
        fine = len(arguments) == count and all(map(math.isfinite, arguments))
        if fine and operation != "constant":
            below = n_inputs if operation == "input" else place
            fine = all(a == int(a) and 0 <= a < below for a in arguments)
        if fine and operation == "divide":
            fine = nodes[int(arguments[1])] != ("constant", (0.0,))
        if not fine:
            raise InputError(f"node {place}: {operation} cannot have the arguments {arguments}")
    return Expression(n_inputs, tuple((name, tuple(arguments)) for name, arguments in nodes))


def _inputs(o: GraphOps, n_inputs: int) -> list[Expressions]:
    vector = o.input(0, n_inputs)
    return [vector[k] for k in range(n_inputs)]


def _read(n_inputs: int, result: Expressions) -> Expression:
    """The nodes of a number of a graph."""
    graph = result.graph
    order = graph.needed([result.numbers]) or [ZERO]
    if len(order) > _MOST_NODES:
        raise InputError(f"a coupling's function takes more than {_MOST_NODES} operations")
    place = {k: float(at) for at, k in enumerate(order)}
    nodes: list[Node] = []
    for k in order:
        operation, arguments, value = graph.operations[k], graph.arguments[k], graph.values[k]
        if operation == "DIV" and arguments[1] == ZERO:
            raise InputError("a coupling's function divides by zero")
        if value is not None and not math.isfinite(value):
            raise InputError(f"a coupling's function has the constant {value}")
        if operation == "INPUT":
            nodes.append(("input", (float(arguments[1]),)))
        elif value is not None:
            nodes.append(("constant", (value,)))
        else:
            nodes.append((_NAMES[operation], tuple([place[a] for a in arguments])))
    return Expression(n_inputs, tuple(nodes))


# --- loops and couplings --------------------------------------------------------------------------


class Held(NamedTuple):
    """The components of position and of rotation that a loop holds, by the axes of its frame a.

    ``across``: the z axis of frame a stays across the x axis of frame b. ``length``: the distance
    of the two origins stays.
    """

    position: str
    rotation: str
    across: bool = False
    length: bool = False


KINDS: dict[str, Held] = {
    "pose": Held("xyz", "xyz"),
    "revolute": Held("xyz", "xy"),
    "prismatic": Held("xy", "xyz"),
    "cylindrical": Held("xy", "xy"),
    "planar": Held("z", "xy"),
    "position": Held("xyz", ""),
    "universal": Held("xyz", "", across=True),
    "distance": Held("", "", length=True),
}
"""The kinds of loops by the joint that closes them: weld, hinge about z, slide along z, both, plane
across z, ball, universal joint (turning about z of a and x of b), and a rod with two balls."""


@dataclass(frozen=True)
class Loop:
    """A loop that closes between two frames.

    ``kind`` is one of `KINDS`, or the axes of frame a whose position and rotation are held:
    ``"xy/z"``, ``"xy"`` for position alone. ``distance`` (m) is that of the kind of this name.
    """

    name: str
    frame_a: str
    frame_b: str
    kind: str = "pose"
    distance: float = 0.0

    def __post_init__(self) -> None:
        for what in ("name", "frame_a", "frame_b"):
            value: Any = getattr(self, what)
            if not isinstance(value, str) or not value:
                raise InputError(f"the {what} of a loop must be a name, not {value!r:.60}")
        object.__setattr__(self, "kind", kind_of(self.kind))
        value = finite_number(self.distance, f"loop '{self.name}': distance", least=0.0)
        object.__setattr__(self, "distance", value)
        if self.held.length and value == 0.0:
            raise InputError(
                f"loop '{self.name}': a distance of 0 is the kind 'position'; give distance above 0"
            )
        if not self.held.length and value != 0.0:
            raise InputError(f"loop '{self.name}': distance belongs to the kind 'distance' alone")

    @property
    def held(self) -> Held:
        """The components that it holds."""
        found = KINDS.get(self.kind)
        if found is not None:
            return found
        position, rotation = self.kind.split("/")
        return Held(position, rotation)

    @property
    def row_names(self) -> tuple[str, ...]:
        """The component that each of its rows holds, position first."""
        held = self.held
        if held.length:
            return ("distance",)
        rows = [f"position {axis}" for axis in held.position]
        rows += [f"rotation {axis}" for axis in held.rotation]
        return (*rows, "rotation across") if held.across else tuple(rows)


@dataclass(frozen=True)
class Coupling:
    """A joint with one position, which is a function of those of its leaders."""

    joint: str
    leaders: tuple[str, ...]
    function: Expression

    @property
    def name(self) -> str:
        """The name in messages and results."""
        return f"coupling of {self.joint}"


def kind_of(given: Any) -> str:
    """A kind of loop by its name, or by axes: "xy", "xy/z" or ("xy", "z").

    Raises: UnknownNameError for a name; InputError for axes that are none.
    """
    if isinstance(given, str) and given in KINDS:
        return given
    parts: Any = given.split("/") if isinstance(given, str) else given
    listed = list(parts) if isinstance(parts, (list, tuple)) else []
    if isinstance(given, str) and set(given) - set("xyz/"):
        raise UnknownNameError("kind of loop", given, tuple(KINDS))
    parts = [*listed, ""] if len(listed) == 1 else listed
    fine = len(parts) == 2 and all(isinstance(part, str) for part in parts)
    fine = fine and all(set(p) <= set("xyz") and len(set(p)) == len(p) for p in parts)
    if not fine or not any(parts):
        names = ", ".join(KINDS)
        raise InputError(
            f"the kind of a loop is one of {names}, or the axes held such as 'xy' (position) or "
            f"'xy/z' (position and rotation), not {given!r:.60}"
        )
    return "/".join("".join(sorted(part)) for part in parts)


def free_name(name: str, loops: Iterable[Loop]) -> str:
    """The name, with the first number from 2 on behind it where one of the loops has it."""
    taken, number, found = {loop.name for loop in loops}, 2, name
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found


def coupling(
    joint: str,
    leaders: str | Sequence[str],
    function: Callable[..., Any] | Expression | None = None,
    *,
    rate: float | Sequence[float] = 1.0,
    offset: float = 0.0,
) -> Coupling:
    """A coupling by a function of the leaders' positions, or by rates and an offset.

    Raises: InputError for numbers that do not fit; what tracing the function raises.
    """
    names = (leaders,) if isinstance(leaders, str) else tuple(leaders)
    if not names:
        raise InputError(f"the coupling of '{joint}' needs at least one leader")
    if joint in names:
        raise InputError(f"'{joint}' cannot be coupled to itself")
    if len(set(names)) < len(names):
        raise InputError(f"the coupling of '{joint}' names a leader twice")
    if isinstance(function, Expression):
        if function.n_inputs != len(names):
            raise InputError(f"the function of '{joint}' takes {function.n_inputs} leaders")
        return Coupling(joint, names, function)
    if function is not None:
        return Coupling(joint, names, traced(function, len(names)))
    rates = [rate] * len(names) if isinstance(rate, (int, float)) else list(rate)
    if len(rates) != len(names):
        raise InputError(f"the coupling of '{joint}' has {len(names)} leaders, {len(rates)} rates")
    return Coupling(joint, names, affine(rates, offset))


class Closures(NamedTuple):
    """The loops, the couplings and the actuated joints (none: not said) beside a tree."""

    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    actuated: tuple[str, ...] = ()


def gap_between(loop: Loop, R: Floats, p: Floats) -> float:
    """The opening of a loop, frame b being at R (3, 3), p (3,) in frame a.

    The largest of its errors in metres and, of rotations, in sines of angles and cosines missed.
    """
    held = loop.held
    if held.length:
        return abs(float(np.linalg.norm(p)) - loop.distance)
    errors = [abs(float(p["xyz".index(axis)])) for axis in held.position]
    if held.across:
        errors.append(abs(float(R[2, 0])))
    if len(held.rotation) == 3:
        errors.append(float(np.abs(R - np.eye(3)).max()))
    elif len(held.rotation) == 2:
        free = "xyz".index(next(axis for axis in "xyz" if axis not in held.rotation))
        errors.append(float(np.abs(R[:, free] - np.eye(3)[free]).max()))
    elif held.rotation:
        k = "xyz".index(held.rotation)
        i, j = (k + 1) % 3, (k + 2) % 3
        errors.append(abs(0.5 * float(R[j, i] - R[i, j])))
    return max(errors)
