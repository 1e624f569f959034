"""Edits keep every pose: the same frames before and after, at random positions, by name."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from linkwork.errors import InputError, ShapeError, UnknownNameError, UnsupportedFeatureError
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.edit import lock, parts_of, subchain, with_frame
from linkwork.mechanism.model import JointType
from linkwork.mechanism.neutral import neutral
from linkwork.mechanism.serialize import to_json
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


@pytest.mark.parametrize("number", range(10))
def test_locking_in_two_steps_is_locking_at_once(number):
    random = rng(f"two steps {number}")
    m = random_robot(random)
    q = inside(random, m)
    once = lock(m, list(m.joint_names), robots.by_name(m, q))
    assert once.n_bodies == 1 and once.n_q == 0
    twice = m
    for name in m.joint_names:
        twice = lock(twice, name, {name: robots.by_name(m, q)[name]})
    empty = np.zeros(0)
    assert_poses_equal(robots.model_poses(twice, empty), robots.model_poses(once, empty))
    assert_poses_equal(robots.model_poses(once, empty), robots.model_poses(m, q))


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
        (["elbow"], {"elbow": [1.0, 2.0]}, ShapeError, r"has 1 positions, not \(2,\)"),
        (["plane"], 1.0, ShapeError, r"'plane' \(planar\) has 3 positions"),
        (["elbow"], "half", InputError, "must be numbers, not 'half'"),
        (["elbow"], float("nan"), InputError, "'elbow': its position must be finite"),
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


@pytest.mark.parametrize("number", range(20))
def test_a_subchain_there_and_back(number):
    random = rng(f"there and back {number}")
    m = random_robot(random, ("fixed", *robots.SINGLE_TYPES), n=12)
    root, tip = m.body_names[0], m.frame_names[int(random.integers(len(m.frame_names)))]
    there = subchain(m, root, tip)
    back = subchain(subchain(there, tip, root), root, tip)
    assert set(back.joint_names) == set(there.joint_names)
    q = robots.random_configuration(random, there)
    again = robots.from_names(back, robots.by_name(there, q))
    poses = robots.model_poses(there, q)
    world = np.linalg.inv(poses[root])  # the root link's frame is the world of both, up to rounding
    assert_poses_equal(robots.model_poses(back, again), {n: world @ T for n, T in poses.items()})
    for a, b in zip(
        robots.total_inertia(back, again) if there.mass.sum() else (),
        robots.total_inertia(there, q) if there.mass.sum() else (),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, atol=1e-11)


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


def test_subchain_names():
    m = robots.mechanism_from(robots.every_joint_urdf())
    with pytest.raises(UnknownNameError, match="nearest: camera"):
        subchain(m, "base", "camrea")
    with pytest.raises(UnknownNameError, match="nearest: base"):
        subchain(m, "bas", "camera")


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


def test_edits_leave_the_original_alone():
    m = robots.mechanism_from(robots.every_joint_urdf())
    before = to_json(m)
    lock(m, ["elbow"], [0.3])
    subchain(m, "hand", "base")
    with_frame(m, "tool", "hand", np.eye(4))
    with pytest.raises(InputError):
        with_frame(m, "tool", "hand", 2 * np.eye(4))
    assert to_json(m) == before
