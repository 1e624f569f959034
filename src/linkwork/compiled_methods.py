"""What `linkwork.jax.compiled` and `linkwork.torch.compiled` have in common: their methods.

They are made of the registry: one for each algorithm, called as the method of `Robot` is. Each
turns its arguments into arrays by the name of the input, and asks for the compiled function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

from linkwork.algorithms.registry import ALGORITHMS, Algorithm
from linkwork.compile.differentiable import Differentiable
from linkwork.errors import InputError
from linkwork.programs import named

if TYPE_CHECKING:
    from linkwork.robot import Robot


class CompiledMethods:
    """One method for each algorithm of the registry, on arrays of another library.

    A method takes what the method of `Robot` takes, but for ``out``, ``threads`` and ``on_bad``,
    and gives what it gives: for any leading shape, differentiable by every array. So are the numbers
    of the mechanism in ``parameters``, a mapping of names (docs/parameters.md) to arrays.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    def __repr__(self) -> str:
        return f"{type(self).__module__}.compiled({self.robot!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.robot,)

    def _run(
        self, function: Differentiable, given: Mapping[str, Any], shape: tuple[int, ...]
    ) -> Any:
        """The result, of this shape after the leading one, of arrays by name."""
        raise NotImplementedError

    def _compute(self, entry: Algorithm, bound: Mapping[str, Any]) -> Any:
        """The result of a method for its bound arguments."""
        m = self.robot.mechanism
        given = {name: bound[name] for name, _ in entry.inputs}
        static = {key: bound[key] for key in entry.static if key != "frame"}
        more = self._parameters(entry, bound)
        names = named(entry.name, bound.get("frame"), static)
        function = self.robot._programs.differentiable(entry.name, names, tuple(more))  # noqa: SLF001
        found = self._run(function, given | more, entry.output(m))
        return found if entry.result is None else entry.result(m, found)

    def _parameters(self, entry: Algorithm, bound: Mapping[str, Any]) -> dict[str, Any]:
        """The numbers of the mechanism that are given, by name: keywords of dynamics first."""
        m, found = self.robot.mechanism, {}
        for key in ("gravity", "armature"):
            if bound.get(key) is not None:
                found[key] = bound[key]
        losses = bound.get("losses", False)
        if not isinstance(losses, bool):
            raise InputError(f"losses is True or False, not {losses!r:.40}")
        if losses and m.damping.any():
            found["damping"] = m.damping
        if losses and entry.friction and m.friction.any():
            found["friction"] = m.friction
        for frame, wrench in (bound.get("external") or {}).items():
            found[f"wrench:{frame}"] = wrench
        parameters = bound["parameters"]
        if parameters is None:
            return found
        if not isinstance(parameters, Mapping):
            raise InputError(
                "parameters maps names to arrays, such as {'mass:link5': [1.2]}, not "
                f"{type(parameters).__name__}"
            )
        twice = [name for name in parameters if name in found]
        if twice:
            raise InputError(f"'{twice[0]}' is given by a keyword and in parameters; give it once")
        return found | dict(parameters)


def _signature(entry: Algorithm) -> Signature:
    """The arguments of a method, in the order that the method of `Robot` has."""
    either, keyword = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    found = [Parameter("self", either), *[Parameter(name, either) for name, _ in entry.inputs]]
    needed = "base" in entry.static
    for name in entry.static:
        if name == "reference":
            found.append(Parameter(name, keyword, default="world-aligned"))
        elif needed:
            found.append(Parameter(name, either))
        else:
            found.append(Parameter(name, either, default=None))
    for name in entry.keywords:
        found.append(Parameter(name, keyword, default=False if name == "losses" else None))
    return Signature([*found, Parameter("parameters", keyword, default=None)])


def _method(entry: Algorithm) -> Callable[..., Any]:
    signature = _signature(entry)

    def method(self: CompiledMethods, *args: Any, **keywords: Any) -> Any:
        bound = signature.bind(self, *args, **keywords)
        bound.apply_defaults()
        return self._compute(entry, bound.arguments)  # noqa: SLF001  its own

    shape = ", ".join(("...", *map(str, entry.shape)))
    method.__name__, method.__qualname__ = entry.name, f"CompiledMethods.{entry.name}"
    method.__doc__ = entry.doc.replace("{shape}", f"({shape})").replace("\n        ", "\n")
    method.__signature__ = signature  # type: ignore[attr-defined]  what `help` shows
    return method


for _entry in ALGORITHMS.values():
    setattr(CompiledMethods, _entry.name, _method(_entry))


