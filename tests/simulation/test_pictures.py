"""Figures: what is drawn, for which joints and rows, and what is said without matplotlib."""

from __future__ import annotations

import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import InputError, MissingExtraError, UnknownNameError
from pendulums import brick, pendulum, simulated, slider_urdf
from robots import every_joint_urdf, mechanism_from


def drawn(result, *args, **how):
    pytest.importorskip("matplotlib", reason="matplotlib (pip install matplotlib) is missing")
    return result.plot(*args, **how)


def test_four_panels_with_the_numbers():
    result = simulated(pendulum(2), [0.1, 0.2], None, 0.1)
    figure = drawn(result)
    position, velocity, force, energy = figure.axes
    assert position.get_ylabel() == "position (rad)"
    assert velocity.get_ylabel() == "velocity (rad/s)"
    assert force.get_ylabel() == "force (N m)"
    assert energy.get_xlabel() == "time (s)"
    assert [line.get_label() for line in position.lines] == ["j1", "j2"]
    np.testing.assert_array_equal(position.lines[1].get_ydata(), result.q[:, 1])
    np.testing.assert_array_equal(energy.lines[2].get_ydata(), result.energy)
    assert figure.get_suptitle() == "pendulum2"


def test_some_joints_of_one_row():
    result = simulated(pendulum(2), [[0.1, 0.2], [0.3, 0.4]], None, 0.1)
    figure = drawn(result, "j2", row=1)
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), result.q[1, :, 1])
    assert len(figure.axes[0].lines) == 1
    assert figure.get_suptitle() == "pendulum2, roll-out [1]"
    with pytest.raises(UnknownNameError, match="j3"):
        drawn(result, ["j3"])
    for row in (2, -1, (0, 0)):
        with pytest.raises(InputError, match="there is no roll-out"):
            drawn(result, row=row)
    alone = simulated(pendulum(2), [0.1, 0.2], None, 0.1)
    for row in (0, ()):
        assert drawn(alone, row=row).get_suptitle() == "pendulum2"
    for row in (1, (0,), -1):
        with pytest.raises(InputError, match="this is one, not a batch; leave out row"):
            drawn(alone, row=row)


def test_a_roll_out_that_failed_says_so():
    result = simulated(pendulum(2), [0.7, 0.7], [900.0, -2000.0], 1.0, dt=0.01)
    assert "moves at" in drawn(result).get_suptitle()


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch):
    result = simulated(pendulum(1), [0.1], None, 0.01)
    monkeypatch.delitem(sys.modules, "linkwork.simulation.pictures", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'linkwork\[plot\]'"):
        result.plot()


def test_units():
    pictures = pytest.importorskip("linkwork.simulation.pictures", reason="matplotlib is missing")
    units, chosen_numbers = pictures.units, pictures.chosen_numbers
    m = mechanism_from(slider_urdf())
    assert units(m, [0], "velocity") == "m/s"
    b = brick()
    q, v = chosen_numbers(b, None)
    assert (q, v) == (list(range(7)), list(range(6)))
    assert units(b, v, "force") == "N m, N"
    m = mechanism_from(every_joint_urdf())
    q, v = chosen_numbers(m, ["shoulder"])
    assert (len(q), len(v)) == (1, 1)
    assert units(m, v, "velocity") == "rad/s"


def test_passive_joints_that_nothing_pushes_have_no_line_among_forces():
    robot = lw.load("five_bar")
    q = robot.assemble([0.2, -0.1]).q
    result = lw.simulate(robot, q, duration=0.01, torque=[0.0, 0.1])
    position, velocity, force, _ = drawn(result).axes
    names = [line.get_label() for line in velocity.lines]
    assert names == list(robot.joint_names) == [line.get_label() for line in position.lines]
    assert [line.get_label() for line in force.lines] == ["left", "right"]  # driven, if by nothing
    colours = dict(zip(names, (line.get_color() for line in velocity.lines), strict=True))
    assert [line.get_color() for line in force.lines] == [colours["left"], colours["right"]]
    pushed = lw.simulate(robot, q, duration=0.01, torque=[0.0, 0.1, 0.2, 0.0])
    assert "left_elbow" in [line.get_label() for line in drawn(pushed).axes[2].lines]
    alone = drawn(result, "left_elbow").axes[2].lines
    assert [line.get_label() for line in alone] == ["left_elbow"]
    free = lw.simulate(robot.with_actuated([]), q, duration=0.01)
    assert len(drawn(free).axes[2].lines) == 4


# where it is drawn: pyplot, notebooks, and a figure that is given


@pytest.mark.slow
def test_pyplot_shows_it_and_keeps_few():
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is missing")
    backend = plt.get_backend()
    result = simulated(pendulum(1), [0.1], None, 0.01)
    own = plt.figure()
    figure = result.plot()
    assert plt.gcf() is figure
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # pyplot warns of more than 20 open figures
        for _ in range(25):
            last = result.plot()
    assert plt.gcf() is last
    assert plt.fignum_exists(own.number)
    assert len(plt.get_fignums()) <= 11
    figure.savefig(BytesIO())  # what pyplot has let go can still be saved
    assert plt.get_backend() == backend
    plt.close("all")
    with pytest.raises(UnknownNameError):
        result.plot("j9")
    assert not plt.get_fignums()


def test_a_notebook_shows_it_and_a_figure_that_is_given_is_drawn_in():
    plt = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is missing")
    result = simulated(pendulum(1), [0.1], None, 0.01)
    assert result.plot()._repr_png_().startswith(b"\x89PNG")
    plt.close("all")
    figure = pytest.importorskip("matplotlib.figure").Figure()
    assert result.plot(figure=figure) is figure
    assert len(figure.axes) == 4
    with ThreadPoolExecutor() as pool:  # windows belong to the main thread
        assert len(pool.submit(result.plot).result().axes) == 4
    assert not plt.get_fignums()
