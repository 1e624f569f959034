"""Errors: each of the built-in kinds that the documentation names, and picklable."""

from __future__ import annotations

import pickle

import pytest

from linkwork.errors import InputError, LinkworkError
from linkwork.faces.trip_kinematics import mistakes


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (mistakes.WrongTypeError("x"), (TypeError,)),
        (mistakes.UnknownKeyError("joint", "x", ["a", "b"]), (KeyError, ValueError, InputError)),
        (mistakes.NameClashError("x"), (KeyError,)),
        (mistakes.MappingError("x"), (RuntimeError, ValueError)),
        (mistakes.NotFiniteError("x"), (ValueError,)),
        (mistakes.StaticGroupError("x"), (RuntimeError,)),
        (mistakes.TipError("x"), (RuntimeError, ValueError, KeyError)),
        (mistakes.NoSolution("x"), (RuntimeError,)),
        (mistakes.SequenceError("x"), (AssertionError, ValueError)),
    ],
)
def test_kinds(error: Exception, kinds: tuple[type, ...]):
    assert isinstance(error, LinkworkError)
    assert all(isinstance(error, kind) for kind in kinds)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), str(error))
    assert not str(error).startswith(("'", '"'))


def test_all_names_are_listed():
    error = mistakes.UnknownKeyError("joint", "x", ["a", "b"])
    assert str(error) == "no joint named 'x'; there are: 'a', 'b'"
    many = mistakes.UnknownKeyError("joint", "x" * 200, [f"j{k}" for k in range(60)])
    assert str(many).endswith("'j39', ...") and len(str(many)) < 500
    assert mistakes.listed([]) == "none"
