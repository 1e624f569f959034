"""The compiled kernels as functions of JAX: under jit, vmap, grad, jvp and what is made of them.

Every kernel is one equation of JAX's, a primitive, which XLA calls by its address, without Python.
Its derivatives are compiled kernels as well: forwards the one along changes, which is linear, and
backwards its transpose. Batches are leading axes.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from linkwork import settings
from linkwork.checks import leading_shape
from linkwork.compile.differentiable import Differentiable
from linkwork.compile.xla_call import VERSION, XlaCall, xla_call
from linkwork.compiled_methods import CompiledMethods, Solved, Solver
from linkwork.errors import ShapeError, UnsupportedFeatureError
from linkwork.jax.model import real_array
from linkwork.mechanism.parameters import of_rotors

if TYPE_CHECKING:
    from linkwork.robot import Robot

jnp: Any = jax.numpy
lax: Any = jax.lax


class Compiled(CompiledMethods):
    """A robot's compiled functions as functions of JAX arrays; see `compiled`."""

    def _run(
        self,
        function: Differentiable,
        given: Mapping[str, Any],
        own: Mapping[str, Any],
        shape: tuple[int, ...],
    ) -> Any:
        arrays = {name: real_array(a, name) for name, a in given.items()}
        kind = _kind(arrays)
        (found,) = call(function, arrays | {name: jnp.asarray(a, kind) for name, a in own.items()})
        return found.reshape(*found.shape[:-1], *shape)

    def _armature(self, given: Any) -> Any:
        inertia = real_array(given, "armature")
        if inertia.ndim:
            return inertia
        return jnp.where(of_rotors(self.robot.mechanism, 1.0) > 0.0, inertia, 0.0)

    def _solved(self, solver: Solver, given: Mapping[str, Any]) -> Solved:
        arrays = {name: real_array(a, name) for name, a in given.items()}
        kind = _kind(arrays)
        return Solved(*_answers(solver, *[a.astype(kind) for a in arrays.values()]))


def compiled(robot: Robot) -> Compiled:
    """The compiled functions of a robot, to be called in JAX: ``compiled(robot).fk(q, "tool0")``.

    The methods are those of `Robot` that compute, on JAX arrays of any leading shape. ``jit``,
    ``vmap``, ``grad``, ``jvp`` and what is made of them take them; derivatives are compiled too.
    They run on the CPU, on one thread a call; on another device by way of the host.

    The result has the type that JAX gives the inputs together: float32 where all are, or where
    ``jax_enable_x64`` is off; the arithmetic is float64. A row that is not finite is NaN.
    """
    return Compiled(robot)


def call(function: Differentiable, given: Mapping[str, Any]) -> list[Any]:
    """The outputs (..., size) of a function for arrays (..., size) by the names of its inputs.

    Raises: ShapeError.
    """
    kind = _kind(given)
    arrays = [a.astype(kind) for a in given.values()]
    sizes = function.input_sizes
    for k, (name, size) in enumerate(zip(given, sizes, strict=True)):
        if arrays[k].ndim == 0 and size == 1:
            arrays[k] = arrays[k][None]
        if arrays[k].ndim == 0 or arrays[k].shape[-1] != size:
            raise ShapeError(f"{name} must have shape (..., {size}), not {arrays[k].shape}")
    lead = leading_shape(dict(zip(given, arrays, strict=True)))
    arrays = [jnp.broadcast_to(a, (*lead, size)) for a, size in zip(arrays, sizes, strict=True)]
    return KERNEL.bind(*arrays, function=function)


def _kind(given: Mapping[str, Any]) -> Any:
    """The type of the result: that of the arrays together, or float32 where that is shorter."""
    floats = [a for a in given.values() if jnp.issubdtype(a.dtype, jnp.floating)]
    return jnp.result_type(*floats, np.float32) if floats else jnp.result_type(float)


# --- the primitive --------------------------------------------------------------------------------

KERNEL: Any = Primitive("linkwork_kernel")
"""A compiled function of arrays (..., size) with equal leading axes and of one type."""
KERNEL.multiple_results = True


