"""The matrix over v, and the climb from a step to those that carry it."""

from __future__ import annotations

import numpy as np

from linkwork.algorithms.joint_matrix import JointMatrix, climb
from linkwork.algorithms.steps import Spatial, steps_of, way_to
from linkwork.mechanism.model import Mechanism
from linkwork.ops.graph import GraphOps
from linkwork.ops.numpy import NUMPY
from robots import random_configuration
from seeds import rng


def test_entries_of_coupled_joints_add_up(every_joint: Mechanism):
    steps = steps_of(NUMPY, every_joint, random_configuration(rng("matrix"), every_joint))
    (turn,) = [s for s in steps if every_joint.body_joint_names[s.body] == "turn"]
    (copy,) = [s for s in steps if every_joint.body_joint_names[s.body] == "copy"]
    assert turn.start == copy.start and copy.factor == -0.5
    matrix, k = JointMatrix(every_joint.n_v), turn.start
    matrix.add((turn, 0), (turn, 0), 1.0)
    matrix.add((turn, 0), (copy, 0), 4.0)
    matrix.add((copy, 0), (copy, 0), 32.0)
    matrix.add_plain(k, 0, 3.0)
    assert matrix.get(k, k) == 1.0 - 2.0 + 8.0
    assert matrix.get(0, k) == 0.0
    assert matrix.lower() == {(k, k): 7.0, (k, 0): 3.0}
    block = matrix.block(NUMPY)
    assert block.shape == (every_joint.n_v,) * 2
    assert block[k, k] == 7.0 and block[k, 0] == 3.0 and np.count_nonzero(block) == 2


def test_what_is_never_set_stays_structural():
    matrix = JointMatrix(3)
    matrix.add_plain(0, 2, 5.0)
    assert np.count_nonzero(matrix.block(GraphOps()).numbers) == 1  # 0 is the number of zero
    assert JointMatrix(0).block(NUMPY).shape == (0, 0)


def test_climbing(every_joint: Mechanism):
    random = rng("climb")
    steps = steps_of(NUMPY, every_joint, random_configuration(random, every_joint))
    for k in range(len(steps)):
        wrench = Spatial(list(random.normal(size=3)), list(random.normal(size=3)))
        moment = list(random.normal(size=3))
        carriers = [each for each in way_to(steps, k)[:-1] if steps[each].free]
        seen = list(climb(steps, k, [wrench], [moment]))
        assert [at for at, _, _ in seen] == carriers[::-1]
        below = k
        for at, (there,), (turned,) in seen:
            wrench, moment = steps[below].wrench_out(wrench), steps[below].out(moment)
            assert there == wrench and turned == moment
            # a moment without a force is the same about every point
            alone = steps[below].wrench_out(Spatial([0.0] * 3, list(moment)))
            assert alone.linear == [0.0] * 3
            below = at
