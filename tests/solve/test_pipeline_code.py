"""The native function on texts of its own: several targets, no seeds, a judgement by thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.compile.compiler import Compiler
from linkwork.compile.numpy_abi import array_abi
from linkwork.solve.code import Texts, pipeline_code, pipeline_of
from linkwork.solve.pipeline import Pipeline, Refused
from linkwork.solve.seeds import Axis
from seeds import rng

STARTS = np.array([[-4.0, -4.0], [8.0, 8.0], [0.0, 0.0]])


def texts(place=False):
    """x0² + x1 = a, x1 = b, for the targets a (1,) and [b, c] (1, 2) with c at most 0."""

    def prepare(o, a, b, q0):
        found = [a[0], b[0]] if place else []
        return {
            "x0": o.part(q0, 1, 3),
            "parameters": o.vector([a[0], b[0]]),
            "fault": o.vector([b[1]]),
            "features": o.vector(found),
        }

    def step(o, x, p, s):
        f = [x[0] * x[0] + x[1] - p[0], x[1] - p[1]]
        error = f[0] * f[0] + f[1] * f[1]
        d1 = f[1]
        d0 = (f[0] - d1) * (2.0 * x[0]) / (4.0 * x[0] * x[0] + 0.01)
        return {"x": o.vector([x[0] - d0, x[1] - d1]), "state": o.vector([error - s[0], error])}

    def verify(o, x, q0, p, _settings):
        measures = [o.absolute(x[0] * x[0] + x[1] - p[0]), o.absolute(x[1] - p[1])]
        return {"q": o.vector([q0[0], x[0], x[1]]), "measures": o.vector(measures)}

    def at(o, x):
        return {"features": o.vector([x[0] * x[0] + x[1], x[1]])}

    return Texts(
        key=("test", str(place)),
        targets=((1,), (1, 2)),
        n_q=3,
        n=2,
        n_parameters=2,
        n_settings=1,
        verify_needs_settings=False,
        prepare=prepare,
        step=step,
        verify=verify,
        place=at if place else None,
    )


@pytest.fixture(scope="module")
def plain():
    return Pipeline(pipeline_code(texts(), Compiler()), {"starts": STARTS})


def numbers(pipeline, *, thresholds=(1e-3, 1e-3), **changes):
    given = {"steps": 12, "tries": 50, "seed": 3, "seed_try": -1, "checked": 0} | changes
    return pipeline.options(given, [1e-8], thresholds)


def problems(n, label):
    g = rng(label)
    b = np.stack([g.uniform(-2.0, 2.0, n), np.zeros(n)], axis=1)[:, None]
    return [b[:, 0, :1] + g.uniform(0.1, 4.0, (n, 1)), b], g.uniform(-3.0, 3.0, (n, 3))


def test_several_targets_of_any_shape(plain):
    (a, b), q0 = problems(70, "targets")
    q, report = plain.run([a, b], q0, numbers(plain))
    assert (report[:, 0] == 1.0).all()
    np.testing.assert_allclose(q[:, 1] ** 2 + q[:, 2], a[:, 0], atol=1e-3)
    np.testing.assert_allclose(q[:, 2], b[:, 0, 0], atol=1e-3)
    assert np.array_equal(q[:, 0], q0[:, 0])
    np.testing.assert_allclose(report[:, 1], np.abs(q[:, 1] ** 2 + q[:, 2] - a[:, 0]), atol=1e-15)
    if array_abi() is not None:
        row = plain.one(a[3].copy(), b[3].copy(), q0[3].copy(), numbers(plain))
        assert np.array_equal(row, [*q[3], *report[3]])
    assert plain.sizes.features == 0


def test_success_is_decided_by_each_threshold(plain):
    targets, q0 = problems(70, "thresholds")
    _, report = plain.run(targets, q0, numbers(plain))
    for k in (0, 1):
        limits = [1.0, 1.0]
        limits[k] = float(np.median(report[:, 1 + k]))
        _, judged = plain.run(targets, q0, numbers(plain, thresholds=limits))
        assert np.array_equal(judged[:, 0] == 1.0, report[:, 1 + k] <= limits[k])
        assert 0 < judged[:, 0].sum() <= 70
    _, none = plain.run(targets, q0, numbers(plain, thresholds=(-1.0, 1.0)))
    assert not none[:, 0].any()


def test_a_fault_names_its_row(plain):
    (a, b), q0 = problems(20, "fault")
    b[13, 0, 1] = 1e-9
    with pytest.raises(Refused) as caught:
        plain.run([a, b], q0, numbers(plain))
    assert (caught.value.row, caught.value.unfit) == (13, True)
    _, report = plain.run([a, b], q0, numbers(plain, checked=1))
    assert report[:, 0].all()


@pytest.fixture
def seeded():
    return pipeline_of(texts(place=True), STARTS, (Axis(6), Axis(6)), compiler=Compiler())


def test_a_target_begins_at_the_seed_of_its_cell(seeded):
    grid = np.array([[0.0, -1.0], [0.5, 1.0], [3.0, 2.0], [1.0, 3.0]])  # 3 cells of 2, 2 of 1
    table = np.arange(12, dtype=np.uint16).reshape(6, 2) * 1000
    seeded.connect({"starts": STARTS, "grid": grid, "seeds": table})
    for a, b, row in (
        (0.5, -0.5, 0), (2.5, -0.5, 1), (5.5, -0.01, 2), (0.5, 0.01, 3), (5.9, 0.9, 5),
        (-7.0, -9.0, 0), (1e9, 1e9, 5), (1e9, -1e9, 2),
    ):  # fmt: skip
        where = [np.array([[a]]), np.array([[[b, 0.0]]])]
        given = numbers(seeded, seed_try=0, steps=1, tries=1)
        q, _ = seeded.run(where, np.zeros((1, 3)), given)
        np.testing.assert_allclose(q[0, 1:], -4.0 + (table[row] + 0.5) / 65536 * 8.0)


def test_features_choose_the_seed(seeded):
    targets, q0 = problems(400, "features")
    _, without = seeded.run(targets, q0, numbers(seeded))
    _, found = seeded.run(targets, q0, numbers(seeded, seed_try=0))
    assert found[:, 0].all()
    assert found[:, -2].mean() < without[:, -2].mean()
    assert (found[:, -1] == 0).mean() > 0.95
