"""Rotors, damping, friction."""

from __future__ import annotations

import casadi as cs
import numpy as np

from dynamics_textbook import near
from linkwork.algorithms.joint_losses import losses, rotor_forces
from linkwork.algorithms.parametric import Parametric
from linkwork.compile.symbolic import on_symbols
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY


def test_they_count_as_parameters_only(every_joint: Mechanism):
    v = [2.0 * (-1) ** k for k in range(every_joint.n_v)]
    v[0] = np.float64(0)
    assert losses(NUMPY, every_joint, v) == [0.0] * every_joint.n_v == rotor_forces(every_joint, v)
    size = np.arange(1.0, every_joint.n_v + 1)
    given = Parametric(
        NUMPY, every_joint, {"armature": size, "damping": 3 * size, "friction": 5 * size}
    )
    near(losses(NUMPY, given, v), 3 * size * v + 5 * size * np.sign(v))
    near(rotor_forces(given, v), size * v)


def test_friction_is_zero_where_nothing_moves(every_joint: Mechanism):
    size, v = cs.SX.sym("f", every_joint.n_v), cs.SX.sym("v", every_joint.n_v)

    def taken(o, size, v):
        given = Parametric(o, every_joint, {"friction": size})
        return losses(o, given, [v[k] for k in range(every_joint.n_v)])

    function = cs.Function("f", [size, v], [cs.vertcat(*on_symbols(taken, size, v))])
    one = np.ones(every_joint.n_v)
    for sign in (-1, 0, 1):
        near(np.array(function(2 * one, sign * one)).ravel(), 2 * sign * one)
    given = Parametric(NUMPY, every_joint, {"friction": one})
    assert losses(NUMPY, given, [0.0] * every_joint.n_v) == [0.0] * every_joint.n_v
