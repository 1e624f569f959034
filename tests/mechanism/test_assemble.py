"""Assembled mechanisms against plain walks of the description, and faults of their parts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import robots
from fresh_python import python
from linkwork.errors import DescriptionError, InputError, UnknownNameError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.assemble import FramePart, JointPart, LinkPart, Mimic, Parts, assemble
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
    assert len({python(code, PYTHONHASHSEED=seed) for seed in ("0", "77")}) == 1


def parts(links, joints):
    """Parts from names: joints as (name, parent, child)."""
    return Parts(
        "tree",
        [LinkPart(name) for name in links],
        [
            JointPart(name=name, type=JointType.REVOLUTE, parent=parent, child=child)
            for name, parent, child in joints
        ],
    )


def codes(given):
    with pytest.raises(DescriptionError) as caught:
        assemble(given)
    return [problem.code for problem in caught.value.problems], str(caught.value)


@pytest.mark.parametrize(  # what a file can say too is judged as in a file, see below
    ("links", "joints", "code", "text"),
    [
        ("", [], "no-link", "there is no link"),
        (["", ""], [("j", "", "")], "empty-name", "the name is empty"),
        (["left", "b"], [("j", "lefd", "b")], "unknown-link", "nearest: left"),
        ("ab", [("j", "a", None)], "missing-link", "'j': it has no child"),
        ("ab", [("j", None, "b")], "missing-link", "'j': it has no parent"),
    ],
)
def test_faults(links, joints, code, text):
    found, message = codes(parts(links, joints))
    assert code in found and text in message


def test_a_cycle_of_many_is_named_briefly():
    names = [f"l{k}" for k in range(1000)]
    ring = [(f"j{k}", names[k], names[(k + 1) % 1000]) for k in range(1000)]
    found, message = codes(parts([*names, "root"], ring))
    assert found == ["cycle"] and "1000 links form a cycle" in message and len(message) < 150


def random_joints(label):
    """A few joints between a few links, mostly a tree and often not quite."""
    random = rng(label)
    n = int(random.integers(2, 6))
    joints = [[f"j{k}", f"l{random.integers(k)}", f"l{k}", ""] for k in range(1, n)]
    for joint in joints:
        if random.random() < 0.2:
            joint[int(random.integers(1, 3))] = f"l{random.integers(n + 1)}"
        if random.random() < 0.1:
            joint[0] = "j1"
        if random.random() < 0.3:
            joint[3] = f"j{random.integers(n + 1)}"
    return [f"l{k}" for k in range(n)], [tuple(joint) for joint in joints]


@pytest.mark.parametrize("seed", range(60))
def test_a_file_and_parts_made_in_code_are_judged_alike(seed):
    links, joints = random_joints(f"structure {seed}")
    made = parts(links, [joint[:3] for joint in joints])
    made.joints = [
        replace(part, mimic=Mimic(joint[3]) if joint[3] else None)
        for part, joint in zip(made.joints, joints, strict=True)
    ]
    text = "".join(f'<link name="{name}"/>' for name in links)
    for name, parent, child, leader in joints:
        text += f'<joint name="{name}" type="revolute"><parent link="{parent}"/>'
        text += f'<child link="{child}"/><axis xyz="0 0 1"/>'
        text += (f'<mimic joint="{leader}"/>' if leader else "") + "</joint>"

    def codes_of(call):
        try:
            call()
        except DescriptionError as error:
            assert error.problems
            return sorted(problem.code for problem in error.problems)
        return []

    assert codes_of(lambda: assemble(made)) == codes_of(
        lambda: read(f'<robot name="r">{text}</robot>')
    )


def test_faults_of_parts_know_where_they_were_described():
    given = parts("ab", [("j", "a", "c")])
    given.joints = [replace(given.joints[0], line=7, file="arm.xml")]
    _, message = codes(given)
    assert "arm.xml:7: error: <joint> 'j': the child link 'c' does not exist" in message


def on_root(*joints, base="fixed"):
    links = [LinkPart("root"), *(LinkPart(j.child) for j in joints if j.child)]
    return Parts("p", links, list(joints), base=base)


def of_kind(name, kind, **more):
    more.setdefault("parent", "root")
    more.setdefault("child", f"{name} link")
    return JointPart(name=name, type=kind, **more)


def test_numbers_are_repeated_for_each_velocity():
    given = on_root(
        of_kind("plane", JointType.PLANAR, velocity=2.0, damping=0.5, lower=-1.0, upper=1.0),
        of_kind("free", JointType.FLOATING, effort=7.0, friction=0.25),
    )
    m = assemble(given)
    assert m.q_start.tolist() == [0, 3, 10] and m.v_start.tolist() == [0, 3, 9]
    assert np.isinf(m.lower).all() and np.isinf(m.upper).all()
    assert m.velocity_limit.tolist() == [2.0] * 3 + [np.inf] * 6
    assert m.effort_limit.tolist() == [np.inf] * 3 + [7.0] * 6
    assert m.damping.tolist() == [0.5] * 3 + [0.0] * 6
    assert m.friction.tolist() == [0.0] * 3 + [0.25] * 6


def test_a_coordinate_without_a_body():
    given = on_root(
        of_kind("before", JointType.REVOLUTE),
        of_kind("lead", JointType.REVOLUTE, parent=None, child=None, lower=-0.5, upper=0.5),
        of_kind("follower", JointType.REVOLUTE, mimic=Mimic("lead", -1.0)),
    )
    m = assemble(given)
    assert m.joint_names == ("before", "lead")
    assert m.body_joint_names == ("", "before", "follower")
    assert m.coordinate.tolist() == [-1, 0, 1]
    assert list(m.followers()) == [2]
    assert m.frame_names == ("root", "before link", "follower link", "before", "follower")
    assert m.lower.tolist() == [-np.inf, -0.5]


def test_a_follower_without_a_body_narrows_nothing():
    free = {"parent": None, "child": None}
    m = assemble(
        on_root(
            of_kind("lead", JointType.REVOLUTE),
            of_kind("f", JointType.REVOLUTE, mimic=Mimic("lead"), lower=-0.1, upper=0.1, **free),
        )
    )
    assert m.joint_names == ("lead",) and np.isinf(m.lower).all()


def joint(name, leader=None, multiplier=1.0, offset=0.0, *, kind=JointType.REVOLUTE, limits=None):
    lower, upper = limits or (None, None)
    mimic = Mimic(leader, multiplier, offset) if leader else None
    return of_kind(name, kind, lower=lower, upper=upper, mimic=mimic)


def robot(*joints):
    return assemble(on_root(*joints))


@pytest.mark.parametrize("number", range(20))
def test_chains_to_the_last_digits(number):
    random = rng(f"chain {number}")
    n = int(random.integers(2, 8))
    numbers = random.uniform(-1.2, 1.2, (n, 2))
    joints = [joint("j0")] + [
        joint(f"j{k}", f"j{k - 1}", *map(float, numbers[k])) for k in range(1, n)
    ]
    m = robot(*(joints[k] for k in random.permutation(n)))
    assert m.joint_names == ("j0",)
    factor, shift = Fraction(1), Fraction(0)
    for k in range(1, n):
        step, offset = Fraction(float(numbers[k, 0])), Fraction(float(numbers[k, 1]))
        factor, shift = step * factor, step * shift + offset
        b = m.body_joint_names.index(f"j{k}")
        assert abs(m.multiplier[b] - factor) <= 1e-15
        assert abs(m.offset[b] - shift) <= 1e-15


def test_a_long_chain_of_followers():
    n = 5000
    joints = [joint("j0"), *(joint(f"j{k}", f"j{k - 1}", 1.0, 0.5) for k in range(1, n))]
    m = robot(*joints[::-1])
    assert m.offset[m.body_joint_names.index(f"j{n - 1}")] == 0.5 * (n - 1)
    assert (m.coordinate[1:] == 0).all() and len(list(m.followers())) == n - 1


ONE = (-1.0, 1.0)


@pytest.mark.parametrize(
    ("lead", "multiplier", "offset", "limits", "expected"),
    [
        (ONE, 2.0, 0.5, (-0.5, 1.5), (-0.5, 0.5)),
        (ONE, -2.0, 0.5, (-0.5, 1.5), (-0.5, 0.5)),
        (ONE, -1.0, 0.0, (-0.25, 9.0), (-1.0, 0.25)),
        (ONE, 1.0, 0.0, (-9.0, 9.0), ONE),
        (ONE, 1.0, 0.0, (None, 0.5), (-1.0, 0.5)),
        (ONE, -1.0, 0.0, (None, 0.5), (-0.5, 1.0)),
        (ONE, 0.0, 0.3, (0.0, 0.3), ONE),
        ((0.5, 0.5), 1.0, 0.0, (0.0, 0.5), (0.5, 0.5)),  # it has one position anyway
        # what cannot be met
        (ONE, 1.0, 0.0, (2.0, 3.0), None),
        (ONE, 0.0, 0.5, (-0.1, 0.1), None),
        (ONE, 1.0, 0.0, (0.5, -0.5), None),
        ((1.0, -1.0), 1.0, 0.0, (-0.5, 0.5), None),
        # what is left is one position, within rounding: the leader would be frozen
        (ONE, -1.0, 1.0, (2.0, 3.0), None),
        (ONE, 1.0, 0.0, (1.0, 2.0), None),
        (ONE, 1.0, 0.0, (0.3, 0.3), None),
        (ONE, -3.0, 0.1, (3.1 - 1e-13, 9.0), None),
        ((0.0, 0.548), -1.0, 0.0, (0.0, 0.548), None),  # a gripper's fingers
        ((-np.inf, np.inf), 2.0, 0.5, (0.0, 0.0), None),
    ],
)
def test_a_follower_narrows_its_leader_or_is_a_finding(lead, multiplier, offset, limits, expected):
    m = robot(joint("lead", limits=lead), joint("f", "lead", multiplier, offset, limits=limits))
    assert (m.lower[0], m.upper[0]) == (expected or lead)
    found = [(f.code, f.level, f.name) for f in m.findings]
    assert found == ([] if expected else [("follower-limits", "warning", "f")])
    for finding in m.findings:
        text = str(finding)
        assert "'lead'" in text and ("cannot be met" in text or "nothing but" in text)


def test_followers_of_followers_narrow_the_last_leader():
    m = robot(
        joint("b", "a", 2.0, limits=(-1.0, 1.0)),
        joint("c", "b", 2.0, 0.1, limits=(-0.7, 0.9)),
        joint("a", kind=JointType.CONTINUOUS),
    )
    np.testing.assert_allclose((m.lower[0], m.upper[0]), (-0.2, 0.2), atol=1e-16)


@pytest.mark.parametrize("number", range(5))
def test_springs_of_followers_pull_at_their_leader(number):
    """Whatever the rates, the power of the one spring is that of every joint's own."""
    random = rng(f"springs {number}")
    rates = [1.0, *map(float, random.uniform(-3, 3, 3)), 0.0]
    own = [
        {"stiffness": float(k), "spring_position": float(at)}
        for k, at in random.uniform(0.1, 2, (len(rates), 2))
    ]
    if number == 0:
        own[0]["stiffness"] = own[1]["stiffness"] = 0.0
    m = followed(own[0], *zip(rates[1:], own[1:], strict=True), offset=0.3)
    q = float(random.normal())
    places = [q, *(rate * q + 0.3 for rate in rates[1:])]
    each = zip(rates, places, own, strict=True)
    force = sum(rate * o["stiffness"] * (x - o["spring_position"]) for rate, x, o in each)
    np.testing.assert_allclose(m.stiffness[0] * (q - m.spring_position[0]), force, rtol=1e-12)


