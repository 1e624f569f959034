"""Forward kinematics, the core robot behind it, and positions as programs give them."""

from __future__ import annotations

import warnings
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.faces.urdfpy import (
    URDF,
    Box,
    Collision,
    Geometry,
    Joint,
    JointLimit,
    JointMimic,
    Link,
    Mesh,
    Visual,
    xyz_rpy_to_matrix,
)
from linkwork.faces.urdfpy.utils import WrongTypeError
from linkwork.faces.urdfpy.values import EPOCH, ForeignError
from linkwork.formats.urdf.read import read
from robots import (
    URDF_TYPES,
    about,
    description_poses,
    every_joint_urdf,
    origin,
    random_tree,
)
from seeds import rng

# configurations


def joint(name: str, kind: str = "continuous", **options) -> Joint:
    return Joint(name, kind, "a", f"to {name}", axis=[0, 0, 1], **options)


def star(*joints: Joint) -> URDF:
    """Links around one base, each on a joint about or along z."""
    return URDF(
        "star", [Link(name, *[None] * 3) for name in ("a", *(j.child for j in joints))], joints
    )


@pytest.fixture(name="kinds", scope="module")
def _kinds() -> URDF:
    """Joints of every kind, a chain of two followers and a fixed joint."""
    return star(
        joint("turn"),
        joint("plane", "planar"),
        joint("free", "floating"),
        joint("slide", "prismatic", limit=JointLimit(1, 1)),
        joint("second", mimic=JointMimic("first", -2.0, 0.25)),
        joint("first", mimic=JointMimic("turn", 3.0, 0.5)),
        joint("held", "fixed"),
    )


@pytest.mark.row("S2-194")
def test_joints_are_meant_by_themselves_or_by_name(kinds: URDF):
    with pytest.raises(UnknownNameError, match="turn"):
        kinds.link_fk({"turm": 1.0})
    with pytest.raises(ForeignError, match=r"no joint of this robot; .*joint_map\['turn'\]"):
        kinds.link_fk({joint("turn"): 1.0})  # another robot's
    for wrong in (3, None, (1,), kinds.links[0]):
        with pytest.raises(WrongTypeError):
            kinds.link_fk({wrong: 1.0})
    other = Joint("other", "fixed", "a", "b")
    with pytest.raises(UnknownNameError, match="'other' is no joint of this robot; none has its"):
        kinds.link_fk({other: 1.0})


@pytest.mark.row("S2-194")
def test_every_form_of_a_configuration(kinds: URDF):
    T = origin([4, 5, 6], [0.3, -0.2, 0.1])
    by_name = {"turn": 0.1, "plane": [1, 2], "free": [4, 5, 6, 0.3, -0.2, 0.1], "slide": 0.2}
    poses = kinds.link_fk(by_name, use_names=True)
    assert np.abs(poses["to turn"][:3, :3] - about([0, 0, 1], 0.1)).max() < 1e-15
    assert np.abs(poses["to free"] - T).max() < 1e-15
    assert poses["to plane"][:3, 3].tolist() == [1, 2, 0]
    assert poses["to slide"][:3, 3].tolist() == [0, 0, 0.2]
    for form in (
        {kinds.joint_map[name]: value for name, value in by_name.items()},
        list(by_name.values()),
        {**by_name, "free": T},
        {**by_name, "turn": np.array([0.1]), "held": 7, "first": 0.8, "second": -1.35},
    ):
        for name, pose in kinds.link_fk(form, use_names=True).items():
            assert np.abs(pose - poses[name]).max() < 1e-15
    for wrong, error in (
        ([1, 2, 3], ShapeError),
        ({"plane": [1, 2, 3]}, ShapeError),
        ({"plane": 1.0}, ShapeError),
        ({"free": [1, 2]}, ShapeError),
        ({"free": 1.0}, WrongTypeError),
        ({"turn": [1, 2]}, ShapeError),
        ({"turn": None}, InputError),
        ({"turn": np.inf}, InputError),
        ({1, 2}, WrongTypeError),
        (np.zeros((2, 4)), ShapeError),
        ({"first": np.nan}, InputError),
        ({"first": "x"}, InputError),
        (7, WrongTypeError),
        ("turn", WrongTypeError),
    ):
        with pytest.raises(error):
            kinds.link_fk(wrong)


