"""The compiled kernels as functions of PyTorch: under autograd, torch.func and torch.compile.

A kernel is a `torch.autograd.Function` whose backward and forward derivatives are compiled kernels,
that is, such functions again. While torch.compile traces, it is an operator of PyTorch's instead,
which is one call in the compiled graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from linkwork import extras
from linkwork.checks import real_array
from linkwork.compile.differentiable import Differentiable
from linkwork.compiled_methods import CompiledMethods, Solved, Solver, own_numbers
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.mechanism.parameters import of_rotors

with extras.needed("linkwork.torch needs", "torch", "torch"):
    import torch as _torch

if TYPE_CHECKING:
    from linkwork.robot import Robot

torch: Any = _torch


class Compiled(CompiledMethods):
    """A robot's compiled functions as functions of tensors; see `compiled`."""

    def _function(
        self, algorithm: str, names: tuple[str | None, ...], parameters: tuple[str, ...]
    ) -> Any:
        """The function, and its number in a compiled graph while torch.compile traces."""
        if torch.compiler.is_compiling():
            return _made(self.robot, algorithm, names, parameters)
        return super()._function(algorithm, names, parameters)

    # a search is no operator of a compiled graph: it runs between two of them
    ik = torch.compiler.disable(CompiledMethods.ik)
    assemble = torch.compiler.disable(CompiledMethods.assemble)

    def _run(
        self,
        function: Differentiable | int,
        given: Mapping[str, Any],
        own: Mapping[str, Any],
        shape: tuple[int, ...],
    ) -> Any:
        (found,) = call(function, {**given, **own})
        return found.reshape((*found.shape[:-1], *shape))

    def _own(self, external: Any, losses: bool, friction: bool) -> dict[str, Any]:
        if torch.compiler.is_compiling():
            return dict(_own_numbers(self.robot, external, losses, friction))
        return super()._own(external, losses, friction)

    def _armature(self, given: Any) -> Any:
        inertia = given if isinstance(given, torch.Tensor) else real_array(given, "armature")
        if inertia.ndim:
            return inertia
        rotors = _rotors(self.robot)
        if isinstance(inertia, torch.Tensor):
            return inertia * torch.tensor(rotors, device=inertia.device)
        return inertia * np.array(rotors)

    def _solved(self, solver: Solver, given: Mapping[str, Any]) -> Solved:
        arrays = _tensors(given)
        lead = solver.lead([tuple(a.shape) for a in arrays])
        wide = [
            a.expand(*lead, *own) for a, own in zip(arrays, solver.inputs.values(), strict=True)
        ]
        return Solved(*_Answers.apply(solver, *wide))


def compiled(robot: Robot) -> Compiled:
    """The compiled functions of a robot on tensors: ``compiled(robot).fk(q, "tool0")``.

    The methods are those of `Robot` that compute, with tensors in and out, for any leading shape.
    autograd, ``torch.func`` (``grad``, ``vmap``, ``jacrev``, ``jacfwd``) and ``torch.compile`` take
    them; derivatives of every order are compiled too.

    float64 tensors of the CPU are read where they are; others are copied. The result is on the
    device of the tensors and has their type together, at least float32; the arithmetic is float64,
    on the CPU. A row that is not finite is NaN throughout.
    """
    return Compiled(robot)


def call(function: Differentiable | int, given: Mapping[str, Any]) -> tuple[Any, ...]:
    """The outputs (..., size) of a function for tensors (..., size) by the names of its inputs.

    Functions of a graph that is compiled have numbers.

    Raises: ShapeError, InputError.
    """
    arrays = dict(zip(given, _tensors(given), strict=True))
    sizes = _sizes(function) if isinstance(function, int) else function.input_sizes
    for (name, a), size in zip(arrays.items(), sizes, strict=True):
        if a.ndim == 0 and size == 1:
            arrays[name] = a.reshape(1)
        elif a.ndim == 0 or a.shape[-1] != size:
            raise ShapeError(f"{name} must have shape (..., {size}), not {tuple(a.shape)}")
    try:
        lead = torch.broadcast_shapes(*[a.shape[:-1] for a in arrays.values()])
    except RuntimeError:
        text = ", ".join(f"{name} {tuple(a.shape)}" for name, a in arrays.items())
        raise ShapeError(f"the leading shapes do not go together: {text}") from None
    wide = [
        a.expand(*lead, size) if a.shape[:-1] != lead else a
        for a, size in zip(arrays.values(), sizes, strict=True)
    ]
    if isinstance(function, int):
        return tuple(_operator(wide, function))
    return _Call.apply(function, *wide)


