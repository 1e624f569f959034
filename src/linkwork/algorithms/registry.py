"""The list of algorithms: what each one takes, what it gives, and how to run it here and now."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np

from linkwork.algorithms import configuration
from linkwork.algorithms.actuation import actuated_numbers
from linkwork.algorithms.actuation_jacobian import actuation_jacobian
from linkwork.algorithms.center_of_mass import (
    com,
    com_acceleration,
    com_acceleration_by_sweep,
    com_by_sweep,
    com_jacobian,
    com_jacobian_by_sweep,
    com_velocity,
    com_velocity_by_sweep,
)
from linkwork.algorithms.centroidal import (
    centroidal_matrix,
    centroidal_matrix_by_sweep,
    centroidal_momentum,
    centroidal_momentum_by_sweep,
)
from linkwork.algorithms.closure import closure, closure_jacobian, n_rows
from linkwork.algorithms.closure_motion import closure_bias
from linkwork.algorithms.coriolis_matrix import coriolis_by_sweep, coriolis_matrix
from linkwork.algorithms.energy import kinetic_energy, kinetic_energy_by_sweep
from linkwork.algorithms.forward_dynamics import forward_dynamics, forward_dynamics_by_sweep
from linkwork.algorithms.forward_dynamics_derivatives import (
    forward_dynamics_derivatives,
    forward_dynamics_derivatives_by_sweep,
)
from linkwork.algorithms.forward_kinematics import fk, fk_all, fk_all_by_sweep, fk_by_sweep
from linkwork.algorithms.frame_motion import (
    frame_acceleration,
    frame_acceleration_by_sweep,
    frame_velocity,
    frame_velocity_by_sweep,
    jacobian_dot_v,
    jacobian_dot_v_by_sweep,
)
from linkwork.algorithms.gravity import (
    gravity_forces,
    gravity_forces_by_sweep,
    potential_energy,
    potential_energy_by_sweep,
)
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.inverse_dynamics import (
    bias_forces,
    bias_forces_by_sweep,
    inverse_dynamics,
    inverse_dynamics_by_sweep,
)
from linkwork.algorithms.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from linkwork.algorithms.inverse_mass_matrix import (
    inverse_mass_matrix,
    inverse_mass_matrix_by_sweep,
)
from linkwork.algorithms.jacobian import jacobian, jacobian_by_sweep
from linkwork.algorithms.jacobian_dot import jacobian_dot, jacobian_dot_by_sweep
from linkwork.algorithms.loop_forces import loop_forces, loop_wrenches
from linkwork.algorithms.mass_matrix import mass_matrix, mass_matrix_by_sweep
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.passive_rates import passive_rates
from linkwork.algorithms.regressor import regressor, regressor_by_sweep
from linkwork.algorithms.relative import relative, relative_by_sweep
from linkwork.algorithms.sweep import Output
from linkwork.algorithms.tree_derivatives import derivatives
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism import parameters as named
from linkwork.mechanism.dynamics_checks import (
    check_actuated,
    check_held,
    check_inertias,
    check_inertias_said,
    check_loops,
    check_masses_said,
    check_moving_masses_said,
)
from linkwork.mechanism.model import Mechanism
from linkwork.ops import ops_of
from linkwork.ops.numpy import NUMPY
from linkwork.ops.protocol import Block, Ops

Kind = Literal["q", "v"]
Shape = tuple[int, ...]
Check = Callable[[Mechanism, Sequence[str]], None]


@dataclass(frozen=True)
class Algorithm:
    """One algorithm: ``function(o, m, *inputs, **static)`` on blocks of one configuration.

    It returns one block, or a list of blocks of one shape; `output` then has its length first.
    """

    name: str
    function: Callable[..., Block]
    inputs: tuple[tuple[str, Kind], ...]  # name, and kind: nq or nv numbers
    static: tuple[str, ...]  # names of the arguments that are fixed before tracing
    output: Callable[[Mechanism], Shape]
    needs: tuple[Check, ...] = ()  # what must hold of a description

    @property
    def counts_free_motions(self) -> bool:
        """Whether it takes ``free_motions`` where something is held beside the tree."""
        return check_actuated in self.needs

    def check(self, m: Mechanism, parameters: str | Sequence[str] = ()) -> None:
        """Check that the description gives what the algorithm takes, before it is traced.

        Raises: InputError naming link or joint; see `mechanism.dynamics_checks`.
        """
        names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        for need in self.needs:
            need(m, names)

    @property
    def needs_loops(self) -> bool:
        """Whether it is of mechanisms with loops or couplings alone."""
        return check_held in self.needs or check_loops in self.needs

    def run(
        self,
        o: Ops,
        m: Mechanism,
        blocks: Sequence[Block],
        parameters: Mapping[str, Block] | None = None,
        **static: Any,
    ) -> Block:
        """The result for these inputs, with these parameters of the mechanism given as vectors.

        Raises: UnknownNameError for parameters that do not exist, InputError for those without
        effect, besides what the function raises.
        """
        if not parameters:
            return self.function(o, m, *blocks, **static)
        given = Parametric(o, m, parameters)
        result: Block = self.function(o, given, *blocks, **static)
        unused = given.unused()
        if unused:
            raise self._without_effect(o, m, blocks, unused, static)
        return result

    def depends_on(
        self, o: Ops, m: Mechanism, blocks: Sequence[Block], static: Mapping[str, Any]
    ) -> list[str]:
        """The names of all parameters that the result depends on, each taken by itself."""
        asked = Parametric(o, m, {})
        self.function(o, asked, *blocks, **static)
        return asked.asked()

    def _without_effect(
        self,
        o: Ops,
        m: Mechanism,
        blocks: Sequence[Block],
        unused: Sequence[str],
        static: Mapping[str, Any],
    ) -> InputError:
        frame = f" of '{static['frame']}'" if "frame" in static else ""
        names = self.depends_on(o, m, blocks, static)
        # those with the most in common with what was named come first
        close = difflib.get_close_matches(unused[0], names, n=6, cutoff=0.0)
        more = f" and {len(names) - 6} more" if len(names) > 6 else ""
        listed = f"it depends on {', '.join(close)}{more}" if names else "it has no parameters"
        named = ", ".join(f"'{name}'" for name in unused)
        return InputError(
            f"{self.name}{frame} does not depend on {named}: leave it out of the parameters, or "
            f"leave out one that takes its place; {listed}"
        )

    @property
    def by_sweep(self) -> Callable[..., Output] | None:
        """The same in passes over the joints, for long mechanisms: (sweep, *inputs, **static)."""
        return BY_SWEEP.get(self.name)

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (self.function.__doc__ or "").partition("\n")[0].strip()

    def sizes(self, m: Mechanism, parameters: str | Sequence[str] = ()) -> dict[str, int]:
        """The length of each input; parameters come after the algorithm's own.

        Raises: UnknownNameError for parameters that do not exist.
        """
        own = {name: m.n_q if kind == "q" else m.n_v for name, kind in self.inputs}
        return own | {p.name: p.size for p in named.find(m, parameters)}


_Q: tuple[tuple[str, Kind], ...] = (("q", "q"),)
_QV: tuple[tuple[str, Kind], ...] = (("q", "q"), ("v", "v"))
_QQ: tuple[tuple[str, Kind], ...] = (("q0", "q"), ("q1", "q"))
_MOTION: tuple[tuple[str, Kind], ...] = (*_QV, ("dv", "v"))
_FORCES: tuple[tuple[str, Kind], ...] = (*_QV, ("tau", "v"))
_REAL: tuple[Check, ...] = (check_inertias,)
_MOVABLE: tuple[Check, ...] = (check_inertias, check_movable)
_WEIGHED: tuple[Check, ...] = (check_masses_said,)
_SAID: tuple[Check, ...] = (check_inertias_said,)
_CENTRAL: tuple[Check, ...] = (check_masses_said, check_inertias_said)
_LIFTED: tuple[Check, ...] = (check_moving_masses_said, check_actuated)
_DRIVEN: tuple[Check, ...] = (check_inertias, check_actuated)
_HELD: tuple[Check, ...] = (check_held,)
_DRIVEN_LOOPS: tuple[Check, ...] = (check_held, check_actuated)


def _vector_v(m: Mechanism) -> Shape:
    return (m.n_v,)


def _matrices_v(m: Mechanism) -> Shape:
    return (3, m.n_v, m.n_v)


def _rows(m: Mechanism) -> Shape:
    return (n_rows(m),)


def _matrix_v(m: Mechanism) -> Shape:
    return (m.n_v, m.n_v)


ALGORITHMS: dict[str, Algorithm] = {
    entry.name: entry
    for entry in (
        Algorithm("fk", fk, _Q, ("frame",), lambda m: (4, 4)),
        Algorithm("fk_all", fk_all, _Q, (), lambda m: (len(m.frame_names), 4, 4)),
        Algorithm("relative", relative, _Q, ("base", "frame"), lambda m: (4, 4)),
        Algorithm("jacobian", jacobian, _Q, ("frame", "reference"), lambda m: (6, m.n_v)),
        Algorithm("jacobian_dot", jacobian_dot, _QV, ("frame", "reference"), lambda m: (6, m.n_v)),
        Algorithm("jacobian_dot_v", jacobian_dot_v, _QV, ("frame", "reference"), lambda m: (6,)),
        Algorithm("com", com, _Q, (), lambda m: (3,), _WEIGHED),
        Algorithm("com_jacobian", com_jacobian, _Q, (), lambda m: (3, m.n_v), _WEIGHED),
        Algorithm("gravity_forces", gravity_forces, _Q, (), _vector_v, _LIFTED),
        Algorithm("potential_energy", potential_energy, _Q, (), lambda m: (), _WEIGHED),
        Algorithm("inverse_dynamics", inverse_dynamics, _MOTION, (), _vector_v, _DRIVEN),
        Algorithm("bias_forces", bias_forces, _QV, (), _vector_v, _DRIVEN),
        Algorithm("mass_matrix", mass_matrix, _Q, (), _matrix_v, _REAL),
        Algorithm("forward_dynamics", forward_dynamics, _FORCES, (), _vector_v, _MOVABLE),
        Algorithm("inverse_mass_matrix", inverse_mass_matrix, _Q, (), _matrix_v, _MOVABLE),
        Algorithm("coriolis_matrix", coriolis_matrix, _QV, (), _matrix_v, _REAL),
        Algorithm(
            "inverse_dynamics_derivatives",
            inverse_dynamics_derivatives,
            _MOTION,
            (),
            _matrices_v,
            _DRIVEN,
        ),
        Algorithm(
            "forward_dynamics_derivatives",
            forward_dynamics_derivatives,
            _FORCES,
            (),
            _matrices_v,
            _MOVABLE,
        ),
        Algorithm("regressor", regressor, _MOTION, (), lambda m: (m.n_v, 10 * m.n_bodies)),
        Algorithm("kinetic_energy", kinetic_energy, _QV, (), lambda m: (), _SAID),
        Algorithm("centroidal_momentum", centroidal_momentum, _QV, (), lambda m: (6,), _CENTRAL),
        Algorithm("centroidal_matrix", centroidal_matrix, _Q, (), lambda m: (6, m.n_v), _CENTRAL),
        Algorithm("com_velocity", com_velocity, _QV, (), lambda m: (3,), _WEIGHED),
        Algorithm("com_acceleration", com_acceleration, _MOTION, (), lambda m: (3,), _WEIGHED),
        Algorithm("frame_velocity", frame_velocity, _QV, ("frame", "reference"), lambda m: (6,)),
        Algorithm(
            "frame_acceleration",
            frame_acceleration,
            _MOTION,
            ("frame", "reference"),
            lambda m: (6,),
        ),
        Algorithm("closure", closure, _Q, (), _rows, _HELD),
        Algorithm(
            "closure_jacobian", closure_jacobian, _Q, (), lambda m: (*_rows(m), m.n_v), _HELD
        ),
        Algorithm("closure_bias", closure_bias, _QV, (), _rows, _HELD),
        Algorithm(
            "passive_rates",
            passive_rates,
            _Q,
            (),
            lambda m: (m.n_v, len(actuated_numbers(m))),
            _DRIVEN_LOOPS,
        ),
        Algorithm(
            "actuation_jacobian",
            actuation_jacobian,
            _Q,
            ("frame", "reference"),
            lambda m: (6, len(actuated_numbers(m))),
            _DRIVEN_LOOPS,
        ),
        Algorithm("loop_forces", loop_forces, _FORCES, (), _rows, (*_MOVABLE, *_HELD)),
        Algorithm(
            "loop_wrenches",
            loop_wrenches,
            _FORCES,
            (),
            lambda m: (len(m.loops), 6),
            (*_MOVABLE, check_loops),
        ),
        Algorithm("integrate", configuration.integrate, _QV, (), lambda m: (m.n_q,)),
        Algorithm("difference", configuration.difference, _QQ, (), lambda m: (m.n_v,)),
        Algorithm("full", configuration.full, _Q, (), lambda m: (configuration.n_full(m),)),
    )
}
"""Every algorithm by name."""

BY_SWEEP: dict[str, Callable[..., Output]] = {
    "fk": fk_by_sweep,
    "fk_all": fk_all_by_sweep,
    "jacobian": jacobian_by_sweep,
    "frame_velocity": frame_velocity_by_sweep,
    "frame_acceleration": frame_acceleration_by_sweep,
    "jacobian_dot_v": jacobian_dot_v_by_sweep,
    "inverse_dynamics": inverse_dynamics_by_sweep,
    "bias_forces": bias_forces_by_sweep,
    "gravity_forces": gravity_forces_by_sweep,
    "mass_matrix": mass_matrix_by_sweep,
    "forward_dynamics": forward_dynamics_by_sweep,
    "coriolis_matrix": coriolis_by_sweep,
    "inverse_dynamics_derivatives": derivatives,
    "kinetic_energy": kinetic_energy_by_sweep,
    "relative": relative_by_sweep,
    "integrate": configuration.integrate_by_sweep,
    "difference": configuration.difference_by_sweep,
    "jacobian_dot": jacobian_dot_by_sweep,
    "com": com_by_sweep,
    "com_jacobian": com_jacobian_by_sweep,
    "com_velocity": com_velocity_by_sweep,
    "com_acceleration": com_acceleration_by_sweep,
    "potential_energy": potential_energy_by_sweep,
    "centroidal_momentum": centroidal_momentum_by_sweep,
    "centroidal_matrix": centroidal_matrix_by_sweep,
    "regressor": regressor_by_sweep,
    "inverse_mass_matrix": inverse_mass_matrix_by_sweep,
    "forward_dynamics_derivatives": forward_dynamics_derivatives_by_sweep,
}
"""Algorithms in passes over the joints, which the compiler makes loops of: (sweep, *inputs,
**static)."""


def find(name: str) -> Algorithm:
    """The algorithm of this name.

    Raises: UnknownNameError with the nearest names.
    """
    try:
        return ALGORITHMS[name]
    except (KeyError, TypeError):
        raise UnknownNameError("algorithm", name, tuple(ALGORITHMS)) from None


def evaluate(
    name: str,
    m: Mechanism,
    *arrays: Any,
    parameters: Mapping[str, Any] | None = None,
    **static: Any,
) -> Any:
    """Run an algorithm for one configuration on the back end that the arrays belong to.

    NumPy arrays or numbers give a NumPy array; JAX arrays, also under ``jit``, ``vmap`` and
    ``grad``, a JAX array; expressions of a graph a block, or a list of them. A batch is not taken:
    `jax.vmap` or a compiled kernel does that. ``parameters`` gives numbers of the mechanism by name
    (`mechanism.parameters`) other values than they have; they may be blocks as the inputs are.

    Raises: UnknownNameError, ShapeError for an input of the wrong length, InputError for a
    parameter without effect.
    """
    entry, given = find(name), dict(parameters or {})
    o = ops_of(*arrays, *given.values())
    sizes = entry.sizes(m, tuple(given))
    if len(arrays) + len(given) != len(sizes):
        own = list(sizes)[: len(sizes) - len(given)]
        raise ShapeError(f"{name} takes {', '.join(own)}; {len(arrays)} arrays came")
    blocks = [
        _vector(o, f"{name}: {key} of '{m.name}'", array, size)
        for array, (key, size) in zip([*arrays, *given.values()], sizes.items(), strict=True)
    ]
    inputs, rest = blocks[: len(arrays)], blocks[len(arrays) :]
    result = entry.run(o, m, inputs, dict(zip(given, rest, strict=True)), **static)
    if not isinstance(result, list) or o.name == "graph":
        return np.asarray(result) if o.name == "numpy" else cast(Block, result)
    matrices = cast(list[Block], result)
    if o.name == "jax":
        import jax.numpy as jnp  # noqa: PLC0415  loaded already: the arrays are JAX's

        return jnp.stack(matrices)
    return np.stack(matrices)


def parameters_of(name: str, m: Mechanism, **static: Any) -> tuple[str, ...]:
    """The parameters of a mechanism that an algorithm depends on, by name.

    `mechanism.parameters` says what they are, and `mechanism.parameters.values` gives their values.

    Raises: UnknownNameError.
    """
    entry = find(name)
    blocks = [NUMPY.const(np.ones(size)) for size in entry.sizes(m).values()]
    return tuple(entry.depends_on(NUMPY, m, blocks, static))


def _vector(o: Ops, what: str, array: Any, size: int) -> Block:
    """One input as a block; a single number stands for a vector of one."""
    block: Block = o.const(array)
    if size == 1 and block.shape == ():
        return o.vector([block])
    if block.shape != (size,):
        raise ShapeError(
            f"{what} has the shape {(size,)}, not {block.shape}; "
            "one configuration at a time is taken here"
        )
    return block