def followed(lead, *followers, offset=0.0):
    """A robot of one leader and followers: (multiplier, what else the joint has)."""
    pairs = enumerate(followers)
    joints = [joint("lead"), *(joint(f"f{k}", "lead", m, offset) for k, (m, _) in pairs)]
    more = [lead, *(each for _, each in followers)]
    return robot(*(replace(j, **each) for j, each in zip(joints, more, strict=True)))


@pytest.mark.parametrize("number", range(5))
def test_what_stands_against_followers_stands_against_their_leader(number):
    """Whatever the rate, power lost is that of every joint's own, and no joint is too fast."""
    random = rng(f"resistance {number}")
    rates = [1.0, *map(float, random.uniform(-3, 3, 4)), 0.0]
    names = ("velocity", "damping", "friction", "armature")
    own = [dict(zip(names, map(float, random.uniform(0.1, 2, 4)), strict=True)) for _ in rates]
    m = followed(own[0], *zip(rates[1:], own[1:], strict=True))
    v = float(random.normal())
    speeds = [rate * v for rate in rates]
    pairs = list(zip(speeds, own, strict=True))
    np.testing.assert_allclose(m.damping[0] * v * v, sum(o["damping"] * w * w for w, o in pairs))
    np.testing.assert_allclose(m.armature[0] * v * v, sum(o["armature"] * w * w for w, o in pairs))
    np.testing.assert_allclose(
        m.friction[0] * abs(v), sum(o["friction"] * abs(w) for w, o in pairs)
    )
    fastest = float(m.velocity_limit[0])
    shares = [abs(rate) * fastest / o["velocity"] for rate, o in zip(rates, own, strict=True)]
    assert max(shares) == pytest.approx(1.0)
    assert not m.findings


