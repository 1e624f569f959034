"""The list of algorithms, and running one of them by name."""

from __future__ import annotations

import inspect
from dataclasses import replace

import casadi as cs
import numpy as np
import pytest

import linkwork as lw
from dynamics_cases import case, solid
from linkwork.algorithms.registry import ALGORITHMS, evaluate, find
from linkwork.algorithms.sweep import InPasses
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.dynamics_checks import check_inertias
from linkwork.mechanism.model import Mechanism
from linkwork.ops.graph import GraphOps
from robots import chain_urdf, mechanism_from, random_configuration
from seeds import rng

STATIC = {"frame": "tool", "reference": "local"}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_entry_describes_its_function(name: str):
    entry = ALGORITHMS[name]
    assert entry.name == name == entry.function.__name__
    signature = inspect.signature(entry.function).parameters
    positional = [k for k, p in signature.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    inputs = [key for key, _ in entry.inputs]
    in_passes = isinstance(entry.function, InPasses)
    assert positional == (["sweep", *inputs[1:]] if in_passes else ["o", "m", *inputs])
    keywords = [k for k, p in signature.items() if p.kind is p.KEYWORD_ONLY]
    loops = ("free_motions",) if entry.counts_free_motions else ()
    assert tuple(keywords) == (*entry.static, *loops)
    assert entry.summary.endswith(".") and len(entry.summary) < 100


@pytest.mark.parametrize("name", ALGORITHMS)
def test_shapes_are_as_promised(name: str, every_joint: Mechanism):
    entry = ALGORITHMS[name]
    m = case("every joint, floating") if entry.needs else every_joint
    m = lw.load("delta").mechanism if entry.needs_loops else m
    random = rng("registry")
    arrays = [
        random_configuration(random, m) if kind == "q" else random.normal(size=m.n_v)
        for _, kind in entry.inputs
    ]
    given = {"base": m.frame_names[0], **STATIC}
    static = {key: given[key] for key in entry.static}
    if entry.needs_loops and "frame" in static:
        static["frame"] = "tool0"
    entry.check(m)
    result = evaluate(name, m, *arrays, **static)
    assert isinstance(result, np.ndarray) and result.dtype == np.float64
    assert result.shape == entry.output(m)
    assert np.isfinite(result).all()
    # plain lists are taken as well
    assert np.array_equal(evaluate(name, m, *[list(a) for a in arrays], **static), result)


def test_what_an_algorithm_needs_is_checked():
    m = mechanism_from(chain_urdf(2))
    find("fk").check(m)
    find("mass_matrix").check(m)
    for name in ("forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives"):
        find(name).check(m, "armature")
        find(name).check(m, ["payload:link1", "payload:link2"])
        with pytest.raises(InputError, match="link 'link2' has no mass and nothing behind joint"):
            find(name).check(m, ["payload:link1", "gravity"])
    text = solid(chain_urdf(2)).replace('izz="0.0025"', 'izz="0.5"', 1)
    for entry in ALGORITHMS.values():
        if check_inertias in entry.needs and not entry.needs_loops:
            with pytest.raises(InputError, match="'chain' has inertias that no real body has"):
                entry.check(mechanism_from(text, base="floating"))
            entry.check(replace(mechanism_from(text, base="floating"), inertias_accepted=True))


def test_names(every_joint: Mechanism):
    assert find("com") is ALGORITHMS["com"]
    with pytest.raises(UnknownNameError, match="no algorithm named 'jacobain'; nearest: jacobian"):
        evaluate("jacobain", every_joint, np.zeros(3))


def test_wrong_inputs(every_joint: Mechanism):
    m = every_joint
    with pytest.raises(ShapeError, match=r"com: q of 'every joint' has the shape \(19,\), not \(3"):
        evaluate("com", m, np.zeros(3))
    with pytest.raises(ShapeError, match="one configuration at a time"):
        evaluate("com", m, np.zeros((2, m.n_q)))
    with pytest.raises(ShapeError, match="integrate takes q, v; 1 arrays came"):
        evaluate("integrate", m, np.zeros(m.n_q))
    with pytest.raises(ShapeError, match=r"\(19,\), not \(4,\)"):
        evaluate("com", m, GraphOps().input(0, 4))
    with pytest.raises(TypeError, match=r"CasADi's type SX: Robot.symbolic"):
        evaluate("com", m, cs.SX.sym("q", m.n_q))


def test_lists_of_a_graph_stay_lists(every_joint: Mechanism):
    blocks = evaluate("fk_all", every_joint, GraphOps().input(0, every_joint.n_q))
    assert len(blocks) == len(every_joint.frame_names)
    assert {block.shape for block in blocks} == {(4, 4)}
