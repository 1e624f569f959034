"""Keywords of dynamics as parameters: names, order, values, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism.dynamics_inputs import Inputs, dynamics_inputs
from linkwork.mechanism.model import Mechanism
from robots import chain_urdf, every_joint_urdf, mechanism_from


@pytest.fixture(scope="module")
def m() -> Mechanism:
    return mechanism_from(every_joint_urdf())


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
    assert by_name["wrench:ball"] is wrenches["ball"] and by_name["gravity"] is g
    assert by_name["damping"] is m.damping and by_name["friction"] is m.friction
    assert m.damping.any() and m.friction.any()
    without = dynamics_inputs(m, losses=True, friction=False)
    assert without.names == ("damping",)


@pytest.mark.parametrize("losses", [1, 0, None, "yes", np.ones(2), [True]])
def test_losses_are_taken_or_not(m: Mechanism, losses):
    with pytest.raises(InputError, match=r"losses is True .* or False, not"):
        dynamics_inputs(m, losses=losses)


def test_wrenches_that_are_none(m: Mechanism):
    for external in ([1, 2], "hand", np.ones(6), 5):
        with pytest.raises(InputError, match="external gives wrenches by frame"):
            dynamics_inputs(m, external=external)
    with pytest.raises(UnknownNameError, match="no frame named 'hnd'; nearest: hand"):
        dynamics_inputs(m, external={"hnd": np.ones(6)})
    for key in (5, None, ("hand",)):
        with pytest.raises(UnknownNameError, match="no frame named"):
            dynamics_inputs(m, external={key: np.ones(6)})


def test_rotors_are_one_number_or_one_for_each_and_not_negative():
    m = lw.load("planar_2r").mechanism
    assert np.array_equal(dynamics_inputs(m, armature=0.5).values[0], [0.5, 0.5])
    for wrong in (-0.1, [0.1, -1e-9]):
        with pytest.raises(InputError, match="armature must not be below zero"):
            dynamics_inputs(m, armature=wrong)


def test_a_wrench_on_what_stands_still_is_refused(m: Mechanism):
    with pytest.raises(InputError, match="no joint moves 'base', so a wrench"):
        dynamics_inputs(m, external={"base": np.ones(6)})
