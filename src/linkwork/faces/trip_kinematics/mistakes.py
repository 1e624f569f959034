"""What this face raises, each also of the built-in kind that the original's documentation names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from linkwork.errors import InputError, LinkworkError, UnknownNameError

_SHOWN = 40
"""Names that a message lists."""


class WrongTypeError(LinkworkError, TypeError):
    """A value of a type that the call does not take."""


class UnknownKeyError(UnknownNameError, InputError):
    """A key of a state, or the name of a joint or group, that does not exist.

    The documentation names KeyError in some calls and ValueError in others; this is both.
    """

    def __init__(self, kind: str, name: object, valid: Sequence[str]) -> None:
        super().__init__(kind, str(name), valid)
        more = ", ..." if len(self.valid) > _SHOWN else ""
        self.text = f"no {kind} named '{name!s:.80}'; there are: {listed(self.valid[:_SHOWN])}"
        self.text += more
        self.args = (self.text,)

    def __reduce__(self) -> tuple[type[UnknownKeyError], tuple[str, str, tuple[str, ...]]]:
        return (UnknownKeyError, (self.kind, self.name, self.valid))


class NameClashError(LinkworkError, KeyError):
    """Two parts of a robot with one name."""

    def __str__(self) -> str:
        return str(self.args[0])


class MappingError(InputError, RuntimeError):
    """A mapping of a group gave something else than a state, or a state that is not finite."""


class NotFiniteError(InputError):
    """A value that is NaN or infinite."""


class StaticGroupError(LinkworkError, RuntimeError):
    """A state was given to a group in which nothing moves."""


class TipError(InputError, RuntimeError, KeyError):
    """An initial tip of a solver with another number of values than the chain has.

    The documentation names RuntimeError; the original raises KeyError where joints are left out.
    """

    def __str__(self) -> str:
        return str(self.args[0])


class NoSolution(LinkworkError, RuntimeError):
    """No state of the robot brings the end effector to the target."""


class NotAssembledError(NoSolution, InputError):
    """A state at which the loops of a mechanism cannot be closed."""


class SequenceError(InputError, AssertionError):
    """An order of Euler angles that is not there."""


class StateWarning(UserWarning):
    """The virtual and the actuated state that a group was made with do not agree."""


def listed(names: Iterable[object]) -> str:
    """Names as they stand in a message."""
    return ", ".join(f"'{name}'" for name in names) or "none"
