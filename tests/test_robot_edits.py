"""What a robot knows of itself, configurations by name, and the robots made from it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.model import JointType
from robots import by_name, chain_urdf, every_joint_urdf, random_configuration
from seeds import rng

NAMES = ("shoulder", "elbow", "slide", "grip_a", "spin", "plane", "free", "socket")


@cache
def everything(base: str = "fixed") -> lw.Robot:
    return lw.load(every_joint_urdf(), base=base)


def some(r: lw.Robot, label: str) -> np.ndarray:
    return random_configuration(rng(label), r.mechanism)


# what it is


def test_names_and_numbers():
    r = everything()
    assert r.name == "every_joint"
    assert sorted(r.joint_names) == sorted(NAMES)
    assert sorted(r.all_joint_names) == sorted((*NAMES, "grip_b", "grip_c"))
    assert (r.n_q, r.n_v) == (5 + 3 + 7 + 4, 5 + 3 + 6 + 3)
    assert r.frame_names[0] == "base"
    assert "elbow/joint" in r.frame_names  # the link has the plain name
    assert len(set(r.frame_names)) == len(r.frame_names) == 15 + 14
    f = everything("floating")
    assert f.joint_names == ("floating_base", *r.joint_names)
    assert (f.n_q, f.n_v) == (r.n_q + 7, r.n_v + 6)


def test_limits_stand_in_the_order_of_q_and_v():
    r = everything()
    limits = r.limits
    for part, n in zip(limits, (r.n_q, r.n_q, r.n_v, r.n_v, 8), strict=True):
        assert part.shape == (n,)
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1.0
    at = {name: int(r.mechanism.q_start[k]) for k, name in enumerate(r.joint_names)}
    v_at = {name: int(r.mechanism.v_start[k]) for k, name in enumerate(r.joint_names)}
    assert (limits.lower[at["shoulder"]], limits.upper[at["shoulder"]]) == (-2.0, 2.5)
    assert (limits.lower[at["slide"]], limits.upper[at["slide"]]) == (0.05, 0.4)
    assert limits.velocity[v_at["shoulder"]] == 3.0
    assert limits.effort[v_at["elbow"]] == 20.0
    # grip_a in [-1, 1]; grip_b = 0.1 - 2 a in [-0.8, 0.1]: a in [0, 0.45];
    # grip_c = 0.01 - b / 2 = a - 0.04 in [-0.01, 0.05]: a in [0.03, 0.09]
    assert limits.lower[at["grip_a"]] == pytest.approx(0.03)
    assert limits.upper[at["grip_a"]] == pytest.approx(0.09)
    assert np.isinf(limits.upper[at["spin"]])
    assert np.isinf(limits.lower[at["free"]])


@pytest.mark.parametrize("name", ["ur5e", "planar_3r", "puma560"])
def test_the_tip_is_the_one_link_at_an_end(name):
    r = lw.load(name)
    q = r.random(seed=2)
    assert r.tip == "tool0"
    assert np.array_equal(r.fk(q), r.fk(q, "tool0"))
    assert np.array_equal(r.jacobian(q), r.jacobian(q, "tool0"))


def test_without_one_end_the_frame_has_to_be_named():
    r = everything()
    for call in (lambda: r.tip, lambda: r.fk(r.neutral()), lambda: r.function("fk")):
        with pytest.raises(lw.InputError, match="links at an end: name the frame") as caught:
            call()
        assert "lens" in str(caught.value)
    assert lw.load(chain_urdf(3)).tip == "link3"
    assert lw.load('<robot name="r"><link name="only"/></robot>').tip == "only"


def test_the_tip_is_known_without_a_description(tmp_path):
    """Of a mechanism from JSON, and of an MJCF, as of a URDF."""
    arm = lw.load("ur5e")
    saved = lw.save(arm.with_payload("tool0", 1.0), tmp_path / "arm.json").path
    assert lw.load(saved).tip == lw.Robot(arm.mechanism).tip == "tool0"
    assert np.array_equal(lw.load(saved).fk(arm.neutral()), arm.fk(arm.neutral()))
    with pytest.raises(lw.InputError, match="has 6 links at an end"):
        _ = lw.Robot(everything().mechanism).tip
    for base, tip in (("tool0", "base_link"), ("base_link", "wrist_2_joint")):
        chain = arm.subchain(base, tip)
        found = lw.save(chain, saved).findings
        assert {each.code for each in found} == {"not-saved"}
        told = [each for each in found if each.level == "warning"]
        assert len(told) == 1
        assert f"name '{tip}' in calls" in str(told[0])
    with pytest.raises(lw.InputError, match="'ur5e' was turned around: name the frame"):
        _ = lw.Robot(arm.subchain("tool0", "base_link").mechanism).tip
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    assert lw.load(lw.to_text(arm, "mjcf")).tip == "tool0"


@pytest.mark.parametrize("name", ["fk", "jacobian"])
@pytest.mark.parametrize("wrong", ["lense", "", "Lens", 3, object, ("lens",)])
def test_an_unknown_frame_lists_the_nearest(name, wrong):
    r = everything()
    with pytest.raises(lw.LinkworkError, match=r"by its name|no frame named"):
        getattr(r, name)(r.neutral(), [wrong])
    with pytest.raises(lw.UnknownNameError, match="no frame named") as caught:
        getattr(r, name)(r.neutral(), wrong)
    assert caught.value.valid == r.frame_names
    if wrong == "lense":
        assert "nearest: lens" in str(caught.value)


def test_findings_are_kept_and_strict_raises_them():
    text = chain_urdf(2).replace('<limit lower="-1" upper="1"', "<limit", 1)
    r = lw.load(text)
    warnings = [p for p in r.findings if p.level == "warning"]
    assert [p.name for p in warnings] == ["joint1"]
    assert np.isinf(r.limits.lower[0])
    with pytest.raises(lw.DescriptionError) as caught:
        lw.load(text, strict=True)
    assert caught.value.problems == tuple(warnings)
    assert lw.load(chain_urdf(2), strict=True).n_q == 2


def test_repr_says_what_it_is():
    assert repr(everything()) == "Robot('every_joint': 8 joints, 17 degrees of freedom, 29 frames)"


def test_repr_tells_loops_and_what_they_leave_free_once_it_is_known():
    robot = lw.load("four_bar")
    frames = len(robot.frame_names)
    assert repr(robot) == f"Robot('four_bar': 3 joints, 1 loop, {frames} frames)"
    assert robot.mobility().degrees_of_freedom == 1
    assert (
        repr(robot) == f"Robot('four_bar': 3 joints, 1 loop, 1 degree of freedom, {frames} frames)"
    )
    geared = lw.load("panda").with_coupling("joint2", "joint1")
    assert "7 joints, 1 coupling, " in repr(geared)
    assert "degree" not in repr(geared)


# configurations


def test_random_configurations_lie_inside_the_limits():
    r = everything("floating")
    q, limits = r.random(4000, seed=3), r.limits
    assert q.shape == (4000, r.n_q)
    assert np.all((q >= limits.lower) & (q <= limits.upper))
    for k, kind in enumerate(r.mechanism.joint_types):
        if kind.has_quaternion:
            start = int(r.mechanism.q_start[k]) + kind.n_lengths
            np.testing.assert_allclose(np.linalg.norm(q[:, start : start + 4], axis=1), 1.0)
        if kind is JointType.SPHERICAL:
            angle = 2 * np.arccos(np.abs(q[:, start]))
            assert 0.99 * limits.angle[k] < angle.max() <= limits.angle[k]
    low, high = limits.lower[limits.lower > -np.inf], limits.upper[limits.upper < np.inf]
    spread = q[:, limits.lower > -np.inf]
    assert np.all(spread.min(axis=0) < low + 0.01 * (high - low))
    assert np.all(spread.max(axis=0) > high - 0.01 * (high - low))
    assert np.array_equal(r.random(5, seed=3), r.random(5, seed=3))
    assert not np.array_equal(r.random(5, seed=3), r.random(5, seed=4))
    assert r.random(seed=1).shape == (r.n_q,)
    assert r.random(0).shape == (0, r.n_q)
    assert r.random(np.int64(2)).shape == (2, r.n_q)
    g = np.random.default_rng(5)
    assert not np.array_equal(r.random(seed=g), r.random(seed=g))
    assert not np.array_equal(r.random(), r.random())


@pytest.mark.parametrize("n", [-1, 2.0, "3", True, (2, 3), np.nan])
def test_a_number_of_configurations_is_a_whole_number(n):
    with pytest.raises(lw.InputError, match="n must be a whole number from 0"):
        everything().random(n)


@pytest.mark.parametrize("seed", [-1, "x", 1.5, object()])
def test_a_seed_is_a_whole_number_or_a_generator(seed):
    with pytest.raises(lw.InputError, match="seed must be"):
        everything().random(seed=seed)


def test_configurations_by_name():
    r = everything()
    given = {
        "spin": 4.0, "shoulder": -1, "plane": [1, 2, 3], "free": np.arange(1.0, 8.0),
        "grip_a": 0.05, "grip_b": 0.0, "grip_c": 0.01, "slide": np.float32(0.25),
    }  # fmt: skip
    named = by_name(r.mechanism, r.configuration(given))
    assert named["spin"] == 4.0
    assert named["plane"].tolist() == [1, 2, 3]
    assert named["free"].tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert named["slide"] == 0.25
    assert named["elbow"] == 0.0
    assert np.array_equal(r.configuration({}), r.neutral())
    again = r.configuration(by_name(r.mechanism, some(r, "by name")))
    assert np.array_equal(again, some(r, "by name"))


def test_a_follower_has_to_agree_with_its_leader():
    r = everything()
    b = -2 * 0.05 + 0.1
    assert r.configuration({"grip_b": b + 0.9e-9, "grip_a": 0.05}).shape == (r.n_q,)
    with pytest.raises(lw.InputError, match="'grip_b' follows 'grip_a'"):
        r.configuration({"grip_b": b + 1.2e-9, "grip_a": 0.05})
    with pytest.raises(lw.InputError, match="'grip_c' follows 'grip_a'"):
        r.configuration({"grip_c": 0.02})


@pytest.mark.parametrize(
    ("positions", "error"),
    [
        ({"sholder": 1.0}, lw.UnknownNameError),
        ({"wrist": 0.0}, lw.UnknownNameError),  # fixed
        ({3: 0.0}, lw.UnknownNameError),
        ({"plane": 1.0}, lw.ShapeError),
        ({"spin": [1.0, 2.0]}, lw.ShapeError),
        ({"free": np.ones(6)}, lw.ShapeError),
        ({"spin": np.nan}, lw.InputError),
        ({"free": [0, 0, np.inf, 1, 0, 0, 0]}, lw.InputError),
        ({"spin": "far"}, lw.InputError),
        ({"spin": None}, lw.InputError),
        ({"spin": 1j}, lw.InputError),
        ({"spin": "0.5"}, lw.InputError),
        ({"spin": np.array(1 + 2j)}, lw.InputError),
        ([1.0, 2.0], lw.InputError),
        (None, lw.InputError),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("error")
def test_positions_that_mean_nothing_are_refused(positions, error):
    with pytest.raises(error):
        everything().configuration(positions)


def test_full_has_every_joint_that_moves():
    r = everything()
    q = some(r, "full")
    named = by_name(r.mechanism, q)
    widths = {"free": 7, "socket": 4, "plane": 3}
    values, at = {}, 0
    for name in r.all_joint_names:
        width = widths.get(name, 1)
        values[name] = r.all_positions(q)[at : at + width]
        at += width
    assert at == r.all_positions(q).shape[0]
    for name in NAMES:
        assert np.array_equal(values[name], named[name])
    b = -2 * named["grip_a"] + 0.1
    np.testing.assert_allclose(values["grip_b"], b, atol=1e-15)
    np.testing.assert_allclose(values["grip_c"], -0.5 * b + 0.01, atol=1e-15)


# edits


@pytest.mark.parametrize(("base", "tip"), [("base", "lens"), ("lens", "base"), ("wheel", "lens")])
def test_a_subchain_is_the_way_between_two_frames(base, tip):
    r = everything()
    q = some(r, f"subchain {base} {tip}")
    part = r.subchain(base, tip)
    named = by_name(r.mechanism, q)
    short = part.configuration({name: named[name] for name in part.joint_names})
    expected = np.linalg.inv(r.fk(q, base)) @ r.fk(q, tip)
    assert part.tip == tip
    np.testing.assert_allclose(part.fk(short), expected, atol=1e-13)
    np.testing.assert_allclose(part.fk(short, base), np.eye(4), atol=1e-13)
    assert part.subchain(base, tip).tip == tip
    assert part.with_locked(part.joint_names[0]).tip == tip
    with pytest.raises(lw.UnknownNameError):
        r.subchain(base, "nowhere")


def test_positions_of_locked_joints_are_not_lost():
    with pytest.raises(lw.InputError, match=r"with_locked\(\['elbow'\], \{'elbow': 0.5\}\)"):
        everything().with_locked({"elbow": 0.5})
    for edit in (everything().with_locked, everything().with_actuated):
        with pytest.raises(lw.InputError, match="names are one text or a list of them, not None"):
            edit(None)  # type: ignore[arg-type]


def test_edits_are_those_of_the_mechanism_and_keep_the_tip():
    r = everything()
    before = r.mechanism.digest
    q = r.configuration({"elbow": 0.5})
    locked = r.with_locked("elbow", 0.5)
    assert locked.joint_names == tuple(n for n in r.joint_names if n != "elbow")
    assert np.allclose(locked.fk(locked.neutral(), "lens"), r.fk(q, "lens"), atol=1e-14)
    T = lw.pose([0.1, 0.2, -0.3], rpy=[0.3, -0.5, 1.0])
    more = r.with_frame("tool", "lens", T)
    np.testing.assert_allclose(more.fk(q, "tool"), r.fk(q, "lens") @ T, atol=1e-14)
    assert r.mechanism.digest == before
    chain = lw.load(chain_urdf(2)).with_frame("tool", "link2", np.eye(4))
    assert chain.tip == "link2"
