"""Tables of Denavit and Hartenberg's parameters: made, read, written, taken from chains."""

import math
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.algorithms.registry import evaluate
from linkwork.formats import dh
from seeds import rng

CONVENTIONS = ("standard", "craig", "khalil")


def along(axis, angle=0.0, length=0.0):
    """A screw along a coordinate axis as a matrix (4, 4)."""
    i, j, k = {"x": (0, 1, 2), "z": (2, 0, 1)}[axis]
    T = np.eye(4)
    T[j, j] = T[k, k] = math.cos(angle)
    T[k, j], T[j, k] = math.sin(angle), -math.sin(angle)
    T[i, 3] = length
    return T


def row_pose(row, convention, q):
    """The pose that the definition of a convention gives to a row."""
    theta = row.theta + (q if row.type == "revolute" else 0.0)
    d = row.d + (q if row.type == "prismatic" else 0.0)
    about_z, about_x = along("z", theta, d), along("x", row.alpha, row.a)
    if convention == "standard":
        return about_z @ about_x
    return along("z", row.gamma, row.b) @ about_x @ about_z


def random_row(random, types=("revolute", "prismatic", "fixed")):
    """A row with parameters of which some are zero and some right angles, as in real tables."""

    def angle():
        right = (0.0, math.pi / 2, -math.pi / 2, math.pi, random.uniform(-3.0, 3.0))
        return float(random.choice(right))

    def length():
        return float(random.choice([0.0, random.uniform(-1.0, 1.0)]))

    kind = types[random.integers(len(types))]
    return dh.DHRow(theta=angle(), d=length(), a=length(), alpha=angle(), type=kind)


def moving(table):
    """The rows whose joints move."""
    return [row for row in table.rows if row.type != "fixed"]


def tip_pose(table, q):
    """The pose of the tool by products of matrices."""
    values = iter(q)
    T = np.array(table.base)
    for row in table.rows:
        T = T @ row_pose(row, table.convention, 0.0 if row.type == "fixed" else next(values))
    return T @ np.array(table.tool)


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_poses_are_products_of_the_rows(convention):
    random = rng("rows of tables")
    for _ in range(6):
        rows = [random_row(random) for _ in range(5)] + [random_row(random, ("revolute",))]
        base, tool = (lw.pose(random.normal(size=3), rpy=random.normal(size=3)) for _ in range(2))
        table = dh.table_of(rows, convention=convention, base=base, tool=tool)
        robot = lw.from_dh(table)
        q = random.uniform(-1.0, 1.0, robot.n_q)
        assert len(moving(table)) == robot.n_q
        np.testing.assert_allclose(robot.fk(q, "tool"), tip_pose(table, q), rtol=0, atol=1e-12)
        first = replace(table, rows=table.rows[:1], tool=dh.IDENTITY)
        values = q[: len(moving(first))]
        np.testing.assert_allclose(
            robot.fk(q, "link1"), tip_pose(first, values), rtol=0, atol=1e-12
        )


def test_rows_are_taken_as_numbers_mappings_and_records():
    numbers = lw.from_dh([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.8]], types="RP")
    named = lw.from_dh(
        [
            {"theta": 0.1, "d": 0.2, "a": 0.3, "alpha": 0.4},
            {"theta_deg": math.degrees(0.5), "offset": 0.5, "d": 0.1, "a": 0.7, "alpha": 0.8,
             "type": "prismatic"},
        ]
    )  # fmt: skip
    rows = [dh.DHRow(theta=0.1, d=0.2, a=0.3, alpha=0.4)]
    rows.append(dh.DHRow(theta=0.5, d=0.6, a=0.7, alpha=0.8, type="prismatic"))
    q = np.array([0.3, -0.2])
    for robot in (numbers, named, lw.from_dh(rows)):
        np.testing.assert_allclose(robot.fk(q), numbers.fk(q), rtol=0, atol=1e-14)


def test_columns_stand_in_the_order_of_the_convention():
    craig = lw.from_dh([[0.1, 0.2, 0.3, 0.4]], convention="craig")
    khalil = lw.from_dh([[0.1, 0.2, 0.4, 0.3]], convention="khalil")
    expected = along("x", 0.1, 0.2) @ along("z", 0.4 + 1.0, 0.3)
    for robot in (craig, khalil):
        np.testing.assert_allclose(robot.fk(np.array([1.0])), expected, rtol=0, atol=1e-15)


