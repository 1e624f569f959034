"""Poses, lumping, axes and sizes of assembled mechanisms against plain walks of the description."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import robots
from linkwork.errors import InputError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import JointType
from seeds import rng


def assert_poses_agree(text, random, *, base="fixed"):
    document = read(text)
    m = from_urdf(document, base=base)
    q = robots.random_configuration(random, m)
    expected = robots.description_poses(document, robots.by_name(m, q))
    found = robots.model_poses(m, q)
    root = robots.body_poses(m, q)[0]  # where a floating base has taken the root link
    for name, T in expected.items():
        np.testing.assert_allclose(found[name], root @ T, atol=1e-12, rtol=0)
    for joint in document.robot.joints:
        np.testing.assert_allclose(found[joint.name], root @ expected[joint.child], atol=1e-12)


@pytest.mark.parametrize("number", range(40))
def test_poses_of_random_trees(number):
    random = rng(f"assemble poses {number}")
    text = robots.random_tree(random, int(random.integers(1, 25)))
    assert_poses_agree(text, random, base="floating" if number % 3 == 0 else "fixed")


def test_poses_of_every_joint_type():
    text = robots.every_joint_urdf().replace('<joint name="elbow"', '<joint name="elbow_joint"')
    for base in ("fixed", "floating"):
        assert_poses_agree(text, rng("every joint"), base=base)


@pytest.mark.parametrize("number", range(20))
def test_lumping_keeps_mass_centre_and_inertia(number):
    random = rng(f"lumping {number}")
    document = read(robots.random_tree(random, 15, ("fixed", "fixed", "revolute", "prismatic")))
    m = from_urdf(document)
    q = robots.random_configuration(random, m)
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    poses = robots.description_poses(document, robots.by_name(m, q))
    for link in document.robot.links:
        if link.inertial is None:
            continue
        own = link.inertial
        T = poses[link.name] @ robots.origin(own.xyz, own.rpy)
        c, inertia = T[:3, 3], T[:3, :3] @ np.array(own.inertia) @ T[:3, :3].T
        mass += own.mass
        first += own.mass * c
        second += inertia + own.mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    c = first / mass
    second -= mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    found = robots.total_inertia(m, q)
    np.testing.assert_allclose(found[0], mass, rtol=1e-13)
    np.testing.assert_allclose(found[1], c, atol=1e-12)
    np.testing.assert_allclose(found[2], second, atol=1e-11)
    assert (m.I_com == np.swapaxes(m.I_com, 1, 2)).all()


def test_a_body_of_one_link_keeps_its_numbers():
    text = robots.chain_urdf(3).replace(
        '<link name="link2"/>',
        '<link name="link2"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="0.7"/><inertia '
        'ixx="0.11" ixy="0.01" ixz="0.02" iyy="0.13" iyz="0.03" izz="0.17"/></inertial></link>',
    )
    m = robots.mechanism_from(text)
    assert m.mass[2] == 0.7
    assert m.p_body_com[2].tolist() == [0.1, 0.2, 0.3]
    assert m.I_com[2].tolist() == [[0.11, 0.01, 0.02], [0.01, 0.13, 0.03], [0.02, 0.03, 0.17]]


def test_z_lies_along_the_axes_and_right_angles_are_exact():
    m = robots.mechanism_from(robots.every_joint_urdf())
    shoulder = m.body_names.index("upper")
    axis = np.array([1, 2, -0.5]) / np.linalg.norm([1, 2, -0.5])
    link = m.R_body_frame[m.frame("upper")]
    np.testing.assert_allclose(link @ axis, [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(
        m.R_parent_joint[shoulder] @ m.R_parent_joint[shoulder].T, np.eye(3), atol=1e-15
    )
    wheel = m.body_names.index("wheel")  # rpy pi/2 0 0, axis x
    assert set(np.abs(m.R_parent_joint[wheel]).ravel()) == {0.0, 1.0}
    assert set(np.abs(m.R_body_frame[m.frame("hand")]).ravel()) == {0.0, 1.0}


def test_an_axis_along_minus_z_keeps_x():
    m = robots.mechanism_from(robots.every_joint_urdf())
    lower = m.body_names.index("lower")
    assert m.R_body_frame[m.frame("lower")].tolist() == np.diag([1.0, -1.0, -1.0]).tolist()
    turn = m.R_body_frame[m.frame("upper")]
    np.testing.assert_allclose(m.R_parent_joint[lower], turn @ np.diag([1, -1, -1]), atol=1e-15)


def test_order_of_q():
    m = robots.mechanism_from(robots.every_joint_urdf())
    # first pass: whose parents stand before; then flange's sub-tree, whose parents come later
    first = ("shoulder", "elbow", "spin", "plane", "free", "socket")
    assert m.joint_names == (*first, "slide", "grip_a")
    assert m.q_start.tolist() == [0, 1, 2, 3, 6, 13, 17, 18, 19]
    assert m.v_start.tolist() == [0, 1, 2, 3, 6, 12, 15, 16, 17]
    assert (m.parent < np.arange(m.n_bodies)).all()
    assert m.coordinate.tolist()[0] == -1 and m.body_joint_types[0] is JointType.FIXED


def order_by_going_round(joints):
    """The rule as it is written: go through the list again until all are placed."""
    children = {child for _, _, child in joints}
    placed = {parent for _, parent, _ in joints} - children
    order, waiting = [], list(joints)
    while waiting:
        later = []
        for joint in waiting:
            if joint[1] in placed:
                placed.add(joint[2])
                order.append(joint[0])
            else:
                later.append(joint)
        waiting = later
    return order


@pytest.mark.parametrize("number", range(30))
def test_order_is_that_of_going_round(number):
    random = rng(f"order {number}")
    document = read(robots.random_tree(random, 30, ("revolute", "fixed"), mimic=0.0))
    rows = [(joint.name, joint.parent, joint.child) for joint in document.robot.joints]
    moving = {joint.name for joint in document.robot.joints if joint.type != "fixed"}
    m = from_urdf(document)
    assert list(m.joint_names) == [name for name in order_by_going_round(rows) if name in moving]


def test_floating_base():
    m = robots.mechanism_from(robots.chain_urdf(2), base="floating")
    assert m.joint_names == ("floating_base", "joint1", "joint2")
    assert m.body_joint_names[0] == "floating_base" and m.coordinate[0] == 0
    assert (m.n_q, m.n_v) == (9, 8)
    assert np.isinf(m.lower[:7]).all() and np.isinf(m.velocity_limit[:6]).all()
    taken = robots.chain_urdf(2).replace("joint1", "floating_base")
    assert robots.mechanism_from(taken, base="floating").joint_names[0] == "floating_base_"


@pytest.mark.sweep(1)
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", ["revolute", "fixed"])
def test_long_chains_need_no_recursion(kind, backwards):
    m = robots.mechanism_from(robots.chain_urdf(10_000, kind, backwards=backwards))
    end = robots.model_poses(m, np.zeros(m.n_q))["link10000"]
    np.testing.assert_allclose(end[:3, 3], [1000, 0, 0], atol=1e-8)
    names = [f"joint{k}" for k in range(1, 10_001)]
    assert list(m.joint_names) == (names if kind == "revolute" else [])


def test_a_wide_star():
    n = 20_000
    links = [LinkPart("root", 1.0), *(LinkPart(f"l{k}", 1.0) for k in range(n))]
    kinds = (JointType.FIXED, JointType.REVOLUTE)
    joints = [
        JointPart(name=f"j{k}", type=kinds[k % 2], parent="root", child=f"l{k}") for k in range(n)
    ]
    m = assemble(Parts("star", links, joints))
    assert m.n_bodies == 1 + n // 2
    assert m.mass[0] == 1 + n // 2


def test_a_single_link():
    m = assemble(Parts("one", [LinkPart("only", 2.0)], []))
    assert (m.n_bodies, m.n_q, m.n_v, m.frame_names) == (1, 0, 0, ("only",))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"axis": np.zeros(3)}, "its axis is zero"),
        ({"axis": np.array([0, 0, np.nan])}, "its axis must be finite"),
        ({"p": np.array([0, np.inf, 0])}, "its placement must be finite"),
        ({"R": np.full((3, 3), np.nan)}, "its placement must be finite"),
        ({"upper": np.nan}, "is NaN"),
    ],
)
def test_numbers_that_are_none(change, text):
    joint = JointPart(name="j1", type=JointType.REVOLUTE, parent="a", child="b", **change)
    with pytest.raises(InputError, match=f"'j1'.*{text}"):
        assemble(Parts("bad", [LinkPart("a"), LinkPart("b")], [joint]))


def test_masses_that_are_none():
    with pytest.raises(InputError, match="link 'b'"):
        assemble(Parts("bad", [LinkPart("b", float("nan"))], []))


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_the_length_of_an_axis_does_not_count(size):
    joint = JointPart(
        name="j", type=JointType.REVOLUTE, parent="a", child="b", axis=size * np.array([1, 1, 0])
    )
    m = assemble(Parts("long", [LinkPart("a"), LinkPart("b")], [joint]))
    np.testing.assert_allclose(m.R_parent_joint[1][:, 2], [0.5**0.5, 0.5**0.5, 0], atol=1e-15)


def test_the_same_in_every_process():
    code = (
        "import robots, numpy as np\n"
        "texts = [robots.every_joint_urdf(), robots.random_tree(np.random.default_rng(3), 30)]\n"
        "print([robots.mechanism_from(text).digest for text in texts])"
    )
    found = set()
    for seed in ("0", "1", "77"):
        path = os.pathsep.join([os.path.dirname(robots.__file__), *sys.path])
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(done.stdout)
    assert len(found) == 1
