"""The compiled parts of inverse kinematics: the search in lanes, and the check of its answers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from linkwork.compile.compiler import Compiler, Facts, Made
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.lanes import ARRAYS, NUMBERS, emit_lanes
from linkwork.compile.machine_code import object_code
from linkwork.compile.recipe import Recipe
from linkwork.compile.target import new_module
from linkwork.solve.problem import PoseProblem
from linkwork.solve.step import SETTINGS, configuration_of, error_at, n_parameters, step

if TYPE_CHECKING:
    from linkwork.compile.tracing import Traced


@dataclass(frozen=True)
class Search:
    """The native search: code that stays alive, how to call it, and the size of one step."""

    made: Made
    run: Callable[..., int]
    n_step_instructions: int


def search_code(problem: PoseProblem, compiler: Compiler) -> Search:
    """The search for one problem, from the cache or compiled."""
    made = compiler.code(_key("search", problem), lambda: _make_search(problem, compiler))
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int64, *[ctypes.c_int64] * len(NUMBERS), *[ctypes.c_void_p] * len(ARRAYS)
    )
    return Search(made, kind(made.code.address("ik")), int(made.facts["instructions"]))


def check_kernel(problem: PoseProblem, compiler: Compiler) -> Kernel:
    """(squared position error, squared sine and cosine of the rotation error) of any q."""
    return build(Recipe(_key("check", problem), lambda: _trace_check(problem)), compiler=compiler)


def _key(part: str, problem: PoseProblem) -> tuple[str, ...]:
    moved = ",".join(map(str, problem.coordinates))
    return ("inverse kinematics", part, problem.mechanism.digest, problem.frame, moved)


def _make_search(problem: PoseProblem, compiler: Compiler) -> tuple[Facts, bytes]:
    target = compiler.target
    recipe = Recipe((), lambda: _trace_step(problem))
    graph = recipe.graph(fused=target.fused)
    module = new_module("ik", target)
    emit_lanes(module, graph, target.width, "ik", fused=target.fused)
    facts = {"instructions": recipe.traced().signature.instructions}
    return facts, object_code(module, target, simplify=True)


def _trace_step(problem: PoseProblem) -> Traced:
    from linkwork.compile.tracing import trace_function  # noqa: PLC0415  imports CasADi
    from linkwork.ops.casadi import CASADI  # noqa: PLC0415

    def text(x: Any, parameters: Any, settings: Any) -> dict[str, Any]:
        after, state = step(CASADI, problem, x, parameters, settings)
        return {"x": after, "state": state}

    sizes = {
        "x": len(problem.moved),
        "parameters": n_parameters(problem),
        "settings": len(SETTINGS),
    }
    return trace_function("ik_step", sizes, text)


def _trace_check(problem: PoseProblem) -> Traced:
    from linkwork.compile.tracing import trace_function  # noqa: PLC0415  imports CasADi
    from linkwork.ops.casadi import CASADI  # noqa: PLC0415

    def text(q: Any, parameters: Any) -> dict[str, Any]:
        moved = CASADI.vector([q[k] for k in problem.moved])
        whole = configuration_of(CASADI, problem, moved, parameters)
        error = error_at(CASADI, problem, whole, parameters)
        parts = (error.position_squared, error.sine_squared, error.cosine)
        return {"errors": CASADI.vector(list(parts))}

    sizes = {"q": problem.mechanism.n_q, "parameters": n_parameters(problem)}
    return trace_function("ik_check", sizes, text)
