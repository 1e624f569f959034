"""Edits keep every pose, what is left of loops, and payloads."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import linkwork as lw
import robots
from dynamics_cases import near
from dynamics_engines import NOT_PLANAR, beside
from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError, ShapeError, UnknownNameError, UnsupportedFeatureError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.edit import (
    actuate,
    close,
    couple,
    lock,
    parts_of,
    subchain,
    with_frame,
    with_payload,
)
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType
from linkwork.mechanism.neutral import neutral
from linkwork.mechanism.parameters import values
from linkwork.mechanism.serialize import from_json, to_json
from robots import random_tree
from seeds import rng


def random_robot(random, types=robots.ALL_TYPES, *, floating=False, n=None):
    text = robots.random_tree(random, n or int(random.integers(2, 20)), types)
    return robots.mechanism_from(text, base="floating" if floating else "fixed")


def assert_poses_equal(found, expected, names=None):
    for name in names or expected:
        np.testing.assert_allclose(found[name], expected[name], atol=2e-12, rtol=0, err_msg=name)


# the parts of a mechanism


@pytest.mark.parametrize("number", range(30))
def test_taken_apart_and_assembled_it_is_the_same(number):
    m = random_robot(rng(f"apart {number}"), floating=number % 2 == 0)
    assert assemble(parts_of(m)) == m


def test_a_coordinate_without_a_body_is_kept():
    m = robots.mechanism_from(robots.every_joint_urdf())
    chain = subchain(m, "hand", "finger_c")
    assert assemble(parts_of(chain)) == chain


# lock


def inside(random, m):
    """A configuration inside the limits."""
    return np.clip(robots.random_configuration(random, m), m.lower, m.upper)


@pytest.mark.parametrize("number", range(40))
def test_locking_keeps_poses_and_inertia(number):
    random = rng(f"lock {number}")
    m = random_robot(random, floating=number % 2 == 0)
    q = inside(random, m)
    positions = robots.by_name(m, q)
    held = [name for name in m.joint_names if random.random() < 0.4]
    still = lock(m, held, {name: positions[name] for name in held})
    assert still.joint_names == tuple(name for name in m.joint_names if name not in held)
    assert still.frame_names == m.frame_names
    assert (still.n_link_frames, still.n_joint_frames) == (m.n_link_frames, m.n_joint_frames)
    q_still = robots.from_names(still, positions)
    assert_poses_equal(robots.model_poses(still, q_still), robots.model_poses(m, q))
    if m.mass.sum() > 0:
        expected, found = robots.total_inertia(m, q), robots.total_inertia(still, q_still)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10)


def test_ways_to_say_where():
    m = robots.mechanism_from(robots.every_joint_urdf())
    q = inside(rng("where"), m)
    positions = robots.by_name(m, q)
    names = ["elbow", "plane", "free"]
    by_name = lock(m, names, {name: positions[name] for name in names})
    assert lock(m, names, [positions[name] for name in names]) == by_name
    assert lock(m, names, q) == by_name
    assert lock(m, "elbow", 0.5) == lock(m, ["elbow"], [0.5]) == lock(m, ["elbow"], {"elbow": 0.5})
    assert lock(m, "plane", positions["plane"]) == lock(m, "plane", list(positions["plane"]))
    assert lock(m, "plane", positions["plane"]) == lock(m, "plane", q)
    assert lock(m, []) == m


def test_neutral_by_default():
    m = robots.mechanism_from(robots.every_joint_urdf())
    still = lock(m, ["slide", "free"])  # the slide cannot be at 0
    q = neutral(m)
    rest = robots.from_names(still, robots.by_name(m, q))
    assert q[m.q_start[m.joint("slide")]] == 0.05
    assert_poses_equal(robots.model_poses(still, rest), robots.model_poses(m, q))
    partly = lock(m, ["slide", "elbow"], {"elbow": 1.0})
    assert partly == lock(m, ["slide", "elbow"], [0.05, 1.0])


def test_followers_are_locked_with_their_leader():
    m = robots.mechanism_from(robots.every_joint_urdf())
    still = lock(m, "grip_a", 0.06)
    assert not {"grip_a", "grip_b", "grip_c"} & set(still.body_joint_names)
    q = robots.random_configuration(rng("followers"), still)
    poses = robots.model_poses(still, q)
    relative = np.linalg.inv(poses["hand"]) @ poses["finger_c"]
    # -0.5 (-2 · 0.06 + 0.1) + 0.01 = 0.02 along -x
    np.testing.assert_allclose(relative[:3, 3], [-0.02, 0, 0], atol=1e-14)


def test_a_floating_base_becomes_fixed_where_it_stands():
    m = robots.mechanism_from(robots.chain_urdf(2), base="floating")
    pose = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 2.0]  # half a turn about z, of length 2
    still = lock(m, "floating_base", {"floating_base": pose})
    assert still.body_joint_types[0] is JointType.FIXED and still.joint_names == (
        "joint1",
        "joint2",
    )
    T = robots.model_poses(still, np.zeros(2))["link2"]
    np.testing.assert_allclose(T[:3, 3], [0.8, 2, 3], atol=1e-15)
    assert (still.R_parent_joint[0] == np.eye(3)).all() and not still.p_parent_joint[0].any()


def test_a_follower_cannot_be_locked():
    m = robots.mechanism_from(robots.every_joint_urdf())
    with pytest.raises(InputError, match=r"'grip_c' follows 'grip_a' .* lock 'grip_a'"):
        lock(m, ["grip_c"])


@pytest.mark.parametrize(
    ("joints", "at", "error", "text"),
    [
        (["sholder"], None, UnknownNameError, "no joint named 'sholder'; nearest: shoulder"),
        (["wrist"], None, UnknownNameError, "no joint named 'wrist'"),
        ([None], None, UnknownNameError, "no joint named 'None'"),
        (["elbow", "elbow"], None, InputError, "'elbow' is to be locked twice"),
        (["elbow"], {"spin": 1.0}, InputError, "'spin', which is not to be locked"),
        (["elbow"], {"elbw": 1.0}, UnknownNameError, "nearest: elbow"),
        (["elbow"], [1.0, 2.0], ShapeError, "a configuration of 19 numbers, not 2 values"),
        (["elbow"], {"elbow": [1.0, 2.0]}, ShapeError, r"takes 1 number\(s\), not 2"),
        (["plane"], 1.0, ShapeError, r"'plane' takes 3 number\(s\), not 1"),
        (["elbow"], "half", InputError, "must be real numbers, not of type str"),
        (["elbow"], float("nan"), InputError, "the position of joint 'elbow' must be finite"),
        (["free"], [[0, 0, 0, 0, 0, 0, 0]], InputError, "quaternion of zeros"),
        (
            ["elbow"],
            90,
            InputError,
            "'elbow' cannot be locked at 90, .* limits -1.5 to 1.5",
        ),
        (["elbow"], 1.5 + 2e-6, InputError, "'elbow' cannot be locked at 1.500002"),
        (["grip_a"], {"grip_a": 0.25}, InputError, "'grip_a' .* its limits 0.03 to 0.09"),
    ],
)
def test_what_lock_refuses(joints, at, error, text):
    m = robots.mechanism_from(robots.every_joint_urdf())
    before = to_json(m)
    with pytest.raises(error, match=text):
        lock(m, joints, at)
    assert to_json(m) == before


def test_a_position_that_rounding_left_outside_is_locked_at_the_limit():
    m = robots.mechanism_from(robots.every_joint_urdf())
    assert lock(m, "elbow", 1.5 + 1e-7) == lock(m, "elbow", 1.5)


def test_positions_in_an_unclear_order():
    m = robots.mechanism_from(robots.chain_urdf(2))
    with pytest.raises(InputError, match="not clear"):
        lock(m, ["joint2", "joint1"], [0.1, 0.2])
    assert lock(m, ["joint1", "joint2"], [0.1, 0.2]) == lock(
        m, ["joint2", "joint1"], {"joint1": 0.1, "joint2": 0.2}
    )


# subchain


@pytest.mark.parametrize("number", range(60))
def test_poses_in_a_subchain(number):
    random = rng(f"subchain {number}")
    types = ("fixed", *robots.SINGLE_TYPES)
    m = random_robot(random, types, floating=number % 2 == 0, n=15)
    base, tip = (m.frame_names[int(random.integers(len(m.frame_names)))] for _ in range(2))
    q = robots.random_configuration(random, m)
    chain = subchain(m, base, tip)
    assert chain.body_joint_types[0] is JointType.FIXED
    poses = robots.model_poses(m, q)
    world = np.linalg.inv(poses[base])
    found = robots.model_poses(chain, robots.from_names(chain, robots.by_name(m, q)))
    assert {base, tip} <= set(found)
    assert_poses_equal(found, {name: world @ poses[name] for name in found})
    kept = {b for b, name in enumerate(m.body_names) if name in chain.body_names}
    expected = [n for n, b in zip(m.frame_names, m.frame_body, strict=True) if int(b) in kept]
    assert list(chain.frame_names) == expected
    np.testing.assert_allclose(chain.mass.sum(), m.mass[sorted(kept)].sum(), rtol=1e-14)
    back = subchain(chain, base, tip)
    assert back.joint_names == chain.joint_names


@pytest.mark.parametrize("number", range(10))
def test_reversed_joints_keep_names_signs_limits_and_inertia(number):
    random = rng(f"reversed {number}")
    m = robots.mechanism_from(robots.random_tree(random, 8, robots.SINGLE_TYPES, mimic=0.0))
    leaf = m.body_names[-1]
    chain = subchain(m, leaf, m.body_names[0])
    path = [m.body_joint_names[b] for b in m.ancestry(m.n_bodies - 1)[1:]]
    assert set(chain.joint_names) == set(path)
    assert list(chain.body_joint_names[1:]) == path[::-1]
    for name in path:
        a, b = m.joint(name), chain.joint(name)
        assert m.joint_types[a] is chain.joint_types[b]
        for field in ("lower", "upper", "velocity_limit", "effort_limit"):
            assert getattr(m, field)[a] == getattr(chain, field)[b]
    # all kept bodies together, seen from the leaf, against the same bodies of the whole tree
    q = robots.random_configuration(random, m)
    kept = subchain(m, m.body_names[0], leaf)
    if kept.mass.sum() == 0:
        return
    world = robots.model_poses(m, q)
    T = np.linalg.inv(world[leaf]) @ world[m.body_names[0]]
    mass, c, inertia = robots.total_inertia(kept, robots.from_names(kept, robots.by_name(m, q)))
    found = robots.total_inertia(chain, robots.from_names(chain, robots.by_name(m, q)))
    np.testing.assert_allclose(found[0], mass)
    np.testing.assert_allclose(found[1], T[:3, :3] @ c + T[:3, 3], atol=1e-12)
    np.testing.assert_allclose(found[2], T[:3, :3] @ inertia @ T[:3, :3].T, atol=1e-11)


def test_a_leader_off_the_path_stays_a_coordinate():
    m = robots.mechanism_from(robots.every_joint_urdf())
    for base, tip in (("hand", "finger_c"), ("finger_c", "hand")):
        chain = subchain(m, base, tip)
        assert chain.joint_names == ("grip_a",)
        assert "grip_a" not in chain.body_joint_names
        assert list(chain.followers()) == [1]
        c = m.joint("grip_a")
        assert chain.lower[0] == m.lower[m.q_start[c]]
    assert subchain(chain, "finger_c", "camera").joint_names == ("grip_a",)
    assert subchain(chain, "hand", "camera").joint_names == ()
    held = lock(chain, "grip_a", 0.06)
    assert held.n_bodies == 1 and held.joint_names == ()


def test_a_subchain_of_one_frame():
    m = robots.mechanism_from(robots.every_joint_urdf())
    alone = subchain(m, "camera", "lens")
    assert alone.n_bodies == 1 and "hand" in alone.frame_names
    np.testing.assert_allclose(
        robots.model_poses(alone, np.zeros(0))["camera"], np.eye(4), atol=1e-15
    )


def test_side_branches_and_their_mass_are_dropped():
    m = robots.mechanism_from(robots.every_joint_urdf())
    chain = subchain(m, "base", "lower")
    assert set(chain.body_names) == {"base", "upper", "lower"}
    assert chain.mass.sum() == 4 + 2 + 1.5


def test_planar_and_floating_joints_are_not_reversed():
    m = robots.mechanism_from(robots.every_joint_urdf())
    assert subchain(m, "base", "ball").joint_names == ("plane", "free")
    with pytest.raises(UnsupportedFeatureError, match=r"'free' \(floating\), 'plane' \(planar\)"):
        subchain(m, "ball", "base")
    with pytest.raises(UnsupportedFeatureError, match="choose a base"):
        subchain(m, "table", "hand")


def test_a_long_chain_backwards():
    m = robots.mechanism_from(robots.chain_urdf(3000))
    chain = subchain(m, "link3000", "link0")
    end = robots.model_poses(chain, np.zeros(3000))["link0"]
    np.testing.assert_allclose(end[:3, 3], [-300, 0, 0], atol=1e-9)


# with_frame


@pytest.mark.parametrize("number", range(20))
def test_a_frame_stands_where_it_was_put(number):
    random = rng(f"with_frame {number}")
    m = random_robot(random, floating=number % 2 == 0)
    parent = m.frame_names[int(random.integers(len(m.frame_names)))]
    T = np.eye(4)
    axis = random.normal(size=3)
    T[:3, :3] = robots.about(axis / np.linalg.norm(axis), random.uniform(-3, 3))
    T[:3, 3] = random.normal(size=3)
    more = with_frame(m, "tool", parent, T)
    assert more.frame_names == (*m.frame_names, "tool")
    q = robots.random_configuration(random, m)
    poses, found = robots.model_poses(m, q), robots.model_poses(more, q)
    assert_poses_equal(found, poses)
    np.testing.assert_allclose(found["tool"], poses[parent] @ T, atol=1e-13)
    second = with_frame(more, "tip", "tool", T)
    np.testing.assert_allclose(
        robots.model_poses(second, q)["tip"], poses[parent] @ T @ T, atol=1e-13
    )


def test_frames_of_the_user_survive_edits():
    m = robots.mechanism_from(robots.every_joint_urdf())
    T = np.eye(4)
    T[:3, 3] = [0.1, 0.2, 0.3]
    m = with_frame(m, "tool", "hand", T)
    for edited in (lock(m, ["elbow"]), subchain(m, "hand", "base"), subchain(m, "base", "hand")):
        assert edited.frame_names[-1] == "tool"
        q = np.zeros(edited.n_q)
        poses = robots.model_poses(edited, q)
        np.testing.assert_allclose(np.linalg.inv(poses["hand"]) @ poses["tool"], T, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "parent", "T", "error", "text"),
    [
        ("hand", "base", np.eye(4), InputError, "'hand' already exists"),
        ("wrist", "base", np.eye(4), InputError, "'wrist' already exists"),
        ("", "base", np.eye(4), InputError, "needs a name"),
        (3, "base", np.eye(4), InputError, "a frame's name is text, not 3"),
        ("tool", "hnd", np.eye(4), UnknownNameError, "nearest: hand"),
        ("tool", "hand", np.eye(3), ShapeError, r"shape \(4, 4\), not \(3, 3\)"),
        ("tool", "hand", [[1], [1, 2]], InputError, "must be real numbers"),
        ("tool", "hand", np.full((4, 4), np.nan), InputError, "not a rigid pose"),
        ("tool", "hand", np.diag([1, 1, 1 + 2e-6, 1]), InputError, "not a rigid pose"),
        ("tool", "hand", np.diag([1.0, 1, -1, 1]), InputError, "not a rigid pose"),
        ("tool", "hand", np.diag([1.0, 1, 1, 2]), InputError, "not a rigid pose"),
    ],
)
def test_what_with_frame_refuses(name, parent, T, error, text):
    m = robots.mechanism_from(robots.every_joint_urdf())
    before = to_json(m)
    with pytest.raises(error, match=text):
        with_frame(m, name, parent, T)
    assert to_json(m) == before


def test_nearly_rigid_is_taken():
    m = robots.mechanism_from(robots.chain_urdf(1))
    assert with_frame(m, "tool", "link1", np.diag([1, 1, 1 + 2e-7, 1])).frame_names[-1] == "tool"


@pytest.fixture
def panda():
    return lw.load("panda").mechanism


def test_a_new_frame_keeps_all(panda):
    m = actuate(couple(close(panda, "tool0", "link1"), "joint1", "joint7"), "joint2")
    n = with_frame(m, "pen", "tool0", np.eye(4))
    assert (n.loops, n.couplings, n.actuated) == (m.loops, m.couplings, m.actuated)


def test_locking_keeps_what_still_moves(panda):
    m = actuate(close(panda, "tool0", "link1", "xy", name="far"), ["joint1", "joint3"])
    n = lock(m, "joint3", 0.2)
    assert n.loops == m.loops and n.actuated == ("joint1",)


def test_locking_drops_a_closed_loop_and_refuses_an_open_one(panda):
    robot = lw.Robot(panda)
    q = robot.neutral() - 0.05
    apart = float(np.linalg.norm((robot.fk(q, "link5") - robot.fk(q, "link3"))[:3, 3]))
    m = close(panda, "link3", "link5", "distance", distance=apart, name="rod")
    between = ["joint4", "joint5"]
    at = {name: float(q[panda.joint(name)]) for name in between}
    assert lock(m, between, at).loops == ()
    with pytest.raises(InputError, match="loop 'rod' any more, and it is open by"):
        lock(m, between, {**at, "joint4": -2.0})


def test_locking_leaders(panda):
    m = couple(panda, "joint1", ("joint2", "joint3"), lambda a, b: a * b + 0.1)
    one = lock(m, "joint2", 0.5)
    assert one.couplings[0].leaders == ("joint3",)
    whole = lock(m, ["joint2", "joint3"], [0.5, 0.4])
    assert whole.couplings == () and "joint1" not in whole.joint_names
    q, free = np.zeros(4), lw.Robot(panda)
    expected = free.fk([0.3, 0.5, 0.4, *q], "tool0")
    np.testing.assert_allclose(lw.Robot(whole).fk(q, "tool0"), expected, atol=1e-12)
    assert lock(m, ["joint1", "joint2", "joint3"], [0.3, 0.5, 0.4]).couplings == ()
    with pytest.raises(InputError, match=r"puts it at 0\.3; it cannot be locked at 0\.7"):
        lock(m, ["joint1", "joint2", "joint3"], [0.7, 0.5, 0.4])
    with pytest.raises(InputError, match="cannot be locked by itself; lock 'joint2', 'joint3'"):
        lock(m, "joint1", 0.2)


def test_a_subchain_keeps_what_lies_in_it(panda):
    m = close(close(panda, "link3", "link6", name="in"), "link1", "link4", name="out")
    m = couple(couple(m, "joint4", "joint5"), "joint4", "joint1")
    m = actuate(m, ["joint5", "joint1"])
    n = subchain(m, "link3", "tool0")
    assert [loop.name for loop in n.loops] == ["in"]
    assert [c.leaders for c in n.couplings] == [("joint5",)]
    assert n.actuated == ("joint5",)
    back = subchain(m, "tool0", "link3")
    assert [loop.name for loop in back.loops] == ["in"]


def drawn(random):
    """Mass, centre of mass and inertia of a cloud of points."""
    masses, points = random.uniform(0.1, 1.0, 5), random.normal(size=(5, 3))
    com = masses @ points / masses.sum()
    d = points - com
    inertia = np.einsum("n,nij->ij", masses, np.einsum("nk,nk,ij->nij", d, d, np.eye(3)))
    return masses.sum(), com, inertia - np.einsum("n,ni,nj->ij", masses, d, d)


def with_link(text: str, parent: str, mass, com, inertia) -> str:
    """The description with a link more, fixed to another one."""
    six = dict(
        zip(
            ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
            inertia[np.triu_indices(3)].tolist(),
            strict=True,
        )
    )
    numbers = " ".join(f'{name}="{value!r}"' for name, value in six.items())
    more = (
        f'<link name="load"><inertial><origin xyz="{" ".join(map(repr, com.tolist()))}"/>'
        f'<mass value="{float(mass)!r}"/><inertia {numbers}/></inertial></link>'
        f'<joint name="load_joint" type="fixed"><parent link="{parent}"/><child link="load"/>'
        "</joint>"
    )
    return text.replace("</robot>", f"{more}</robot>")


def test_it_is_a_link_more_of_the_description():
    """Against Pinocchio with that link: forces and centre of mass."""
    pin = pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is missing")
    random, compared = rng("payload"), 0
    for k in range(12):
        text = random_tree(random, int(random.integers(2, 8)), NOT_PLANAR)
        base = "floating" if k % 3 == 0 else "fixed"
        plain = from_urdf(read(text), base=base)
        link = plain.frame_names[int(random.integers(plain.n_link_frames))]
        load = drawn(random)
        there = beside(random, read(with_link(text, link, *load)), base)
        m = with_payload(plain, link, *load)
        assert m.frame_names == plain.frame_names
        if base == "floating":  # Pinocchio leaves what is fixed to the world out
            com = pin.centerOfMass(there.model, there.data, there.positions)
            near(evaluate("com", m, there.q), com)
        if m.n_v:
            compared += 1
            tau = evaluate("inverse_dynamics", m, there.q, there.v, there.dv)
            near(tau, there.G.T @ pin.rnea(*there.state))
    assert compared > 5


def test_it_is_the_parameter_of_the_same_numbers():
    m, random = lw.load("panda").mechanism, rng("payload parameter")
    q = random.normal(size=m.n_q)
    given = {"payload:tool0": np.array([2.0, 0.1, -0.2, 0.3])}
    once = with_payload(m, "tool0", 2.0, [0.1, -0.2, 0.3])
    near(evaluate("mass_matrix", once, q), evaluate("mass_matrix", m, q, parameters=given))
    twice = with_payload(with_payload(m, "tool0", 0.5, [0.1, -0.2, 0.3]), "tool0", 1.5,
                         [0.1, -0.2, 0.3], np.zeros(6))  # fmt: skip
    near(evaluate("mass_matrix", twice, q), evaluate("mass_matrix", once, q))
    # what the link weighs counts it: as an input, it is replaced whole
    link = "link7"
    numbers = values(once, [f"mass:{link}", f"com:{link}", f"inertia:{link}"])
    named = dict(zip((f"mass:{link}", f"com:{link}", f"inertia:{link}"), numbers, strict=True))
    near(evaluate("mass_matrix", once, q, parameters=named), evaluate("mass_matrix", once, q))


def test_on_added_frames_and_chains_turned_round():
    robot, random = lw.load("panda"), rng("payload frame")
    T = robot.fk(robot.random(seed=3), "link5")
    mass, com, inertia = drawn(random)
    held = robot.with_frame("camera", "link4", T).with_payload("camera", mass, com, inertia)
    R = T[:3, :3]
    same = robot.with_payload("link4", mass, T[:3, 3] + R @ com, R @ inertia @ R.T)
    near(held.mechanism.I_com, same.mechanism.I_com)
    near(held.mechanism.p_body_com, same.mechanism.p_body_com)
    q = random.normal(size=7)
    back = robot.subchain("tool0", "link0").with_payload("link3", mass, com, inertia)
    first = robot.with_payload("link3", mass, com, inertia).subchain("tool0", "link0")
    near(*(evaluate("mass_matrix", r.mechanism, q) for r in (back, first)))


def test_a_closed_mechanism_carries_it():
    """The work of the load's weight along the motion that the loops leave."""
    bars = lw.load("four_bar")
    q = bars.assemble([1.0]).q
    frame = bars.frame_names[bars.mechanism.n_link_frames - 1]
    held = bars.with_payload(frame, 2.0, [0.1, 0.2, 0.05])
    assert held.loops == bars.loops
    assert held.actuated == bars.actuated
    down = np.array([0.0, -9.0, 0.0])
    J = bars.with_frame("load", frame, lw.pose([0.1, 0.2, 0.05])).actuation_jacobian(q, "load")
    more = held.gravity_forces(q, gravity=down) - bars.gravity_forces(q, gravity=down)
    assert abs(J[1, 0]) > 1e-3
    driven = [bars.mechanism.joint(name) for name in bars.actuated]
    near(more[driven], 2.0 * 9.0 * J[1], 1e-9)


