"""The conventions: the constants, and that the library keeps what their page says."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork import conventions

TWO = """<robot name="two"><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
<joint name="late" type="revolute"><parent link="c"/><child link="d"/><origin xyz="1 0 0"/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="same" type="{kind}"><parent link="a"/><child link="b"/><origin xyz="0 0 2"/>
  <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<joint name="b" type="fixed"><parent link="b"/><child link="c"/>
  <origin rpy="1.5707963267948966 0 0"/></joint></robot>"""


def test_the_constants():
    assert conventions.STANDARD_GRAVITY == 9.80665
    assert conventions.GRAVITY == (0.0, 0.0, -9.80665)
    assert conventions.QUATERNION_ORDER == "wxyz"
    twist = np.arange(6)
    assert twist[conventions.LINEAR].tolist() == [0, 1, 2]
    assert twist[conventions.ANGULAR].tolist() == [3, 4, 5]


def test_the_page_says_what_the_code_does():
    page = conventions.__doc__ or ""
    for word in ("metre", "T_a_b", "wxyz", "roll, pitch, yaw", "world-aligned", "name/joint"):
        assert word in page


def test_poses_take_coordinates_of_the_frame_to_the_world():
    r = lw.load(TWO.format(kind="revolute"))
    q = r.configuration({"same": np.pi / 2})
    # d stands one metre along x of c, which has b's x axis, turned to the world's y
    np.testing.assert_allclose(r.fk(q, "d") @ [0, 0, 0, 1], [0, 1, 2, 1], atol=1e-15)
    # z of d: b is turned about z, then c about its x by a quarter: z points along the world's x
    np.testing.assert_allclose(r.fk(q, "d")[:3, 2], [1, 0, 0], atol=1e-15)


def test_roll_pitch_yaw_are_about_fixed_axes():
    T = lw.pose(rpy=[np.pi / 2, 0, np.pi / 2])
    # first about x: y to z; then about the world's z: z stays
    np.testing.assert_allclose(T[:3, :3] @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(T[:3, :3] @ [1, 0, 0], [0, 1, 0], atol=1e-15)


def test_joints_stand_in_the_order_of_the_description_once_their_parents_are_placed():
    r = lw.load(TWO.format(kind="revolute"))
    assert r.joint_names == ("same", "late")
    assert r.frame_names == ("a", "b", "c", "d", "late", "same", "b/joint")


@pytest.mark.parametrize(
    ("kind", "n_q", "n_v"), [("planar", 3, 3), ("floating", 7, 6), ("spherical", 4, 3)]
)
def test_the_order_of_wide_joints(kind, n_q, n_v):
    r = lw.load(TWO.format(kind=kind))
    assert (r.n_q, r.n_v) == (n_q + 1, n_v + 1)
    if kind == "planar":
        q = r.configuration({"same": [3, 4, np.pi / 2]})
        expected = lw.pose([3, 4, 2], rpy=[0, 0, np.pi / 2])
    elif kind == "spherical":
        q = r.configuration({"same": [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]})
        expected = lw.pose([0, 0, 2], rpy=[0, 0, np.pi / 2])
    else:
        q = r.configuration({"same": [3, 4, 5, np.sqrt(0.5), 0, 0, np.sqrt(0.5)]})
        expected = lw.pose([3, 4, 7], rpy=[0, 0, np.pi / 2])
    np.testing.assert_allclose(r.fk(q, "b"), expected, atol=1e-15)


def test_velocities_of_a_spherical_joint_are_in_the_axes_of_its_body():
    r = lw.load(TWO.format(kind="spherical"))
    q = r.configuration({"same": [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]})  # x of b is y of the world
    J = r.jacobian(q, "b")
    np.testing.assert_allclose(J[3:, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_velocities_of_a_floating_base_are_in_its_own_axes():
    r = lw.load("planar_2r", base="floating")
    turned = [1, 2, 3, np.sqrt(0.5), 0, 0, np.sqrt(0.5)]  # x of the base is y of the world
    q = r.configuration({"floating_base": turned})
    J = r.jacobian(q, r.frame_names[0])
    np.testing.assert_allclose(J[:, 0], [0, 1, 0, 0, 0, 0], atol=1e-15)  # linear rows first
    np.testing.assert_allclose(J[:, 3], [0, 0, 0, 0, 1, 0], atol=1e-15)
    v = np.zeros(r.n_v)
    v[0] = 0.5
    np.testing.assert_allclose(r.integrate(q, v)[:3], [1, 2.5, 3], atol=1e-15)


def test_references_of_a_jacobian():
    r = lw.load(TWO.format(kind="revolute"))
    q = r.configuration({"same": 0.3, "late": 0.2})
    T = r.fk(q, "d")
    default, local, world = (
        r.jacobian(q, "d", reference=reference) for reference in ("world-aligned", "local", "world")
    )
    assert np.array_equal(default, r.jacobian(q, "d"))
    R, p = T[:3, :3], T[:3, 3]
    np.testing.assert_allclose(local[:3], R.T @ default[:3], atol=1e-15)
    np.testing.assert_allclose(local[3:], R.T @ default[3:], atol=1e-15)
    np.testing.assert_allclose(world[3:], default[3:], atol=1e-15)
    np.testing.assert_allclose(world[:3], default[:3] + np.cross(p, default[3:].T).T, atol=1e-15)
    # the first joint turns about the world's z axis through its origin
    np.testing.assert_allclose(world[:, 0], [0, 0, 0, 0, 0, 1], atol=1e-15)
    assert default.shape == (6, 2)