def test_followers_of_followers_are_carried_by_the_whole_rate():
    last = replace(joint("c", "b", -3.0), velocity=12.0)
    assert robot(joint("a"), joint("b", "a", 2.0), last).velocity_limit.tolist() == [2.0]


@pytest.mark.parametrize("velocity", [0.0, -1.0])
def test_a_follower_that_may_not_move_does_not_hold_its_leader(velocity):
    m = followed({"velocity": 2.0}, (0.5, {"velocity": velocity}))
    assert m.velocity_limit.tolist() == [2.0]
    assert [(f.code, f.level, f.name) for f in m.findings] == [("follower-limits", "warning", "f0")]


def test_effort_limits_of_followers_do_not_count():
    assert np.isinf(followed({}, (2.0, {"effort": 1.0})).effort_limit).all()


def test_numbers_of_couplings_are_finite():
    with pytest.raises(InputError, match=r"joint 'f': multiplier and offset .* must be finite"):
        robot(joint("a"), joint("f", "a", float("inf")))


@pytest.mark.parametrize("kinds", [("PLANAR", "REVOLUTE"), ("REVOLUTE", "FLOATING")])
def test_only_single_positions_can_be_coupled(kinds):
    first, second = (JointType[kind] for kind in kinds)
    with pytest.raises(DescriptionError, match="<joint> 'f': ") as caught:
        robot(joint("a", kind=first), joint("f", "a", kind=second))
    assert caught.value.problems[0].code in ("mimic-leader", "mimic-type")