def test_khalil_branches():
    robot = lw.from_dh(
        [
            {"alpha": 0.3, "d": 0.2, "r": 0.1, "link": "body"},
            {"alpha": 0.1, "d": 0.4, "theta": 0.2, "link": "left", "gamma": 0.7, "b": -0.2},
            {"alpha": 0.2, "r": 0.3, "link": "right", "parent": "body", "gamma": -1.0, "b": 0.4},
        ],
        convention="khalil",
    )
    q = np.array([0.1, 0.2, 0.3])
    body = along("x", 0.3, 0.2) @ along("z", 0.1, 0.1)
    left = body @ along("z", 0.7, -0.2) @ along("x", 0.1, 0.4) @ along("z", 0.4, 0.0)
    right = body @ along("z", -1.0, 0.4) @ along("x", 0.2, 0.0) @ along("z", 0.3, 0.3)
    np.testing.assert_allclose(robot.fk(q, "left"), left, rtol=0, atol=1e-14)
    np.testing.assert_allclose(robot.fk(q, "right"), right, rtol=0, atol=1e-14)


def test_limits_and_inertias_reach_the_robot():
    robot = lw.from_dh(
        [
            {"a": 0.5, "alpha": 1.0, "lower_deg": -90, "upper_deg": 45, "velocity": 2.0,
             "mass": 3.0, "com": [0.1, 0.0, -0.2], "friction": 0.2,
             "inertia": np.diag([0.1, 0.2, 0.15])},
            {"type": "P", "lower": 0.1, "upper": 0.4, "effort": 7.0, "damping": 0.3},
        ]
    )  # fmt: skip
    np.testing.assert_allclose(robot.limits.lower, [-math.pi / 2, 0.1])
    np.testing.assert_allclose(robot.limits.upper, [math.pi / 4, 0.4])
    assert robot.limits.effort[1] == 7.0
    m = robot.mechanism
    np.testing.assert_allclose((m.friction, m.damping), [[0.2, 0.0], [0.0, 0.3]])
    q = np.array([0.4, 0.2])
    T = robot.fk(q, "link1")
    np.testing.assert_allclose(robot.com(q), (T @ [0.1, 0.0, -0.2, 1.0])[:3], rtol=0, atol=1e-14)


# ---- tables of chains


