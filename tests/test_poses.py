"""Poses from and to numbers, composed, inverted and interpolated, against formulas written out."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from seeds import rng


def about(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return {
        "x": np.array([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def of_rpy(rpy: np.ndarray) -> np.ndarray:
    return about("z", rpy[2]) @ about("y", rpy[1]) @ about("x", rpy[0])


def of_wxyz(wxyz: np.ndarray) -> np.ndarray:
    """x -> q x q* / |q|², by the product of quaternions."""

    def times(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
        return np.array([a[0] * b[0] - a[1:] @ b[1:], *vector])

    conjugate = wxyz * [1, -1, -1, -1]
    columns = [times(times(wxyz, np.array([0.0, *e])), conjugate)[1:] for e in np.eye(3)]
    return np.array(columns).T / (wxyz @ wxyz)


def angle_between(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The angle of Aᵀ B, also where it is tiny: |A - B| is 2 sqrt(2) sin(angle / 2)."""
    distance = np.linalg.norm(A - B, axis=(-2, -1))
    return 2 * np.arcsin(np.minimum(distance / np.sqrt(8), 1.0))


def test_a_pose_of_nothing_is_the_identity():
    assert np.array_equal(lw.pose(), np.eye(4))
    T = lw.pose([1, 2, 3])
    assert np.array_equal(T, [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])


def test_poses_from_roll_pitch_yaw():
    g = rng("rpy")
    xyz, rpy = g.normal(size=(200, 3)), g.uniform(-7, 7, (200, 3))
    T = lw.pose(xyz, rpy=rpy)
    assert T.shape == (200, 4, 4)
    assert np.array_equal(T[:, :3, 3], xyz)
    assert np.array_equal(T[:, 3], np.tile([0.0, 0, 0, 1], (200, 1)))
    np.testing.assert_allclose(T[:, :3, :3], [of_rpy(row) for row in rpy], atol=1e-15)


def test_poses_from_quaternions_of_any_length():
    g = rng("wxyz")
    xyz, wxyz = g.normal(size=(200, 3)), g.normal(size=(200, 4))
    wxyz *= 10.0 ** g.uniform(-100, 100, (200, 1))
    T = lw.pose(xyz, wxyz=wxyz)
    scaled = wxyz / np.abs(wxyz).max(axis=1, keepdims=True)
    np.testing.assert_allclose(T[:, :3, :3], [of_wxyz(row) for row in scaled], atol=1e-15)
    assert np.array_equal(lw.pose(wxyz=[0, 0, 0, 2]), np.diag([-1.0, -1, 1, 1]))
    np.testing.assert_allclose(lw.pose(wxyz=-wxyz), lw.pose(wxyz=wxyz), atol=0)


def test_round_trips():
    g = rng("round trips")
    xyz = g.normal(size=(500, 3)) * 10.0 ** g.uniform(-9, 9, (500, 1))
    wxyz = g.normal(size=(500, 4))
    wxyz /= np.linalg.norm(wxyz, axis=1, keepdims=True)
    T = lw.pose(xyz, wxyz=wxyz)
    p, found = lw.xyz_wxyz(T)
    assert np.array_equal(p, xyz)
    assert np.all(found[:, 0] >= 0)
    np.testing.assert_allclose(found, wxyz * np.sign(wxyz[:, :1]), atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-15)
    p, rpy = lw.xyz_rpy(T)
    assert np.array_equal(p, xyz)
    assert np.all(np.abs(rpy[:, 1]) <= np.pi / 2)
    np.testing.assert_allclose(lw.pose(p, rpy=rpy), T, atol=1e-15)
    given = np.stack([g.uniform(-np.pi, np.pi, 500), g.uniform(-1.5, 1.5, 500)], axis=1)
    given = np.hstack([given, g.uniform(-np.pi, np.pi, (500, 1))])
    np.testing.assert_allclose(lw.xyz_rpy(lw.pose(rpy=given))[1], given, atol=2e-14)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_gimbal_lock_and_its_neighbourhood(side):
    offsets = np.concatenate([[0.0], 10.0 ** np.arange(-17.0, 0.0)])
    g = rng("gimbal")
    for offset in offsets:
        rpy = np.stack(
            [g.uniform(-3, 3, 50), np.full(50, side * (np.pi / 2 - offset)), g.uniform(-3, 3, 50)],
            1,
        )
        T = lw.pose(rpy=rpy)
        _, found = lw.xyz_rpy(T)
        assert np.isfinite(found).all()
        again = lw.pose(rpy=found)
        assert angle_between(again[:, :3, :3], T[:, :3, :3]).max() < 1e-12
    exact = np.zeros((4, 4))
    exact[[0, 1, 2, 3], [2, 1, 0, 3]] = [side, 1, -side, 1]
    _, found = lw.xyz_rpy(exact)
    np.testing.assert_allclose(found, [0, side * np.pi / 2, 0], atol=1e-15)


