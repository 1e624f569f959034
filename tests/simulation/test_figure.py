"""Where a simulation is drawn: pyplot's figures, notebooks, and a figure that is given."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest

from linkwork.errors import UnknownNameError
from pendulums import pendulum, simulated


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
    figure = matplotlib_figure()
    assert result.plot(figure=figure) is figure
    assert len(figure.axes) == 4
    with ThreadPoolExecutor() as pool:  # windows belong to the main thread
        assert len(pool.submit(result.plot).result().axes) == 4
    assert not plt.get_fignums()


def matplotlib_figure():
    from matplotlib.figure import Figure  # noqa: PLC0415  an extra

    return Figure()
