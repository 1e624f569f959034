"""Of all public names: what is documented, and what is said to arguments of wrong types."""

from __future__ import annotations

import copy
import inspect
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import parity
import pytest

from kdl_chains import array, chain, frame, vector
from linkwork.faces import pykdl
from linkwork.faces.pykdl.values import Zero

TYPES = {name: found for name in pykdl.__all__ if isinstance(found := getattr(pykdl, name), type)}
FUNCTIONS = {
    name: found
    for name in pykdl.__all__
    if callable(found := getattr(pykdl, name)) and not isinstance(found, type)
}


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a type, static and inherited ones too."""
    for name in dir(kind):
        if not name.startswith("_"):
            found = inspect.getattr_static(kind, name)
            if isinstance(found, (property, staticmethod, classmethod, Zero)) or callable(found):
                yield name, found


@pytest.mark.parametrize("name", [*TYPES, *FUNCTIONS])
def test_everything_is_documented(name: str):
    found = getattr(pykdl, name)
    assert (found.__doc__ or "").strip(), name
    if name in TYPES:
        bare = [each for each, member in members(found) if not (member.__doc__ or "").strip()]
        assert not bare, f"{name}: {bare}"


def values() -> dict[str, Any]:
    """A value of each type, by the name of the type."""
    r, made = random.Random("every name"), chain(pykdl, "every name", 4, scaled=False)
    n = made.getNrOfJoints()
    v, f = vector(pykdl, r), frame(pykdl, r)
    t = pykdl.Twist(v, v)
    moments = pykdl.RotationalInertia(2, 3, 4)
    fk, pinv = pykdl.ChainFkSolverPos_recursive(made), pykdl.ChainIkSolverVel_pinv(made)
    solvers = [
        fk, pinv, pykdl.ChainFkSolverVel_recursive(made), pykdl.ChainJntToJacSolver(made),
        pykdl.ChainJntToJacDotSolver(made), pykdl.ChainIkSolverVel_pinv_givens(made),
        pykdl.ChainIkSolverVel_pinv_nso(made), pykdl.ChainIkSolverVel_wdls(made),
        pykdl.ChainIdSolver_RNE(made, v), pykdl.ChainDynParam(made, v),
        pykdl.ChainIkSolverPos_LMA(made), pykdl.ChainIkSolverPos_NR(made, fk, pinv),
    ]  # fmt: skip
    others = [
        v, f, f.M, t, pykdl.Wrench(v, v), pykdl.doubleVel(1, 2), pykdl.VectorVel(v, v),
        pykdl.RotationVel(f.M, v), pykdl.FrameVel(f, t), pykdl.TwistVel(t, t), moments,
        pykdl.RigidBodyInertia(1, v, moments), made, made.getSegment(0), pykdl.Joint(),
        array(pykdl, r, n), pykdl.JntArrayVel(n), pykdl.Jacobian(n),
        pykdl.JntSpaceInertiaMatrix(n), pykdl.Tree("root"),
    ]  # fmt: skip
    return {type(one).__name__: one for one in [*solvers, *others]}


def junk(r: random.Random, known: dict[str, Any]) -> Any:
    """What a call may be given by mistake."""
    odd = [
        None, "text", "", b"bytes", 1j, 3, -1, 2**80, 0.5, float("nan"), float("inf"), True, [], (),
        [1.0, 2.0], {}, object(), int, np.zeros(3), np.zeros((2, 2)), np.array(1.0), slice(2),
        np.array(["a"]), np.zeros(3, complex), [None] * 4, ..., np.float32(1.5), {1.0},
    ]  # fmt: skip
    return r.choice(odd) if r.random() < 0.6 else copy.copy(r.choice(list(known.values())))


ALLOWED = (TypeError, ValueError, LookupError)


def tried(call: Any, given: list[Any], what: str) -> None:
    """A call works, or says in words what it takes."""
    try:
        call(*given)
    except ALLOWED as error:
        assert len(str(error)) > 5, (what, given)
    except OSError:
        assert "File" in what
    except Warning:
        pass


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [*TYPES, *FUNCTIONS])
def test_arguments_of_wrong_types_are_refused_in_words(name: str):
    r, known = random.Random(f"junk {name}"), values()
    for _ in range(150):
        given = [junk(r, known) for _ in range(r.randrange(5))]
        tried(getattr(pykdl, name), given, name)
    if name not in known:
        return
    public = [each for each, _ in members(TYPES[name])]
    for method in public:
        for _ in range(40):
            one = copy.copy(known[name]) if hasattr(known[name], "__copy__") else known[name]
            attribute = getattr(one, method)
            if callable(attribute):
                tried(
                    attribute, [junk(r, known) for _ in range(r.randrange(4))], f"{name}.{method}"
                )
            elif isinstance(inspect.getattr_static(type(one), method), property):
                try:
                    setattr(one, method, junk(r, known))
                except (AttributeError, *ALLOWED):
                    pass
    operators = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: b * a,
        lambda a, b: a / b, lambda a, b: b + a, lambda a, b: a[b], lambda a, b: a == b,
    ]  # fmt: skip
    for operator in operators:
        for _ in range(40):
            tried(operator, [known[name], junk(r, known)], f"{name} and an operator")


def test_the_names_in_the_parity_file_are_those_of_the_original():
    kdl: Any = pytest.importorskip("PyKDL", reason="PyKDL (python3-pykdl) is not installed")
    names = parity.read("pykdl").names
    own = [name for name in names if name.owner.split(".")[0] == "PyKDL"]
    listed = {name.dotted for name in own if not name.name.startswith("__")}
    found: set[str] = set()
    for name in dir(kdl):
        if not name.startswith("_"):
            found.add(f"PyKDL.{name}")
            thing = getattr(kdl, name)
            inside = dir(thing) if isinstance(thing, type) else []
            found |= {f"PyKDL.{name}.{inner}" for inner in inside if not inner.startswith("_")}
    assert found == listed