def test_what_a_batch_may_be(kinds: URDF, ur5: URDF):
    turns = kinds.link_fk_batch({"turn": [[1], [2], [3]], "slide": 0.5}, use_names=True)
    assert turns["to slide"][:, 2, 3].tolist() == [0.5] * 3
    assert np.abs(turns["to turn"][2, :3, :3] - about([0, 0, 1], 3)).max() < 1e-15
    assert kinds.link_fk_batch([], link="a").shape == (0, 4, 4)
    assert kinds.link_fk_batch({}, link="a").shape == (1, 4, 4)
    assert kinds.link_fk_batch(None, link="a").shape == (1, 4, 4)
    for wrong, error in (
        ({"turn": [1, 2], "slide": [1, 2, 3]}, ShapeError),
        ({"turn": np.zeros((2, 2))}, ShapeError),
        ({"plane": 1.0}, WrongTypeError),
        (7, WrongTypeError),
    ):
        with pytest.raises(error):
            kinds.link_fk_batch(wrong)
    for wrong in (np.zeros(4), np.zeros((4, 3)), [[1, 2, 3]], np.zeros((2, 2, 2))):
        said = rf"\(n, 6\), for 6 actuated joints, not \({len(wrong)},"
        with pytest.raises(ShapeError, match=said):
            ur5.link_fk_batch(wrong)
    with pytest.raises(InputError, match="must be numbers"):
        ur5.link_fk_batch([[1, 2], [3]])


def test_a_follower_of_what_has_no_single_position():
    with pytest.raises(ValueError, match="'late': it mimics joint 'plane', which is planar"):
        star(joint("plane", "planar"), joint("late", mimic=JointMimic("plane")))


# kinematics


def same(robot: URDF) -> None:
    """The poses are those of a robot that is made anew from what it has."""
    links = [Link(link.name, None, None, None) for link in robot.links]
    joints = [
        Joint(
            j.name, j.joint_type, j.parent, j.child, axis=j.axis.copy(), origin=j.origin.copy(),
            limit=j.limit, mimic=j.mimic,
        )
        for j in robot.joints
    ]  # fmt: skip
    fresh = URDF(robot.name, links, joints)
    cfg = {name: 0.3 + 0.1 * k for k, name in enumerate(robot.actuated_joint_names)}
    expected, found = fresh.link_fk(cfg, use_names=True), robot.link_fk(cfg, use_names=True)
    assert list(expected) == list(found)
    for name, pose in expected.items():
        assert np.abs(pose - found[name]).max() < 2e-15, name


def turn(joint: Joint) -> None:
    joint.origin = joint.origin @ np.diag([-1.0, -1.0, 1.0, 1.0])


CHANGES = {
    "an entry of the origin": lambda r: r.joints[2].origin.__setitem__((0, 3), 0.7),
    "a view of the origin": lambda r: r.joints[2].origin[:3, 3].__iadd__([0.1, 0.2, 0.3]),
    "a new origin": lambda r: setattr(r.joints[1], "origin", [1, 2, 3, 0.1, 0.2, 0.3]),
    "a turned origin": lambda r: turn(r.joints[3]),
    "an origin that is no rotation": lambda r: setattr(
        r.joints[0], "origin", np.diag([2.0, 1, 1, 1])
    ),
    "a fixed joint": lambda r: setattr(r.joints[6], "origin", [1, 2, 3, 0.1, 0.2, 0.3]),
    "an entry of the axis": lambda r: r.joints[2].axis.__setitem__(slice(None), [1.0, 0, 0]),
    "a new axis": lambda r: setattr(r.joints[2], "axis", [0, 0.6, 0.8]),
    "a type": lambda r: setattr(r.joints[2], "joint_type", "prismatic"),
    "a mimic": lambda r: setattr(r.joints[2], "mimic", JointMimic("wrist_1_joint", 2.0, 0.1)),
    "a name": lambda r: setattr(r.joints[2], "name", "knee"),
}


@pytest.mark.sweep(2)
@pytest.mark.row("S2-194", "S2-147", "S2-146", "S2-143", "S2-152")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_a_change_is_seen_by_the_next_call(ur5: URDF, change):
    ur5.link_fk()
    change(ur5)
    same(ur5)
    same(ur5)


