"""From records to the model: rotations, limits, inertials, real files."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp

import robots
from linkwork.errors import InputError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.assemble import assemble
from linkwork.mechanism.edit import parts_of
from linkwork.mechanism.from_urdf import from_urdf, rotation_from_rpy
from seeds import rng


def test_rpy_to_the_last_digits():
    random = rng("rpy")
    with mp.workdps(40):
        for rpy in random.uniform(-4, 4, (20, 3)):
            r, p, y = (mp.mpf(float(x)) for x in rpy)
            cr, sr, cp, sp, cy, sy = (f(a) for a in (r, p, y) for f in (mp.cos, mp.sin))
            x = mp.matrix([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
            yy = mp.matrix([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
            z = mp.matrix([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
            expected = np.array((z * yy * x).tolist(), float)
            assert np.abs(rotation_from_rpy(tuple(rpy)) - expected).max() < 3e-16


def test_every_sound_example_robot_builds():
    paths = robots.example_robot_urdfs()
    assert len(paths) >= 67
    random = rng("example robots")
    for path in paths:
        document = read(path)
        m = from_urdf(document)
        q = robots.random_configuration(random, m)
        expected = robots.description_poses(document, robots.by_name(m, q))
        found = robots.model_poses(m, q)
        for name, T in expected.items():
            np.testing.assert_allclose(found[name], T, atol=1e-12, rtol=0, err_msg=path.name)
        assert assemble(parts_of(m)) == m


def test_limits_of_each_joint():
    m = robots.mechanism_from(robots.every_joint_urdf())
    at = {name: slice(m.q_start[c], m.q_start[c + 1]) for c, name in enumerate(m.joint_names)}
    assert (m.lower[at["shoulder"]][0], m.upper[at["shoulder"]][0]) == (-2, 2.5)
    for name in ("spin", "plane", "free"):
        assert np.isneginf(m.lower[at[name]]).all() and np.isposinf(m.upper[at[name]]).all()
    v = {name: int(m.v_start[c]) for c, name in enumerate(m.joint_names)}
    assert m.velocity_limit[v["shoulder"]] == 3 and m.effort_limit[v["shoulder"]] == 40
    assert m.damping[v["shoulder"]] == 0.1 and m.friction[v["shoulder"]] == 0.2
    assert np.isposinf(m.velocity_limit[v["spin"]])
    assert m.damping[v["spin"]] == 0 and len(m.velocity_limit) == m.n_v


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ('<limit upper="1" velocity="1" effort="1"/>', (-np.inf, 1)),
        ('<limit lower="-1" velocity="1" effort="1"/>', (-1, np.inf)),
        ('<limit velocity="1" effort="1"/>', (-np.inf, np.inf)),
        ("", (-np.inf, np.inf)),
    ],
)
def test_missing_limits_are_unlimited_and_one_finding(limit, expected):
    whole = '<limit lower="-1" upper="1" velocity="1" effort="1"/>'
    document = read(robots.chain_urdf(1).replace(whole, limit))
    m = from_urdf(document)
    assert (m.lower[0], m.upper[0]) == expected
    found = [f for f in m.findings if f.code == "missing-limits"]
    assert [f.name for f in found] == ["joint1"]
    assert found[0].level == "warning"


def test_findings_of_the_document_are_kept():
    document = read(robots.chain_urdf(1).replace("<axis xyz=", "<axis unknown='1' xyz="))
    assert document.problems
    assert from_urdf(document).findings == document.problems


def test_inertial_rotation_is_applied_without_shift():
    text = (
        '<robot name="r"><link name="a"><inertial><origin rpy="0 0 1.5707963267948966"/>'
        '<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="2.5"/>'
        '</inertial></link><link name="massless"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="massless"/></joint></robot>'
    )
    m = robots.mechanism_from(text)
    np.testing.assert_allclose(m.I_com[0], np.diag([2, 1, 2.5]), atol=1e-15)
    assert m.mass[1] == 0 and not m.I_com[1].any()


def test_the_base_is_fixed_or_floating():
    with pytest.raises(InputError, match="'fixed' or 'floating', not 'planar'"):
        robots.mechanism_from(robots.chain_urdf(1), base="planar")