def chains():
    """Serial robots that are bundled, with a tip."""
    for name in ("ur5e", "puma560", "scara", "planar_3r"):
        yield name, lw.load(name)
    panda = lw.load("panda")
    yield "panda", panda.subchain(panda.frame_names[0], panda.tip)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_tables_of_robots_have_their_poses_and_dynamics(convention):
    for name, robot in chains():
        table = robot.to_dh(convention=convention)
        again = lw.from_dh(table)
        q = robot.random(seed=3)
        v = rng(name).normal(size=q.shape)
        assert again.joint_names == robot.joint_names, name
        T = [evaluate("fk", r.mechanism, q, frame=r.tip) for r in (again, robot)]
        np.testing.assert_allclose(*T, rtol=0, atol=1e-12, err_msg=name)
        tau = [evaluate("inverse_dynamics", r.mechanism, q, v, v) for r in (again, robot)]
        np.testing.assert_allclose(*tau, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(again.limits.lower, robot.limits.lower)
        np.testing.assert_array_equal(again.limits.velocity, robot.limits.velocity)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("convention", CONVENTIONS)
def test_any_chain_has_a_table(convention):
    """Random placements, and those at which parameters are free: parallel, crossing, one axis."""
    random = rng(f"any chain {convention}")
    special = [
        lw.pose([0.0, 0.0, 0.3]),
        lw.pose([0.2, 0.1, 0.3], rpy=[0.0, 0.0, 0.4]),
        lw.pose([0.2, 0.1, 0.3], rpy=[math.pi, 0.0, 0.4]),
        lw.pose([0.0, 0.0, -0.1], rpy=[math.pi, 0.0, 0.0]),
        lw.pose([0.0, 0.0, 0.2], rpy=[0.3, 0.2, 0.1]),
        lw.pose([0.0, 0.0, 0.0], rpy=[0.0, math.pi / 2, 0.0]),
        np.eye(4),
    ]
    for trial in range(40):
        joints = []
        for k in range(6):
            T = special[random.integers(len(special))] if random.random() < 0.7 else None
            if T is None:
                T = lw.pose(random.normal(size=3), rpy=random.normal(size=3))
            xyz, rpy = lw.xyz_rpy(T)
            kind = ["continuous", "prismatic"][int(random.random() < 0.3)]
            joints.append(
                f'<link name="l{k + 1}"/><joint name="j{k}" type="{kind}"><parent link="l{k}"/>'
                f'<child link="l{k + 1}"/><origin xyz="{" ".join(map(repr, xyz.tolist()))}" '
                f'rpy="{" ".join(map(repr, rpy.tolist()))}"/><axis xyz="0 {k % 2} {1 - k % 2}"/>'
                '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
            )
        robot = lw.load(f'<robot name="r"><link name="l0"/>{"".join(joints)}</robot>')
        again = lw.from_dh(robot.to_dh(convention=convention))
        q = random.uniform(-2.0, 2.0, 6)
        both = [evaluate("fk", r.mechanism, q, frame=r.tip) for r in (again, robot)]
        np.testing.assert_allclose(*both, rtol=0, atol=1e-11, err_msg=f"trial {trial}")


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_a_table_comes_back_from_its_robot(convention):
    rows = [
        dh.DHRow(d=0.67, alpha=math.pi / 2),
        dh.DHRow(a=0.43, type="prismatic", theta=0.3),
        dh.DHRow(d=0.15, a=-0.02, alpha=-math.pi / 2),
        dh.DHRow(d=0.43, alpha=math.pi / 2, type="revolute"),
    ]
    table = dh.table_of(rows, convention=convention)
    again = lw.from_dh(table).to_dh(convention=convention)
    for row, new in zip(rows, again.rows, strict=True):
        found = (new.theta, new.d, new.a, new.alpha)
        # the last frame's x axis is free in craig's tables, and so is where the first z is
        np.testing.assert_allclose(found, (row.theta, row.d, row.a, row.alpha), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "why"),
    [("quadruped", "beside the chain"), ("four_bar", "loops"), ("humanoid", "beside the chain")],
)
def test_what_is_no_chain_is_refused_with_the_reason(name, why):
    robot = lw.load(name)
    with pytest.raises(lw.UnsupportedFeatureError, match=why):
        robot.to_dh(robot.frame_names[-1])


