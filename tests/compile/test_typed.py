"""The small language: what Python gives is what compiled code gives, over its whole syntax."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
import pytest

from linkwork.compile.compiler import Compiler
from linkwork.compile.machine_code import MachineCode, object_code
from linkwork.compile.target import Target, host, named, with_width
from linkwork.compile.typed import (
    F32,
    F64,
    I64,
    WIDTH,
    WIDTH32,
    Bool,
    PtrF32,
    PtrF64,
    PtrI64,
    Typed,
    any_of,
    bit_count,
    bits_of,
    call_as,
    f32,
    f64,
    fma,
    i64,
    lane,
    lane_max,
    lane_min,
    lanes,
    library,
    local_f64,
    local_i64,
    lowest_bit,
    mask_of,
    module_of,
    offset,
    put,
    select,
    splat,
    spread,
    sqrt,
    status_at,
    typed,
)
from linkwork.errors import InputError
from seeds import rng

ROOM = 6
HALF = 0.5


@typed
def dot(ax: F64, ay: F64, az: F64, bx: F64, by: F64, bz: F64) -> F64:
    return ax * bx + ay * by + az * bz


@typed
def cross(ax: F64, ay: F64, az: F64, bx: F64, by: F64, bz: F64) -> tuple[F64, F64, F64]:
    return ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx


@typed
def sorted_in_place(p: PtrF64, n: I64) -> None:
    for k in range(1, n):
        value = p[k]
        j = k - 1
        while j >= 0 and p[j] > value:  # `and` must not look at p[-1]
            p[j + 1] = p[j]
            j -= 1
        p[j + 1] = value


@typed
def classes(p: PtrF64, n: I64, out: PtrI64) -> I64:
    """Every branch: how many fall into each of four classes."""
    counts = local_i64(ROOM)
    for k in range(ROOM):
        counts[k] = 0
    last = -1
    for k in range(n):
        x = p[k]
        if x < -1:
            place = 0
        elif x < 0 or x == HALF:
            place = 1
        elif not x > 1:
            place = 2
        else:
            if x > 2.5:
                last = k
                break
            if x > 2:
                continue
            place = 3
        counts[place] += 1
    for k in range(3, -1, -1):
        out[k] = counts[k]
    return last if last >= 0 else n


@typed
def numbers(x: F64, k: I64, out: PtrF64) -> Bool:
    out[0] = sqrt(abs(x)) + f64(k // 3) - f64(k % 3)
    out[1] = fma(x, 2.0, -1.0)
    out[2] = min(x, 0.25)
    out[3] = max(f64(k), x)
    out[4] = f64(i64(x * 10.0))
    out[5] = f64((k << 3) ^ (k & 5) | (k >> 1))
    out[6] = x if k > 2 else 1
    out[7] = 3 - x * 2
    out[8] = 2 * 3 + 0.5 * x
    out[9] = f64(lowest_bit(k | 64)) + f64(bit_count(k))
    offset(out, 10)[0] = select(x > 0, x, -x)
    x, y = -x, x
    out[11] = x - y
    return x > 0 and not k == 2


@typed
def lanes_of_eight(p: PtrF64, n: I64, out: PtrF64) -> I64:
    greatest = splat(-1e9)
    bits = 0
    for k in range(0, n, WIDTH):
        v = lanes(p, k)
        inside = (v > -1.0) & ~(v > 1.0) | (v == 2.0)
        if any_of(inside):
            bits = bits * 7 + bits_of(inside)
        greatest = select(v > greatest, v, greatest)
        put(out, k, select(inside, v * v + spread(p, 0), abs(v) - 1))
    out[n] = lane_max(greatest) - lane_min(greatest) + lane(greatest, 3)
    return bits


@typed
def lanes_of_sixteen(p: PtrF32, radius: F32, out: PtrF32) -> I64:
    v = lanes(p, 0)
    near = v * v + radius * v < f32(0.5)
    put(out, 0, select(near, v, splat(radius)))
    out[WIDTH32] = f32(f64(radius) * 3.0)
    return bits_of(near & mask_of(0xF0F1))


@typed
def outer(p: PtrF64, out: PtrF64) -> F64:
    work = local_f64(3)
    for k in range(3):
        work[k] = p[k]
    sorted_in_place(work, 3)
    a, b, c = cross(work[0], work[1], work[2], p[3], p[4], p[5])
    out[0], out[1], out[2] = cross(a, b, c, 1, 2, 3)
    return dot(a, b, c, p[3], p[4], p[5])


class Plane(NamedTuple):
    """n · p = d."""

    n: PtrF64
    d: F64


class Pair(NamedTuple):
    planes: PtrF64
    size: I64


@typed
def plane_at(planes: PtrF64, k: I64) -> Plane:
    return Plane(offset(planes, 4 * k), planes[4 * k + 3])


@typed
def above(plane: Plane, p: PtrF64) -> F64:
    n = plane.n
    return n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - plane.d


@typed
def moved(plane: Plane, by: F64) -> Plane:
    return Plane(plane.n, plane.d + by)


@typed
def highest_above(pair: Pair, p: PtrF64) -> F64:
    best = above(plane_at(pair.planes, 0), p)
    for k in range(1, pair.size):
        plane = plane_at(pair.planes, k)
        lower = moved(plane, 1)
        both = max(above(plane, p), above(lower, p))
        best = max(best, both)
    return best


KINDS: dict[type, Any] = {float: ctypes.c_double, int: ctypes.c_int64, bool: ctypes.c_bool}


def compiled(functions: list[Typed], target: Target | None = None) -> dict[str, Any]:
    """The functions as Python can call them, arrays as pointers."""
    target = target or host()
    code = MachineCode(
        object_code(module_of(functions, target), target, simplify=True, branches=True)
    )
    return {f.__name__: (code.address(f.__name__), code) for f in functions}


def call(found: Any, result: Any, *args: Any) -> Any:
    kinds, values = [], []
    for arg in args:
        if np.ndim(arg):
            kinds.append(ctypes.c_void_p)
            values.append(arg.ctypes.data)
        else:
            single = getattr(arg, "dtype", None) == np.float32
            kinds.append(ctypes.c_float if single else KINDS[type(arg)])
            values.append(float(arg) if single else arg)
    return ctypes.CFUNCTYPE(result, *kinds)(found[0])(*values)


@pytest.fixture(scope="module")
def code() -> dict[str, Any]:
    return compiled([sorted_in_place, classes, numbers, lanes_of_eight, lanes_of_sixteen, outer])


def test_loops_and_short_circuits(code: dict[str, Any]) -> None:
    random = rng("test_loops_and_short_circuits")
    p = random.normal(size=40)
    q = p.copy()
    call(code["sorted_in_place"], None, q, 40)
    assert np.array_equal(q, np.sort(p))
    sorted_in_place(p, 40)
    assert np.array_equal(p, q)


def test_branches(code: dict[str, Any]) -> None:
    random = rng("test_branches")
    for scale in (0.3, 1.0, 2.0):
        p = np.append(random.normal(size=50) * scale, HALF)
        out, other = np.zeros(4, np.int64), np.zeros(4, np.int64)
        assert call(code["classes"], ctypes.c_int64, p, 51, out) == classes(p, 51, other)
        assert np.array_equal(out, other)
    assert call(code["classes"], ctypes.c_int64, p, 0, out) == 0  # a loop of no turns


def test_every_operation_of_numbers(code: dict[str, Any]) -> None:
    random = rng("test_every_operation_of_numbers")
    for k in range(9):
        x = float(random.normal())
        out, other = np.zeros(12), np.zeros(12)
        assert call(code["numbers"], ctypes.c_bool, x, k, out) == numbers(x, k, other)
        np.testing.assert_allclose(out, other, rtol=4e-16)


def test_lanes_of_both_kinds(code: dict[str, Any]) -> None:
    random = rng("test_lanes_of_both_kinds")
    p = np.append(random.normal(size=31), 2.0)
    out, other = np.zeros(33), np.zeros(33)
    assert call(code["lanes_of_eight"], ctypes.c_int64, p, 32, out) == lanes_of_eight(p, 32, other)
    np.testing.assert_allclose(out, other, rtol=1e-15)
    single, radius = random.normal(size=16).astype(np.float32), np.float32(0.3)
    out, other = np.zeros(17, np.float32), np.zeros(17, np.float32)
    bits = call(code["lanes_of_sixteen"], ctypes.c_int64, single, radius, out)
    assert bits == lanes_of_sixteen(single, radius, other)
    np.testing.assert_allclose(out, other, rtol=1e-7)


def test_calls_with_several_results(code: dict[str, Any]) -> None:
    random = rng("test_calls_with_several_results")
    p = random.normal(size=6)
    out, other = np.zeros(3), np.zeros(3)
    value = call(code["outer"], ctypes.c_double, p, out)
    np.testing.assert_allclose(value, outer(p, other), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(out, other, rtol=1e-12, atol=1e-15)


def test_records_are_handed_on_made_and_given_back() -> None:
    random = rng("test_records_are_handed_on_made_and_given_back")
    planes, p = random.normal(size=20), random.normal(size=3)
    found = compiled([highest_above])["highest_above"]
    value = call(found, ctypes.c_double, planes, 5, p)  # fields one after the other
    assert value == pytest.approx(highest_above(Pair(planes, 5), p), rel=1e-12)
    rows = planes.reshape(5, 4)
    assert value == pytest.approx((rows[:, :3] @ p - rows[:, 3]).max(), rel=1e-12)


def test_every_width_of_the_processor_gives_the_same_bits() -> None:
    random = rng("test_every_width_of_the_processor_gives_the_same_bits")
    p = np.append(random.normal(size=31), 2.0)
    found = []
    for width in (1, 2, 4, 8):
        out = np.zeros(33)
        made = compiled([lanes_of_eight], with_width(host(), width))
        found.append((call(made["lanes_of_eight"], ctypes.c_int64, p, 32, out), out.tobytes()))
    assert len(set(found)) == 1


def test_older_processors_run_the_same_lanes() -> None:
    random = rng("test_older_processors_run_the_same_lanes")
    try:
        target = named("x86-64-v2")
    except InputError:
        pytest.skip("this processor does not run x86-64-v2")
    p = np.append(random.normal(size=31), 2.0)
    out, other = np.zeros(33), np.zeros(33)
    made = compiled([lanes_of_eight], target)
    assert call(made["lanes_of_eight"], ctypes.c_int64, p, 32, out) == lanes_of_eight(p, 32, other)
    np.testing.assert_allclose(out, other, rtol=1e-15)


def test_a_library_is_found_by_name_and_made_once() -> None:
    compiler = Compiler()
    code = library([dot], compiler, "dot")
    assert library([dot], compiler, "dot") is code
    kind = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 6)
    assert kind(code.address("dot"))(1, 2, 3, 4, 5, 6) == 32


@typed
def dot_of(address: I64, x: F64) -> F64:
    """The square of the length of (x, 1, 2), by a function of another library."""
    return call_as(dot, address, x, 1, 2, x, 1.0, 2.0)


def test_functions_of_other_libraries_are_called_by_their_addresses() -> None:
    there, here = library([dot], Compiler(), "dot"), library([dot_of], Compiler(), "dot of")
    kind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64, ctypes.c_double)
    assert kind(here.address("dot_of"))(there.address("dot"), 3.0) == 14.0
    with pytest.raises(NotImplementedError, match="compiled code only"):
        dot_of(there.address("dot"), 3.0)


@typed
def written(count: I64, x: PtrF64) -> I64:
    """Write the square of a number; one more than it is given."""
    x[0] = x[0] * x[0]
    return count + 1


@typed
def twice_written(address: I64, x: PtrF64) -> I64:
    """The status of a function after another."""
    return status_at(address, 3, x) + status_at(address, 10, x)


def test_a_status_is_that_of_the_function_at_the_address() -> None:
    there, here = (
        library([written], Compiler(), "written"),
        library([twice_written], Compiler(), ""),
    )
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)
    x = np.array([3.0])
    assert kind(here.address("twice_written"))(there.address("written"), x.ctypes.data) == 15
    assert x[0] == 81.0
    with pytest.raises(NotImplementedError, match="compiled code only"):
        twice_written(there.address("written"), x)


@typed
def calls_with_few(address: I64, x: F64) -> F64:
    return call_as(dot, address, x, x, x)


@typed
def calls_with_others(address: I64, k: I64) -> F64:
    return call_as(dot, address, k, k, k, k, k, k)


@typed
def calls_nothing(address: I64) -> F64:
    return call_as(address)  # type: ignore[call-arg]


@typed
def mixes(x: F64, k: I64) -> F64:
    return x + k  # type: ignore[operator]


@typed
def changes(x: F64) -> F64:
    y = 0
    y = x  # type: ignore[assignment]
    return y


@typed
def forgets(x: F64) -> F64:  # type: ignore[return]
    if x > 0:
        return x


@typed
def lists(x: F64) -> F64:
    return [x][0]


@typed
def unknown(x: F64) -> F64:
    return np.sin(x)


@typed
def takes_another(pair: Pair, p: PtrF64) -> F64:
    return above(pair, p)  # type: ignore[arg-type]


@typed
def makes_half(p: PtrF64) -> F64:
    return above(Plane(p), p)  # type: ignore[call-arg]


@typed
def makes_again(p: PtrF64) -> F64:
    plane = Plane(p, 1.0)
    plane = Plane(p, 2.0)
    return above(plane, p)


@typed
def reads_more(plane: Plane) -> F64:
    return plane.offset  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (takes_another, "this is no Plane"),
        (makes_half, "a Plane has 2 fields, in their order"),
        (makes_again, "a record is a variable of its own, and is made once"),
        (reads_more, "only the fields of records are read so"),
        (mixes, "this is I64 where F64 is needed"),
        (changes, "this is F64 where I64 is needed"),
        (forgets, "not every way through it ends with a result"),
        (lists, "List is not of the small language"),
        (unknown, "a call is a name and plain arguments"),
        (calls_with_few, "dot has 6 parameters"),
        (calls_with_others, "this is I64 where F64 is needed"),
        (calls_nothing, "call_as has a typed function, its address and its arguments"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_errors_name_the_line(function: Typed, why: str) -> None:
    with pytest.raises(TypeError, match=rf"test_typed\.py:\d+: {function.__name__}: {why}"):
        module_of([function], host())
