"""Built-in functions before methods: the same answers, on one object only, nothing left over."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import weakref

import numpy as np
import pytest

import linkwork as lw
from linkwork import settings
from linkwork.algorithms.registry import ALGORITHMS
from linkwork.compile.numpy_abi import array_abi

has_layout = pytest.mark.skipif(
    array_abi() is None, reason="this Python does not lay out arrays as built-in methods need"
)
BUILT_IN = "builtin_function_or_method"
# their methods give names to what comes out, in Python
GIVING_SEVERAL = {
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
    "loop_wrenches",
    "passive_rates",  # checked by what stands beside the compiled function
    "actuation_jacobian",
}


def kind(method):
    return type(method).__name__


@has_layout
@pytest.mark.parametrize("bound_first", [False, True])
def test_a_method_becomes_built_in_at_its_first_success(bound_first):
    r = lw.load("ur5e")
    q = r.random(seed=1)
    if bound_first:
        r.function("fk", "tool0")(q)
    with pytest.raises(lw.UnknownNameError):
        r.fk(q, "nothing")
    assert kind(r.fk) == "method"
    first = r.fk(q, "tool0")
    assert kind(r.fk) == BUILT_IN
    assert kind(r.jacobian) == "method"
    assert kind(lw.load("ur5e").fk) == "method"
    for call in (
        lambda: r.fk(q, "tool0"), lambda: r.fk(q, frame="tool0"), lambda: r.fk(q),
        lambda: r.fk(q, "tool0", out=np.zeros((4, 4))),
        lambda: r.fk(q[None], "tool0", threads=2)[0],
        lambda: r.fk(q.tolist(), "".join(["tool", "0"])), lambda: r.fk(q, on_bad="nan"),
    ):  # fmt: skip
        for _ in range(2):
            assert call().tobytes() == first.tobytes()
    with pytest.raises(lw.UnknownNameError, match="nothing"):
        r.fk(q, "nothing")
    with pytest.raises(lw.InputError, match="shoulder_lift_joint"):
        r.fk(np.where(np.arange(6) == 1, np.nan, q))
    with pytest.raises(TypeError, match="nonsense"):
        r.fk(q, nonsense=1)


@has_layout
@pytest.mark.parametrize("name", sorted(set(ALGORITHMS) - GIVING_SEVERAL))
def test_every_algorithm_has_a_method_and_its_signature_stays(name):
    r = lw.load("stewart" if ALGORITHMS[name].needs_loops else "mobile_arm")
    q, v = r.random(5, seed=2), np.linspace(-1, 1, 5 * r.n_v).reshape(5, -1)
    given = {"q": q, "q0": q, "q1": r.random(5, seed=3), "v": v, "dv": 2 * v, "tau": 3 * v}
    arrays = [given[label] for label, _ in ALGORITHMS[name].inputs]
    frames = {"base": r.frame_names[0], "frame": "tool0"}
    names = [frames[key] for key in ALGORITHMS[name].static if key in frames]
    before = inspect.signature(getattr(r, name))
    plain = getattr(r, name)(*arrays, *names)
    assert kind(getattr(r, name)) == BUILT_IN
    after = inspect.signature(getattr(r, name))
    assert list(after.parameters) == list(before.parameters)
    assert inspect.getdoc(getattr(r, name)) == inspect.getdoc(getattr(lw.Robot, name))
    for _ in range(2):
        assert getattr(r, name)(*arrays, *names).tobytes() == plain.tobytes()
    for k in range(5):
        assert getattr(r, name)(*[a[k] for a in arrays], *names).tobytes() == plain[k].tobytes()
    if "reference" in ALGORITHMS[name].static:
        local = getattr(r, name)(*arrays, *names, reference="local")
        assert local.tobytes() == getattr(r, name)(*arrays, *names, reference="local").tobytes()
        assert local.tobytes() != plain.tobytes()


def test_an_overridden_method_is_left_alone():
    class Mine(lw.Robot):
        def fk(self, q, frame=None, **options):
            """Poses, twice as far."""
            return 2.0 * super().fk(q, frame, **options)

    mechanism = lw.load("ur5e").mechanism
    r, plain = Mine(mechanism), lw.Robot(mechanism)
    q = r.random(seed=3)
    for _ in range(3):
        assert np.array_equal(r.fk(q, "tool0"), 2.0 * plain.fk(q, "tool0"))


def test_copies_start_anew_and_nothing_is_kept_alive():
    r = lw.load("ur5e")
    q = r.random(seed=4)
    T = r.fk(q, "tool0")
    for other in (copy.copy(r), copy.deepcopy(r), pickle.loads(pickle.dumps(r))):
        assert kind(other.fk) == "method"
        assert other.fk(q, "tool0").tobytes() == T.tobytes()
    kept = r.fk if kind(r.fk) == BUILT_IN else None  # a plain method holds its robot
    gone = weakref.ref(r)
    gc.disable()
    try:
        del r
        assert gone() is None  # no cycle: it goes at once
    finally:
        gc.enable()
    assert kept is None or kept(q, "tool0").tobytes() == T.tobytes()


def test_without_known_layouts_methods_stay_plain(monkeypatch):
    monkeypatch.setattr(settings, "dispatch_code", lambda: None)
    r = lw.load("ur5e")
    q = r.random(seed=5)
    for _ in range(2):
        assert r.fk(q, "tool0").shape == (4, 4)
    assert kind(r.fk) == "method"