def _tensors(given: Mapping[str, Any]) -> list[Any]:
    """Tensors of one type, on one device.

    Raises: InputError.
    """
    known = [a for a in given.values() if isinstance(a, torch.Tensor)]
    devices = {a.device for a in known}
    if len(devices) > 1:
        named = ", ".join(
            f"{name} on {a.device}" for name, a in given.items() if isinstance(a, torch.Tensor)
        )
        raise InputError(f"the tensors are on several devices: {named}; move them to one")
    device = devices.pop() if devices else torch.device("cpu")
    kind = torch.float32
    if not known:  # arrays keep their type, lists take PyTorch's
        plain = any(isinstance(a, np.ndarray) for a in given.values())
        kind = torch.float64 if plain else torch.promote_types(kind, torch.get_default_dtype())
    found: list[Any] = []
    for name, a in given.items():
        if not isinstance(a, torch.Tensor):
            found.append(torch.tensor(real_array(a, name), device=device))
            continue
        if a.dtype.is_complex or a.dtype == torch.bool:
            raise InputError(f"{name} must be real numbers, not a tensor of {a.dtype}")
        kind = torch.promote_types(kind, a.dtype)
        found.append(a)
    return [a.to(kind) for a in found]


def _computed(function: Differentiable, arrays: Sequence[Any]) -> list[Any]:
    """The outputs of tensors of one type with equal leading axes."""
    lead, like = arrays[0].shape[:-1], arrays[0]
    n = lead.numel()
    tables = [_plain(a.to(torch.float64).reshape(n, a.shape[-1]).contiguous()) for a in arrays]
    return [
        torch.from_numpy(rows.reshape(*lead, size)).to(like.device, like.dtype)
        for rows, size in zip(function(*tables), function.output_sizes, strict=True)
    ]


class _Call(torch.autograd.Function):
    """A kernel, at tensors (..., size) with equal leading axes; the outputs are a tuple."""

    @staticmethod
    def forward(function: Differentiable, *arrays: Any) -> tuple[Any, ...]:
        return tuple(_computed(function, arrays))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        del output
        ctx.function = inputs[0]
        ctx.save_for_backward(*inputs[1:])
        ctx.save_for_forward(*inputs[1:])

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> tuple[Any, ...]:
        wrt = [k for k, needed in enumerate(ctx.needs_input_grad[1:]) if needed]
        derivative = ctx.function.derivative("back", wrt)
        found = _Call.apply(derivative, *ctx.saved_tensors, *weights)
        return _at(wrt, found, 1 + len(ctx.saved_tensors), first=1)

    @staticmethod
    def jvp(ctx: Any, _: Any, *changes: Any) -> tuple[Any, ...]:
        wrt = [k for k, change in enumerate(changes) if change is not None]
        derivative = ctx.function.derivative("along", wrt)
        return _Call.apply(derivative, *ctx.saved_tensors, *[changes[k] for k in wrt])

    @staticmethod
    def vmap(info: Any, axes: Sequence[Any], function: Differentiable, *arrays: Any) -> Any:
        found = _Call.apply(function, *_moved_first(info, axes[1:], arrays))
        return found, (0,) * len(found)


def _at(wrt: Sequence[int], found: Sequence[Any], length: int, *, first: int) -> tuple[Any, ...]:
    """The found ones at their places, None elsewhere."""
    answers: list[Any] = [None] * length
    for k, answer in zip(wrt, found, strict=True):
        answers[first + k] = answer
    return tuple(answers)


# --- answers of solvers ---------------------------------------------------------------------------


