from __future__ import annotations

import warnings

import numpy as np
import pytest

from linkwork.faces.urdfpy import (
    URDF,
    Actuator,
    Box,
    Inertial,
    Joint,
    JointMimic,
    Link,
    Material,
    Transmission,
    TransmissionJoint,
    xyz_rpy_to_matrix,
)
from seeds import rng


def plain(name: str) -> Link:
    return Link(name, None, None, None)


@pytest.mark.row("S2-203", "S2-205")
def test_a_copy_with_a_prefix(shapes: URDF):
    other = shapes.copy(name="twin", prefix="left_")
    assert (other.name, shapes.name) == ("twin", "shapes")
    assert [link.name for link in other.links] == ["left_body", "left_tip"]
    joint = other.joints[0]
    assert (joint.name, joint.parent, joint.child) == ("left_turn", "left_body", "left_tip")
    assert other.transmissions[0].joints[0].name == "left_turn"
    assert [link.name for link in shapes.links] == ["body", "tip"]
    assert np.array_equal(other.link_fk([0.5], link="left_tip"), shapes.link_fk([0.5], link="tip"))
    follower = shapes.copy()
    follower.add_link(plain("x"), Joint("f", "continuous", "tip", "x", mimic=JointMimic("turn")))
    assert follower.copy(prefix="p_").joint_map["p_f"].mimic.joint == "p_turn"


@pytest.mark.row("S2-203", "S2-205")
def test_a_copy_of_another_size_is_of_the_same_stuff(shapes: URDF):
    big = shapes.copy(scale=2.0)
    for name, pose in big.link_fk([0.4], use_names=True).items():
        expected = shapes.link_fk([0.4], link=name)
        expected[:3, 3] *= 2
        assert np.allclose(pose, expected, atol=1e-15)
    body, before = big.links[0], shapes.links[0]
    assert body.visuals[0].geometry.box.size.tolist() == [2, 4, 6]
    assert body.visuals[2].geometry.sphere.radius == 0.6
    assert np.isclose(body.inertial.mass, 8 * before.inertial.mass)
    assert np.allclose(body.inertial.inertia, 32 * before.inertial.inertia)
    assert np.allclose(body.inertial.origin[:3, 3], 2 * before.inertial.origin[:3, 3])
    assert big.joints[0].limit.upper == 1.5  # an angle
    for wrong in (0.0, -1.0, np.nan, [1, 2], [1, 1, 0], "x", np.ones((3, 3))):
        with pytest.raises(ValueError, match="scale"):
            shapes.copy(scale=wrong)
    bare = shapes.copy(collision_only=True)
    assert bare.links[0].visuals == bare.materials == []
    assert len(bare.links[0].collisions) == 2


