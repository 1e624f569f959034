"""The compiled parts of inverse kinematics, from the cache or made.

`pipeline_code` is all of it in one native function; `search_code` and `check_kernel` are the search
in lanes and the check of its answers apart.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler, Facts, Made
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.lanes import ARRAYS, NUMBERS, Stall, emit_lanes, steps_in_a_slice
from linkwork.compile.machine_code import COMPILING, object_code
from linkwork.compile.native_call import emit_fast_call
from linkwork.compile.numpy_abi import ArrayAbi, array_abi
from linkwork.compile.recipe import Recipe, text_recipe
from linkwork.compile.target import new_module
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.moves import violation
from linkwork.solve.pipeline import Pipeline
from linkwork.solve.problem import Problem
from linkwork.solve.seeds import Axis, make_seeds
from linkwork.solve.step import configuration_of, seen_at, step

Floats = NDArray[np.float64]
Text = Callable[..., Mapping[str, Block]]


@dataclass(frozen=True)
class Texts:
    """A problem as `pipeline` takes it; ``key`` tells all that its texts depend on.

    ``targets`` are the shapes of one target each; prepare takes them flat, by rows. Without
    features ``place`` is None. ``stall``: when a try of the search is given up.
    """

    key: tuple[str, ...]
    targets: tuple[tuple[int, ...], ...]
    n_q: int
    n: int
    n_parameters: int
    n_settings: int
    verify_needs_settings: bool
    prepare: Text
    step: Text
    verify: Text
    place: Text | None = None
    stall: Stall | None = None

    @property
    def n_verify_settings(self) -> int:
        """How many settings `verify` is given: all or none."""
        return self.n_settings if self.verify_needs_settings else 0

    def recipes(self) -> dict[str, Recipe]:
        """The recipes of the texts by name."""
        x, q0 = {"x": self.n}, {"q0": self.n_q}
        parameters = {"parameters": self.n_parameters}
        flat = {f"target_{k}": math.prod(shape) for k, shape in enumerate(self.targets)}
        made = {
            "prepare": text_recipe((), "ik_prepare", {**flat, **q0}, self.prepare),
            "step": text_recipe(
                (), "ik_step", {**x, **parameters, "settings": self.n_settings}, self.step
            ),
            "verify": text_recipe(
                (),
                "ik_verify",
                {**x, **q0, **parameters, "settings": self.n_verify_settings},
                self.verify,
            ),
        }
        if self.place is not None:
            made["place"] = text_recipe((), "ik_place", x, self.place)
        return made


def pipeline_code(texts: Texts, compiler: Compiler) -> Made:
    """The code of `pipeline.Pipeline` for a problem, from the cache or compiled."""
    abi = array_abi()
    layout = "" if abi is None else repr(abi.layout)  # the built-in function is in the code
    key = ("inverse kinematics", "pipeline", layout, repr(texts.stall), *texts.key)
    return compiler.code(key, lambda: _make_pipeline(texts, compiler, abi))


def pipeline_of(
    texts: Texts, starts: Floats, axes: Sequence[Axis], *, compiler: Compiler
) -> Pipeline:
    """The pipeline of a problem, with its seeds where it has features (one axis for each)."""
    with COMPILING:
        pipeline = Pipeline(pipeline_code(texts, compiler), {"starts": starts})
    if pipeline.sizes.features:
        seeds = make_seeds(pipeline.place, starts, axes)
        pipeline.connect({"starts": starts, "grid": seeds.grid, "seeds": seeds.table})
    return pipeline


def _make_pipeline(texts: Texts, compiler: Compiler, abi: ArrayAbi | None) -> tuple[Facts, bytes]:
    from linkwork.solve.pipeline_code import Graphs, emit_pipeline  # noqa: PLC0415  not for cached code

    target, recipes = compiler.target, texts.recipes()
    graphs = {name: recipe.graph(fused=target.fused) for name, recipe in recipes.items()}
    module = new_module("ik", target)
    named = Graphs(graphs["prepare"], graphs["step"], graphs["verify"], graphs.get("place"))
    sizes = emit_pipeline(
        module, named, texts.targets, target.width, fused=target.fused, stall=texts.stall
    )
    one = abi is not None and sizes.rows_scratch == 0
    if abi is not None and one:
        inputs = [*sizes.shapes, sizes.n_q, sizes.options]
        rows = module.get_global("one")
        emit_fast_call(module, rows, inputs, (sizes.n_q + sizes.report,), abi)
    instructions = recipes["step"].traced().signature.instructions
    facts = {
        "instructions": instructions,
        "slice": steps_in_a_slice(instructions, target.width),
        "sizes": sizes.to_facts(),
        "one": one,
    }
    return facts, object_code(module, target, simplify=True)


@dataclass(frozen=True)
class Search:
    """The native search: code that stays alive, how to call it, and the size of one step.

    ``run(numbers..., addresses of arrays...)`` as `lanes.emit_lanes` says. Where it may start near
    its targets, ``rows`` (N, p) -> (N,) gives the rows of the table ``seeds`` for parameters.
    """

    made: Made
    run: Callable[..., int]
    seeds: NDArray[np.uint16] | None = None
    rows: Callable[[Floats], Floats] | None = None

    @property
    def n_step_instructions(self) -> int:
        """How many instructions one step takes."""
        return int(self.made.facts["instructions"])


def search_code(problem: Problem, compiler: Compiler) -> Search:
    """The search for one problem, from the cache or compiled; it has no seeds."""
    recipe = step_recipe(problem)
    made = compiler.code(recipe.key, lambda: _make_search(recipe, compiler))
    return Search(made, search_call(made))


def search_call(made: Made) -> Callable[..., int]:
    """The function ``ik`` of a search, or of a pipeline: they are the same instructions."""
    kind = ctypes.CFUNCTYPE(
        ctypes.c_int64, *[ctypes.c_int64] * len(NUMBERS), *[ctypes.c_void_p] * len(ARRAYS)
    )
    return kind(made.code.address("ik"))


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
    instructions = recipe.traced().signature.instructions
    slice_ = steps_in_a_slice(instructions, target.width)
    facts = {"instructions": instructions, "slice": slice_}
    return facts, object_code(module, target, simplify=True)
