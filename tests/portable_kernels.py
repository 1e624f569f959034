"""Kernels that stand for all others in the tests of platforms, and what they are computed from."""

from __future__ import annotations

import functools

import casadi as cs
import numpy as np
import pytest

from linkwork.compile.graph import graph_of
from linkwork.compile.lanes import emit_lanes
from linkwork.compile.loops import emit_rows
from linkwork.compile.optable import OP_TABLE
from linkwork.compile.target import Target, named, new_module
from linkwork.compile.tracing import trace, trace_function
from linkwork.errors import InputError
from linkwork.loading import load
from linkwork.solve.expressions import iteration
from linkwork.solve.inputs import Options, settings_of
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import Pose
from robots import every_joint_urdf, mechanism_from
from seeds import rng
from traced_functions import read

ROWS = ("pose", "fk_all", "operations")
"""Functions of rows: of an arm, of a tree with all joint types, and every operation."""

SCRATCH = 200_000
"""Numbers of scratch memory that are enough for each of them."""


def level(name: str) -> Target:
    """A level of this processor; skips where it lacks it."""
    try:
        return named(name)
    except InputError as reason:
        return pytest.skip(str(reason))


@functools.cache
def function_of(name):
    """What is traced for a kernel."""
    if name == "operations":
        return _every_operation()
    if name == "search":
        return _search_step()
    arm = load("panda").mechanism
    flange = {"frame": arm.frame_names[-1]}
    if name == "fk_all":
        return trace("fk_all", mechanism_from(every_joint_urdf()))
    return trace("fk", arm, **flange)


def _every_operation():
    """One output for each operation of the table, of two arguments between 0.1 and 0.9."""
    x = cs.SX.sym("x", 2)
    results = []
    for key, op in OP_TABLE.items():
        code = getattr(cs, f"OP_{key}")
        make = cs.SX.unary if op.arity == 1 else cs.SX.binary
        results.append(make(code, *[x[k] for k in range(op.arity)]))
    return read(cs.Function("operations", [x], [cs.vertcat(*results)]))


@functools.cache
def _search_problem():
    return make_problem(load("ur5e").mechanism, Pose("tool0"))


def _search_step():
    """One step of inverse kinematics of an arm."""
    problem = _search_problem()
    layout = problem.layout
    sizes = {"x": 6, "parameters": layout.n_parameters, "settings": layout.n_settings}

    def text(o, x, parameters, settings):
        after, state = iteration(o, problem, x, parameters, settings)
        return {"x": after, "state": state}

    return trace_function("step", sizes, text)


def emitted(name, target, symbol="run"):
    """A module with one kernel for a target, and the native function in it."""
    module = new_module(name, target)
    graph = graph_of(function_of(name), fuse=target.fused)
    emit = emit_lanes if name == "search" else emit_rows
    code = emit(module, graph, target.width, symbol, fused=target.fused)
    return module, getattr(code, "function", code)


def inputs_of(name, n):
    """Rows that every operation of the kernel is defined for."""
    g = rng(f"portability {name}")
    size = function_of(name).signature.input_sizes[0]
    return g.uniform(0.1, 0.9, (n, size)) if name == "operations" else g.normal(size=(n, size))


def arrays_of(name, n):
    """The arrays that the native function takes, and how many of the last are results."""
    if name == "search":
        no_seeds = np.full(n, -1.0), np.zeros(6)
        report = np.tile([0.0, np.inf, 0.0, np.inf], (n, 1))
        return [*search_inputs(n), *no_seeds, np.zeros((n, 6)), report, np.zeros(0)]
    out = np.full((n, function_of(name).signature.output_sizes[0]), np.nan)
    return [inputs_of(name, n), out, np.zeros(SCRATCH)]


def numbers_of(name, n):
    """The whole numbers that the native function takes before the arrays."""
    return (0, n, 16, 0, 50, 7, -1, 10**12) if name == "search" else (0, n)


def search_inputs(n):
    """Starts, targets of an arm, settings and limits for the search."""
    robot = load("ur5e")
    T = robot.fk(robot.random(n, seed=4), "tool0")
    parameters = np.hstack([T[:, :3, 3], T[:, :3, :3].reshape(-1, 9)])
    lower, upper = robot.limits.lower, robot.limits.upper
    starts = np.ascontiguousarray([lower, upper - lower, np.zeros(6)])
    settings = settings_of(_search_problem(), Options())
    return np.zeros((n, 6)), np.ascontiguousarray(parameters), settings, starts


def within_few_ulp_of_the_scale(a, b, joints=0):
    """The differences are at most 4 ulp of the largest number of the row, or of 1; 2 more for each
    joint of a tree."""
    scale = np.maximum(1.0, np.abs(b).max(axis=1, keepdims=True))
    return bool((np.abs(a - b) <= (4 + 2 * joints) * np.spacing(scale)).all())


@functools.cache
def joints_of_the_tree(name):
    """How many joints the tree of a kernel has; 0 for what is not of a tree."""
    return len(mechanism_from(every_joint_urdf()).joint_names) if name == "fk_all" else 0
