"""Promises of computing: exact, never a number that means nothing, never half a change.

P13 and so on are the numbers of the properties in the list of reliability properties.
"""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.serialize import to_json
from robots import every_joint_urdf, random_configuration, random_tree
from seeds import rng


@cache
def model(name: str) -> lw.Robot:
    return lw.load(every_joint_urdf(), base="floating") if name == "everything" else lw.load(name)


# P13: forward kinematics is exact


def exact_pose(r: lw.Robot, q: np.ndarray) -> np.ndarray:
    """The last link's pose in 50 digits, from the records of the description."""
    mp = mpmath.mp.clone()
    mp.dps = 50

    def about(axis: list, angle) -> mpmath.matrix:
        length = mp.sqrt(sum(a * a for a in axis))
        x, y, z = (a / length for a in axis)
        K = mp.matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return mp.eye(3) + mp.sin(angle) * K + (1 - mp.cos(angle)) * (K * K)

    R, p = mp.eye(3), mp.zeros(3, 1)
    joints = {joint.name: joint for joint in r.document.robot.joints}
    for name, value in zip(r.joint_names, q, strict=True):
        joint = joints[name]
        p = p + R * mp.matrix([mp.mpf(x) for x in joint.xyz])
        for axis, angle in zip(([0, 0, 1], [0, 1, 0], [1, 0, 0]), joint.rpy[::-1], strict=True):
            R = R * about([mp.mpf(a) for a in axis], mp.mpf(angle))
        axis = [mp.mpf(a) for a in joint.axis]
        if joint.type == "prismatic":
            length = mp.sqrt(sum(a * a for a in axis))
            p = p + R * mp.matrix([mp.mpf(float(value)) * a / length for a in axis])
        else:
            R = R * about(axis, mp.mpf(float(value)))
    T = np.eye(4)
    T[:3, :3] = np.array(R.tolist(), dtype=float)
    T[:3, 3] = np.array(p.tolist(), dtype=float)[:, 0]
    return T


def chain_of_eight(g: np.random.Generator) -> str:
    """Random placements, axes that are not normalised, turns and slides."""

    def three(low: float, high: float) -> str:
        return " ".join(repr(float(x)) for x in g.uniform(low, high, 3))

    joints = [
        f'<joint name="j{k}" type="{("revolute", "prismatic", "continuous")[g.integers(3)]}">'
        f'<parent link="l{k}"/><child link="l{k + 1}"/><origin xyz="{three(-1, 1)}" '
        f'rpy="{three(-3, 3)}"/><axis xyz="{three(0.2, 3)}"/>'
        '<limit lower="-3" upper="3" velocity="1" effort="1"/></joint>'
        for k in range(8)
    ]
    links = "".join(f'<link name="l{k}"/>' for k in range(9))
    return f'<robot name="eight">{links}{"".join(joints)}</robot>'


@pytest.mark.sweep(1)
@pytest.mark.parametrize("number", range(4))
def test_p13_forward_kinematics_against_fifty_digits(number):
    g = rng(f"P13 {number}")
    r = lw.load(chain_of_eight(g))
    length = sum(np.linalg.norm(joint.xyz) for joint in r.document.robot.joints) + 3 * 8
    for q in g.uniform(-3, 3, (15, 8)):
        error = np.abs(r.fk(q) - exact_pose(r, q))
        assert error[:3, 3].max() <= 3e-15 * length
        assert error[:3, :3].max() <= 8e-15


# P14: derivatives


