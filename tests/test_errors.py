"""Errors: what they are, what they say, and that they travel between processes."""

from __future__ import annotations

import copy
import errno
import pickle
import time

import pytest

import linkwork as lw
from linkwork.errors import Finding
from linkwork.legible import legible

PROBLEM = Finding(
    "error",
    "bad-number",
    "xyz needs 3 numbers, 2 came",
    "arm.urdf",
    12,
    "origin",
    "elbow",
    "add one",
)
ERRORS = [
    lw.LinkworkError("text"),
    lw.InputError("text"),
    lw.ShapeError("text"),
    lw.UnsupportedFeatureError("text"),
    lw.MissingExtraError("text"),
    lw.ProgramError("text"),
    lw.UnknownNameError("joint", "elbo", ("elbow", "shoulder")),
    lw.DescriptionError([PROBLEM, Finding("error", "cycle", "a cycle")]),
    lw.MissingFileError([Finding("error", "no-file", "there is no such file", "a.urdf")]),
]


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (lw.DescriptionError, ValueError),
        (lw.MissingFileError, lw.DescriptionError),
        (lw.MissingFileError, FileNotFoundError),
        (lw.InputError, ValueError),
        (lw.ShapeError, ValueError),
        (lw.ShapeError, lw.InputError),
        (lw.UnsupportedFeatureError, NotImplementedError),
        (lw.MissingExtraError, ImportError),
        (lw.ProgramError, RuntimeError),
        (lw.UnknownNameError, KeyError),
    ],
)
def test_every_error_is_also_the_built_in_that_fits(error, builtin):
    assert issubclass(error, builtin)
    assert issubclass(error, lw.LinkworkError)


def test_every_error_of_the_public_list_is_of_the_family():
    errors = [getattr(lw, name) for name in lw.__all__ if name.endswith("Error")]
    assert {type(error) for error in ERRORS} == set(errors)


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_errors_travel(error):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error)
        assert str(again) == str(error)
        assert again.__dict__ == error.__dict__
    again = copy.deepcopy(copy.copy(error))
    assert (type(again), str(again), again.args) == (type(error), str(error), error.args)


def test_a_problem_says_where_what_and_what_to_do():
    assert str(PROBLEM) == (
        "arm.urdf:12: error: <origin> 'elbow': xyz needs 3 numbers, 2 came (add one)"
    )
    assert str(Finding("note", "x", "text", line=3)) == "<string>:3: note: text"
    assert str(Finding("note", "x", "text")) == "note: text"  # of what was made in code
    with pytest.raises(AttributeError):
        PROBLEM.line = 3
    assert PROBLEM == pickle.loads(pickle.dumps(PROBLEM))
    assert len({PROBLEM, copy.copy(PROBLEM)}) == 1


def test_a_description_error_lists_every_problem():
    error = lw.DescriptionError(iter([PROBLEM, Finding("warning", "w", "second")]))
    assert [problem.code for problem in error.problems] == ["bad-number", "w"]
    assert str(error).splitlines() == [str(problem) for problem in error.problems]
    assert str(lw.DescriptionError([])) == ""


def test_an_unknown_name_lists_the_nearest():
    valid = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2")
    error = lw.UnknownNameError("joint", "elbo", valid)
    assert str(error) == "no joint named 'elbo'; nearest: elbow"  # not KeyError's repr
    assert (error.kind, error.name, error.valid) == ("joint", "elbo", valid)
    near = str(lw.UnknownNameError("joint", "sholder_pan", valid))
    assert near.index("shoulder_pan") < near.index("shoulder_lift")
    assert str(lw.UnknownNameError("joint", "zzz", valid)).endswith(
        "; there are: " + ", ".join(valid)
    )
    assert str(lw.UnknownNameError("joint", "x", ())).endswith("; there are: none")
    many = [f"link{k}" for k in range(100)]
    text = str(lw.UnknownNameError("frame", "zzz", many))
    assert "there are 100: link0, " in text
    assert text.endswith(", ...")
    assert len(text) < 200


@pytest.mark.parametrize("name", [3, None, ("a",), b"elbow", "", "a\nb", "é\u202e", "%s {0}"])
def test_any_name_can_be_unknown(name):
    error = lw.UnknownNameError("joint", name, ("elbow",))
    assert f"no joint named '{legible(str(name))}'" in str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_very_long_name_gives_a_short_message_soon():
    start = time.perf_counter()
    with pytest.raises(lw.UnknownNameError) as caught:
        lw.load("humanoid").mechanism.frame("elbow" * 1_000_000)
    assert time.perf_counter() - start < 5.0
    assert len(str(caught.value)) < 2000


def test_a_file_that_does_not_exist_is_a_file_not_found(tmp_path):
    for name in ("none.urdf", "none.xacro", "none.xml"):
        path = tmp_path / name
        with pytest.raises(FileNotFoundError) as caught:
            lw.load(path)
        error = caught.value
        assert isinstance(error, lw.MissingFileError)
        assert isinstance(error, lw.DescriptionError)
        assert error.errno == errno.ENOENT
        assert error.filename == str(path)
        assert str(error).startswith(f"{path}: error: there is no such file")
        for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            assert type(again) is lw.MissingFileError
            assert str(again) == str(error)
            assert again.problems == error.problems
    with pytest.raises(lw.MissingFileError, match=r"x\.loops\.yaml: error: there is no such file"):
        lw.load("panda", loops=tmp_path / "x.loops.yaml")