def test_every_leading_shape_and_broadcasting():
    g = rng("batches")
    xyz, rpy, wxyz = (g.normal(size=(6, n)) for n in (3, 3, 4))
    single = np.array([lw.pose(p, rpy=r) for p, r in zip(xyz, rpy, strict=True)])
    assert np.array_equal(lw.pose(xyz, rpy=rpy), single)
    assert np.array_equal(
        lw.pose(xyz.reshape(2, 3, 3), rpy=rpy.reshape(2, 3, 3)), single.reshape(2, 3, 4, 4)
    )
    assert lw.pose(xyz, rpy=rpy[0]).shape == lw.pose(xyz[0], wxyz=wxyz).shape == (6, 4, 4)
    assert lw.pose(xyz[:, None], wxyz=wxyz).shape == (6, 6, 4, 4)
    assert lw.pose(xyz[:0], rpy=rpy[:0]).shape == (0, 4, 4)
    assert lw.pose([0, 0, 1], rpy=[0, 0, 0]).dtype == np.float64
    for back, n in ((lw.xyz_rpy, 3), (lw.xyz_wxyz, 4)):
        p, other = back(single)
        assert (p.shape, other.shape) == ((6, 3), (6, n))
        assert np.array_equal(other[4], back(single[4])[1])
        p, other = back(single.reshape(3, 1, 2, 4, 4))
        assert (p.shape, other.shape) == ((3, 1, 2, 3), (3, 1, 2, n))
        p, other = back(single[:0])
        assert (p.shape, other.shape) == ((0, 3), (0, n))
        assert np.array_equal(back(np.asfortranarray(single[::2]))[1], back(single[::2])[1])
        p, other = back(single)
        p[:] = 0.0
        assert single[0, 0, 3] != 0.0  # a copy


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"xyz": [0, 0]}, lw.ShapeError, "xyz"),
        ({"xyz": 0.0}, lw.ShapeError, "xyz"),
        ({"rpy": [0, 0, 0, 1]}, lw.ShapeError, "rpy"),
        ({"wxyz": [0, 0, 1]}, lw.ShapeError, "wxyz"),
        ({"xyz": np.zeros((2, 3)), "rpy": np.zeros((3, 3))}, lw.ShapeError, "leading shapes"),
        ({"rpy": [0, 0, 0], "wxyz": [1, 0, 0, 0]}, lw.InputError, "not several"),
        ({"wxyz": [0, 0, 0, 0]}, lw.InputError, "quaternion"),
        ({"wxyz": [np.nan, 0, 0, 1]}, lw.InputError, r"wxyz\[0\].*nan"),
        ({"xyz": [0, np.inf, 0]}, lw.InputError, r"xyz\[1\].*inf"),
        ({"xyz": "abc"}, lw.InputError, "real numbers"),
        ({"xyz": None}, lw.InputError, "real numbers"),
        ({"xyz": [1j, 0, 0]}, lw.InputError, "real numbers"),
        ({"rpy": ["0", "0", "0"]}, lw.InputError, "real numbers"),
    ],
)
def test_numbers_that_are_no_pose_are_refused(arguments, error, text):
    with pytest.raises(error, match=text):
        lw.pose(**arguments)


def rigid(change) -> np.ndarray:
    T = lw.pose([1, 2, 3], rpy=[0.1, 0.2, 0.3])
    change(T)
    return T