@pytest.mark.sweep(1)
@pytest.mark.parametrize("number", range(5))
def test_p14_jacobians_against_central_differences(number):
    g, h = rng(f"P14 {number}"), 1e-6
    r = lw.load(random_tree(g, 9), base=("fixed", "floating")[number % 2])
    frame, eye = "link9", np.eye(r.n_v)
    q = np.array([random_configuration(g, r.mechanism) for _ in range(50)])
    J, T = r.jacobian(q, frame), r.fk(q, frame)
    ahead, behind = (r.fk(r.integrate(q[:, None], s * h * eye), frame) for s in (1.0, -1.0))
    rate = (ahead - behind) / (2 * h)
    spin = rate[..., :3, :3] @ np.swapaxes(T[:, None, :3, :3], -1, -2)
    angular = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
    expected = np.concatenate([rate[..., :3, 3], angular], axis=-1)
    np.testing.assert_allclose(np.swapaxes(J, -1, -2), expected, atol=1e-8)
    v = g.normal(size=(50, r.n_v))
    change = r.jacobian(r.integrate(q, h * v), frame) - r.jacobian(r.integrate(q, -h * v), frame)
    np.testing.assert_allclose(
        r.jacobian_dot_v(q, v, frame), np.einsum("kij,kj->ki", change / (2 * h), v), atol=2e-7
    )
    moved = r.com(r.integrate(q[:, None], h * eye)) - r.com(r.integrate(q[:, None], -h * eye))
    np.testing.assert_allclose(np.swapaxes(r.com_jacobian(q), -1, -2), moved / (2 * h), atol=1e-8)


# P17: what is not finite, or too large, or of a wrong length


@pytest.mark.parametrize("size", [1e308, -1e308])
def test_p17_numbers_that_overflow_raise(size):
    r = model("everything")
    q = r.neutral()
    q[:3] = size
    q[[r.n_q - 7, r.n_q - 6, r.n_q - 5]] = size
    for frame in ("ball", "base"):
        if frame == "ball":
            with pytest.raises(lw.InputError, match="no finite result"):
                r.fk(q, frame)
            with pytest.raises(lw.InputError, match=r"row \[1\]"):
                r.fk(np.stack([r.neutral(), q]), frame)
            assert np.isnan(r.fk(q, frame, on_bad="nan")).all()
        else:
            assert np.isfinite(r.fk(q, frame)).all()
    v = np.full(r.n_v, size)
    with pytest.raises(lw.InputError):
        r.integrate(q, v)
    spin = r.neutral()
    spin[r.mechanism.q_start[r.joint_names.index("spin")]] = size
    T = r.fk(spin, "wheel")  # the sine of a huge angle is still a sine
    np.testing.assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-15)


