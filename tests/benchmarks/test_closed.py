"""The case of mechanisms with loops: what is checked, what is refused, what the page says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.context import Context
from benchmarks.lines import Line
from benchmarks.results import Report

from benchmarks import closed, closed_peers

pytest.importorskip("scipy", reason="SciPy (pip install scipy) is not installed")


@pytest.fixture
def context(tmp_path: Path) -> Context:
    report = Report({"processor": "P", "date": "D"}, {"seed": 1, "rounds": 2, "seconds": 0.0})
    return Context({}, tmp_path, 1, 2, 0.0, report, say=lambda text: None)


@pytest.fixture(scope="module")
def five() -> Any:
    return closed.Mechanism("five_bar", 1)


def test_equations_are_square_and_zero_where_assembled(five: Any) -> None:
    for of in (five, closed.Mechanism("stewart", 1)):
        q = of.assembled(5)
        equations = of.equations
        for row in q:
            given, x = row[equations.given], row[equations.passive]
            np.testing.assert_array_equal(equations.whole(given, x), row)
            found = equations.residual(given, x)
            assert found.shape == x.shape and np.abs(found).max() < 1e-11
            assert np.abs(equations.residual(given, x + 0.01)).max() > 1e-4


def test_all_sides_find_the_same(five: Any) -> None:
    given = five.states(3, 0.3)
    expected = five.robot.assemble(given, q0=five.near).q
    makers = [make for ways in closed.GENERAL.values() for _, make in ways]
    for make in makers:
        found = [make(five.equations, five.near)(row) for row in given]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_pinocchio_says_the_same() -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    for name in ("four_bar", "stewart", "delta"):
        of = closed.Mechanism(name, 2)
        pin = closed_peers.Pinocchio(of.robot, name)
        q = of.assembled(4)
        for row in q:
            np.testing.assert_allclose(pin.back(pin.to(row)), row, atol=1e-12)
        given = q[:, of.equations.given]
        solve = pin.assemble(of.near)
        worst, said = of.open_by([solve(row) for row in given], given)
        assert worst < closed.CLOSED and not said
        own = of.robot.actuation_jacobian(q, of.tip)
        found = [pin.actuation_jacobian(of.tip)(pin.to(row)) for row in q]
        np.testing.assert_allclose(found, own, atol=1e-6)


def test_what_does_not_close_is_not_timed(context: Context, five: Any) -> None:
    given = five.states(4, 0.3)
    case = closed.asked_of(context, "five_bar", "assemble from near")

    def check(found: list[Any]) -> tuple[float, str]:
        return five.open_by(found, given)

    right = Line("right", "r = f(q)", {"f": lambda x: five.robot.assemble(x, q0=five.near).q})
    wrong = Line("wrong", "r = f(q)", {"f": lambda x: five.equations.whole(x, [0.3, 0.3])})
    case.add("linkwork", right, list(given), check=check)
    case.add("other", wrong, list(given), check=check)
    case.run()
    good, bad = context.report.measurements
    assert good.measured and not good.disagrees and len(good.cpu) == 2
    assert bad.disagrees and not bad.measured and not context.report.problems
    case.lines.clear()
    case.add("linkwork", wrong, list(given), check=check)
    case.run()
    assert "off by" in context.report.problems[0]