@pytest.mark.row("S2-113", "S2-114", "S2-112")
def test_a_change_of_a_coupling_is_seen(ur5: URDF):
    ur5.joints[2].mimic = JointMimic("wrist_1_joint", 2.0, 0.1)
    same(ur5)
    ur5.joints[2].mimic.multiplier = -1.0
    same(ur5)
    ur5.joints[2].mimic.offset = 0.7
    same(ur5)
    ur5.joints[2].mimic.joint = "wrist_2_joint"
    same(ur5)


def test_many_changes_one_after_another(tmp_path: Path):
    random = rng("changes")
    (tmp_path / "r.urdf").write_text(
        random_tree(random, 5, ("revolute", "prismatic", "fixed"), mimic=0.2)
    )
    robot = URDF.load(str(tmp_path / "r.urdf"))
    for _ in range(4):
        joint = robot.joints[int(random.integers(5))]
        match int(random.integers(4)):
            case 0:
                joint.origin[:3, 3] = random.normal(size=3)
            case 1:
                joint.origin = random.uniform(-3, 3, 6)
            case 2:
                joint.axis = random.normal(size=3)
            case 3:
                robot.links[int(random.integers(6))].name  # noqa: B018 -- reading changes nothing
        same(robot)


def test_a_robot_is_compiled_once_for_many_changes_of_an_origin(ur5: URDF):
    ur5.link_fk()
    core = ur5._core()
    for k in range(20):
        ur5.joints[2].origin[0, 3] = 0.01 * k
        ur5.link_fk()
        assert ur5._core() is core


def test_nothing_is_made_again_without_a_change(ur5: URDF, shapes: URDF):
    ur5.link_fk()
    core = ur5._core()
    ur5.joints[0].limit = JointLimit(1, 1)
    shapes.joints[0].axis = [1, 0, 0]  # of another robot
    ur5.joints[0].origin.sum()
    assert ur5._core() is core
    before = EPOCH.now
    for _ in range(3):
        ur5.link_fk()
        ur5.visual_geometry_fk()
    assert EPOCH.now == before


def test_what_becomes_no_robot_is_refused_until_it_is_one_again(ur5: URDF):
    before = ur5.link_fk([1, 2, 3, 4, 5, 6], link="tool0")
    ur5.joints[2].parent = "nowhere"
    for _ in range(2):
        with pytest.raises(ValueError, match="nowhere"):
            ur5.link_fk()
    ur5.joints[2].parent = "upper_arm_link"
    assert np.array_equal(ur5.link_fk([1, 2, 3, 4, 5, 6], link="tool0"), before)
    ur5.joints[2].origin[0, 0] = np.nan
    for _ in range(2):
        with pytest.raises(InputError, match="elbow_joint"):
            ur5.link_fk()


def test_threads_may_share_a_robot(ur5: URDF):
    cfgs = rng("threads").uniform(-3, 3, (40, 6))
    expected = [ur5.link_fk(cfg, link="tool0") for cfg in cfgs]
    wrong: list[int] = []

    def work() -> None:
        for _ in range(20):
            for k, cfg in enumerate(cfgs):
                if not np.array_equal(ur5.link_fk(cfg, link="tool0"), expected[k]):
                    wrong.append(k)

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# poses


def load(text: str, folder: Path) -> URDF:
    (folder / "robot.urdf").write_text(text, encoding="utf-8")
    return URDF.load(str(folder / "robot.urdf"))


def random_cfg(random: np.random.Generator, robot: URDF) -> dict[str, Any]:
    """A position for every actuated joint, floating ones as six numbers."""
    sizes = {"planar": 2, "floating": 6}
    return {
        joint.name: random.uniform(-3, 3, sizes[joint.joint_type])
        if joint.joint_type in sizes
        else float(random.uniform(-3, 3))
        for joint in robot.actuated_joints
    }