NOT_RIGID = {
    "scaled": rigid(lambda T: T.__imul__(2.0)),
    "mirrored": np.diag([1.0, 1, -1, 1]),
    "sheared": rigid(lambda T: T.__setitem__((0, 1), T[0, 1] + 1e-3)),
    "last row": rigid(lambda T: T.__setitem__((3, 0), 1e-3)),
    "nan": rigid(lambda T: T.__setitem__((0, 0), np.nan)),
    "inf": rigid(lambda T: T.__setitem__((0, 3), np.inf)),
    "zeros": np.zeros((4, 4)),
}


@pytest.mark.parametrize("back", [lw.xyz_rpy, lw.xyz_wxyz])
@pytest.mark.parametrize("name", NOT_RIGID)
@pytest.mark.filterwarnings("error")
def test_matrices_that_are_no_pose_are_refused(back, name):
    with pytest.raises(lw.InputError, match="rigid"):
        back(NOT_RIGID[name])
    several = np.tile(np.eye(4), (2, 3, 1, 1))
    several[1, 2] = NOT_RIGID[name]
    with pytest.raises(lw.InputError, match=r"\[1, 2\]"):
        back(several)


@pytest.mark.parametrize("back", [lw.xyz_rpy, lw.xyz_wxyz])
@pytest.mark.parametrize(
    "value",
    [
        np.eye(3), np.eye(4)[:3], 1.0, None, "pose", [], np.eye(4) + 0j, np.eye(4).astype(str),
        np.eye(4, dtype=bool), np.full((4, 4), None, object), [[1, 2], [3]],
    ],
    ids=range(11),
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_what_is_no_matrix_of_numbers_is_refused(back, value):
    with pytest.raises(lw.InputError):
        back(value)


def test_poses_from_rotation_matrices():
    g = rng("R")
    T = lw.pose(g.normal(size=(2, 7, 3)), wxyz=g.normal(size=(7, 4)))
    assert np.array_equal(lw.pose(T[..., :3, 3], R=T[..., :3, :3]), T)
    assert np.array_equal(lw.pose(R=T[0, 0, :3, :3])[:3, :3], T[0, 0, :3, :3])
    with pytest.raises(lw.InputError, match="R is not a rotation"):
        lw.pose(R=2 * np.eye(3))
    with pytest.raises(lw.ShapeError, match=r"R must have shape \(..., 3, 3\), not \(4, 4\)"):
        lw.pose(R=np.eye(4))
    with pytest.raises(lw.InputError, match="one of rpy, wxyz and R"):
        lw.pose(R=np.eye(3), rpy=[0, 0, 0])


# arithmetic


def some(label: str, *shape: int) -> np.ndarray:
    g = rng(label)
    return lw.pose(g.normal(size=(*shape, 3)), wxyz=g.normal(size=(*shape, 4)))


def test_composed_is_the_product_and_the_inverse_undoes():
    A, B, C = (some(f"poses {k}", 40) for k in "abc")
    np.testing.assert_allclose(lw.poses.compose(A, B), A @ B, rtol=0, atol=1e-14)
    np.testing.assert_allclose(lw.poses.compose(A, B, C), A @ B @ C, rtol=0, atol=3e-14)
    assert np.array_equal(lw.poses.compose(A), A)
    back = lw.poses.compose(lw.poses.inverse(A), A)
    np.testing.assert_allclose(back, np.broadcast_to(np.eye(4), A.shape), rtol=0, atol=1e-14)
    assert lw.poses.compose(A[0], some("poses lead", 3, 1, 2)).shape == (3, 1, 2, 4, 4)
    alone = lw.poses.compose(A)
    alone[0] = 0.0
    assert A[0, 3, 3] == 1.0


@pytest.mark.parametrize("path", ["screw", "separate"])
def test_interpolation_begins_and_ends_where_it_should_and_turns_evenly(path):
    A, B = some("from", 30), some("to", 30)
    for s, expected in ((0.0, A), (1.0, B)):
        found = lw.poses.interpolate(A, B, s, path=path)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    s = np.linspace(-0.2, 1.2, 15)
    way = lw.poses.interpolate(A[:, None], B[:, None], s, path=path)
    assert way.shape == (30, 15, 4, 4)
    R = way[..., :3, :3]
    turns = np.swapaxes(R[:, :-1], -1, -2) @ R[:, 1:]  # each step is the same turn
    np.testing.assert_allclose(turns, np.broadcast_to(turns[:, :1], turns.shape), atol=1e-13)
    if path == "separate":
        line = A[:, None, :3, 3] + s[:, None] * (B - A)[:, None, :3, 3]
        np.testing.assert_allclose(way[..., :3, 3], line, rtol=0, atol=1e-13)
    else:
        steps = np.linalg.inv(way[:, :-1]) @ way[:, 1:]  # and each step the same screw
        np.testing.assert_allclose(steps, np.broadcast_to(steps[:, :1], steps.shape), atol=1e-12)


def test_both_paths_take_the_shorter_way_around():
    B = lw.pose([1.0, 0.0, 0.0], rpy=[0.0, 0.0, 3.0])
    for path in ("screw", "separate"):
        half = lw.poses.interpolate(np.eye(4), B, 0.5, path=path)
        np.testing.assert_allclose(lw.xyz_rpy(half)[1], [0.0, 0.0, 1.5], atol=1e-14)
        there = lw.poses.interpolate(B, B, 0.3, path=path)
        np.testing.assert_allclose(there, B, atol=1e-15)


def test_what_is_no_pose_and_what_is_no_path():
    A = some("wrong")
    with pytest.raises(lw.InputError, match="not a rigid pose"):
        lw.poses.inverse(2 * A)
    with pytest.raises(lw.ShapeError, match=r"\(..., 4, 4\)"):
        lw.poses.compose(A, np.eye(3))
    with pytest.raises(lw.InputError, match="one pose or more"):
        lw.poses.compose()
    with pytest.raises(lw.InputError, match="'screw' or 'separate', not 'slerp'"):
        lw.poses.interpolate(A, A, 0.5, path="slerp")
    with pytest.raises(lw.InputError, match=r"s\[0\] is nan"):
        lw.poses.interpolate(A, A, float("nan"))


@pytest.mark.parametrize("path", ["screw", "separate"])
@pytest.mark.parametrize("trial", range(5))
def test_steps_are_equal_and_within_their_bounds(path: str, trial: int):
    """No step is longer than asked, and with one step fewer some would be."""
    g = rng(f"steps {path} {trial}")
    first, last = (lw.pose(g.uniform(-1, 1, 3), rpy=g.uniform(-1, 1, 3)) for _ in "ab")
    bounds = {"length": float(g.uniform(0.05, 0.5)), "angle": float(g.uniform(0.05, 0.5))}
    for given in (bounds, {"length": bounds["length"]}, {"angle": bounds["angle"]}):
        way = lw.poses.steps(first, last, path=path, **given)
        np.testing.assert_allclose(way[[0, -1]], [first, last], atol=1e-14)
        turns = angle_between(way[:-1, :3, :3], way[1:, :3, :3])
        moves = np.linalg.norm(np.diff(way[:, :3, 3], axis=0), axis=1)
        np.testing.assert_allclose(turns, turns[0], atol=1e-12)
        np.testing.assert_allclose(moves, moves[0], atol=1e-12)
        most = {"angle": float(turns[0]), "length": float(moves[0])}
        assert all(most[name] <= bound * (1 + 1e-9) for name, bound in given.items())
        if len(way) > 2:
            fewer = lw.poses.interpolate(first, last, 1.0 / (len(way) - 2), path=path)
            longer = {"angle": float(angle_between(first[:3, :3], fewer[:3, :3])),
                      "length": float(np.linalg.norm(fewer[:3, 3] - first[:3, 3]))}  # fmt: skip
            assert any(longer[name] > bound for name, bound in given.items())
    with pytest.raises(lw.InputError, match="give length"):
        lw.poses.steps(first, last)
    with pytest.raises(lw.InputError, match="length"):
        lw.poses.steps(first, last, length=0.0)
