"""The compiled parts of inverse kinematics: the search in lanes, and the check of its answers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

from linkwork.compile.compiler import Compiler, Facts, Made
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.lanes import ARRAYS, NUMBERS, emit_lanes
from linkwork.compile.machine_code import object_code
from linkwork.compile.recipe import Recipe, text_recipe
from linkwork.compile.target import new_module
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.moves import violation
from linkwork.solve.problem import Problem
from linkwork.solve.step import configuration_of, seen_at, step


@dataclass(frozen=True)
class Search:
    """The native search: code that stays alive, how to call it, and the size of one step."""

    made: Made
    run: Callable[..., int]
    n_step_instructions: int


def search_code(problem: Problem, compiler: Compiler) -> Search:
    """The search for one problem, from the cache or compiled."""
    recipe = step_recipe(problem)
    made = compiler.code(recipe.key, lambda: _make_search(recipe, compiler))
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int64, *[ctypes.c_int64] * len(NUMBERS), *[ctypes.c_void_p] * len(ARRAYS)
    )
    return Search(made, kind(made.code.address("ik")), int(made.facts["instructions"]))


def check_kernel(problem: Problem, compiler: Compiler) -> Kernel:
    """The squared measure of every group of every task at any q, then how far q is outside limits.

    The limits are those beside the description's, which need no code.
    """

    def text(o: Ops, q: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        x = o.vector([q[k] for k in problem.moved])
        whole = configuration_of(o, problem, x, parameters)
        seen = seen_at(o, problem, whole, parameters, settings)
        measures = [squared for each in seen for squared in each.residual.squared]
        values = [x[k] for k in range(len(problem.moved))]
        outside = violation(o, problem, values, (parameters, settings))
        return {"measures": o.vector([*measures, outside])}

    sizes = {"q": problem.mechanism.n_q, **_sizes(problem)}
    recipe = text_recipe(_key("check", problem), "ik_check", sizes, text)
    return build(recipe, compiler=compiler)


def _sizes(problem: Problem) -> dict[str, int]:
    return {"parameters": problem.layout.n_parameters, "settings": problem.layout.n_settings}


def _key(part: str, problem: Problem) -> tuple[str, ...]:
    return ("inverse kinematics", part, *problem.key)


def step_recipe(problem: Problem) -> Recipe:
    """One step: (x, parameters, settings) -> (x', state)."""

    def text(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = step(o, problem, x, parameters, settings)
        return {"x": after, "state": state}

    sizes = {"x": len(problem.moved), **_sizes(problem)}
    return text_recipe(_key("search", problem), "ik_step", sizes, text)


def _make_search(recipe: Recipe, compiler: Compiler) -> tuple[Facts, bytes]:
    target = compiler.target
    graph = recipe.graph(fused=target.fused)
    module = new_module("ik", target)
    emit_lanes(module, graph, target.width, "ik", fused=target.fused)
    facts = {"instructions": recipe.traced().signature.instructions}
    return facts, object_code(module, target, simplify=True)