@pytest.mark.row("S2-203", "S2-205")
def test_a_copy_that_is_stretched(shapes: URDF):
    """Three factors: along the axes of every frame; a warning where frames are turned."""
    for shape in (*shapes.links[0].visuals, *shapes.links[0].collisions):
        if shape.geometry.sphere is not None:
            shape.geometry.sphere = None
            shape.geometry.box = Box([1, 1, 1])
    with pytest.warns(UserWarning, match="URDF.copy: frames that are turned"):
        tall = shapes.copy(scale=[1, 1, 3])
    assert tall.joints[0].origin[:3, 3].tolist() == [0, 0, 3]
    assert np.allclose(tall.link_fk([0.4], link="tip")[2, 3], 3.0)
    body = tall.links[0]
    assert body.visuals[0].geometry.box.size.tolist() == [1, 2, 9]
    assert np.allclose(body.visuals[0].origin[:3, 3], [0.1, 0.2, 0.9])
    assert (body.visuals[1].geometry.cylinder.radius, body.visuals[1].geometry.cylinder.length) == (
        0.1,
        pytest.approx(1.2),
    )
    assert shapes.links[0].visuals[0].geometry.box.size.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="cylinder"):
        shapes.copy(scale=[1, 2, 3])
    slab = URDF("slab", [Link("a", Inertial(6.0, np.diag([5.0, 10.0, 13.0]) / 2), None, None)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is turned
        thick = slab.copy(scale=[1, 2, 3]).links[0].inertial
    # of a box: m/12 (y² + z²), ...; here m = 6 and the sides are 3, 2 and 1
    assert thick.mass == 36.0
    sides = np.array([3.0, 4.0, 3.0]) ** 2
    assert np.allclose(np.diag(thick.inertia), 36 / 12 * (sides.sum() - sides))


@pytest.mark.row("S2-203")
def test_two_robots_become_one(shapes: URDF, ur5: URDF):
    T = xyz_rpy_to_matrix(rng("join").uniform(-1, 1, 6))
    both = ur5.join(shapes, link="tool0", origin=T, name="both", prefix="hand_")
    assert both.name == "both"
    assert len(both.links) == len(ur5.links) + len(shapes.links)
    assert (len(ur5.links), len(shapes.links)) == (11, 2)
    assert [m.name for m in both.materials] == ["hand_grey", "hand_red"]
    cfg = [1, 2, 3, 4, 5, 6]
    assert both.actuated_joint_names == [*ur5.actuated_joint_names, "hand_turn"]
    tip = both.link_fk([*cfg, 0.7], link="hand_tip")
    expected = ur5.link_fk(cfg, link="tool0") @ T @ shapes.link_fk([0.7], link="tip")
    assert np.abs(tip - expected).max() < 3e-15
    with pytest.raises(ValueError, match="name is taken"):
        shapes.join(shapes, link="tip")
    with pytest.raises(KeyError):
        ur5.join(shapes, link="nowhere")
    with pytest.raises(TypeError):
        ur5.join("other", link="tool0")


@pytest.mark.row("S2-185", "S2-186", "S2-187", "S2-188")
def test_members_come_and_go(shapes: URDF):
    link, joint = plain("end"), Joint("slide", "continuous", "tip", "end", axis=[0, 0, 1])
    shapes.add_link(link, joint)
    assert shapes.link_map["end"] is link
    assert shapes.actuated_joints[-1] is joint
    assert link in shapes.link_fk()
    drive = Transmission("second", "s", [TransmissionJoint("slide", None)], [Actuator("m")])
    shapes.add_transmission(drive)
    paint = Material("paint", [1, 1, 0, 1])
    shapes.add_material(paint)
    assert shapes.transmission_map["second"] is drive
    assert shapes.material_map["paint"] is paint
    shapes.remove_material("paint")
    shapes.remove_joint("slide")
    assert [own.name for own in shapes.links] == ["body", "tip"]
    assert [own.name for own in shapes.transmissions] == ["drive"]  # the other drove nothing else
    shapes.remove_transmission(shapes.transmissions[0])
    shapes.remove_link("tip")
    assert (len(shapes.links), shapes.joints, shapes.transmissions) == (1, [], [])
    assert len(shapes.link_fk()) == 1


@pytest.mark.row("S2-185")
def test_a_change_that_leaves_no_robot_changes_nothing(shapes: URDF):
    before = (shapes.links, shapes.joints, shapes.transmissions, shapes.materials)
    for change, error in [
        (lambda: shapes.add_link(plain("tip"), Joint("k", "fixed", "body", "tip")), ValueError),
        (lambda: shapes.add_link(plain("x"), Joint("k", "fixed", "nowhere", "x")), ValueError),
        (lambda: shapes.add_material(Material("grey")), ValueError),
        (lambda: shapes.remove_material("grey"), ValueError),
        (lambda: shapes.remove_link("body"), ValueError),
        (lambda: shapes.remove_link("nowhere"), KeyError),
        (lambda: shapes.remove_joint(3), TypeError),
        (lambda: shapes.add_transmission(shapes.transmissions[0]), ValueError),
    ]:
        with pytest.raises(error):
            change()
        assert (shapes.links, shapes.joints, shapes.transmissions, shapes.materials) == before


@pytest.mark.row("S2-185", "S2-186")
def test_members_of_another_robot_are_told_so(shapes: URDF):
    other = shapes.copy()
    for call, foreign, kind in (
        (shapes.remove_link, other.links[1], "link"),
        (shapes.remove_joint, other.joints[0], "joint"),
        (shapes.remove_transmission, other.transmissions[0], "transmission"),
        (shapes.remove_material, other.materials[0], "material"),
    ):
        said = rf"'{foreign.name}' is no {kind} of this robot; .*{kind}_map\['{foreign.name}'\]"
        with pytest.raises(KeyError, match=said):
            call(foreign)