@KERNEL.def_abstract_eval
def _shapes(*inputs: Any, function: Differentiable) -> list[Any]:
    lead, kind = inputs[0].shape[:-1], inputs[0].dtype
    return [inputs[0].update(shape=(*lead, size), dtype=kind) for size in function.output_sizes]


@KERNEL.def_impl
def _now(*inputs: Any, function: Differentiable) -> Any:
    return _jitted(function)(*inputs)


@cache
def _jitted(function: Differentiable) -> Any:
    return jax.jit(lambda *inputs: KERNEL.bind(*inputs, function=function))


def _batched(inputs: Sequence[Any], axes: Sequence[Any], *, function: Differentiable) -> Any:
    """The batch becomes the first axis of every input."""
    size = next(a.shape[axis] for a, axis in zip(inputs, axes, strict=True) if axis is not None)
    moved = [
        jnp.broadcast_to(a, (size, *a.shape)) if axis is None else jnp.moveaxis(a, axis, 0)
        for a, axis in zip(inputs, axes, strict=True)
    ]
    found = KERNEL.bind(*moved, function=function)
    return found, [0] * len(found)


def _along(primals: Sequence[Any], tangents: Sequence[Any], *, function: Differentiable) -> Any:
    """The outputs and their changes."""
    outputs = KERNEL.bind(*primals, function=function)
    moved = [k for k, tangent in enumerate(tangents) if type(tangent) is not ad.Zero]
    if moved and moved[0] >= function.n_given:  # it is linear in these
        linear = range(function.n_given, len(primals))
        changes = [
            _made(tangents[k], primals[k]) if k in linear else primals[k]
            for k in range(len(primals))
        ]
        return outputs, KERNEL.bind(*changes, function=function)
    changes = [_made(tangents[k], primals[k]) for k in moved]
    derivative = function.derivative("along", moved)
    return outputs, KERNEL.bind(*primals, *changes, function=derivative)


def _made(tangent: Any, like: Any) -> Any:
    return jnp.zeros_like(like) if type(tangent) is ad.Zero else tangent


def _transposed(cotangents: Sequence[Any], *inputs: Any, function: Differentiable) -> Any:
    """The weights of the inputs that a derivative is linear in, of those of its outputs.

    What is linear in changes and what is linear in weights are transposes of each other.
    """
    origin, n = function.origin, function.n_given
    asked = [k for k, a in enumerate(inputs) if ad.is_undefined_primal(a)]
    if origin is None or asked[0] < n:
        raise UnsupportedFeatureError(
            f"{function.title} is not linear in its input {asked[0]}, so it has no transpose"
        )
    own, given = origin.function, inputs[:n]
    like = next(a for a in given)
    sizes = function.output_sizes
    weights = [
        jnp.zeros((*like.shape[:-1], size), like.dtype) if type(c) is ad.Zero else c
        for c, size in zip(cotangents, sizes, strict=True)
    ]
    if origin.direction == "along":
        wrt = tuple(origin.wrt[k - n] for k in asked)
        found = KERNEL.bind(*given, *weights, function=own.derivative("back", wrt))
    else:
        every = KERNEL.bind(*given, *weights, function=own.derivative("along", origin.wrt))
        found = [every[k - n] for k in asked]
    answers: list[Any] = [None] * len(inputs)
    for k, answer in zip(asked, found, strict=True):
        answers[k] = answer
    return answers


batching.primitive_batchers[KERNEL] = _batched
ad.primitive_jvps[KERNEL] = _along
ad.primitive_transposes[KERNEL] = _transposed


# --- answers of solvers ---------------------------------------------------------------------------


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _answers(solver: Solver, *inputs: Any) -> tuple[Any, Any]:
    """q and success, by the host."""
    lead, kind = solver.lead([a.shape for a in inputs]), inputs[0].dtype
    shapes = (
        jax.ShapeDtypeStruct((*lead, solver.n_q), kind),
        jax.ShapeDtypeStruct(lead, np.bool_),
    )

    def compute(*arrays: Any) -> tuple[Any, Any]:
        q, success = solver.answers(*arrays)
        return q.astype(kind), success

    return jax.pure_callback(compute, shapes, *inputs, vmap_method="broadcast_all")