def _moved_first(info: Any, axes: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """The batch as the first axis of each."""
    return [
        a.expand(info.batch_size, *a.shape) if axis is None else a.movedim(axis, 0)
        for a, axis in zip(arrays, axes, strict=True)
    ]


def _plain(a: Any) -> Any:
    return a.detach().to("cpu").resolve_neg().numpy()


class _Answers(torch.autograd.Function):
    """q and success, of inputs with equal leading axes."""

    @staticmethod
    def forward(solver: Solver, *arrays: Any) -> tuple[Any, Any]:
        like = arrays[0]
        q, success = solver.answers(*map(_plain, arrays))
        return (
            torch.from_numpy(q).to(like.device, like.dtype),
            torch.from_numpy(np.array(success)).to(like.device),
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.solver = inputs[0]
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(*output, *inputs[1:])
        ctx.save_for_forward(*output, *inputs[1:])

    @staticmethod
    def backward(ctx: Any, weight: Any, _: Any) -> tuple[Any, ...]:
        slopes = _Sensitivity.apply(ctx.solver, *ctx.saved_tensors)
        inputs = ctx.saved_tensors[2:]
        found = [
            (weight[..., None, :] @ slope)[..., 0, :].reshape(a.shape)
            for slope, a in zip(slopes, inputs, strict=True)
        ]
        return None, *found

    @staticmethod
    def jvp(ctx: Any, _: Any, *changes: Any) -> tuple[Any, None]:
        slopes = _Sensitivity.apply(ctx.solver, *ctx.saved_tensors)
        q = ctx.saved_tensors[0]
        total = torch.zeros_like(q)
        for slope, change in zip(slopes, changes, strict=True):
            if change is not None:
                flat = change.reshape(*q.shape[:-1], slope.shape[-1])
                total = total + (slope @ flat[..., None])[..., 0]
        return total, None

    @staticmethod
    def vmap(info: Any, axes: Sequence[Any], solver: Solver, *arrays: Any) -> Any:
        return _Answers.apply(solver, *_moved_first(info, axes[1:], arrays)), (0, 0)


class _Sensitivity(torch.autograd.Function):
    """The derivatives of q by the inputs, flat (..., nq, size); they have none themselves."""

    @staticmethod
    def forward(solver: Solver, *arrays: Any) -> tuple[Any, ...]:
        like = arrays[0]
        found = solver.derivatives(*map(_plain, arrays))
        return tuple(torch.from_numpy(each).to(like.device, like.dtype) for each in found)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        del output
        ctx.solver = inputs[0]

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise _no_second(ctx.solver)

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise _no_second(ctx.solver)

    @staticmethod
    def vmap(info: Any, axes: Sequence[Any], solver: Solver, *arrays: Any) -> Any:
        found = _Sensitivity.apply(solver, *_moved_first(info, axes[1:], arrays))
        return found, (0,) * len(found)


def _no_second(solver: Solver) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"the {solver.title} has first derivatives alone, no second ones"
    )


# --- torch.compile --------------------------------------------------------------------------------

_FUNCTIONS: WeakValueDictionary[int, Differentiable] = WeakValueDictionary()
"""Functions by the numbers that compiled graphs know them by."""


def _number(function: Differentiable) -> int:
    _FUNCTIONS[id(function)] = function
    return id(function)


@torch.compiler.assume_constant_result  # Dynamo does not look at how a function is made
def _made(
    robot: Robot, algorithm: str, names: tuple[str | None, ...], parameters: tuple[str, ...]
) -> int:
    programs = robot._programs  # pyright: ignore[reportPrivateUsage]  one cache for all
    return _number(programs.differentiable(algorithm, names, parameters))


@torch.compiler.assume_constant_result
def _rotors(robot: Robot) -> tuple[int, ...]:
    """One (nv,) where there is a rotor; whole numbers leave an inertia its type."""
    return tuple(of_rotors(robot.mechanism, 1.0).astype(int).tolist())


@torch.compiler.assume_constant_result
def _own_numbers(robot: Robot, external: Any, losses: bool, friction: bool) -> Any:
    found = own_numbers(robot, external, losses, friction)
    return tuple((name, tuple(x.tolist())) for name, x in found.items())


@torch.compiler.assume_constant_result
def _sizes(number: int) -> tuple[int, ...]:
    return tuple(_FUNCTIONS[number].input_sizes)


@torch.library.custom_op(
    "linkwork::kernel", mutates_args=(), schema="(Tensor[] arrays, int function) -> Tensor[]"
)
def _operator(arrays: list[Any], function: int) -> list[Any]:
    return _computed(_FUNCTIONS[function], arrays)


@_operator.register_fake
def _(arrays: list[Any], function: int) -> list[Any]:
    lead = arrays[0].shape[:-1]
    return [arrays[0].new_empty(*lead, size) for size in _FUNCTIONS[function].output_sizes]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    del output
    arrays, ctx.function = inputs
    ctx.held = _FUNCTIONS[ctx.function]
    ctx.save_for_backward(*arrays)


def _backward(ctx: Any, weights: list[Any]) -> tuple[Any, None]:
    wrt = [k for k, needed in enumerate(ctx.needs_input_grad[0]) if needed]
    derivative = ctx.held.derivative("back", wrt)
    found = _operator([*ctx.saved_tensors, *weights], _number(derivative))
    return list(_at(wrt, found, len(ctx.saved_tensors), first=0)), None


_operator.register_autograd(_backward, setup_context=_keep)