def as_walked(robot: URDF, cfg: dict[str, Any]) -> dict[str, np.ndarray]:
    """The same positions as the walk over the records takes them."""
    kinds = {joint.name: joint.joint_type for joint in robot.joints}
    made = {}
    for name, value in cfg.items():
        if kinds[name] == "planar":
            made[name] = np.array([*value, 0.0])
        elif kinds[name] == "floating":
            made[name] = np.concatenate(lw.xyz_wxyz(lw.pose(value[:3], rpy=value[3:])))
        else:
            made[name] = np.array([value])
    return made


def check(robot: URDF, text: Any, cfg: dict[str, Any]) -> None:
    expected = description_poses(read(text), as_walked(robot, cfg))
    found = robot.link_fk(cfg)
    assert list(found) == sorted(robot.links, key=list(found).index)
    assert len(found) == len(robot.links) == len(expected)
    for link, pose in found.items():
        scale = max(1.0, float(np.abs(expected[link.name]).max()))
        assert np.abs(pose - expected[link.name]).max() < 1e-13 * scale, link.name


@pytest.mark.row("S2-194")
def test_all_joint_types_and_couplings_against_a_plain_walk(tmp_path: Path):
    text = every_joint_urdf(spherical=False)
    robot = load(text, tmp_path)
    random = rng("every joint")
    for _ in range(5):
        check(robot, text, random_cfg(random, robot))


@pytest.mark.sweep(1)
@pytest.mark.row("S2-194")
@pytest.mark.parametrize("seed", range(6))
def test_random_trees_against_a_plain_walk(tmp_path: Path, seed: int):
    random = rng(f"tree {seed}")
    text = random_tree(random, 3 + 4 * seed, URDF_TYPES)
    robot = load(text, tmp_path)
    check(robot, text, random_cfg(random, robot))


@pytest.mark.row("S2-194")
def test_the_base_comes_first_and_every_parent_before_its_children(ur5: URDF):
    order = [link.name for link in ur5.link_fk()]
    assert order[0] == "world"
    for joint in ur5.joints:
        assert order.index(joint.parent) < order.index(joint.child)


@pytest.mark.row("S2-194")
def test_limits_are_not_enforced(shapes: URDF):
    at = shapes.link_fk({"turn": 9.0}, link="tip")
    assert np.allclose(at[:2, :2], [[np.cos(9.5), -np.sin(9.5)], [np.sin(9.5), np.cos(9.5)]])


MIMIC = """<robot name="m"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="f" type="prismatic"><parent link="a"/><child link="c"/>
<limit effort="1" velocity="1"/><mimic joint="g" multiplier="3" offset="0.5"/></joint>
<joint name="g" type="prismatic"><parent link="a"/><child link="d"/>
<limit effort="1" velocity="1"/><mimic joint="j" multiplier="2" offset="1"/></joint>
<joint name="j" type="prismatic"><parent link="a"/><child link="b"/>
<limit effort="1" velocity="1"/></joint></robot>"""


@pytest.mark.row("S2-194", "S2-111", "S2-113", "S2-114")
@pytest.mark.parametrize(
    ("cfg", "leader"), [(None, 0.0), ({}, 0.0), ({"j": 2.0}, 2.0), ([2.0], 2.0)]
)
def test_followers_follow_through_chains_and_with_their_offsets(tmp_path: Path, cfg, leader: float):
    robot = load(MIMIC, tmp_path)
    assert robot.actuated_joint_names == ["j"]
    x = {name: pose[0, 3] for name, pose in robot.link_fk(cfg, use_names=True).items()}
    assert x == {"a": 0, "b": leader, "d": 2 * leader + 1, "c": 3 * (2 * leader + 1) + 0.5}


