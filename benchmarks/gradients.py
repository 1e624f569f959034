"""What a gradient costs inside JAX and PyTorch, beside the kernels that it is made of.

    python -m benchmarks.gradients

`jax.grad` of a sum of squares of a compiled call, at a batch of 10,000 configurations, against the
time of the kernel and of its derivative's kernel, called as they are, on one thread each; the same
in PyTorch, where it is installed. All in one process, the best of some turns.
"""

from __future__ import annotations

import os

os.environ.setdefault("LINKWORK_THREADS", "1")

import time
from functools import partial
from importlib.util import find_spec

import jax
import jax.numpy as jnp
import numpy as np

import linkwork as lw
import linkwork.jax as lj

ROWS, TURNS = 10_000, 15
CASES = (
    ("panda", "fk", 1),
    ("panda", "inverse_dynamics", 3),
    ("panda", "forward_dynamics", 3),
    ("humanoid", "inverse_dynamics", 3),
)


def best(run):
    """Seconds of the quickest of some turns."""
    run()
    times = []
    for _ in range(TURNS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def rows_of(robot, count):
    """Configurations near neutral, and velocities."""
    g = np.random.default_rng(0)
    q = np.tile(robot.neutral(), (ROWS, 1))
    q += 0.1 * g.normal(size=q.shape)
    return [q, *[g.normal(size=(ROWS, robot.mechanism.n_v)) for _ in range(count - 1)]]


def in_jax(robot, method, frame, given):
    """Seconds of the gradient in JAX."""
    compiled = getattr(lj.compiled(robot), method)
    gradient = jax.jit(jax.grad(lambda *arrays: (compiled(*arrays, *frame) ** 2).sum()))
    arrays = [jnp.asarray(a) for a in given]
    return best(lambda: gradient(*arrays).block_until_ready())


def in_torch(robot, method, frame, given):
    """Seconds of the gradient in PyTorch."""
    import torch  # noqa: PLC0415

    import linkwork.torch as lt  # noqa: PLC0415

    torch.set_num_threads(1)
    compiled = getattr(lt.compiled(robot), method)
    tensors = [torch.tensor(a) for a in given]
    tensors[0].requires_grad_()
    return best(lambda: torch.autograd.grad((compiled(*tensors, *frame) ** 2).sum(), tensors[0]))


def main():
    """Print a table."""
    jax.config.update("jax_enable_x64", True)
    ways = [in_jax] if find_spec("torch") is None else [in_jax, in_torch]
    print(f"ms for {ROWS} rows; ratio: gradient / (kernel + its derivative's kernel)")
    titles = "".join(f"{way.__name__.removeprefix('in_'):>10}{'ratio':>7}" for way in ways)
    print(f"{'':32}{'kernel':>9}{'deriv.':>9}{titles}")
    for name, method, count in CASES:
        robot = lw.load(name)
        given, frame = rows_of(robot, count), (robot.tip,) if method == "fk" else ()
        function = robot._programs.differentiable(method, frame)
        derivative = function.derivative("back", [0])
        (value,) = function(*given)
        kernel = best(partial(function, *given))
        backward = best(partial(derivative, *given, value))
        line = f"{name + ' ' + method:32}{kernel * 1e3:9.2f}{backward * 1e3:9.2f}"
        for way in ways:
            seconds = way(robot, method, frame, given)
            line += f"{seconds * 1e3:10.2f}{seconds / (kernel + backward):7.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
