"""What dynamics cannot be computed of, and the mass matrix that tells it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from dynamics_cases import case, case_texts, solid
from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.dynamics_checks import (
    SEED,
    check_inertias,
    check_movable,
    generic_mass_matrix,
)
from linkwork.mechanism.edit import lock, subchain, with_frame
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.serialize import from_json, to_json
from robots import chain_urdf, example_robot_urdfs, mechanism_from, random_tree
from seeds import rng


def inertial(mass: float, *moments: float, com: str = "0 0 0") -> str:
    keys = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    values = [*moments, *[0.0] * (6 - len(moments))]
    entries = " ".join(f'{key}="{value}"' for key, value in zip(keys, values, strict=True))
    return f'<inertial><origin xyz="{com}"/><mass value="{mass}"/><inertia {entries}/></inertial>'


BOX = inertial(2, 0.1, 0.1, 0.1, com="0.1 0.2 0")


def chain_text(*links: str, kinds: tuple[str, ...] = (), axes: tuple[str, ...] = ()) -> str:
    """Links in a row, each with this inside, joined by turns about z or as said."""
    parts = [f'<link name="l{k}">{inside}</link>' for k, inside in enumerate(links)]
    for k in range(1, len(links)):
        kind = kinds[k - 1] if kinds else "continuous"
        axis = axes[k - 1] if axes else "0 0 1"
        parts.append(
            f'<joint name="j{k}" type="{kind}"><parent link="l{k - 1}"/><child link="l{k}"/>'
            f'<origin xyz="0.1 0 0"/><axis xyz="{axis}"/>'
            '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        )
    return f'<robot name="r">{"".join(parts)}</robot>'


def chain(*links: str, **options: tuple[str, ...]) -> Mechanism:
    return mechanism_from(chain_text(*links, **options))


# ------------------------------------------------------------------------------------- inertias


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (inertial(-1), "link 'l1': the mass -1 kg is negative"),
        (inertial(0, 1, 1, 1), "link 'l1': the inertia is not zero although the mass is"),
        (
            inertial(1, 1, -0.5, 1),
            "link 'l1': a principal moment of inertia is negative: -0.5 kg m²",
        ),
        (inertial(1, 1, 1, 1, 2), "link 'l1': a principal moment of inertia is negative: -1"),
        (inertial(1, 1, 2, 3.01), r"link 'l1': the largest principal moment 3.01 .*triangle"),
    ],
)
def test_what_no_real_body_has(inside: str, message: str):
    with pytest.raises(InputError, match=message) as caught:
        check_inertias(chain("", inside, BOX))
    assert "robot.accept_inertias()" in str(caught.value) and "'l2'" not in str(caught.value)
    check_inertias(chain(inside, BOX))  # a fixed base does not move
    check_inertias(replace(chain("", inside, BOX), inertias_accepted=True))
    with pytest.raises(InputError, match="'l0'"):
        fixed = f'<robot name="r"><link name="l0">{inside}</link></robot>'
        check_inertias(mechanism_from(fixed, base="floating"))


def test_what_is_real_or_nearly():
    plate, rod, point = inertial(1, 1, 2, 3), inertial(1, 1, 1, 0), inertial(1)
    rounded = inertial(1, 1, 2, 3.0002)
    check_inertias(chain("", plate, rod, point, rounded, ""))


def test_several_are_named_and_the_rest_is_counted():
    bad = inertial(-1)
    with pytest.raises(InputError, match=r"link 'l4': [^;]*; and 2 more\. Mend") as caught:
        check_inertias(chain("", *[bad] * 6))
    assert "'l5'" not in str(caught.value)


def test_links_that_are_fixed_to_each_other_count_together():
    light = inertial(0, 0.01, 0.01, 0.01)
    check_inertias(chain("", BOX, light, kinds=("continuous", "fixed")))
    heavy = inertial(1, 0.1, 0.1, 5)
    with pytest.raises(InputError, match="link 'l2': the largest principal moment 5"):
        check_inertias(chain("", BOX, heavy, kinds=("continuous", "fixed")))


def test_an_inertia_of_rounding_is_none():
    m = chain("", inertial(0.3, com="0.1 0.4 0.7"))
    check_inertias(replace(m, I_com=m.I_com - 1e-16 * np.eye(3)))
    with pytest.raises(InputError, match="a principal moment of inertia is negative: -1e-12 kg m²"):
        check_inertias(replace(m, I_com=m.I_com - 1e-12 * np.eye(3)))


@pytest.mark.parametrize("quantity", ["mass", "inertia", "com", "payload"])
def test_what_is_an_input_is_not_judged(quantity: str):
    m = chain("", inertial(-1), BOX)
    check_inertias(m, [f"{quantity}:l1"])
    with pytest.raises(InputError, match="'l1'"):
        check_inertias(m, [f"{quantity}:l2", "gravity", "wrench:l1"])


# -------------------------------------------------------------------------------------- movable


@pytest.mark.parametrize("name", case_texts())
def test_what_has_weight_everywhere_moves(name: str):
    check_movable(case(name))


def test_nothing_behind_a_joint():
    message = (
        r"link 'l2' has no mass and nothing behind joint 'j2' has: its acceleration is not "
        r"determined; give the link an <inertial>, or lock the joint: robot.with_locked\('j2'\)"
    )
    m = chain("", BOX, "")
    with pytest.raises(InputError, match=message):
        check_movable(m)
    check_movable(lock(m, ["j2"]))
    for given in ("payload:l2", "mass:l2", "inertia:l2", "armature"):
        check_movable(m, [given])


def test_points_on_the_axis():
    with pytest.raises(InputError, match="from link 'l2' on there is mass, but no inertia against"):
        check_movable(chain("", BOX, inertial(1)))
    check_movable(chain("", BOX, inertial(1, com="0.1 0 0")))
    with pytest.raises(InputError, match="no inertia against joint 'free'"):
        text = (
            '<robot name="r"><link name="a"/><link name="b">' + inertial(1, com="1 0 0") + "</link>"
            '<joint name="free" type="floating"><parent link="a"/><child link="b"/></joint></robot>'
        )
        check_movable(mechanism_from(text))


def test_a_link_between_without_weight():
    # two turns about one axis; what the first one moves, the second one lets stay
    with pytest.raises(InputError, match="joint 'j1' feels no inertia of link 'l1' while"):
        same = '<origin xyz="0.1 0 0"/>'
        text = chain_text("", "", BOX).replace(same, "<origin/>")
        check_movable(mechanism_from(text))
    check_movable(chain("", "", BOX))  # beside one another they move the second link two ways
    check_movable(chain("", "", BOX, axes=("0 0 1", "0 1 0")))
    with pytest.raises(InputError, match="while the joints behind it are free"):
        check_movable(chain("", "", BOX, kinds=("prismatic", "prismatic")))


def test_negative_masses_that_were_accepted():
    m = replace(chain("", BOX, inertial(-0.5, com="0.3 0 0")), inertias_accepted=True)
    check_inertias(m)
    with pytest.raises(InputError, match=r"joint 'j2' feels is not above zero.* from link 'l2' on"):
        check_movable(m)


def test_coupled_joints_move_what_their_followers_carry():
    text = chain_text("", BOX, "", "").replace(
        '<joint name="j2" type="continuous">',
        '<joint name="j2" type="continuous"><mimic joint="j1" multiplier="2"/>',
    )
    with pytest.raises(InputError, match="'l3' has no mass and nothing behind joint 'j3'"):
        check_movable(mechanism_from(text))
    check_movable(lock(mechanism_from(text), "j3"))
    # a leader that carries nothing but has a follower that does
    tree = text.replace(
        '<parent link="l1"/><child link="l2"/>', '<parent link="l0"/><child link="l2"/>'
    )
    swapped = tree.replace(BOX, "").replace('<link name="l2">', f'<link name="l2">{BOX}')
    check_movable(lock(mechanism_from(swapped), "j3"))


def test_a_coordinate_that_moves_nothing_here():
    text = chain_text("", BOX, BOX).replace(
        '<joint name="j2" type="continuous">',
        '<joint name="j2" type="continuous"><mimic joint="j1" multiplier="0"/>',
    )
    m = subchain(mechanism_from(text), "l1", "l2")
    assert m.joint_names == ("j1",)
    with pytest.raises(InputError, match=r"joint 'j1'.* its acceleration is not determined"):
        check_movable(m)


def test_large_mechanisms_take_little_time():
    m = mechanism_from(solid(chain_urdf(150)))
    check_inertias(m)
    check_movable(m)
    text = solid(chain_urdf(150)).replace(solid('<link name="link120"/>'), '<link name="link120"/>')
    check_movable(mechanism_from(text))


def test_it_has_no_joints():
    check_movable(mechanism_from('<robot name="r"><link name="a"/></robot>'))


# ------------------------------------------------------------------------------------ acceptance


def test_accepting_is_part_of_the_mechanism():
    m = chain("", inertial(-1), BOX)
    accepted = lw.Robot(m).accept_inertias().mechanism
    assert accepted != m and accepted.digest != m.digest
    assert not m.inertias_accepted and accepted.inertias_accepted
    for again in (
        copy.deepcopy(accepted),
        pickle.loads(pickle.dumps(accepted)),
        from_json(to_json(accepted)),
        lock(accepted, "j2", 0.1),
        subchain(accepted, "l0", "l1"),
        with_frame(accepted, "tool", "l2", np.eye(4)),
    ):
        assert again.inertias_accepted
        check_inertias(again)
    assert not from_json(to_json(m)).inertias_accepted


def test_published_descriptions():
    refused = {"check_inertias": set(), "check_movable": set()}
    for path in example_robot_urdfs():
        m = from_urdf(read(path))
        for check in (check_inertias, check_movable):
            try:
                check(m)
            except InputError:
                refused[check.__name__].add(path.stem)
    assert refused == {
        "check_inertias": {"romeo_small", "romeo_laas_small"},
        "check_movable": {"romeo", "romeo_laas_small"},
    }


def generic(m: Mechanism) -> np.ndarray:
    q = np.random.default_rng(SEED).uniform(0.4, 1.2, m.n_q)
    for kind, start in zip(m.joint_types, m.q_start, strict=False):
        if kind.has_quaternion:
            wxyz = q[start + kind.n_lengths : start + kind.n_q]
            wxyz /= np.linalg.norm(wxyz)
    return q


@pytest.mark.parametrize("name", case_texts())
def test_it_is_the_mass_matrix(name: str):
    m = case(name)
    got, least = generic_mass_matrix(m)
    expected = evaluate("mass_matrix", m, generic(m))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    assert (least > 0).all()


def test_massless_links_count_as_nothing():
    for k in range(10):
        m = mechanism_from(random_tree(rng(f"bare {k}"), 6), base="floating" if k % 2 else "fixed")
        got, _ = generic_mass_matrix(m)
        expected = evaluate("mass_matrix", m, generic(m))
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_what_is_unknown_has_a_weight():
    m = mechanism_from(chain_urdf(3))
    assert not generic_mass_matrix(m)[0].any()
    got, least = generic_mass_matrix(m, {3})
    assert (np.diagonal(got) > 0).all() and (least > 0).all()
    assert np.linalg.matrix_rank(got) == 3  # one square kilogram is felt three ways
    got, _ = generic_mass_matrix(m, {2})
    assert not got[2].any() and not got[:, 2].any() and got[1, 1] > 0
