"""The object that people hold: every method, every shape, every kind of array, every edit."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import linkwork as lw
from robots import (
    chain_urdf,
    every_joint_urdf,
    random_configuration,
)
from seeds import rng

Call = Callable[..., np.ndarray]

# Every computing method, called with a robot, q, v and more.
CALLS: dict[str, Call] = {
    "fk": lambda r, q, v, **k: r.fk(q, "lens", **k),
    "relative": lambda r, q, v, **k: r.relative(q, "lens", "finger_a", **k),
    "fk_all": lambda r, q, v, **k: r.fk_all(q, **k),
    "jacobian": lambda r, q, v, **k: r.jacobian(q, "lens", **k),
    "jacobian_local": lambda r, q, v, **k: r.jacobian(q, "lens", reference="local", **k),
    "jacobian_world": lambda r, q, v, **k: r.jacobian(q, "lens", reference="world", **k),
    "jacobian_dot": lambda r, q, v, **k: r.jacobian_dot(q, v, "lens", **k),
    "jacobian_dot_v": lambda r, q, v, **k: r.jacobian_dot_v(q, v, "lens", **k),
    "com": lambda r, q, v, **k: r.com(q, **k),
    "com_jacobian": lambda r, q, v, **k: r.com_jacobian(q, **k),
    "all_positions": lambda r, q, v, **k: r.all_positions(q, **k),
    "integrate": lambda r, q, v, **k: r.integrate(q, v, **k),
    "difference": lambda r, q, v, **k: r.difference(q, q[..., ::-1], **k),
}
WITH_THREADS = [name for name in CALLS if name not in ("integrate", "difference")]
WITH_ON_BAD = [
    name for name in CALLS if name.startswith(("fk", "relative", "jacobian")) and "dot" not in name
]


@cache
def everything() -> lw.Robot:
    """A robot with every joint type, couplings, branches and lumped links."""
    return lw.load(every_joint_urdf(), base="floating")


def some(r: lw.Robot, n: int, label: str) -> tuple[np.ndarray, np.ndarray]:
    """Configurations (n, nq) and velocities (n, nv)."""
    g = rng(label)
    q = np.array([random_configuration(g, r.mechanism) for _ in range(n)])
    return q.reshape(n, r.n_q), g.normal(size=(n, r.n_v))


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal in shape and in every bit."""
    return a.shape == b.shape and a.dtype == b.dtype == np.float64 and a.tobytes() == b.tobytes()


# one call form for one configuration and for any number


@pytest.mark.parametrize("name", CALLS)
def test_a_configuration_alone_is_the_row_of_every_leading_shape(name):
    r, call = everything(), CALLS[name]
    q, v = some(r, 42, f"rows {name}")
    single = np.array([call(r, a, b) for a, b in zip(q, v, strict=True)])
    assert same(call(r, q, v), single)
    for lead in ((42,), (1, 42), (42, 1), (6, 7), (2, 3, 7), (1, 2, 1, 21)):
        result = call(r, q.reshape(*lead, -1), v.reshape(*lead, -1))
        assert same(result, single.reshape(*lead, *single.shape[1:]))
    for n in (0, 1, 2, 7, 8, 9):
        assert same(call(r, q[:n], v[:n]), single[:n])
    nothing = call(r, np.zeros((3, 0, r.n_q)), np.zeros((3, 0, r.n_v)))
    assert nothing.shape == (3, 0, *single.shape[1:])


@pytest.mark.parametrize("name", ["jacobian_dot", "jacobian_dot_v", "integrate"])
def test_two_inputs_are_broadcast(name):
    r, call = everything(), CALLS[name]
    q, v = some(r, 12, f"broadcast {name}")
    many = call(r, q, np.repeat(v[:1], 12, 0))
    assert same(call(r, q, v[0]), many)
    grid = call(r, q[:, None], v[None, :5])
    assert grid.shape[:2] == (12, 5)
    assert same(grid[:, 0], many)
    with pytest.raises(lw.ShapeError, match="leading shapes"):
        call(r, q[:3], v[:4])


