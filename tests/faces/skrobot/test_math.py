"""``skrobot.coordinates.math`` and ``geo``: rotations, quaternions and poses as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linkwork import poses
from linkwork.faces.skrobot.coordinates import Coordinates, geo
from linkwork.faces.skrobot.coordinates import math as m
from seeds import rng

pi = np.pi


def assert_close(a: Any, b: Any, *, rtol: float = 1e-9, atol: float = 1e-12) -> None:
    np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


R = m.rotation_matrix(0.7, [1, 2, 3])
R_Y = m.rotation_matrix(-1.1, "y")
Q = np.full(4, 0.5)
Q_Y = np.array([0.8, 0, 0.6, 0])
HALF = np.diag([1.0, -1, -1])
LOCKED = m.rpy_matrix(0.3, pi / 2, 0.2)
LOCKED_DOWN = m.rpy_matrix(0.3, -pi / 2, 0.2)
J = np.arange(12.0).reshape(3, 4) + 3 * np.eye(3, 4)

# numbers that scikit-robot 0.4.7 prints, in its documentation or when it is run
GOLDEN: dict[str, tuple[Any, Any]] = {
    "R": (R, [[0.781639, -0.482929, 0.39474], [0.550117, 0.83203, -0.071392],
              [-0.293958, 0.272956, 0.916015]]),
    "y": (m.rotation_matrix(pi / 2, "y"), [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]),
    "angle": (m.angle_between_vectors([1, 0, 0], [-2, 0, 0]), pi),
    "axes": (m.angle_between_vectors([1, 0, 0], [-2, 1, 0], directed=False), 0.463647609),
    "none": (m.angle_between_vectors([1, 0, 0], [0, 0, 0]), pi / 2),
    "ccw": (m.counter_clockwise_angle_between_vectors([1, 0, 0], [0, 1, 0], [0, 0, -1]), 4.712389),
    "cw": (m.clockwise_angle_between_vectors([1, 0, 0], [0, 1, 0]), 4.712389),
    "cw0": (m.clockwise_angle_between_vectors([1, 0, 0], [1, 0, 0], [0, 0, 1]), 0),
    "log": (m.axis_angle_from_matrix(R), [0.187083, 0.374166, 0.561249]),
    "log_half": (m.axis_angle_from_matrix(HALF), [pi, 0, 0]),
    "log_q": (m.axis_angle_from_quaternion([0, 0.5**0.5, 0, 0.5**0.5]),
              [2.22144147, 0, 2.22144147]),
    "log_minus": (m.axis_angle_from_quaternion(-Q), [1.2092, 1.2092, 1.2092]),
    "exp": (m.axis_angle_vector_to_rotation_matrix([1, 1, 1])[0],
            [0.22629564, -0.18300792, 0.95671228]),
    "exp_share": (m.axis_angle_vector_to_rotation_matrix([1, 1, 1], 0.5)[0],
                  [0.76524, -0.322422, 0.557183]),
    "between": (m.interpolate_rotation_matrices(0.5, R, R_Y)[0], [0.888108, -0.307178, -0.341914]),
    "beyond": (m.interpolate_rotation_matrices(2, R, R_Y)[0], [-0.845128, 0.313157, -0.433233]),
    "inverse": (m.invert_yaw_pitch_roll(0.1, 0.2, 0.3), [-0.03787988, -0.22012403, -0.2857717]),
    "look": (m.look_at_rotation([1, 0, 0]), [[0, 1, 0], [0, 0, -1], [-1, 0, 0]]),
    "look_up": (m.look_at_rotation([1, 2, 3], [4, 5, 7], [0, 1, 0])[1],
                [0.308697, -0.857493, 0.411597]),
    "look_along": (m.look_at_rotation([0, 0, -1]), np.diag([-1, -1, 1])),
    "look_nowhere": (m.look_at_rotation([1, 2, 3], [1, 2, 3]), np.eye(3)),
    "look_vector": (m.look_at_rotation([1, 0, 0], return_matrix=False), [1.2092, 1.2092, -1.2092]),
    "quaternion": (m.matrix2quaternion(R), [0.939373, 0.091643, 0.183287, 0.27493]),
    "rpy": (m.matrix2rpy(R), [0.289605, 0.298365, 0.613271]),
    "rpy_locked": (m.matrix2rpy(LOCKED), [-0.1, pi / 2, 0]),
    "rpy_locked_down": (m.matrix2rpy(LOCKED_DOWN), [0.5, -pi / 2, 0]),
    "angles": (np.stack(m.rpy_angle(R)),
               [[0.613271, 0.298365, 0.289605], [3.754864, 2.843228, -2.851988]]),
    "angles_documented": (np.stack(m.rpy_angle(m.rpy_matrix(pi / 2, pi / 3, pi / 6))),
                          [[1.57079633, 1.04719755, 0.52359878],
                           [4.71238898, 2.0943951, -2.61799388]]),
    "angles_of_q": (np.stack(m.quaternion2rpy([0, 1, 0, 0])), [[0, 0, pi], [pi, pi, 0]]),
    "rpy_matrix": (m.rpy_matrix(pi / 2, pi / 3, pi / 6),
                   [[0, -0.866025404, 0.5], [0.5, 0.433012702, 0.75],
                    [-0.866025404, 0.25, 0.433012702]]),
    "rpy_q": (m.rpy2quaternion([pi * 2 - pi / 3, 0, 0]), [-0.8660254, 0, 0, 0.5]),
    "manipulability": (m.manipulability(J), 123.51113310143349),
    "damped": (m.sr_inverse(J, 0.1)[0], [0.352569, -0.012817, -0.048533]),
    "weighted": (m.sr_inverse(J, 0.1, [1, 2, 3, 4])[0], [0.191756, -0.024154, -0.018881]),
    "pseudo": (m.jacobian_inverse(J)[0], [0.363815, -0.010816, -0.052114]),
    "near_singular": (m.jacobian_inverse(J, 1000, 0.1, [1, 2, 3, 4])[0],
                      [0.192414, -0.024148, -0.019021]),
    "fold": (m.normalize_angle([0, pi, -pi, 2 * pi, 10]), [0, -pi, -pi, 0, -2.566371]),
    "ord": (m.normalize_vector([1, 2, 3], 1), [1 / 6, 1 / 3, 1 / 2]),
    "distance": (m.quaternion_distance(Q, -Q_Y), 4.6923876468113),
    "absolute": (m.quaternion_distance(Q, -Q_Y, absolute=True), 1.5907976603682872),
    "product": (m.quaternion_multiply([4, 1, -2, 3], [8, -5, 6, 7]), [28, -44, -14, 48]),
    "q_inverse": (m.quaternion_inverse([1, 2, 3, 4]), np.array([1, -2, -3, -4]) / 30),
    "q_axis": (m.quaternion_from_axis_angle(0.1, [2, 0, 0]), [0.99875026, 0.04997917, 0, 0]),
    "q_vectors": (m.quaternion_from_vectors([1, 2, 3], [-1, -2, -3]), [0, 0, 0.83205, -0.5547]),
    "slerp": (m.quaternion_slerp(Q, -Q_Y, 0.3), [0.63477, 0.369992, 0.568576, 0.369992]),
    "slerp_long": (m.quaternion_slerp(Q, -Q_Y, 0.3, shortestpath=False),
                   [-0.026619, 0.698349, 0.154623, 0.698349]),
    "slerp_spin": (m.quaternion_slerp(Q, Q_Y, 0.3, 1),
                   [-1.299631, -0.263397, -1.040572, -0.263397]),
    "slerp_beyond": (m.quaternion_slerp(Q, Q_Y, 1.5), [0.770103, -0.271163, 0.509787, -0.271163]),
    "slerp_end": (m.quaternion_slerp(Q, -Q_Y, 1), -Q_Y),
    "rodrigues": (m.rodrigues([[1, 1, 1], [0, 1, 0]], [pi, pi / 2]),
                  [(np.full((3, 3), 2) - 3 * np.eye(3)) / 3, [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]]),
    "turned": (m.rotate_matrix(R, 0.3, "x")[1], [0.550117, 0.773771, -0.314086]),
    "turned_world": (m.rotate_matrix(R, 0.3, "x", True)[1], [0.612418, 0.714205, -0.338905]),
    "vector": (m.rotate_vector([1, 2, 3], 0.3, [0, 1, 1]), [1.164301, 2.231296, 2.768704]),
    "rotation_distance": (m.rotation_distance(R, R_Y), 1.5766428227686209),
    "rotation_distance_vectors": (m.rotation_distance(R, [0, 0, pi / 2]), 1.0763654191570615),
    "from_axis": (m.rotation_matrix_from_axis((1, 1, 1), (0, 1, 0)),
                  [[0.57735, -0.408248, -0.707107], [0.57735, 0.816497, 0],
                   [0.57735, -0.408248, 0.707107]]),
    "from_axis_zy": (m.rotation_matrix_from_axis((1, 1, 1), (0, 1, 0), "zy")[0],
                     [0.707107, -0.408248, 0.57735]),
    "z_to_axis": (m.rotation_matrix_z_to_axis([1, 2, 3])[1], [-0.14825, 0.83205, 0.534522]),
    "z_to_x": (m.rotation_matrix_z_to_axis([1, 0, 0]), [[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
    "opposite": (m.rotation_matrix_from_vectors([0, 0, 1], [0, 0, -1]), np.diag([-1, 1, -1])),
    "rvec": (m.rotation_vector_to_quaternion([0, 0, 4]), [-0.416147, 0, 0, 0.909297]),
    "relative": (m.matrix_relative(m.xyzrpy2matrix([1, 2, 3], [0, 0, pi / 2]), np.eye(4))[:3, 3],
                 [-2, 1, -3]),
}  # fmt: skip


@pytest.mark.parametrize("name", GOLDEN)
def test_numbers_of_the_original(name: str):
    made, expected = GOLDEN[name]
    assert_close(made, expected, atol=1e-6)
    assert np.asarray(made).dtype == np.float64


def random_rotations(count: int, label: str) -> np.ndarray:
    return poses.pose(np.zeros(3), wxyz=rng(label).normal(size=(count, 4)))[:, :3, :3]


def test_conversions_round_trip_one_by_one_and_all_at_once():
    many = random_rotations(40, "skrobot math round trips")
    for matrices in (many, many[0], many.reshape(4, 10, 3, 3)):
        assert_close(m.quaternion2matrix(m.matrix2quaternion(matrices)), matrices)
        ypr = m.matrix2ypr(matrices)
        assert_array_equal(m.matrix2rpy(matrices)[..., ::-1], ypr)
        for triple in m.rpy_angle(matrices):
            flat = triple.reshape(-1, 3)
            made = np.stack([m.ypr2matrix(*one) for one in flat]).reshape(matrices.shape)
            assert_close(made, matrices)
        for triple in m.quaternion2rpy(m.matrix2quaternion(matrices)):
            assert_close(m.rotation_matrix_from_rpy(triple.reshape(-1, 3)[0]), many[0])
    T = np.zeros((40, 4, 4))
    T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = many, rng("skrobot positions").normal(size=(40, 3)), 1
    for pose in (T[0], T):
        p, q = m.matrix2translation_quaternion_wxyz(pose)
        assert_close(poses.pose(p, wxyz=q), pose)
        assert_array_equal(m.matrix2translation_quaternion_xyzw(pose)[1], m.wxyz2xyzw(q))
        assert_array_equal(m.xyzw2wxyz(m.wxyz2xyzw(q)), q)
        xyz, rpy = m.matrix2xyzrpy(pose)
        assert_close(poses.pose(xyz, rpy=rpy), pose)
        rotation, position = m.matrix2rotation_translation(pose)
        assert_array_equal(rotation, pose[..., :3, :3])
        assert_array_equal(position, xyz)
        assert_close(m.matrix_relative(pose, T), np.linalg.inv(pose) @ T)
    assert_close(m.xyzrpy2matrix(*m.matrix2xyzrpy(T[0])), T[0])
    assert_close(m.rotation_translation2matrix(T[0, :3, :3], T[0, :3, 3]), T[0])
    assert_close(m.rpy2homogeneous(0.1, 0.2, 0.3)[:3, :3], m.rpy2matrix(0.1, 0.2, 0.3))
    assert_close(m.transform_point(T[0], [1, 2, 3]), (T[0] @ [1, 2, 3, 1])[:3])


@pytest.mark.parametrize(
    "form",
    [
        lambda a: a,
        lambda a: a.tolist(),
        lambda a: tuple(a.tolist()),
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
        lambda a: a.astype(np.longdouble),
        lambda a: a[::-1][::-1],
        lambda a: a.view(np.ma.MaskedArray),
    ],
)
def test_arrays_in_every_form_give_the_same(form: Callable[[Any], Any]):
    w = np.array([0.1, 0.2, 0.3])
    for function, given in (
        (m.matrix2quaternion, R), (m.matrix2rpy, R), (m.matrix_log, R), (m.rpy_angle, R),
        (m.rotation_angle, R), (m.quaternion2matrix, Q), (m.matrix_exponent, w),
        (m.rotation_matrix_from_rpy, w), (m.rodrigues, w), (m.normalize_vector, w),
        (m.axis_angle_from_quaternion, Q_Y), (m.quaternion_inverse, Q_Y),
        (lambda a: m.rotation_matrix(0.3, a), w), (lambda a: m.quaternion_multiply(a, a), Q_Y),
        (lambda a: m.quaternion_slerp(a, Q, 0.3), Q_Y), (lambda a: Coordinates(rot=a).rotation, R),
        (lambda a: Coordinates(pos=a).rotate(0.1, a).translate(a).T(), w),
    ):  # fmt: skip
        kept = given.copy()
        for made, expected in zip(function(form(given)), function(given), strict=True):
            assert_close(made, expected, atol=1e-15)
        assert_array_equal(given, kept)  # and nothing is written into what is given
    for theta in (1, np.float64(1), np.float32(1), np.array(1.0)):
        assert_close(m.rotation_matrix(theta, "x"), m.rotation_matrix(1.0, "x"), atol=1e-15)


def test_exponentials_and_logarithms_keep_all_digits():
    random = rng("skrobot math logarithms")
    for angle in (0.0, 1e-12, 1e-8, 1e-4, 1.0, 3.0, pi - 1e-6, pi - 1e-10):
        axis = random.normal(size=3)
        axis /= np.linalg.norm(axis)
        turn = m.axis_angle_vector_to_rotation_matrix(angle * axis)
        assert_close(m.rotation_matrix(angle, axis), turn, atol=1e-15)
        assert_close(m.rotation_matrix_to_axis_angle_vector(turn), angle * axis, atol=1e-9)
        assert m.rotation_distance(np.eye(3), turn) == pytest.approx(angle, rel=1e-9, abs=1e-15)
        q = m.rotation_vector_to_quaternion(angle * axis)
        assert_close(q, m.quaternion_from_axis_angle(angle, axis))
        assert_close(m.quaternion2matrix(q), turn)
        assert_close(m.axis_angle_from_quaternion(q), angle * axis, rtol=1e-12)
        assert m.quaternion_distance([1, 0, 0, 0], q) == pytest.approx(angle, rel=1e-12)
    assert m.rotation_angle(np.eye(3)) == (None, None)
    assert m.rotation_angle(np.eye(3), return_angular_velocity=True) is None
    angle, axis = m.rotation_angle(HALF)
    assert_close([angle, *axis], [pi, 1, 0, 0])
    assert_close(m.rotation_angle(R, return_angular_velocity=True), m.matrix_log(R))


def test_quaternions_are_a_group_and_turn_vectors():
    random = rng("skrobot math quaternions")
    a, b, c = (m.quaternion_normalize(random.normal(size=(7, 4))) for _ in range(3))
    product = m.quaternion_multiply
    assert_close(product(product(a, b), c), product(a, product(b, c)))
    assert_close(product(a, m.quaternion_inverse(a)), np.tile([1.0, 0, 0, 0], (7, 1)))
    assert_close(m.quaternion_conjugate(a), m.quaternion_inverse(a))
    assert_close(product(a[0], b), np.stack([product(a[0], one) for one in b]))
    matrices = m.quaternion2matrix(a) @ m.quaternion2matrix(b)
    assert_close(m.quaternion2matrix(product(a, b)), matrices)
    assert_close(m.quaternion_norm(3 * a), np.full((7, 1), 3.0))
    assert m.quaternion_norm([1, 1, 1, 1]) == 2.0
    for share in (0.2, 0.7):
        q = m.quaternion_slerp(a[0], b[0], share)
        whole = m.quaternion_absolute_distance(a[0], b[0])
        assert m.quaternion_absolute_distance(a[0], q) == pytest.approx(share * whole)
        made = m.interpolate_rotation_matrices(
            share, m.quaternion2matrix(a[0]), m.quaternion2matrix(b[0])
        )
        assert_close(m.quaternion2matrix(q), made)
    assert_close(m.quaternion_slerp(Q, Q, 0.3), Q)
    assert m.random_quaternion().shape == (4,)
    assert_close(m.quaternion_norm(m.random_quaternion()), 1.0)
    made = m.random_rotation()
    assert_close(made.T @ made, np.eye(3))
    assert ((m.random_translation() >= 0) & (m.random_translation() < 1)).all()


def test_rotations_between_directions():
    random = rng("skrobot math directions")
    pairs = [(random.normal(size=3), random.normal(size=3)) for _ in range(10)]
    for k in range(8):
        a = random.normal(size=3)
        pairs += [(a, -a + 10.0 ** (-2 * k) * random.normal(size=3)), (a, 2 * a), (a, -3 * a)]
    for a, b in pairs:
        for made in (
            m.rotation_matrix_from_vectors(a, b),
            m.quaternion2matrix(m.quaternion_from_vectors(a, b)),
        ):
            assert_close(made @ (a / np.linalg.norm(a)), b / np.linalg.norm(b))
            assert_close(made.T @ made, np.eye(3))
        assert_close(geo.rotate_points([a, 2 * a], a, b), [made @ a, 2 * (made @ a)])
        assert geo.rotate_points(a, a, b).shape == (3,)
        z = m.rotation_matrix_z_to_axis(a)
        assert_close(z[:, 2], a / np.linalg.norm(a))
        assert_close(np.linalg.det(z), 1.0)
        for i, j in ("xy", "yx", "xz", "zx", "yz", "zy"):
            frame = m.rotation_matrix_from_axis(a, np.cross(a, [1, 2, 3]) + a, i + j)
            assert_close(frame[:, "xyz".index(i)], a / np.linalg.norm(a))
            assert frame[:, "xyz".index(j)] @ np.cross(a, [1, 2, 3]) > 0
            assert_close(np.linalg.det(frame), 1.0)


def test_rodrigues_in_all_its_forms():
    random = rng("skrobot math rodrigues")
    axes, angles = random.normal(size=(5, 3)), random.normal(size=5)
    each = np.stack([m.rotation_matrix(t, a) for t, a in zip(angles, axes, strict=True)])
    assert_close(m.rodrigues(axes, angles), each)
    assert_close(m.rodrigues(axes, angles[:, None]), each)
    assert_close(m.rodrigues(axes[0], angles[0]), each[0])
    assert_close(m.rodrigues(axes, 0.4)[3], m.rotation_matrix(0.4, axes[3]))
    assert_close(m.rodrigues(axes[0], angles)[2], m.rotation_matrix(angles[2], axes[0]))
    vectors = axes * (angles / np.linalg.norm(axes, axis=1))[:, None]
    assert_close(m.rodrigues(vectors), each)
    assert_array_equal(m.rodrigues([0, 0, 0]), np.eye(3))


def test_nearest_rotations():
    noisy = random_rotations(5, "skrobot math nearest") + 1e-3
    made = m.orthonormalize_rotation_matrix(noisy)
    assert_close(np.swapaxes(made, -1, -2) @ made, np.tile(np.eye(3), (5, 1, 1)))
    assert_close(np.linalg.det(made), np.ones(5))
    assert_close(m.orthonormalize_rotation_matrix(noisy[1]), made[1])
    assert_close(m.orthonormalize_rotation_matrix(-np.eye(3)), np.diag([-1.0, -1, 1]))


def test_vectors_and_masks():
    assert_array_equal(m.skew_symmetric_matrix([1, 2, 3]), [[0, -3, 2], [3, 0, -1], [-2, 1, 0]])
    assert_array_equal(m.cross_product([1, 0, 0], [0, 1, 0]), [0, 0, 1])
    assert m.triple_product([1, 0, 0], [0, 1, 0], [0, 0, 1]) == 1
    assert_array_equal(m.midpoint(0.25, [1, 1, 1], [0, 0, 0]), [0.75] * 3)
    assert_array_equal(m.normalize_vector([0, 0, 0]), np.zeros(3))
    assert_close(m.normalize_vector([[1e-200, 0, 0], [0, 1e200, 0]]), [[1, 0, 0], [0, 1, 0]])
    assert m.is_parallel_two_vectors([1, 0, 0], [-2, 0, 0])
    assert not m.is_parallel_two_vectors([1, 0, 0], [-2, 1e-12, 0])
    assert m.angle_between_vectors([1, 0, 0], [1, 1e-9, 0]) == pytest.approx(1e-9)
    assert_close(m.transform(R, [1, 2, 3]), R @ [1, 2, 3])
    for axis, mask, mirror in (
        (True, [1, 1, 1], None), (False, [0, 0, 0], None), (None, [0, 0, 0], None),
        ("x", [0, 1, 1], None), ("xm", [1, 1, 1], "x"), ("xx", [0, 1, 1], None),
        ("xy", [0, 0, 1], None), ("xyz", [1, 1, 1], None), ([1, 0, 0], [1, 0, 0], None),
    ):  # fmt: skip
        made, made_mirror = m.convert_legacy_axis_to_mask(axis)
        assert_array_equal(made, mask)
        assert made_mirror == mirror
        if not isinstance(axis, list):
            assert_array_equal(m.select_by_axis([5, 6, 7], axis), np.array([5, 6, 7])[made == 1])
    assert_array_equal(m.select_by_mask([5, 6, 7], [1, 0, 1]), [5, 7])
    assert_array_equal(m.select_by_mask([5, 6, 7], [1, 0, 1], "x"), [5, 6, 7])
    assert m.is_mask_array([1, 0, 1])
    assert not m.is_mask_array("xyz")
    assert not m.is_mask_array((1, 0, 1))
    for axis, vector in (("x", [1, 0, 0]), ("-y", [0, -1, 0]), ("zx", [1, 0, 1]), (None, [1] * 3)):
        assert_array_equal(m.convert_to_axis_vector(axis), vector)
    assert_array_equal(m.make_matrix(2, 3), np.zeros((2, 3)))
    assert_array_equal(m.to_numpy_array((1, 2)), [1, 2])
    for warn in (m.warn_rotation_axis_deprecated, m.warn_translation_axis_deprecated):
        with pytest.warns(DeprecationWarning, match="mask"):
            warn()


def test_damped_inverses():
    random = rng("skrobot math inverses")
    many, w = random.normal(size=(4, 3, 6)), random.uniform(0.5, 2, size=6)
    k = random.uniform(0, 1, size=4)
    for J_, k_ in ((many[0], k[0]), (many[1], 0.0)):
        W = np.diag(w)
        expected = W @ J_.T @ np.linalg.inv(J_ @ W @ J_.T + k_ * np.eye(3))
        assert_close(m.sr_inverse(J_, k_, w), expected)
        assert_close(m.sr_inverse_org(J_, k_), m.sr_inverse(J_, k_))
        assert_close(m.manipulability(J_), np.sqrt(np.linalg.det(J_ @ J_.T)))
    made = m.batch_sr_inverse(many, k, w)
    assert_close(made, np.stack([m.sr_inverse(*one, w) for one in zip(many, k, strict=True)]))
    assert_close(m.jacobian_inverse(many), np.linalg.pinv(many))
    assert m.manipulability(np.ones((4, 3))) == 0.0
    singular = m.jacobian_inverse(np.ones((2, 3)))
    assert np.isfinite(singular).all()
    assert_close(singular, m.sr_inverse(np.ones((2, 3)), 0.001))


@pytest.mark.parametrize(
    "call",
    [
        lambda: m.rotation_matrix(0.1, [0, 0, 0]),
        lambda: m.rotation_matrix([0.1, 0.2], "x"),
        lambda: m.rotation_matrix(np.nan, "x"),
        lambda: m.quaternion_from_axis_angle(0.1, [0, 0, 0]),
        lambda: m.quaternion2matrix([1, 1, 0, 0]),
        lambda: m.quaternion2matrix([1.0005, 0, 0, 0]),
        lambda: m.quaternion2matrix([0, 0, 0, 0], normalize=True),
        lambda: m.quaternion2matrix([1, 0, 0]),
        lambda: m.quaternion_inverse([0, 0, 0, 0]),
        lambda: m.quaternion_normalize([0, 0, 0, 0]),
        lambda: m.rotation_matrix_from_axis((1, 1, 1), (2, 2, 2)),
        lambda: m.rotation_matrix_from_axis((1, 0, 0), (0, 1, 0), "xx"),
        lambda: m.rotation_matrix_from_vectors([1, 2, 3], [0, 0, 0]),
        lambda: m.rotation_matrix_z_to_axis([0, 0, 0]),
        lambda: m.rotation_angle(2 * R),
        lambda: m.rotation_distance(R, 2 * R),
        lambda: m.matrix2quaternion([[1, 2], [3, 4]]),
        lambda: m.matrix2rotation_translation(R),
        lambda: m.matrix2rpy(np.full((3, 3), np.nan)),
        lambda: m.rodrigues([0, 0, 0], 0.3),
        lambda: m.normalize_vector([np.nan, 0, 0]),
        lambda: m.convert_to_axis_vector([1, 2]),
        lambda: m.convert_legacy_axis_to_mask("w"),
        lambda: m.convert_legacy_axis_to_mask(3),
        lambda: m.select_by_axis([1, 2, 3], [1, 0, 0]),
        lambda: m.skew_symmetric_matrix([1, 2]),
        lambda: m._check_valid_rotation(-np.eye(3)),
        lambda: m._check_valid_rotation(Q),
    ],
)
def test_what_is_refused(call: Callable[[], Any]):
    with pytest.raises(ValueError):
        call()


def test_other_refusals():
    with pytest.raises(NotImplementedError):
        m.rotation_matrix(0.1, "w")
    with pytest.raises(TypeError):
        m.to_numpy_array(3)
    assert_close(m.quaternion2matrix([1, 1, 0, 0], normalize=True), m.rotation_matrix(pi / 2, "x"))
    assert m.rotation_distance(R, 2 * R, check=False) == pytest.approx(0.0, abs=1e-12)


def test_frames_between_and_along():
    a, b = Coordinates(), Coordinates(pos=[0.1, 0, 0])
    assert_close(geo.midcoords(0.5, a, b).translation, [0.05, 0, 0])
    with pytest.raises(ValueError, match="ratio"):
        geo.midcoords(1.3, a, b)
    frame = Coordinates(pos=[0, 1, 0]).rotate(pi / 3, "y")
    assert geo.orient_coords_to_axis(frame, [0, 1, 0]) is frame
    assert_close(frame.translation, [0, 1, 0])
    first, second = m.rpy_angle(frame.rotation)  # as documented
    assert_close(first, [0, 1.04719755, -1.57079633], atol=1e-8)
    assert_close(second, [3.14159265, 2.0943951, 1.57079633], atol=1e-8)
    assert_close(geo.orient_coords_to_axis(frame, [1, 1, 0], "x").x_axis, [0.5**0.5, 0.5**0.5, 0])


def test_angles_about_a_normal_that_vectors_do_not_stand_across():
    pair = [1, 2, 3], [-0.5, 1, 0.2]  # the original's numbers, for a normal of length 1
    counter, clockwise = (
        m.counter_clockwise_angle_between_vectors,
        m.clockwise_angle_between_vectors,
    )
    assert counter(*pair, [0, 0, 1]) == pytest.approx(0.7610, abs=1e-4)
    assert counter(*pair, [0, 0, -2]) == pytest.approx(5.5222, abs=1e-4)
    assert clockwise(*pair, [0, 0, 3]) == pytest.approx(5.5222, abs=1e-4)