def test_a_fixed_joint_ignores_its_coupling():
    m = robot(joint("a"), joint("f", "a", kind=JointType.FIXED))
    assert m.joint_names == ("a",) and not list(m.followers())


def pair(*frames, links=("a", "b"), joint="j"):
    part = JointPart(name=joint, type=JointType.REVOLUTE, parent="a", child="b")
    return Parts("pair", [LinkPart(name) for name in links], [part], list(frames))


def test_links_then_joints_in_the_order_of_the_file():
    document = read(robots.every_joint_urdf())
    m = robots.mechanism_from(robots.every_joint_urdf())
    links = [link.name for link in document.robot.links]
    joints = [joint.name for joint in document.robot.joints]
    joints[joints.index("elbow")] = "elbow/joint"
    assert m.frame_names == (*links, *joints)
    assert (m.n_link_frames, m.n_joint_frames) == (len(links), len(joints))


def test_a_joint_that_is_called_as_a_link_is():
    m = robots.mechanism_from(robots.every_joint_urdf())
    poses = robots.model_poses(m, np.zeros(m.n_q) + 0.1)
    assert (poses["elbow/joint"] == poses["lower"]).all()  # its child
    assert not np.allclose(poses["elbow"], poses["lower"])


def test_names_that_clash_twice_over():
    links = [LinkPart(name) for name in ("a", "a/joint", "c")]
    joints = [
        JointPart(name="a", type=JointType.FIXED, parent="a", child="a/joint"),
        JointPart(name="a/joint", type=JointType.FIXED, parent="a", child="c"),
    ]
    m = assemble(Parts("clash", links, joints))
    assert m.frame_names == ("a", "a/joint", "c", "a/joint/joint", "a/joint/joint/joint")


def test_frames_of_the_user_come_last():
    shift = np.array([1.0, 2.0, 3.0])
    m = assemble(pair(FramePart("tool", "b", p=shift), FramePart("eye", "a")))
    assert m.frame_names == ("a", "b", "j", "tool", "eye")
    assert m.frame_body.tolist() == m.frame_link.tolist() == [0, 1, 1, 1, 0]
    assert m.p_body_frame[3].tolist() == shift.tolist()


@pytest.mark.parametrize(
    ("frame", "error", "said"),
    [
        (FramePart("a", "b"), InputError, "'a' is used more than once"),
        (FramePart("j", "b"), InputError, "'j' is used more than once"),
        (FramePart("tool", "c"), UnknownNameError, "no link named 'c'"),
        (FramePart("tool", "b", fixed_to="z"), UnknownNameError, "no link named 'z'"),
        (FramePart("tool", "a", p=np.array([0, np.nan, 0])), InputError,
         "frame 'tool': its pose must be finite"),
    ],
)  # fmt: skip
def test_frames_that_cannot_be_placed(frame, error, said):
    with pytest.raises(error, match=said):
        assemble(pair(frame))


def test_links_are_kept_as_described():
    m = robots.mechanism_from(robots.every_joint_urdf())
    for document_joint in read(robots.every_joint_urdf()).robot.joints:
        child, parent = m.frame(document_joint.child), m.frame(document_joint.parent)
        assert m.link_parent[child] == parent
    assert m.link_parent[m.frame("base")] == -1
    assert m.frame_link[: m.n_link_frames].tolist() == list(range(m.n_link_frames))
    assert m.frame_names[m.frame_link[m.frame("wrist")]] == "hand"
    assert (m.frame_body[m.frame_link] == m.frame_body).all()
    lumped = np.bincount(m.frame_body[: m.n_link_frames], m.link_mass, m.n_bodies)
    np.testing.assert_allclose(lumped, m.mass, rtol=1e-15)


def test_defaults_cannot_be_changed():
    joint = JointPart(name="j", type=JointType.REVOLUTE, parent="a", child="b")
    link, frame = LinkPart("a"), FramePart("f", "a")
    for array in (joint.R, joint.p, joint.axis, link.com, link.I_com, frame.R, frame.p):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
