"""The compiled code of a problem, part by part, made once for all problems of its structure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.recipe import text_recipe
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.best import starts_of
from linkwork.solve.code import Search, check_kernel, pipeline_of, search_call, search_code
from linkwork.solve.parts import deciding_part, numbers_of, parts_of
from linkwork.solve.pipeline import Pipeline
from linkwork.solve.pose_features import POSE_AXES
from linkwork.solve.problem import Problem
from linkwork.solve.texts import has_seeds, problem_texts, target_features

Floats = NDArray[np.float64]


class Compiled:
    """The searches of a problem's parts, and all in one call where it is of one part."""

    def __init__(
        self,
        searches: tuple[Search, ...],
        pipeline: Pipeline | None,
        make_check: Callable[[], Kernel],
    ) -> None:
        self.searches, self.pipeline = searches, pipeline
        self._make_check = make_check

    @cached_property
    def check(self) -> Kernel:
        """The computation that answers are judged by; a pipeline has its own."""
        with COMPILING:
            return self._make_check()


Known: TypeAlias = dict[tuple[str, ...], Compiled]
"""What is compiled already, by the key of its problem."""


def compiled(problem: Problem, compiler: Compiler, known: Known) -> Compiled:
    """The code of a problem: known, from the cache or made.

    A part that does nothing but what decides is a pipeline, and its search is the pipeline's, so
    that what is found does not depend on the way it is asked for. Where lower priorities or
    objectives are added, seeds are those of the deciding tasks.
    """
    found = known.get(problem.key)
    if found is not None:
        return found
    with compiler.work(f"inverse kinematics for {problem.mechanism.name}"):
        problems = parts_of(problem)
        pipeline, check = None, partial(check_kernel, problem, compiler)
        if len(problems) > 1:
            searches = tuple(compiled(part, compiler, known).searches[0] for part in problems)
        elif problem.improves:
            searches = (_with_seeds(problem, compiler, known),)
        else:
            starts = np.ascontiguousarray(np.stack(starts_of(problem)))
            texts = problem_texts(problem)
            pipeline = pipeline_of(texts, starts, POSE_AXES, compiler=compiler)
            searches = (_search_of(pipeline, problem, compiler),)
        return known.setdefault(problem.key, Compiled(searches, pipeline, check))


def _search_of(pipeline: Pipeline, problem: Problem, compiler: Compiler) -> Search:
    """The search of a pipeline, to be called by itself."""
    made, tables = pipeline.made, pipeline.tables
    if not has_seeds(problem):
        return Search(made, search_call(made))
    cells = _Cells(problem, compiler, tables["grid"])
    return Search(made, search_call(made), tables["seeds"], cells)


class _Cells:
    """In which row of the table of seeds targets belong, as the pipeline finds it."""

    def __init__(self, problem: Problem, compiler: Compiler, grid: Floats) -> None:
        self._problem, self._compiler, self._grid = problem, compiler, grid

    @cached_property
    def _features(self) -> Kernel:
        def text(o: Ops, parameters: Block) -> dict[str, Block]:
            return {"features": o.vector(target_features(o, parameters))}

        key = ("inverse kinematics", "features", *self._problem.key)
        sizes = {"parameters": self._problem.layout.n_parameters}
        with COMPILING:
            return build(text_recipe(key, "ik_features", sizes, text), compiler=self._compiler)

    def __call__(self, parameters: Floats) -> Floats:
        """(N, p) -> (N,)."""
        low, scale, cells, stride = self._grid
        at = np.floor((self._features(parameters) - low) * scale)
        return np.clip(at, 0.0, cells - 1.0) @ stride


def _with_seeds(problem: Problem, compiler: Compiler, known: Known) -> Search:
    """The search for a problem with more than what decides, which may start where that would."""
    search, deciding = search_code(problem, compiler), deciding_part(problem)
    if deciding.moved != problem.moved or not has_seeds(deciding):
        return search
    other, (columns, _) = (
        compiled(deciding, compiler, known).searches[0],
        numbers_of(problem, deciding),
    )
    rows = other.rows
    if rows is None:
        return search
    return replace(search, seeds=other.seeds, rows=lambda numbers: rows(numbers[:, columns]))