@pytest.mark.row("S2-194")
def test_a_follower_may_be_named_and_its_leader_decides(tmp_path: Path):
    robot = load(MIMIC, tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # these agree
        agreeing = robot.link_fk({"f": 15.5, robot.joint_map["g"]: 5.0, "j": 2.0}, use_names=True)
        assert agreeing["c"][0, 3] == 15.5
        assert robot.link_fk({"g": 1.0}, link="d")[0, 3] == 1.0
        batch = robot.link_fk_batch({"f": [3.5, 9.5], "j": [0.0, 1.0]}, link="c")
    assert batch[:, 0, 3].tolist() == [3.5, 9.5]
    measured = {"g": 5.0 + 1e-6, "f": 15.4, "j": 2.0}
    for call in (robot.link_fk, robot.visual_geometry_fk, robot.collision_trimesh_fk):
        with pytest.warns(UserWarning, match="'g' .follows 'j'. and 'f' .follows 'j'.") as caught:
            call(measured)
        assert len(caught) == 1
        assert Path(caught[0].filename) == Path(__file__)  # it is the program's line that is shown
    with pytest.warns(UserWarning, match="leader's counts"):
        assert robot.link_fk(measured, link="c")[0, 3] == 15.5
    with pytest.warns(UserWarning, match="'f'"):
        batch = robot.link_fk_batch({"f": [3.5, 3.5], "j": [0.0, 1.0]}, link="c")
    assert batch[:, 0, 3].tolist() == [3.5, 9.5]


@pytest.mark.row("S2-194")
def test_a_loop_of_measured_positions_warns_once(tmp_path: Path):
    robot = load(MIMIC, tmp_path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for t in rng("measured").uniform(0, 1, 10):
            robot.link_fk({"j": t, "g": 3.0 * t})
    assert len(caught) == 1


@pytest.mark.row("S2-194", "S2-203")
def test_links_are_meant_by_themselves_or_by_name(ur5: URDF):
    whole = ur5.link_fk([1, 2, 3, 4, 5, 6])
    links = [ur5.links[3], "tool0"]
    some = ur5.link_fk([1, 2, 3, 4, 5, 6], links=links)
    assert list(some) == [ur5.links[3], ur5.link_map["tool0"]]
    assert all(np.array_equal(some[link], whole[link]) for link in some)
    tool = whole[ur5.link_map["tool0"]]
    for call in (
        lambda: ur5.link_fk([1, 2, 3, 4, 5, 6], link="tool0"),
        lambda: ur5.link_fk([1, 2, 3, 4, 5, 6], link=ur5.link_map["tool0"]),
        lambda: ur5.link_fk([1, 2, 3, 4, 5, 6], "tool0"),
    ):
        assert np.array_equal(call(), tool)
    assert list(ur5.link_fk(use_names=True)) == [link.name for link in ur5.link_fk()]
    assert list(ur5.link_fk(links=links, use_names=True)) == [ur5.links[3].name, "tool0"]
    assert ur5.link_fk(links=[]) == {}
    with pytest.raises(KeyError, match="tool0"):
        ur5.link_fk(links=["tool"])
    with pytest.raises(KeyError, match=r"'tool0' is no link of this robot; .*link_map\['tool0'\]"):
        ur5.link_fk(links=[Link("tool0", None, None, None)])
    with pytest.raises(ValueError, match="not both"):
        ur5.link_fk(links=["tool0"], link="tool0")
    for wrong in ([3], 3, [ur5.joints[0]], [None], [["tool0"]]):
        with pytest.raises(TypeError):
            ur5.link_fk(links=wrong)


@pytest.mark.row("S2-194")
def test_the_poses_are_the_caller_s(ur5: URDF):
    first = ur5.link_fk()
    for pose in first.values():
        pose[:] = 7.0
    assert np.array_equal(ur5.link_fk()[ur5.links[0]], np.eye(4))


@pytest.mark.row("S2-203")
def test_a_batch_is_its_configurations_one_by_one(tmp_path: Path):
    robot = load(every_joint_urdf(spherical=False), tmp_path)
    random = rng("batch")
    rows = [random_cfg(random, robot) for _ in range(7)]
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    for cfgs in (rows, columns):
        batch = robot.link_fk_batch(cfgs)
        for k, row in enumerate(rows):
            for link, pose in robot.link_fk(row).items():
                assert np.array_equal(batch[link][k], pose), link


@pytest.mark.row("S2-203")
def test_batches_as_rows(ur5: URDF):
    rows = rng("rows").uniform(-3, 3, (5, 6))
    tool = ur5.link_fk_batch(rows, link="tool0")
    assert np.array_equal(tool, [ur5.link_fk(row, link="tool0") for row in rows])
    assert np.array_equal(tool, ur5.link_fk_batch(rows.tolist(), link="tool0"))
    assert list(ur5.link_fk_batch(rows, links=["tool0"], use_names=True)) == ["tool0"]
    mixed = ur5.link_fk_batch({"elbow_joint": [1, 2, 3], "wrist_1_joint": 0.5}, link="tool0")
    assert np.array_equal(
        mixed[1], ur5.link_fk({"elbow_joint": 2, "wrist_1_joint": 0.5}, link="tool0")
    )
    with pytest.raises(KeyError):
        ur5.link_fk_batch({"knee": [1]})
    with pytest.raises(InputError):
        ur5.link_fk_batch({"elbow_joint": [1, np.nan]})


@pytest.mark.row("S2-195", "S2-196")
@pytest.mark.parametrize("kind", ["visual", "collision"])
def test_geometries_stand_at_their_origin_on_their_link(shapes: URDF, kind: str):
    fk = getattr(shapes, f"{kind}_geometry_fk")({"turn": 0.3})
    link = shapes.links[0]
    held = getattr(link, f"{kind}s")
    assert list(fk) == [shape.geometry for shape in held]
    assert all(isinstance(geometry, Geometry) for geometry in fk)
    if kind == "visual":
        assert np.abs(fk[held[0].geometry] - origin([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])).max() < 1e-15
    else:
        assert fk[held[0].geometry][2, 3] == 0.5
    assert getattr(shapes, f"{kind}_geometry_fk")(links=["tip"]) == {}
    tip = shapes.links[1]
    extra = Geometry(box=Box([1, 1, 1]))
    if kind == "visual":
        tip.visuals.append(Visual(extra, origin=[0, 0, 0, 0.1, 0, 0]))
    else:
        tip.collisions.append(Collision(None, [0, 0, 0, 0.1, 0, 0], extra))
    pose = getattr(shapes, f"{kind}_geometry_fk")({"turn": 0.3}, links=[tip])[extra]
    expected = shapes.link_fk({"turn": 0.3}, link=tip) @ xyz_rpy_to_matrix([0, 0, 0, 0.1, 0, 0])
    assert np.abs(pose - expected).max() < 1e-15


@pytest.mark.row("S2-203", "S2-195", "S2-196", "S2-197", "S2-198")
@pytest.mark.parametrize(
    "name", ["visual_geometry", "collision_geometry", "visual_trimesh", "collision_trimesh"]
)
def test_batches_of_shapes(ur5: URDF, name: str):
    pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is not installed")
    rows = rng(name).uniform(-3, 3, (4, 6))
    batch = getattr(ur5, f"{name}_fk_batch")(rows)
    assert len(batch) == 6
    for k, row in enumerate(rows):
        one = getattr(ur5, f"{name}_fk")(row)
        assert list(one) == list(batch)
        assert all(np.abs(batch[key][k] - one[key]).max() < 1e-15 for key in one)


@pytest.mark.row("S2-197", "S2-198")
def test_a_scale_is_in_the_pose_of_what_is_seen_and_in_the_mesh_of_what_collides():
    trimesh = pytest.importorskip("trimesh", reason="trimesh (pip install trimesh) is missing")
    cube = trimesh.creation.box((1, 1, 1))
    made = lambda: Geometry(mesh=Mesh("c.stl", scale=[1, 2, 3], meshes=cube))
    link = Link(
        "l",
        None,
        [Visual(made(), origin=[1, 0, 0, 0, 0, 0])],
        [Collision(None, [1, 0, 0, 0, 0, 0], made())],
    )
    robot = URDF("r", [link])
    ((mesh, pose),) = robot.visual_trimesh_fk().items()
    assert mesh is cube
    assert np.array_equal(pose, [[1, 0, 0, 1], [0, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 1]])
    ((mesh, pose),) = robot.collision_trimesh_fk().items()
    assert mesh is link.collision_mesh
    assert np.array_equal(pose, np.eye(4))
    assert np.allclose(mesh.bounds, [[0.5, -1, -1.5], [1.5, 1, 1.5]])
    assert next(iter(robot.collision_trimesh_fk())) is mesh


def test_a_robot_that_does_not_move():
    robot = URDF("r", [Link("l", None, None, None)])
    for cfg in (None, {}, [], np.zeros(0)):
        assert np.array_equal(robot.link_fk(cfg, link="l"), np.eye(4))
    assert robot.actuated_joints == []
    assert robot.link_fk_batch([{}, {}], link="l").shape == (2, 4, 4)