TARGETS = {
    "nan": np.full((4, 4), np.nan),
    "inf": lw.pose([0, 0, 0]) + np.diag([0, 0, 0, np.inf]),
    "scaled": 2 * np.eye(4),
    "mirrored": np.diag([1.0, 1, -1, 1]),
    "3x4": np.eye(4)[:3],
    "none": None,
    "text": "pose",
    "words": np.eye(4).astype(str),
    "complex": np.eye(4) + 0j,
    "truths": np.eye(4, dtype=bool),
    "ragged": [[1, 2], [3]],
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.filterwarnings("error")
def test_p17_targets_that_are_no_poses_are_refused(name):
    with pytest.raises(lw.InputError):
        model("planar_3r").ik(TARGETS[name], "tool0")


@pytest.mark.parametrize(
    "q0", ["abc", [1j, 0, 0], np.zeros(3) + 0j, ["0"] * 3, [None] * 3], ids=str
)
@pytest.mark.filterwarnings("error")
def test_p17_a_start_that_is_no_configuration_is_refused(q0):
    with pytest.raises(lw.InputError):
        model("planar_3r").ik(np.eye(4), "tool0", q0=q0)


# P18: a call that fails leaves nothing behind


def failing_calls(r: lw.Robot):
    q, T, nan = r.neutral(), np.eye(4), np.full(r.n_q, np.nan)
    first = r.joint_names[0]
    out, same = np.zeros((4, 4)), r.random(4, seed=1)
    out.flags.writeable = False
    big = np.array([r.random(seed=2)] * 20_000)
    big[19_999, 0] = np.nan
    return [
        lambda: r.fk(nan, "hand"), lambda: r.fk(q[1:], "hand"), lambda: r.fk(q, "hnd"),
        lambda: r.fk(q), lambda: r.fk(None, "hand"), lambda: r.fk(q, "hand", out=out),
        lambda: r.fk(q, "hand", on_bad="skip"), lambda: r.fk(big, "hand", threads=2),
        lambda: r.fk_all(nan), lambda: r.jacobian(q, "hand", reference="body"),
        lambda: r.jacobian(q, "hand", out=np.zeros(3)), lambda: r.com("q"),
        lambda: r.com_jacobian(nan), lambda: r.all_positions([1, 2]), lambda: r.integrate(q, nan),
        lambda: r.integrate(same, np.zeros((4, r.n_v)), out=same), lambda: r.difference(q, nan),
        lambda: r.jacobian_dot_v(q, np.zeros(1), "hand"), lambda: r.ik(2 * T, "hand"),
        lambda: r.ik(T, "hand", q0=nan), lambda: r.ik(T, "hand", joints=["none"]),
        lambda: r.ik(T, "base"), lambda: r.ik(T, "hand", steps=0),
        lambda: r.ik(T, "hand", position_tolerance=-1.0), lambda: r.solver("hnd"),
        lambda: r.function("fk", "hnd"), lambda: r.function("nothing"),
        lambda: r.configuration({first: np.nan}), lambda: r.configuration({"none": 0.0}),
        lambda: r.with_locked(first, np.nan), lambda: r.with_locked([first, first]),
        lambda: r.random(-1),
        lambda: r.subchain("base", "hnd"), lambda: r.with_frame("hand", "base", T),
        lambda: r.with_frame("new", "base", 2 * T), lambda: r.random(seed="x"),
        lambda: r.limits.lower.__setitem__(0, 1.0), lambda: setattr(r.mechanism, "name", "x"),
        lambda: r.mechanism.mass.__setitem__(0, 9.0), lambda: r.mechanism.frame("hnd"),
    ]  # fmt: skip


@pytest.mark.slow
def test_p18_failing_calls_leave_no_trace():
    r = lw.load(every_joint_urdf())
    q = r.random(9, seed=4)

    def state():
        poses = r.fk_all(q).tobytes()
        held = sorted(
            name for name in vars(r) if not name.startswith("_")
        )  # but compiled functions
        return (to_json(r.mechanism), r.frame_names, r.findings, r.document, poses, held)

    before = state()
    calls = failing_calls(r)
    assert len(calls) >= 30
    for k, call in enumerate(calls):
        with pytest.raises((lw.LinkworkError, ValueError, AttributeError)):
            call()
        assert state() == before, f"call {k}"
    anew = lw.Robot(r.mechanism, r.document)
    assert anew.fk_all(q).tobytes() == r.fk_all(q).tobytes()
    assert anew.mechanism.digest == lw.load(every_joint_urdf()).mechanism.digest


# P25 and P26: inverse kinematics where there is no answer, or only a singular one


def inside(r: lw.Robot, q: np.ndarray) -> bool:
    return bool(
        np.isfinite(q).all() and (q >= r.limits.lower).all() and (q <= r.limits.upper).all()
    )


def errors_of(r: lw.Robot, frame: str, result: lw.ik.IKResult, T: np.ndarray):
    reached = r.fk(result.q, frame)
    distance = np.linalg.norm(reached[..., :3, 3] - T[..., :3, 3], axis=-1)
    gap = np.linalg.norm(reached[..., :3, :3] - T[..., :3, :3], axis=(-2, -1))
    return distance, 2 * np.arcsin(np.minimum(gap / np.sqrt(8), 1.0))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["planar_2r", "ur5e", "panda"])
