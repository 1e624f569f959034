"""Numbers, indices, errors, copies, arrays and batches: what the value types of this face share.

A value holds Python floats: that is what makes one operation as fast as one call into C++. A batch
is the same object with an array of one shape in the place of each float, so that the same formulas
compute both. Inside one `Vector` or `Rotation` all are floats, or all are arrays of one shape.

What a value holds is never written into: an operation in place puts new numbers there. So arrays
can be looked at without copying them.
"""
# The value types of this face read each other's slots: that is what makes them fast.
# pyright: reportPrivateUsage=false

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import repeat
from math import copysign, cos, inf, nan, sin
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import real_array
from linkwork.errors import InputError, LinkworkError, ShapeError
from linkwork.faces.pykdl.formulas import Formula, filled, flat

Floats = NDArray[np.float64]
Three = tuple[Any, Any, Any]
"""The numbers of a vector: floats, or arrays of one shape."""
Nine = tuple[Any, Any, Any, Any, Any, Any, Any, Any, Any]
"""Those of a matrix, row by row."""
V = TypeVar("V", bound="Value")
C = TypeVar("C", bound="Copied")

EPS = 1e-6
"""The distance within which two numbers count as equal (row S3-014)."""
ZEROS: Three = (0.0, 0.0, 0.0)
ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "<not given>"})()
"""An argument that was not given."""

_new = object.__new__
_LARGE = 2**62  # what is larger goes the slower way, which finds what is too large


# errors and warnings


class WrongTypeError(LinkworkError, TypeError):
    """An argument or an operand of a type that the call does not take."""


class ElementError(LinkworkError, IndexError):
    """An index of an element that the value does not have."""


class ZeroQuaternionWarning(LinkworkError, RuntimeWarning):
    """A quaternion (0, 0, 0, 0), in whose place no rotation was taken."""


class ZeroAxisWarning(LinkworkError, RuntimeWarning):
    """An axis without direction, in whose place the x axis was taken."""


def kind_of(thing: object) -> str:
    """The type of a thing, as messages say it."""
    return "None" if thing is None else type(thing).__name__


def wrong(call: str, takes: str, *got: object) -> WrongTypeError:
    """The error of a call with arguments that it does not take; those not given are left out."""
    kinds = ", ".join(kind_of(thing) for thing in got if thing is not ABSENT) or "nothing"
    return WrongTypeError(f"{call} takes {takes}, not {kinds}")


class Copied:
    """The base of what is copied by its constructor."""

    __slots__ = ()

    def __copy__(self: C) -> C:
        made: Any = type(self)
        return made(self)

    def __deepcopy__(self: C, memo: dict[int, Any]) -> C:
        return self.__copy__()


class Arguments:
    """The arguments of a call: by their places, or by name."""

    def __init__(self, given: tuple[Any, ...], named: dict[str, Any], *said: str) -> None:
        self._rest, self._named = list(given), dict(named)
        self._said = (*said, *given, *named.values())

    @property
    def error(self) -> WrongTypeError:
        """The error that says what the call takes."""
        return wrong(*self._said)

    def take(self, name: str, kind: Any, default: Any, *, optional: bool = False) -> Any:
        """The next argument, or the one of this name; an optional one may be left out in a row.

        Raises: WrongTypeError for another type.
        """
        if self._rest and (not optional or isinstance(self._rest[0], kind)):
            value = self._rest.pop(0)
        else:
            value = self._named.pop(name, default)
        if value is not default and not isinstance(value, kind):
            raise self.error
        return value

    def end(self) -> None:
        """Check that none is left. Raises: WrongTypeError."""
        if self._rest or self._named:
            raise self.error


# numbers and indices


def number(value: Any, what: str) -> float:
    """A real number as a float; an array with an axis is a batch, and stays one.

    Raises: WrongTypeError for anything else, text included.
    """
    if isinstance(value, np.ndarray) and value.ndim:
        try:
            return real_array(value, what)  # pyright: ignore[reportReturnType] -- a batch
        except InputError as error:
            raise WrongTypeError(str(error)) from None
    if not isinstance(value, (str, bytes, bytearray, complex)):
        try:
            return float(value)
        except OverflowError:
            raise WrongTypeError(f"{what} is too large for a float") from None
        except (TypeError, ValueError):
            pass
    text = f"{what} is a number, or an array of numbers for a batch, not {kind_of(value)}"
    raise WrongTypeError(text)