def test_it_survives_pickles_and_json_and_is_no_description():
    robot = lw.load("panda").with_payload("tool0", 1.5, [0, 0, 0.1], [0.01, 0, 0, 0.01, 0, 0.01])
    m = robot.mechanism
    assert pickle.loads(pickle.dumps(robot)).mechanism == m == from_json(to_json(m))
    assert m != lw.load("panda").mechanism
    with pytest.raises(UnsupportedFeatureError, match="was changed after it was loaded"):
        lw.urdf.write(robot, "nowhere.urdf")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("tool", 1.0), UnknownNameError, "no frame named 'tool'; nearest: tool0"),
        (("joint1", 1.0), InputError, "'joint1' is a joint; its link is 'link1'"),
        (
            ("tool0", 0.0),
            InputError,
            r"its mass \(kg\) must be a finite number above 0",
        ),
        (("tool0", np.nan), InputError, r"its mass \(kg\) must be a finite"),
        (("tool0", 1.0, [0, np.inf, 0]), InputError, r"its com\[1\] is inf"),
        (("tool0", 1.0, [0, 0]), ShapeError, r"its com must have shape \(..., 3\)"),
        (("tool0", 1.0, [0, 0, 0], np.ones(5)), ShapeError, "ixx ixy ixz iyy iyz izz"),
        (("tool0", 1.0, [0, 0, 0], np.diag([1, 1, 3])), InputError, "triangle inequality"),
        (("tool0", 1.0, [0, 0, 0], np.triu(np.ones((3, 3)))), InputError, "not symmetric"),
    ],
)
def test_what_is_no_body_is_refused_by_name(arguments, error, text):
    with pytest.raises(error, match=text):
        lw.load("panda").with_payload(*arguments)


def test_inertias_that_are_accepted_are_accepted_here_too():
    robot = lw.load("panda").accept_inertias()
    assert robot.with_payload("tool0", 1.0, [0, 0, 0], np.diag([1.0, 1.0, 3.0])).n_v == 7
