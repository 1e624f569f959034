"""Errors of the face that are also the built-in ones which programs catch."""

from linkwork.errors import LinkworkError


class WrongTypeError(LinkworkError, TypeError):
    """A value of a type that is not taken."""


class AttachedError(LinkworkError, RuntimeError):
    """A frame that hangs on another already."""