def test_joints_that_no_table_has_are_refused_by_name():
    text = (
        '<robot name="r"><link name="a"/><link name="b"/><joint name="slab" type="planar">'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    with pytest.raises(lw.UnsupportedFeatureError, match="slab"):
        lw.load(text).to_dh()
    with pytest.raises(lw.InputError, match="standard, craig, khalil"):
        lw.load("ur5e").to_dh(convention="craigs")
    with pytest.raises(lw.UnknownNameError):
        lw.load("ur5e").to_dh("tool9")


# ---- files


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("suffix", [".csv", ".yaml"])
def test_files_hold_every_number(tmp_path, convention, suffix):
    table = lw.load("puma560").to_dh(convention=convention)
    table = replace(table, base=lw.from_dh(table).to_dh(convention=convention).base)
    path = tmp_path / f"puma{suffix}"
    path.write_text((dh.to_csv if suffix == ".csv" else dh.to_yaml)(table))
    assert replace(dh.read(path), base=table.base, tool=table.tool) == table
    np.testing.assert_allclose(dh.read(path).tool, table.tool, rtol=0, atol=1e-15)
    robot = lw.load(path)
    q = lw.load("puma560").random(5, seed=1)
    np.testing.assert_allclose(robot.fk(q), lw.load("puma560").fk(q), rtol=0, atol=1e-12)


def test_a_robot_is_saved_as_a_table_and_loaded(tmp_path):
    robot = lw.load("ur5e")
    for name in ("arm.csv", "arm.yaml"):
        saved = lw.save(robot, tmp_path / name, format="dh")
        q = robot.random(3, seed=2)
        np.testing.assert_allclose(lw.load(saved.path).fk(q), robot.fk(q), rtol=0, atol=1e-12)
    assert lw.to_text(robot, "dh").startswith("# name: ur5e")


def test_a_csv_as_people_write_it():
    table = dh.from_csv(
        "# convention: craig\n# tool: 0 0 0.1 0 0 0\n\n"
        "Type;alpha_deg;a;d;theta;lower_deg;upper_deg\n"
        "R; 90; 0.5; 0; ; -90; 90\n"
        "P; 0; 0; 0.2; 0; ; \n"
    )
    assert table.convention == "craig"
    assert table.tool[2][3] == 0.1
    assert not lw.from_dh(table).findings
    first, second = table.rows
    assert (first.alpha, first.lower, first.line) == (math.radians(90), math.radians(-90), 5)
    assert (second.type, second.d, second.lower) == ("prismatic", 0.2, None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("theta,d,a\n0,0,0\n0,0\n", ":3: .*2 cells for 3 columns"),
        ("theta,d,a\nq1,0,0\n", ":2: .*theta is a number, not 'q1'"),
        ("theta,d,a,r\n0,0,0,1\n", ":2: .*'r'"),
        ("theta,d,a,gamma\n0,0,0,1\n", ":2: .*'gamma'"),
        ("theta,d,d\n0,0,0\n", ":1: .*twice"),
        ("theta,d_deg\n0,5\n", ":2: .*d is no angle"),
        ("type,lower_deg\nP,5\n", ":2: .*lower is no angle"),
        ("type,theta\nX,5\n", ":2: .*revolute, prismatic or fixed"),
        ("theta,theta_deg\n0,\n0,10\n", ":3: .*row 1 has both theta and theta_deg"),
        ("lower,theta,lower_deg\n0,,1\n", ":2: .*both lower and lower_deg"),
        ("# convention: khalil\nalpha_deg,d,alpha\n0,1,0\n", ":3: .*both alpha and alpha_deg"),
        ("theta,d\n0,inf\n", ":2: .*finite"),
        ("theta,d\nq1,0\n0,q2\n", "(?s):2: .*:3: "),
        ("theta,d\n", "a line for each joint"),
        ("# convention: denavit\ntheta\n0\n", "standard, craig, khalil"),
        ("# base: 0 0\ntheta\n0\n", "x y z roll pitch yaw"),
    ],
)
def test_faults_of_a_csv_are_told_with_their_line(text, why):
    with pytest.raises(lw.DescriptionError, match=why):
        dh.from_csv(text, "arm.csv")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name: x\nrows: []\n", "begins with 'dh"),
        ("dh: standard\nrows: 3\n", ":2: .*list of mappings"),
        ("dh: standard\nrows:\n  - 3\n", ":3: .*mapping"),
        ("dh: standard\nrow: []\n", ":2: .*'row'"),
        ("dh: craigs\nrows: []\n", ":1: .*craig"),
        ("dh: standard\nrows:\n  - {com: [1, 2]}\n", ":3: .*com is 3 finite numbers"),
        ("dh: standard\nrows:\n  - {theta: true}\n", ":3: .*theta"),
        ("dh: craig\nrows:\n  - {d: 1}\n  - {alpha: 0, alpha_deg: 0}\n", ":4: .*both alpha and"),
        ("dh: standard\nname: 3\nrows:\n  - {theta: 0}\n", ":2: .*name"),
        ("dh: standard\nbase: [[1, 2], [3, 4]]\nrows:\n  - {theta: 0}\n", ":2: .*base"),
    ],
)
def test_faults_of_a_yaml_are_told_with_their_line(text, why):
    with pytest.raises(lw.DescriptionError, match=why):
        dh.from_yaml(text, "arm.yaml")


@pytest.mark.parametrize(
    ("rows", "more"),
    [
        ([[0, 0, 0]], {}),
        ([], {}),
        ([[0, 0, 0, 0]], {"types": "RR"}),
        ([[0, 0, 0, 0]], {"types": "X"}),
        ([[0, 0, 0, math.nan]], {}),
        ([[0, 0, 0, 0]], {"base": np.zeros((4, 4))}),
        ([{"thetas": 1.0}], {}),
        ([[0, 0, 0, 0]], {"convention": "modified"}),
        ([{"link": "a"}, {"link": "a"}], {}),
        ([{"link": "a", "parent": "b"}], {}),
    ],
)
def test_rows_that_do_not_fit_are_refused(rows, more):
    with pytest.raises(lw.LinkworkError, match=r"row|types|base|convention|link|four numbers"):
        lw.from_dh(rows, **more)
