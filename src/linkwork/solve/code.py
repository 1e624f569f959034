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
from linkwork.solve.problem import PoseProblem
from linkwork.solve.step import SETTINGS, configuration_of, error_at, n_parameters, step


@dataclass(frozen=True)
class Search:
    """The native search: code that stays alive, how to call it, and the size of one step."""

    made: Made
    run: Callable[..., int]
    n_step_instructions: int


def search_code(problem: PoseProblem, compiler: Compiler) -> Search:
    """The search for one problem, from the cache or compiled."""
    recipe = _step_recipe(problem)
    made = compiler.code(recipe.key, lambda: _make_search(recipe, compiler))
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int64, *[ctypes.c_int64] * len(NUMBERS), *[ctypes.c_void_p] * len(ARRAYS)
    )
    return Search(made, kind(made.code.address("ik")), int(made.facts["instructions"]))


def check_kernel(problem: PoseProblem, compiler: Compiler) -> Kernel:
    """(squared position error, squared sine and cosine of the rotation error) of any q."""

    def text(o: Ops, q: Block, parameters: Block) -> dict[str, Block]:
        moved = o.vector([q[k] for k in problem.moved])
        whole = configuration_of(o, problem, moved, parameters)
        error = error_at(o, problem, whole, parameters)
        parts = (error.position_squared, error.sine_squared, error.cosine)
        return {"errors": o.vector(list(parts))}

    sizes = {"q": problem.mechanism.n_q, "parameters": n_parameters(problem)}
    recipe = text_recipe(_key("check", problem), "ik_check", sizes, text)
    return build(recipe, compiler=compiler)


def _key(part: str, problem: PoseProblem) -> tuple[str, ...]:
    moved = ",".join(map(str, problem.coordinates))
    return ("inverse kinematics", part, problem.mechanism.digest, problem.frame, moved)


def _step_recipe(problem: PoseProblem) -> Recipe:
    def text(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = step(o, problem, x, parameters, settings)
        return {"x": after, "state": state}

    sizes = {
        "x": len(problem.moved),
        "parameters": n_parameters(problem),
        "settings": len(SETTINGS),
    }
    return text_recipe(_key("search", problem), "ik_step", sizes, text)


def _make_search(recipe: Recipe, compiler: Compiler) -> tuple[Facts, bytes]:
    target = compiler.target
    graph = recipe.graph(fused=target.fused)
    module = new_module("ik", target)
    emit_lanes(module, graph, target.width, "ik", fused=target.fused)
    facts = {"instructions": recipe.traced().signature.instructions}
    return facts, object_code(module, target, simplify=True)