@pytest.mark.parametrize("name", WITH_THREADS)
def test_any_number_of_threads_gives_the_same_bits(name):
    r, rows = everything(), 2_000 if name == "fk_all" else 50_000
    q, v = some(r, 500, f"threads {name}")
    q, v = np.tile(q, (rows // 500, 1)), np.tile(v, (rows // 500, 1))
    call = CALLS[name]
    serial = call(r, q, v, threads=1)
    for threads in (2, 4):
        assert same(call(r, q, v, threads=threads), serial)
    assert same(call(r, q, v), serial)
    assert same(serial[:500], serial[-500:])


@pytest.mark.parametrize("threads", [0, -1, 2.5, "2", [1], float("nan")])
def test_a_number_of_threads_is_a_whole_number_from_one(threads):
    with pytest.raises((lw.InputError, TypeError)):
        everything().com(some(everything(), 3, "bad threads")[0], threads=threads)


# out


@pytest.mark.parametrize("name", CALLS)
def test_out_is_written_and_returned(name):
    r, call = everything(), CALLS[name]
    q, v = some(r, 11, f"out {name}")
    expected = call(r, q, v)
    out = np.full(expected.shape, 7.0)
    assert call(r, q, v, out=out) is out
    assert same(out, expected)
    shape = expected.shape
    apart = np.full((*shape, 2), 7.0)[..., 1]
    turned = np.full(shape[::-1], 7.0).T
    backwards = np.full(shape, 7.0)[::-1]
    odd = np.zeros(expected.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(shape)
    for view in (apart, turned, backwards, odd):
        assert call(r, q, v, out=view) is view
        assert np.array_equal(view, expected)
    for nothing in (np.zeros((0, *shape[1:])), np.zeros((2, 0, *shape[1:]))):  # an empty batch
        lead = nothing.shape[: nothing.ndim - len(shape[1:])]
        none = np.zeros((*lead, q.shape[1])), np.zeros((*lead, v.shape[1]))
        assert call(r, *none, out=nothing) is nothing
    alone = np.zeros(shape[1:])
    assert call(r, q[3], v[3], out=alone) is alone
    assert same(alone, expected[3])


def test_out_that_does_not_fit_is_refused_and_left_alone():
    r = everything()
    q, _ = some(r, 5, "out refused")
    frozen = np.full((5, 4, 4), 3.0)
    frozen.flags.writeable = False
    wrong = [
        (np.full((4, 4, 4), 3.0), lw.ShapeError, r"\(5, 4, 4\)"),
        (np.full((5, 4, 4, 1), 3.0), lw.ShapeError, r"\(5, 4, 4\)"),
        (np.full((5, 4, 4), 3.0, np.float32), lw.ShapeError, "float64"),
        (np.full((5, 4, 4), 3.0, ">f8"), lw.ShapeError, "float64"),
        (np.full((5, 4, 4), 3, np.int64), lw.ShapeError, "float64"),
        ([[3.0]], lw.ShapeError, "list"),
        (frozen, lw.InputError, "read-only"),
    ]
    for out, error, text in wrong:
        with pytest.raises(error, match=text):
            r.fk(q, "lens", out=out)
        assert np.all(np.asarray(out) == 3.0)
    with pytest.raises(lw.ShapeError):
        r.fk(q[0], "lens", out=np.zeros((1, 4, 4)))


def test_out_that_is_an_input_is_refused():
    r = everything()
    q, v = some(r, 6, "aliasing")
    room = np.zeros((8, r.n_q))
    room[:6] = q
    for out in (room[:6], room[2:], room[:6][::-1]):
        before = room.copy()
        with pytest.raises(lw.InputError, match="shares memory"):
            r.integrate(room[:6], v, out=out)
        assert same(room, before)
    # of an input that is not contiguous a copy is read, so the answer is right all the same
    wide = np.zeros((12, r.n_q))
    wide[::2] = q
    expected = r.integrate(q, v)
    try:
        r.integrate(wide[::2], v, out=wide[::2])
    except lw.InputError:
        return
    assert same(wide[::2].copy(), expected)


def test_out_whose_results_share_memory_is_refused():
    r = everything()
    q, v = some(r, 6, "sliding")
    sliding = np.lib.stride_tricks.as_strided(np.zeros(6 + r.n_q), (6, r.n_q), (8, 8))
    with pytest.raises(lw.InputError, match="out repeats its memory"):
        r.integrate(q, v, out=sliding)
    assert not sliding.any()
    for out in (np.zeros((r.n_q, 6)).T, np.zeros((13, 2 * r.n_q))[::-2, ::2][:6]):
        assert same(r.integrate(q, v, out=out).copy(), r.integrate(q, v))


# what is not finite


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_bad_number_is_named_by_joint_and_row(bad):
    r = everything()
    q, v = some(r, 30, "bad")
    for joint in r.joint_names:
        column = int(r.mechanism.q_start[r.joint_names.index(joint)])
        wrong = q.copy()
        wrong[17, column] = bad
        text = rf"q\[{column}\] \(joint '{joint}'\) in row \[17\] is {bad}"
        with pytest.raises(lw.InputError, match=text):
            r.jacobian(wrong, "lens")
        with pytest.raises(lw.InputError, match=rf"joint '{joint}'\) in row \[2, 5\] is"):
            r.com(wrong.reshape(-1, 6, r.n_q))
        with pytest.raises(lw.InputError, match=rf"\(joint '{joint}'\) is"):
            r.all_positions(wrong[17])
    for joint, column in zip(r.joint_names, r.mechanism.v_start.tolist(), strict=False):
        fast = v.copy()
        fast[4, column] = bad
        text = rf"v\[{column}\] \(joint '{joint}'\) in row \[4\] is {bad}"
        with pytest.raises(lw.InputError, match=text):
            r.integrate(q, fast)
        with pytest.raises(lw.InputError, match=text):
            r.jacobian_dot_v(q, fast, "lens")
    q[3, 2] = bad
    with pytest.raises(lw.InputError, match=r"q1\[2\] \(joint 'floating_base'\) in row \[3\] is"):
        r.difference(q[:1], q)


@pytest.mark.parametrize("name", WITH_ON_BAD)
def test_bad_rows_are_marked_where_asked(name):
    r, call = everything(), CALLS[name]
    q, v = some(r, 40, f"marked {name}")
    good = call(r, q, v)
    wrong, rows = q.copy(), [0, 7, 8, 39]
    wrong[rows, [0, 5, 9, 12]] = [np.nan, np.inf, -np.inf, np.nan]
    marked = call(r, wrong, v, on_bad="nan")
    assert np.isnan(marked[rows]).all()
    assert same(np.delete(marked, rows, 0), np.delete(good, rows, 0))
    assert np.isnan(call(r, wrong[7], v, on_bad="nan")).all()
    out = np.zeros((40, *good.shape[1:], 2))[..., 0]
    assert call(r, wrong, v, on_bad="nan", out=out) is out
    assert np.array_equal(out, marked, equal_nan=True)
    with pytest.raises(lw.InputError, match="on_bad"):
        call(r, q, v, on_bad="skip")


# What does not depend on where the base stands needs no quaternion of it.
WITHOUT_BASE = ("all_positions", "jacobian_local", "relative")


@pytest.mark.parametrize("name", [n for n in CALLS if n not in WITHOUT_BASE])
def test_a_quaternion_of_length_zero_is_refused(name):
    r, call = everything(), CALLS[name]
    q, v = some(r, 9, f"quaternion {name}")
    q[5, 3:7] = 0.0
    with pytest.raises(lw.InputError, match="quaternion"):
        call(r, q[5], v[5])
    with pytest.raises(lw.InputError, match=r"row \[5\].*quaternion"):
        call(r, q, v)
    if name in WITH_ON_BAD:
        marked = np.isnan(call(r, q, v, on_bad="nan")).reshape(9, -1)
        assert np.flatnonzero(marked.any(axis=1)).tolist() == [5]
        assert marked[5].all()


# every kind of array


@pytest.mark.parametrize("name", CALLS)
def test_every_kind_of_real_array_gives_the_same(name):
    r, call = everything(), CALLS[name]
    whole = np.round(some(r, 9, f"kinds {name}")[0] * 2) + 0.0  # no negative zeros
    whole[:, 3] = 1.0  # w of the floating base, in numbers that every kind holds exactly
    whole[:, -4] = 1.0  # w of the floating joint
    speed = np.round(rng(f"speeds {name}").normal(size=(9, r.n_v)) * 3) + 0.0
    expected = call(r, whole, speed)
    kinds: list[Callable[[np.ndarray], object]] = [
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: a[::-1].copy()[::-1],
        lambda a: np.pad(a, 1)[1:-1, 1:-1],
        lambda a: a.astype(np.float32),
        lambda a: a.astype(np.float16),
        lambda a: a.astype(np.longdouble),
        lambda a: a.astype(object),
        lambda a: a.astype(">f8"),
        lambda a: a.astype(">f4"),
        lambda a: a.astype(np.int64),
        lambda a: a.astype(np.int8),
        lambda a: a.astype(">i2"),
        lambda a: np.frombuffer(b"x" + a.tobytes(), np.float64, a.size, 1).reshape(a.shape),
    ]
    for kind in kinds:
        assert same(call(r, kind(whole), kind(speed)), expected)
    if name != "difference":
        assert same(call(r, whole.tolist(), speed.tolist()), expected)
        assert same(call(r, tuple(whole[2].astype(int)), list(speed[2])), expected[2])
    readonly = whole.copy()
    readonly.flags.writeable = False
    assert same(call(r, readonly, speed), expected)
    assert same(whole, readonly)


NOT_NUMBERS = [
    None, "123456", b"123456", 1j, object(), {}, {1.0}, [None] * 25, ["1"] * 25, [True] * 25,
    np.zeros(25, complex), np.zeros(25, bool), np.full(25, None, object), np.zeros(25, "U3"),
    np.zeros(25, "M8[s]"), np.zeros(25, "m8[s]"), np.zeros(25, "V8"),
    np.zeros(25, [("a", float)]), [10**400] * 25, [[1.0], [1.0, 2.0]], (x for x in range(25)),
]  # fmt: skip


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=range(len(NOT_NUMBERS)))
def test_what_holds_no_real_numbers_is_refused(value):
    r = everything()
    for call in (r.com, r.fk_all, r.all_positions):
        with pytest.raises(lw.InputError, match="q must be real numbers"):
            call(value)
    with pytest.raises(lw.InputError, match="v must be real numbers"):
        r.integrate(r.neutral(), value)


@pytest.mark.parametrize("change", [-1, 1, 7])
def test_a_wrong_length_is_refused(change):
    r = everything()
    n = r.n_q + change
    for shape in ((n,), (3, n), (0, n), (r.n_q, n)):
        for call in CALLS.values():
            with pytest.raises(lw.ShapeError, match=rf"must have shape \(\.\.\., {r.n_q}\)"):
                call(r, np.zeros(shape), np.zeros((*shape[:-1], r.n_v)))
    for value in (1.0, np.float64(1.0), np.zeros(()), [], np.zeros((r.n_q, 0))):
        with pytest.raises(lw.ShapeError):
            r.com(value)


# against independent arithmetic


@pytest.mark.parametrize("n", [0, 1, 2])
def test_shapes_do_not_depend_on_how_many_joints_there_are(n):
    r = lw.load(chain_urdf(n))
    frame = f"link{n}"
    for lead in ((), (3,), (0,), (2, 1)):
        q, v = np.zeros((*lead, n)), np.ones((*lead, n))
        assert r.fk(q, frame).shape == (*lead, 4, 4)
        assert r.fk_all(q).shape == (*lead, 2 * n + 1, 4, 4)
        assert r.jacobian(q, frame).shape == (*lead, 6, n)
        assert r.jacobian_dot_v(q, v, frame).shape == (*lead, 6)
        assert r.jacobian_dot(q, v, frame).shape == (*lead, 6, n)
        assert r.all_positions(q).shape == r.integrate(q, v).shape == (*lead, n)
        assert r.difference(q, q).shape == (*lead, n)
        assert r.function("jacobian", frame)(q).shape == (*lead, 6, n)


# the call with the least overhead


def static_of(name: str) -> tuple[str, dict[str, str]]:
    algorithm, _, last = name.partition("_")
    if algorithm == "jacobian" and last in ("local", "world"):
        return "jacobian", {"frame": "lens", "reference": last}
    framed = ("fk", "jacobian", "jacobian_dot", "jacobian_dot_v")
    if name == "relative":
        return name, {"base": "lens", "frame": "finger_a"}
    return name, {"frame": "lens"} if name in framed else {}


@pytest.mark.parametrize("name", CALLS)
def test_the_bound_function_is_the_method(name):
    r, call = everything(), CALLS[name]
    q, v = some(r, 10, f"function {name}")
    algorithm, static = static_of(name)
    f = r.function(algorithm, **static)
    assert f is r.function(algorithm, **static)
    if name == "difference":
        second: tuple[np.ndarray, ...] = (q[:, ::-1].copy(),)
    else:
        second = (v,) if name in ("jacobian_dot", "jacobian_dot_v", "integrate") else ()
    expected = call(r, q, v)
    first = [a[0].copy() for a in (q, *second)]
    assert same(f(*first), expected[0])
    assert same(f(q, *second), expected)
    assert same(f(q, *second, threads=2), expected)
    out = np.zeros_like(expected[0])
    assert f(*first, out=out) is out
    assert same(out, expected[0])
    result = f(*first)
    assert result.flags.owndata
    assert result.flags.writeable
    assert f(*first) is not result
    assert same(f(*[a.tolist() for a in first]), expected[0])
    wrong = [first[0] * np.nan, *first[1:]]
    assert np.isnan(f(*wrong, on_bad="nan")).all()
    with pytest.raises(lw.InputError, match=r"joint '"):
        f(*wrong)
    with pytest.raises(lw.ShapeError, match="takes"):
        f()
    with pytest.raises(lw.ShapeError, match="takes"):
        f(*first, first[0])
    with pytest.raises(TypeError):
        f(*first, nothing=1)


def test_functions_that_do_not_exist_are_refused_by_name():
    r = everything()
    with pytest.raises(lw.UnknownNameError, match="jacobian"):
        r.function("jacobean", "lens")
    with pytest.raises(lw.UnknownNameError, match="no frame named 'lense'; nearest: lens"):
        r.function("fk", "lense")
    with pytest.raises(lw.InputError, match="'com' has no argument 'frame'"):
        r.function("com", "lens")
    with pytest.raises(lw.InputError, match="reference"):
        r.function("jacobian", "lens", reference="body")
    with pytest.raises(lw.InputError, match="no argument 'nothing'; it has: frame"):
        r.function("fk", "lens", nothing=1)
    with pytest.raises(lw.InputError, match="no argument 'reference'"):
        r.function("fk", "lens", reference="local")
    with pytest.raises(lw.InputError, match="reference"):
        r.jacobian(r.neutral(), "lens", reference="")


def test_a_pickled_and_a_copied_robot_are_the_same():
    r = everything()
    q, _ = some(r, 3, "pickle")
    expected = r.fk(q, "lens")
    r.ik(r.fk(r.neutral(), "hand"), "hand", joints=["elbow"], tries=1)
    for other in (pickle.loads(pickle.dumps(r)), copy.deepcopy(r), copy.copy(r)):
        assert other.mechanism == r.mechanism
        assert other.document == r.document
        assert other.findings == r.findings
        assert same(other.fk(q, "lens"), expected)
    part = r.subchain("hand", "base")
    assert pickle.loads(pickle.dumps(part)).tip == part.tip == "base"


@pytest.mark.parametrize("length", [1e155, 1e300, 1e-155, 0.0])
def test_quaternions_whose_length_cannot_be_squared_are_refused(length):
    """The largest ones were the identity, in silence."""
    r = lw.load("planar_2r", base="floating")
    q = r.neutral()
    expected = r.fk(np.append([0, 0, 0, 0.5, 0.5, -0.5, 0.5], q[7:]))
    q[3:7] = np.array([0.5, 0.5, -0.5, 0.5]) * length
    for call in (r.fk, r.fk_all, r.jacobian, r.com):
        with pytest.raises(lw.InputError, match="a quaternion's length is zero, below 1e-154 or"):
            call(q)
    for fine in (1e150, 1e-150):
        q[3:7] = np.array([0.5, 0.5, -0.5, 0.5]) * fine
        np.testing.assert_allclose(r.fk(q), expected, atol=1e-15)
