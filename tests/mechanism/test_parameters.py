"""Parameters, and the keywords of dynamics that stand for some of them."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
import robots
from linkwork.errors import InputError, UnknownNameError, UnsupportedFeatureError
from linkwork.formats.urdf.read import read
from linkwork.mechanism import parameters
from linkwork.mechanism.edit import lock, subchain, with_frame
from linkwork.mechanism.from_urdf import from_urdf, rotation_from_rpy
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.parameters import Inputs, dynamics_inputs
from linkwork.mechanism.serialize import from_json, to_json
from robots import chain_urdf, mechanism_from
from seeds import rng


@pytest.fixture(scope="module")
def m() -> Mechanism:
    return robots.mechanism_from(robots.every_joint_urdf())


def rotation(rpy) -> np.ndarray:
    return rotation_from_rpy(tuple(float(x) for x in rpy))


def of_joint(name: str, links: set[str]) -> str:
    return f"{name}/joint" if name in links else name


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("k", range(6))
def test_values_are_those_of_the_description(k: int, base):
    text = robots.random_tree(rng(f"values {k}"), 8) if k else robots.every_joint_urdf()
    document = read(text)
    m = from_urdf(document, base=base)
    links = {link.name for link in document.robot.links}
    for joint in document.robot.joints:
        name = of_joint(joint.name, links)
        xyz, rpy = parameters.values(m, [f"xyz:{name}", f"rpy:{name}"])
        np.testing.assert_allclose(xyz, joint.xyz, rtol=0, atol=1e-15)
        np.testing.assert_allclose(rotation(rpy), rotation(joint.rpy), rtol=0, atol=1e-14)
    for link in document.robot.links:
        own = [f"{quantity}:{link.name}" for quantity in ("mass", "com", "inertia")]
        mass, com, inertia = parameters.values(m, own)
        if link.inertial is None:
            assert not np.concatenate([mass, com, inertia]).any()
            continue
        assert mass.tolist() == [link.inertial.mass]
        assert com.tolist() == list(link.inertial.xyz)
        R = rotation(link.inertial.rpy)
        expected = (R @ np.array(link.inertial.inertia) @ R.T)[np.triu_indices(3)]
        np.testing.assert_allclose(inertia, expected, rtol=0, atol=1e-15)


def test_a_joint_and_a_link_of_one_name(m: Mechanism):
    (of_link,) = parameters.find(m, "xyz:elbow")
    (of_the_joint,) = parameters.find(m, ["xyz:elbow/joint"])
    assert not parameters.is_joint(m, of_link.frame)
    assert parameters.is_joint(m, of_the_joint.frame)
    (xyz,) = parameters.values(m, "xyz:elbow/joint")
    np.testing.assert_allclose(xyz, [0, 0, 0.4], rtol=0, atol=1e-15)


def test_a_frame_is_on_its_bodys_own_link(m: Mechanism):
    # 'hand' hangs on 'lift', which the joint 'slide' carries
    xyz, rpy = parameters.values(m, ["xyz:hand", "rpy:hand"])
    np.testing.assert_allclose(xyz, [0, 0, 0.05], rtol=0, atol=1e-15)
    np.testing.assert_allclose(rpy, [0, np.pi / 2, 0], rtol=0, atol=1e-15)
    for value in parameters.values(m, ["xyz:lift", "rpy:lift", "xyz:base"]):
        assert value.tolist() == [0, 0, 0]
    T = robots.origin((1, 2, 3), (0.1, 0.2, 0.3))
    tool = with_frame(m, "tool", "lift", T)
    xyz, rpy = parameters.values(tool, ["xyz:tool", "rpy:tool"])
    np.testing.assert_allclose(xyz, [1, 2, 3], rtol=0, atol=1e-15)
    np.testing.assert_allclose(rpy, [0.1, 0.2, 0.3], rtol=0, atol=1e-15)


def test_what_is_added_and_gravity(m: Mechanism):
    payload, gravity = parameters.values(m, ["payload:hand", "gravity"])
    assert payload.tolist() == [0, 0, 0, 0]
    assert gravity.tolist() == [0, 0, -9.80665]
    names = ["wrench:wrist", "armature", "damping", "friction"]
    wrench, armature, damping, friction = parameters.values(m, names)
    assert not wrench.any() and not armature.any()
    np.testing.assert_array_equal(damping, m.damping)
    np.testing.assert_array_equal(friction, m.friction)
    assert (damping.max(), friction.max()) == (0.1, 0.2)


def test_every_name_has_a_value_of_its_size(m: Mechanism):
    names = parameters.every_name(m)
    found = parameters.find(m, names)
    assert len(set(names)) == len(names)
    for parameter, value in zip(found, parameters.values(m, names), strict=True):
        assert value.shape == (parameter.size,) and value.dtype == np.float64
        value[:] = 1.0  # a copy: the mechanism cannot be changed by it
    n_links, n_joints = m.n_link_frames, m.n_joint_frames
    assert len(names) == 2 * (n_links + n_joints) + 3 * n_links + n_links + (n_links + n_joints) + 5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gravitation", "no parameter named 'gravitation'; nearest: gravity"),
        ("weight:hand", "no parameter named 'weight:hand'; .*"),
        ("gravity:hand", "no parameter named 'gravity:hand'; nearest: gravity"),
        ("mass", "no parameter named 'mass'; nearest: mass:name"),
        ("mass:hant", "no link named 'hant'; nearest: hand"),
        ("com:wrist", "no link named 'wrist'; "),
        ("xyz:writs", "no frame named 'writs'; nearest: wrist"),
        ("payload:writs", "no frame named 'writs'"),
    ],
)
def test_names_that_are_none(m: Mechanism, name: str, message: str):
    with pytest.raises(UnknownNameError, match=message):
        parameters.find(m, name)


def test_other_faults(m: Mechanism):
    with pytest.raises(InputError, match="'gravity' is named twice"):
        parameters.find(m, ["gravity", "mass:hand", "gravity"])
    with pytest.raises(InputError, match="by its name, such as 'mass:link5', not by 5"):
        parameters.find(m, [5])  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="'wrist' is a joint; its link is 'hand'"):
        parameters.find(m, "payload:wrist")


def test_links_survive_edits(m: Mechanism):
    sizes = ("armature", "damping", "friction", "stiffness")  # fewer, once a joint is locked
    names = [n for n in parameters.every_name(m) if "free" not in n and n not in sizes]
    before = parameters.values(m, names)
    edited = with_frame(lock(m, "spin", 0.0), "tool", "hand", np.eye(4))
    again = from_json(to_json(edited))
    assert again == edited
    for name, old, new in zip(names, before, parameters.values(again, names), strict=True):
        if name.partition(":")[2] not in ("spin", "wheel"):
            np.testing.assert_allclose(new, old, rtol=0, atol=1e-14)
    assert (again.frame_names[int(again.frame_link[again.frame("tool")])]) == "hand"


def test_a_locked_joint_is_a_fixed_one(m: Mechanism):
    locked = lock(m, "slide", 0.3)
    (xyz,) = parameters.values(locked, "xyz:slide")
    R = rotation((0, 0, 0.5))
    np.testing.assert_allclose(xyz, [0, 0, 0.1] + R @ [0, 0.3, 0], rtol=0, atol=1e-15)
    assert parameters.values(locked, "mass:hand")[0] == [0.6]


def test_a_chain_that_is_turned_round(m: Mechanism):
    chain = subchain(m, "hand", "table")  # up to the base, and down again through 'plane'
    for name in ("slide", "elbow/joint", "shoulder", "flange"):
        with pytest.raises(UnsupportedFeatureError, match=f"'{name}' and passes it backwards"):
            parameters.find(chain, f"xyz:{name}")
    assert "xyz:slide" not in parameters.every_name(chain)
    names = ["xyz:wrist", "xyz:plane", "rpy:plane", "mass:lower", "xyz:camera"]
    for old, new in zip(parameters.values(m, names), parameters.values(chain, names), strict=True):
        np.testing.assert_allclose(new, old, rtol=0, atol=1e-14)
    forward = subchain(m, "upper", "hand")
    with pytest.raises(UnsupportedFeatureError, match="begins behind the joint 'shoulder'"):
        parameters.find(forward, "xyz:shoulder")
    assert parameters.values(forward, "xyz:elbow/joint")[0] == pytest.approx([0, 0, 0.4])


def test_nothing_is_nothing(m: Mechanism):
    assert dynamics_inputs(m) == Inputs((), ())
    assert dynamics_inputs(m, external={}, losses=False) == Inputs()
    assert dynamics_inputs(mechanism_from(chain_urdf(2)), losses=True) == Inputs()


def test_all_in_one_order(m: Mechanism):
    w, g, a = np.ones(6), [0, 0, -1], np.ones(m.n_v)
    wrenches = {"ball": 2 * w, "hand": w}
    found = dynamics_inputs(m, losses=True, armature=a, gravity=g, external=wrenches)
    names = ("gravity", "armature", "damping", "friction", "wrench:hand", "wrench:ball")
    assert found.names == names  # frames in the mechanism's order
    again = dynamics_inputs(
        m, external=dict(reversed(wrenches.items())), gravity=g, armature=a, losses=np.True_
    )
    assert again.names == names
    by_name = dict(zip(*found, strict=True))
    assert by_name["wrench:ball"] is wrenches["ball"] and by_name["gravity"].tolist() == g
    assert by_name["damping"] is m.damping and by_name["friction"] is m.friction
    assert m.damping.any() and m.friction.any()
    without = dynamics_inputs(m, losses=True, friction=False)
    assert without.names == ("damping",)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        *[
            ({"losses": losses}, InputError, r"losses is True .* or False, not")
            for losses in (1, 0, None, "yes", np.ones(2), [True])
        ],
        *[
            ({"external": external}, InputError, "external gives wrenches by frame")
            for external in ([1, 2], "hand", np.ones(6), 5)
        ],
        ({"external": {"hnd": np.ones(6)}}, UnknownNameError, "named 'hnd'; nearest: hand"),
        ({"external": {5: np.ones(6)}}, UnknownNameError, "no frame named"),
        ({"external": {("hand",): np.ones(6)}}, UnknownNameError, "no frame named"),
        ({"external": {"base": np.ones(6)}}, InputError, "no joint moves 'base', so a wrench"),
        ({"armature": -0.1}, InputError, "armature must not be below zero"),
        ({"armature": [0.1, -1e-9]}, InputError, "armature must not be below zero"),
    ],
)
def test_keywords_that_are_none(m: Mechanism, given, error, message):
    with pytest.raises(error, match=message):
        dynamics_inputs(m, **given)


def test_rotors_are_one_number_or_one_for_each():
    m = lw.load("planar_2r").mechanism
    assert np.array_equal(dynamics_inputs(m, armature=0.5).values[0], [0.5, 0.5])


def test_a_floating_base_has_no_rotor():
    m = lw.load("quadruped", base="floating").mechanism
    (rotors,) = dynamics_inputs(m, armature=0.5).values
    assert np.array_equal(rotors, [0.0] * 6 + [0.5] * (m.n_v - 6))