def test_p25_singular_targets(name):
    r, g = model(name), rng(f"P25 {name}")
    frame = "tool0"
    q = r.random(400, seed=5)
    q[np.arange(400), g.integers(0, r.n_q, 400)] = 0.0  # stretched elbows, aligned wrists
    q[:100] = np.where(g.random((100, r.n_q)) < 0.7, 0.0, q[:100])
    q += g.choice([0.0, 1e-12, 1e-9, 1e-6], (400, 1)) * g.normal(size=q.shape)
    q = np.clip(q, r.limits.lower, r.limits.upper)
    T = r.fk(q, frame)
    for q0 in (None, q, np.zeros(r.n_q)):
        result = r.ik(T, frame, q0=q0)
        assert inside(r, result.q)
        distance, angle = errors_of(r, frame, result, T)
        np.testing.assert_allclose(result.position_error, distance, atol=1e-12)
        np.testing.assert_allclose(result.rotation_error, angle, atol=1e-7)
        fine = (distance <= 1e-5 + 1e-12) & (angle <= 1e-4 + 1e-7)
        assert np.array_equal(result.success, result.success & fine)
        assert np.count_nonzero(result.success) >= 396


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["ur5e", "panda", "quadruped"])
def test_p26_targets_out_of_reach(name):
    r, g = model(name), rng(f"P26 {name}")
    frame = "fl_foot" if name == "quadruped" else "tool0"
    T = r.fk(r.random(1000, seed=6), frame)
    away = g.normal(size=(1000, 3))
    away *= (10.0 ** g.uniform(0.7, 6, (1000, 1))) / np.linalg.norm(away, axis=1, keepdims=True)
    T[:, :3, 3] += away
    result = r.ik(T, frame, tries=3)
    assert not result.success.any()
    assert inside(r, result.q)
    distance, _ = errors_of(r, frame, result, T)
    np.testing.assert_allclose(result.position_error, distance, rtol=1e-12, atol=1e-12)
    assert (result.rotation_error >= 0).all()
    assert (result.rotation_error <= np.pi + 1e-9).all()
    assert result.reason.startswith(
        "1000 of 1000 not solved; the first, [0]: the target is at least"
    )
    for k in (0, 500, 999):
        text = result.reason_for(k)
        least = float(text.split("at least ")[1].split(" m out of reach")[0])
        assert 0 < least <= distance[k] * 1.01
        assert f"{distance[k]:.3g} m" in text


# P28: bodies without mass


def test_p28_a_robot_without_mass_is_an_error_where_mass_is_asked_for():
    text = (
        '<robot name="light"><link name="a"/><link name="b">{}</link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<origin xyz="0 0 1"/><axis xyz="1 0 0"/></joint></robot>'
    )
    inertial = (
        '<inertial><origin xyz="0 0.5 0"/><mass value="{}"/><inertia ixx="{}" ixy="0" ixz="0"'
        ' iyy="0" iyz="0" izz="0"/></inertial>'
    )
    for body in ("", inertial.format(0, 0), inertial.format(0, 1)):
        r = lw.load(text.format(body))
        for call in (r.com, r.com_jacobian):
            with pytest.raises(lw.InputError, match=r"'light'.*mass"):
                call([0.1])
        assert r.fk([0.1], "b").shape == (4, 4)
    for size in (1e-300, 1.0, 1e100):
        r = lw.load(text.format(inertial.format(size, 0)))
        np.testing.assert_allclose(r.com([np.pi / 2]), [0, 0, 1.5], atol=1e-12)


# P29: names


NAMES = [
    "__class__", "__init__", "self", "fk", "q", "mechanism", "a\nb", "a b", "a/b", "é", "手", "🦾",
    "%s", "{0}", "${x}", "'", '"', "<&>", "\u202e", "x" * 10_000, "1", "-", "None", "base:link",
]  # fmt: skip


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", NAMES, ids=lambda n: ascii(n[:10]))
def test_p29_any_name_is_only_a_name(name):
    def attribute(value: str) -> str:
        table = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;"}
        return "".join(table.get(c, c) for c in value)

    escaped = attribute(name)
    text = (
        f'<robot name="{escaped}"><link name="{escaped}"/><link name="{escaped}2"/>'
        f'<joint name="{escaped}" type="continuous"><parent link="{escaped}"/>'
        f'<child link="{escaped}2"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint></robot>'
    )
    try:
        r = lw.load(text)
    except lw.DescriptionError as error:
        assert name in ("a\nb", "\u202e") or len(name) > 1000, error
        return
    assert r.name == name
    assert r.joint_names == (name,)
    assert r.frame_names == (name, f"{name}2", f"{name}/joint")
    q = r.configuration({name: 0.3})
    assert q.tolist() == [0.3]
    assert np.array_equal(r.fk(q, f"{name}2"), r.fk(q))
    assert r.function("fk", f"{name}/joint")(q).shape == (4, 4)
    assert r.ik(r.fk(q), f"{name}2", joints=name).success
    assert r.with_locked(name, 0.1).joint_names == ()
    assert r.__class__ is lw.Robot
    assert name in repr(r)
    with pytest.raises(lw.InputError, match="joint '"):
        r.fk([np.nan])
