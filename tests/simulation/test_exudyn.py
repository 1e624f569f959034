"""Trajectories against exudyn's kinematic trees, by Runge and Kutta's method of fourth order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork.models
from dynamics_engines import Exudyn
from pendulums import simulated
from robots import mechanism_from
from seeds import rng

exudyn = pytest.importorskip("exudyn", reason="exudyn (pip install exudyn) is not installed")
MODELS = Path(linkwork.models.__file__).parent


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["panda", "ur5e", "scara"])
def test_arms_by_rk4(name: str):
    m = mechanism_from((MODELS / f"{name}.urdf").read_text(encoding="utf-8"))
    random = rng(f"against exudyn: {name}")
    q0, v0 = random.uniform(-0.5, 0.5, m.n_q), random.uniform(-0.5, 0.5, m.n_v)
    engine = Exudyn(exudyn, m)
    assert engine.n == m.n_q
    data = engine.mbs.systemData
    data.SetODE2Coordinates(q0, exudyn.ConfigurationType.Initial)
    data.SetODE2Coordinates_t(v0, exudyn.ConfigurationType.Initial)
    settings = exudyn.SimulationSettings()
    settings.solution.file.write = False
    settings.timeIntegration.numberOfSteps = 300
    settings.timeIntegration.endTime = 0.3
    settings.timeIntegration.verboseMode = 0
    engine.mbs.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.RK44)
    found = simulated(m, q0, v0, 0.3, record=0)
    np.testing.assert_allclose(found.q[-1], data.GetODE2Coordinates(), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.v[-1], data.GetODE2Coordinates_t(), rtol=1e-7, atol=1e-7)