@_answers.defjvp
def _(solver: Solver, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    q, success = _answers(solver, *primals)
    slopes = _sensitivity(solver, q, success, *primals)
    change = jnp.zeros_like(q)
    for slope, tangent, own in zip(slopes, tangents, solver.inputs.values(), strict=True):
        flat = tangent.reshape(*tangent.shape[: tangent.ndim - len(own)], math.prod(own))
        change = change + (slope @ flat[..., None])[..., 0]
    return (q, success), (change, np.zeros(success.shape, jax.dtypes.float0))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _sensitivity(solver: Solver, q: Any, success: Any, *inputs: Any) -> tuple[Any, ...]:
    """The derivatives of q by the inputs, flat (..., nq, size)."""
    lead, kind = q.shape[:-1], q.dtype
    shapes = tuple(
        jax.ShapeDtypeStruct((*lead, solver.n_q, math.prod(own)), kind)
        for own in solver.inputs.values()
    )

    def compute(*arrays: Any) -> tuple[Any, ...]:
        return tuple(each.astype(kind) for each in solver.derivatives(*arrays))

    return jax.pure_callback(compute, shapes, q, success, *inputs, vmap_method="broadcast_all")


@_sensitivity.defjvp
def _(solver: Solver, primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    del primals, tangents
    raise UnsupportedFeatureError(f"the {solver.title} has first derivatives alone, no second ones")


# --- XLA ------------------------------------------------------------------------------------------

_TARGETS: dict[str, XlaCall] = {}
"""The calls that XLA may make, kept for good: it has their addresses."""
_NUMBERS = itertools.count()


def _lowered(context: Any, *inputs: Any, function: Differentiable) -> Any:
    """A call of the kernel's own address."""
    minor = _minor_version()
    if minor is None:
        return _lowered_by_host(context, *inputs, function=function)
    return jax.ffi.ffi_lowering(_target(function, minor))(context, *inputs)


def _target(function: Differentiable, minor: int) -> str:
    """The name that XLA knows a function by, the same in every process; registered once."""
    key = function.recipe.key
    own = hashlib.sha256(repr(key).encode()).hexdigest()[:24] if key else str(next(_NUMBERS))
    name = f"linkwork_{own}"
    if name not in _TARGETS:
        made = xla_call(function.rows, settings.compiler(), minor)
        pointer = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(made.address)
        jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(pointer), platform="cpu")
        _TARGETS[name] = made
    return name


@cache
def _minor_version() -> int | None:
    """The minor version of the interface that jaxlib's header tells; None for another major one."""
    header = Path(jax.ffi.include_dir()) / "xla" / "ffi" / "api" / "c_api.h"
    try:
        text = header.read_text()
    except OSError:
        return None
    found = [re.search(rf"#define XLA_FFI_API_{part} (\d+)", text) for part in ("MAJOR", "MINOR")]
    if found[0] is None or found[1] is None or int(found[0][1]) != VERSION:
        return None
    return int(found[1][1])


def _by_host(*inputs: Any, function: Differentiable) -> Any:
    """The rows computed by the host, wherever the arrays are."""
    lead, kind = inputs[0].shape[:-1], inputs[0].dtype
    shapes = [jax.ShapeDtypeStruct((*lead, size), kind) for size in function.output_sizes]

    def compute(*arrays: Any) -> list[Any]:
        tables = [
            np.ascontiguousarray(np.asarray(a, np.float64)).reshape(math.prod(lead), size)
            for a, size in zip(arrays, function.input_sizes, strict=True)
        ]
        found = function(*tables)
        return [
            rows.reshape(shape.shape).astype(kind)
            for rows, shape in zip(found, shapes, strict=True)
        ]

    return jax.pure_callback(compute, shapes, *inputs)


_lowered_by_host: Any = mlir.lower_fun(_by_host, multiple_results=True)
mlir.register_lowering(KERNEL, _lowered_by_host)
mlir.register_lowering(KERNEL, _lowered, platform="cpu")