def numbers(values: Sequence[Any], what: str) -> Any:
    """Real numbers as a tuple of floats, or where one is an array, all as arrays of one shape.

    Raises: WrongTypeError; ShapeError for shapes that do not fit together.
    """
    if values[0].__class__ is values[-1].__class__ is float and values.__class__ is tuple:
        for value in values:
            if value.__class__ is not float:
                break
        else:
            return values
    taken: list[Any] = []
    for value in values:
        kind = value.__class__
        if kind is float:
            taken.append(value)
        elif kind is int and -_LARGE < value < _LARGE:
            taken.append(float(value))
        else:
            taken.append(number(value, what))
    for value in taken:
        if value.__class__ is not float:
            return of_one_shape(taken, what)
    return tuple(taken)


def of_one_shape(these: Any, what: str = "these numbers") -> Any:
    """All as arrays of one shape.

    Raises: ShapeError.
    """
    try:
        return tuple(np.broadcast_arrays(*these))
    except ValueError:
        shapes = ", ".join(str(np.shape(value)) for value in these)
        raise ShapeError(f"{what}: these shapes do not fit together: {shapes}") from None


def of_one_kind(these: Any) -> Any:
    """Floats as they are; where one is an array, all as arrays of one shape.

    Of nine numbers those on the diagonal tell, whatever the others were made of.
    """
    first, middle, last = these[0], these[len(these) // 2], these[-1]
    if first.__class__ is middle.__class__ is last.__class__ is float:
        return these
    some = np.ndarray in (first.__class__, middle.__class__, last.__class__)
    return of_one_shape(these) if some else these


def replaced(these: tuple[Any, ...], k: int, value: Any, what: str) -> Any:
    """Numbers of which one is another; where one is an array, all are.

    Raises: WrongTypeError; ShapeError.
    """
    changed = list(these)
    changed[k] = value
    if value.__class__ is these[0].__class__ is float:
        return tuple(changed)
    return numbers(changed, what)


def index(i: Any, length: int, owner: str) -> int:
    """An index from 0 to length - 1.

    Raises: WrongTypeError for no integer, ElementError for one outside; there are no negative ones.
    """
    try:
        k = operator.index(i)
    except TypeError:
        text = f"elements of a {owner} have an integer 0 to {length - 1}, not {kind_of(i)}"
        raise WrongTypeError(text) from None
    if not 0 <= k < length:
        raise ElementError(f"elements of a {owner} have the indices 0 to {length - 1}, not {k}")
    return k


def pair_index(ij: Any, rows: int, columns: int, owner: str, thing: str = "value") -> Any:
    """A row from 0 to rows - 1 and a column from 0 to columns - 1.

    Raises: WrongTypeError for anything but two integers, ElementError for one outside.
    """
    if not isinstance(ij, tuple) or len(ij) != 2:
        raise WrongTypeError(f"elements of a {owner} have two indices, as in {thing}[0, 2]")
    i, j = ij
    if i.__class__ is j.__class__ is int and -1 < i < rows and -1 < j < columns:
        return ij
    return index(i, rows, f"{owner} (rows)"), index(j, columns, f"{owner} (columns)")


def quotients(these: tuple[Any, ...], divisor: Any) -> Any:
    """Numbers divided, by zero as IEEE 754 has it: infinite, or nan for zeros (row S3-004)."""
    try:
        return tuple([x / divisor for x in these])
    except ZeroDivisionError:
        many = copysign(inf, divisor)
        return tuple([x * many for x in these])


def sine_and_cosine(angle: Any) -> tuple[Any, Any]:
    """Sine and cosine of a number or a batch; nan for what is not finite (row S3-041).

    Raises: WrongTypeError.
    """
    if angle.__class__ is float:
        try:
            return sin(angle), cos(angle)
        except ValueError:
            return nan, nan
    taken = number(angle, "an angle")
    if taken.__class__ is float:
        return sine_and_cosine(taken)
    with np.errstate(invalid="ignore"):
        return np.sin(taken), np.cos(taken)


def near(a: tuple[Any, ...], b: tuple[Any, ...], eps: float) -> Any:
    """Whether all are nearer than eps to each other; an array of answers for batches.

    In each of the two all are floats, or all arrays of one shape. Nothing is near nan, and nothing
    at all with eps 0.
    """
    with np.errstate(invalid="ignore"):
        answer = np.all([np.abs(x - y) < eps for x, y in zip(a, b, strict=True)], axis=0)
    return answer if answer.ndim else bool(answer)


def shown(these: Iterable[Any], width: int = 0) -> str:
    """Numbers as KDL prints them: six digits, twelve places, commas between; in rows of a width."""
    values = tuple(these)
    return _layout(len(values), width or len(values)) % values


@cache
def _layout(count: int, width: int) -> str:
    row = ",".join(["%12.6g"] * width)
    return "[" + ";\n ".join([row] * (count // max(width, 1))) + "]"


def columns_of(array: Any, what: str, shape: tuple[int, ...]) -> Any:
    """The numbers of an array of this shape; views into it where it has more axes in front.

    Raises: ShapeError for another shape; InputError for what are no real numbers.
    """
    taken = real_array(array, what)
    if taken.shape[-len(shape) :] != shape or taken.ndim < len(shape):
        raise ShapeError(
            f"{what} has the shape (..., {str(shape)[1:-1].strip(',')}), not {taken.shape}"
        )
    if taken.ndim == len(shape):
        return tuple(taken.ravel().tolist())
    return tuple([taken[(..., *where)] for where in np.ndindex(*shape)])


# values


def unfit(left: Value, sign: str, right: object) -> Any:
    """The answer of an operator for an operand that it does not take.

    NotImplemented where the other operand may know what to do.

    Raises: WrongTypeError where it cannot.
    """
    if type(right) is type(left) or type(right).__module__ in ("builtins", "numpy"):
        raise _undefined(left, sign, right)
    return NotImplemented


def _undefined(left: object, sign: str, right: object) -> WrongTypeError:
    owner = left if isinstance(left, Value) else right
    kind, known = kind_of(owner), getattr(owner, "takes", {})
    there = f"{kind} {sign} takes {known[sign]}" if sign in known else f"{kind} has no {sign}"
    return WrongTypeError(f"{kind_of(left)} {sign} {kind_of(right)} is not defined: {there}")


def factor_of(left: Value, sign: str, other: Any) -> Any:
    """The number that a value is multiplied or divided by, a batch of them, or NotImplemented.

    Raises: WrongTypeError.
    """
    if not isinstance(other, Value):
        try:
            return number(other, "a factor")
        except TypeError:
            pass
    return unfit(left, sign, other)


def _sum(a: Any, b: Any) -> Any:
    other = a._term(b)
    if other is None:
        return unfit(a, "+", b)
    return a._of([x + y for x, y in zip(a._numbers(), other._numbers(), strict=True)])


def _less(a: Any, b: Any) -> Any:
    other = a._term(b)
    if other is None:
        return unfit(a, "-", b)
    return a._of([x - y for x, y in zip(a._numbers(), other._numbers(), strict=True)])


def scaled(a: Any, factor: Any) -> Any:
    """A value whose numbers are multiplied."""
    return a._of([x * factor for x in a._numbers()])


def _away(a: Any, b: Any) -> Any:
    """The sum of the squares of all differences."""
    return sum([(x - y) * (x - y) for x, y in zip(a._numbers(), b._numbers(), strict=True)])


def divided(a: Any, divisor: Any) -> Any:
    """A value whose numbers are divided, by zero as IEEE 754 has it."""
    return a._of(quotients(a._numbers(), divisor))


class Value:
    """The base of all value types: equality, copies, pickles, arrays, batches and products.

    What messages of ROS carry beside their numbers may be set on a value, as tf2_kdl does:
    ``header``, ``frame_id``, ``child_frame_id`` and ``stamp``. It belongs to this one object:
    results of operations, copies and pickles are without.
    """

    # a dictionary in their place makes every operation slower
    __slots__ = ("child_frame_id", "frame_id", "header", "stamp")
    child_frame_id: Any
    frame_id: Any
    header: Any
    stamp: Any
    # equality within 1e-6 is not transitive: no hash can follow it
    __hash__ = None  # pyright: ignore[reportAssignmentType] -- as Python has it
    __array_ufunc__ = None  # so that array * value asks the value
    takes: ClassVar[dict[str, str]] = {}
    """For each operator what its right side may be, in words."""
    array_shape: ClassVar[tuple[int, ...]] = ()
    """The shape of one value as an array."""
    _held: ClassVar[tuple[tuple[str, Any], ...]] = ()
    """Its slots in the order of its numbers, each with the type that stands there, with float, or
    with a number n for a tuple of n floats."""
    _kind: ClassVar[Any]
    """Its type, of subclasses too: what results are made of."""
    _moves: ClassVar[Any]
    """The type of what leads from one to another: of `diff` and `addDelta`; None for neither."""
    _away: ClassVar[Formula]
    """The square of the distance to another."""
    _plus: ClassVar[Formula]
    _minus: ClassVar[Formula]
    _times: ClassVar[Formula]
    _over: ClassVar[Formula]
    _products: ClassVar[dict[Any, Formula]]
    """The formulas of ``self * other`` by the type of the other."""

    def __init_subclass__(cls) -> None:
        if "_held" not in vars(cls):
            return
        cls._kind, name = cls, cls.__name__
        cls._moves = vars(cls).get("_moves", cls)
        cls._products = {}
        cls._away = Formula(f"{name} away", _away, (cls, cls), float)
        if issubclass(cls, Summed):
            cls._nothing = filled(cls, repeat(0.0))
            cls._plus = Formula(f"{name} +", _sum, (cls, cls), cls)
            cls._times = Formula(f"{name} scaled", scaled, (cls, float), cls)
        if issubclass(cls, Linear):
            cls._minus = Formula(f"{name} -", _less, (cls, cls), cls)
            cls._over = Formula(f"{name} divided", divided, (cls, float), cls)
            cls._products[float] = cls._times

    # its numbers

    def _numbers(self) -> Any:
        """Its numbers in a row."""
        return tuple([x for name, _ in self._held for x in flat(getattr(self, name))])

    def _assign(self, these: Any) -> None:
        """Become a value of these numbers, in parts of its own."""
        left = iter(these)
        for name, kind in self._held:
            setattr(self, name, filled(kind, left))

    def _put(self, other: Any) -> None:
        """Take the numbers of another into the parts that there are."""
        for name, kind in self._held:
            if isinstance(kind, type) and issubclass(kind, Value):
                getattr(self, name)._put(getattr(other, name))
            else:
                setattr(self, name, getattr(other, name))

    @classmethod
    def _of(cls, these: Any) -> Any:
        """A value of numbers that are floats, or arrays of one shape."""
        made = _new(cls._kind)
        made._assign(these)
        return made

    @classmethod
    def FromArray(cls: type[V], array: Any) -> V:
        """Of an array, or a list, of the shape that `ToArray` gives; it is copied.

        With more axes in front it is a batch, which looks into the array.

        Raises: ShapeError, InputError.
        """
        return cls._of(columns_of(array, f"a {cls._kind.__name__}", cls.array_shape))

    def ToArray(self) -> Floats:
        """A new array of the numbers; of a batch with the shape of the batch in front."""
        these = self._numbers()
        if all([x.__class__ is float for x in these]):
            return np.array(these).reshape(self.array_shape)
        shape = self.shape
        table = np.stack([np.broadcast_to(x, shape) for x in these], axis=-1)
        return table.reshape(*shape, *self.array_shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise InputError("the numbers are no array: a copy is needed")
        return self.ToArray().astype(dtype or np.float64, copy=False)

    def __copy__(self: V) -> V:
        other = _new(type(self))
        other._assign(self._numbers())
        return other

    def __deepcopy__(self: V, memo: dict[int, Any]) -> V:
        return self.__copy__()

    def __getstate__(self) -> Any:
        return self._numbers()

    def __setstate__(self, state: Any) -> None:
        self._assign(state)

    def __repr__(self) -> str:
        if any([x.__class__ is not float for x in self._numbers()]):
            return f"<{type(self).__name__}: a batch of shape {self.shape}>"
        return self._text()

    def _text(self) -> str:
        """One value, as KDL prints it."""
        width = self.array_shape[-1] if len(self.array_shape) > 1 else 0
        return shown(self._numbers(), width)

    # batches

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a batch; () for one value."""
        return np.broadcast_shapes(*[np.shape(x) for x in self._numbers()])

    def At(self: V, where: Any) -> V:
        """Of a batch the values that an index selects, as of an array: one, or a smaller batch.

        Raises: IndexError.
        """
        shape = self.shape
        if not shape:
            raise WrongTypeError(f"this {type(self).__name__} is one value and no batch")
        return self._like([np.broadcast_to(x, shape)[where] for x in self._numbers()])

    @classmethod
    def Stack(cls: type[V], values: Iterable[V]) -> V:
        """A batch of shape (n,) of n values, or (n, ...) of batches of one shape.

        Raises: WrongTypeError; ShapeError for shapes that do not fit together.
        """
        given = list(values)
        for value in given:
            if not isinstance(value, cls):
                raise wrong(f"{cls.__name__}.Stack", f"values of type {cls.__name__}", value)
        if not given:
            raise ShapeError("a batch has one value at least")
        try:
            shape = np.broadcast_shapes(*[value.shape for value in given])
        except ValueError:
            shapes = ", ".join(str(value.shape) for value in given)
            raise ShapeError(f"these shapes do not fit together: {shapes}") from None
        columns = zip(*[value._numbers() for value in given], strict=True)
        stacked = [np.stack([np.broadcast_to(x, shape) for x in column]) for column in columns]
        return given[0]._like(stacked)

    def _like(self: V, these: Iterable[Any]) -> V:
        """Another value of this type; numbers of NumPy become floats."""
        other = _new(type(self))
        other._assign(tuple([x if np.ndim(x) else float(x) for x in these]))
        return other

    # operators

    @classmethod
    def _as_own(cls, other: Any) -> Any:
        """Another value of this type, or what stands for one; None for others."""
        return other if isinstance(other, cls._kind) else None

    @classmethod
    def _term(cls, other: Any) -> Any:
        """The other operand of a sum, as a value of this type; None for others."""
        return other if isinstance(other, cls._kind) else None

    def __eq__(self, other: object) -> Any:
        own = other if other.__class__ is self.__class__ else self._as_own(other)
        return NotImplemented if own is None else self._near(own, EPS)

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        if same is NotImplemented:
            return same
        return ~same if isinstance(same, np.ndarray) else not same

    def _near(self, other: Any, eps: float) -> Any:
        """Whether all numbers are nearer than eps."""
        away = self._away.call(self, other)
        if away.__class__ is float and eps > 0.0:
            if away < 0.99 * eps * eps:
                return True
            if away > 20.0 * eps * eps:  # of 18 numbers at most
                return False
        return near(of_one_kind(self._numbers()), of_one_kind(other._numbers()), eps)

    def __mul__(self, other: Any) -> Any:
        formula = self._products.get(other.__class__)
        if formula is not None:
            return formula.call(self, other)
        for kind, formula in self._products.items():
            own = None if kind is float else kind._as_own(other)
            if own is not None:
                return formula.call(self, own)
        if float not in self._products:
            return unfit(self, "*", other)
        factor = factor_of(self, "*", other)
        return factor if factor is NotImplemented else self._times.call(self, factor)

    def __radd__(self, other: object) -> Any:
        raise _undefined(other, "+", self)

    def __rsub__(self, other: object) -> Any:
        raise _undefined(other, "-", self)

    def __rmul__(self, other: object) -> Any:
        raise _undefined(other, "*", self)

    def __rtruediv__(self, other: object) -> Any:
        raise _undefined(other, "/", self)

    # what the module's functions ask for

    def _added(self, delta: Any, dt: Any) -> Any:
        """The value after moving by ``delta`` for a time."""
        return self._plus.call(self, delta._times.call(delta, dt))

    def _difference(self, other: Any, dt: Any) -> Any:
        """The rate that moves it to another value in a time."""
        return self._over.call(self._minus.call(other, self), dt)


class Summed(Value):
    """The base of values that are added, and that numbers multiply from the left."""

    __slots__ = ()
    _nothing: ClassVar[Any]
    """A value of zeros."""

    def __add__(self: V, other: Any) -> V:
        return self._plus.call(self, other)

    def __rmul__(self, other: Any) -> Any:
        factor = other if other.__class__ is float else factor_of(self, "*", other)
        return (
            super().__rmul__(other) if factor is NotImplemented else self._times.call(self, factor)
        )

    def _clear(self) -> None:
        """Become zero, in place."""
        self._put(self._nothing)


class Linear(Summed):
    """The base of values that are subtracted too, and multiplied and divided by numbers."""

    __slots__ = ()

    if TYPE_CHECKING:

        def __mul__(self: V, other: Any) -> V: ...

    def __sub__(self: V, other: Any) -> V:
        return self._minus.call(self, other)

    def __neg__(self: V) -> V:
        return self._times.call(self, -1.0)

    def __truediv__(self: V, other: Any) -> V:
        divisor = other if other.__class__ is float else factor_of(self, "/", other)
        return divisor if divisor is NotImplemented else self._over.call(self, divisor)

    def __iadd__(self, other: Any) -> Any:
        return self._become(self._plus.call(self, other))

    def __isub__(self, other: Any) -> Any:
        return self._become(self._minus.call(self, other))

    def _become(self, found: Any) -> Any:
        if found is NotImplemented:
            return found
        self._put(found)
        return self

    def ReverseSign(self) -> None:
        """Turn it round, in place."""
        self._put(self._times.call(self, -1.0))


class Pair(Value):
    """The base of values of two parts, which are live: what changes in them changes the value."""

    __slots__ = ("_a", "_b")
    _a: Any
    _b: Any
    _names: ClassVar[tuple[tuple[str, ...], ...]]
    """The names of its two arguments, and other ones that they have."""
    _said: ClassVar[str]
    """The arguments that it is made of, in words."""
    _alone: ClassVar[tuple[int, ...]] = ()
    """The parts, of two, that it may be made of without the other."""
    _rest: ClassVar[tuple[Any, Any]]
    """The parts that it has where none are given."""
    _copied: ClassVar[Formula]
    """Two parts to copies of both."""
    _copy: ClassVar[Formula]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_held" in vars(cls):
            kinds = tuple([kind for _, kind in cls._held])
            cls._rest = (kinds[0](), kinds[1]())
            cls._copied = Formula(f"{cls.__name__} copied", cls._copies, kinds, kinds)
            cls._copy = Formula(f"{cls.__name__} copy", cls._copied_parts, (cls,), cls)

    def __init__(self, *given: Any, **named: Any) -> None:
        if named:
            given = self._in_order(given, named)
        if len(given) == 2:
            first, second = given
        elif not given:
            first, second = self._rest
        else:
            first, second = self._alike(*given)
        self._a, self._b = self._copied.call(first, second)

    def _in_order(self, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        """Arguments by their places, each by one of the names that it has.

        Raises: WrongTypeError for other names.
        """
        rest, left = list(given), dict(named)
        for names in self._names[len(given) :]:
            found = [name for name in names if name in left]
            if not found:
                break
            rest.append(left.pop(found[0]))
        if left:
            raise wrong(self._kind.__name__, self._said, *given, *named.values())
        return tuple(rest)

    def _alike(self, *given: Any) -> tuple[Any, Any]:
        """The parts of another of its type, or one part beside what the other is at rest.

        Raises: WrongTypeError.
        """
        if len(given) == 1:
            one = given[0]
            if isinstance(one, self._kind):
                return one._a, one._b
            for k in self._alone:
                if isinstance(one, self._held[k][1]):
                    return (one, self._rest[1]) if k == 0 else (self._rest[0], one)
        raise wrong(self._kind.__name__, self._said, *given)

    @classmethod
    def _copies(cls, first: Any, second: Any) -> Any:
        """Copies of both parts.

        Raises: WrongTypeError.
        """
        (_, one), (_, other) = cls._held
        if not (isinstance(first, one) and isinstance(second, other)):
            made = cls._joined(first, second)
            if made is None:
                raise wrong(cls._kind.__name__, cls._said, first, second)
            first, second = made._a, made._b
        return first.__copy__(), second.__copy__()

    @classmethod
    def _joined(cls, first: Any, second: Any) -> Any:
        """The value of two other parts; None for what it is not made of."""
        return None

    @classmethod
    def _with(cls, first: Any, second: Any) -> Any:
        """The value of parts that are nobody else's."""
        made = _new(cls._kind)
        made._a, made._b = first, second
        return made

    def _numbers(self) -> tuple[Any, ...]:
        return (*self._a._numbers(), *self._b._numbers())

    def _put(self, other: Any) -> None:
        self._a._put(other._a)
        self._b._put(other._b)

    def _copied_parts(self) -> Any:
        made = _new(type(self))
        made._a, made._b = self._a.__copy__(), self._b.__copy__()
        return made

    def __copy__(self) -> Any:
        return self._copy.call(self)


class Moving(Value):
    """The base of values that turn or move others: rotations and frames, with rates or without."""

    __slots__ = ()
    _inverse: ClassVar[Formula]
    _back: ClassVar[dict[Any, Formula]]
    """The formulas of ``self.Inverse(other)`` by the type of the other."""

    @classmethod
    def _give(
        cls, inverse: Callable[[Any], Any], products: dict[Any, Callable[[Any, Any], Any]]
    ) -> None:
        """Give the type its inverse, and its products with other types."""

        def back(product: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
            return lambda a, b: product(inverse(a), b)

        name, each = cls.__name__, products.items()
        cls._inverse = Formula(f"{name} inverse", inverse, (cls,), cls)
        cls._products = {k: Formula(f"{name} * {k.__name__}", p, (cls, k), k) for k, p in each}
        cls._back = {k: Formula(f"{name} back {k.__name__}", back(p), (cls, k), k) for k, p in each}

    @overload
    def Inverse(self: V) -> V: ...
    @overload
    def Inverse(self, other: Any) -> Any: ...
    def Inverse(self, other: Any = ABSENT) -> Any:
        """The inverse; of what it turns or moves (`takes`), that as the inverse turns or moves it.

        Raises: WrongTypeError.
        """
        if other is ABSENT:
            return self._inverse.call(self)
        formula = self._back.get(other.__class__)
        if formula is not None:
            return formula.call(self, other)
        for kind, formula in self._back.items():
            own = kind._as_own(other)
            if own is not None:
                return formula.call(self, own)
        raise wrong(f"{self._kind.__name__}.Inverse", f"nothing, {self.takes['*']}", other)


class Zero:
    """The method ``Zero()``: of a class a zero value; on an object the same, and it becomes zero.

    Row S3-010.
    """

    def __init__(self) -> None:
        self._of_classes: dict[Any, Callable[[], Any]] = {}

    def __get__(self, instance: Any, owner: type[Value]) -> Callable[[], Any]:
        kind = owner._kind
        if instance is None and kind in self._of_classes:
            return self._of_classes[kind]

        def zero() -> Value:
            """A zero value; of an object, which becomes zero too."""
            if instance is not None:
                instance._put(kind())
            return kind()

        if instance is None:
            self._of_classes[kind] = zero
        return zero


def live(read: str | Callable[[Any], Any], kind: type[Any], name: str, what: str) -> Any:
    """The property of a part, by its slot or made when it is read: live, copied where it is set.

    Setting raises: WrongTypeError.
    """
    get = attrgetter(read) if isinstance(read, str) else read

    def put(self: Any, value: Any) -> None:
        if not isinstance(value, kind):
            raise wrong(name, f"a {kind.__name__}", value)
        get(self)._put(value)

    return property(get, put, doc=f"{what}, live; setting it copies.")
