"""The model as a pytree, its names, its errors, and what importing loads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from fresh_python import python

jax = pytest.importorskip("jax", reason="JAX (pip install jax) is not installed")
import jax.numpy as jnp  # noqa: E402 -- after the check that it is there

import linkwork.jax as lj  # noqa: E402


@pytest.fixture(scope="module")
def robot() -> lw.Robot:
    return lw.load("planar_3r")


def test_it_is_a_pytree_of_numbers_with_static_structure(robot: lw.Robot):
    m = lj.robot(robot)
    leaves, tree = jax.tree_util.tree_flatten(m)
    assert len(leaves) == len(lj.LEAVES)
    assert all(jnp.issubdtype(x.dtype, jnp.floating) for x in leaves)
    assert tree == jax.tree_util.tree_structure(lj.robot(lw.load("planar_3r")))
    hash(tree)
    doubled = jax.tree_util.tree_map(lambda x: 2 * x, m)
    np.testing.assert_allclose(doubled["mass:link1"], 2 * m["mass:link1"])


def test_numbers_by_name(robot: lw.Robot):
    m = lj.robot(robot)
    np.testing.assert_allclose(m["xyz:joint2"], [1.0, 0.0, 0.0])
    changed = m.replace({"xyz:joint2": [2.0, 0.0, 0.0]}, gravity=[0.0, 0.0, -1.62])
    np.testing.assert_allclose(changed["xyz:joint2"], [2.0, 0.0, 0.0])
    np.testing.assert_allclose(changed["gravity"], [0.0, 0.0, -1.62], rtol=1e-6)
    np.testing.assert_allclose(m["xyz:joint2"], [1.0, 0.0, 0.0])
    framed = lj.robot(robot.with_frame("pen", "link3", lw.poses.pose([0.1, 0.2, 0.3])))
    np.testing.assert_allclose(framed["xyz:pen"], [0.1, 0.2, 0.3], atol=1e-6)


def test_errors_say_what_is_meant(robot: lw.Robot):
    m = lj.robot(robot)
    with pytest.raises(lw.UnknownNameError, match="tool0"):
        lj.fk(m, np.zeros(3), "tool")
    with pytest.raises(lw.UnknownNameError, match="joint2"):
        m["xyz:joint22"]
    with pytest.raises(lw.UnknownNameError, match="gravity"):
        m.replace(gravitation=np.zeros(3))
    with pytest.raises(lw.ShapeError, match=r"\(\.\.\., 3\)"):
        lj.fk(m, np.zeros(4))
    with pytest.raises(lw.ShapeError, match="xyz:joint2"):
        m.replace({"xyz:joint2": np.zeros(2)})
    with pytest.raises(lw.InputError, match=r"lj\.robot"):
        lj.fk(robot, np.zeros(3))  # pyright: ignore[reportArgumentType]
    with pytest.raises(lw.InputError, match=r"linkwork\.load"):
        lj.robot("planar_3r")  # pyright: ignore[reportArgumentType]
    with pytest.raises(lw.InputError, match="dtype is a float type"):
        m.astype(int)
    with pytest.raises(lw.UnsupportedFeatureError, match="with_payload"):
        m["payload:tool0"]


def test_leading_shapes_that_do_not_go_together_are_named(robot: lw.Robot):
    m, two, three = lj.robot(robot), np.zeros((2, 3)), np.zeros((3, 3))
    wrenches, targets = {"tool0": np.zeros((3, 6))}, np.broadcast_to(np.eye(4), (3, 4, 4))
    bars = lw.load("four_bar")
    b, q0 = lj.robot(bars), np.zeros((3, bars.n_q))
    for text, call in {
        r"q \(2, 3\), v \(3, 3\)": lambda: lj.inverse_dynamics(m, two, three, three),
        r"gravity \(3, 3\)": lambda: lj.gravity_forces(m, two, gravity=three),
        r"tool0 \(3, 6\)": lambda: lj.bias_forces(m, two, two, external=wrenches),
        r"v \(3, 3\)": lambda: lj.integrate(m, two, three),
        r"q1 \(3, 3\)": lambda: lj.difference(m, two, three),
        r"tau \(3, 3\)": lambda: lj.step(m, two, two, 1e-3, three),
        r"q0 \(2, 3\)": lambda: lj.ik(m, targets, q0=two),
        r"actuated \(2, 1\)": lambda: lj.assemble(b, np.zeros((2, 1)), q0),
    }.items():
        with pytest.raises(lw.ShapeError, match=f"leading shapes do not go together: .*{text}"):
            call()


@pytest.mark.parametrize(
    "bad", [np.ones(3) * 1j, np.ones(3, bool), "text", None, [[1.0, 2.0], [3.0]]]
)
def test_what_is_not_real_numbers_is_refused(robot: lw.Robot, bad: Any):
    m, k, q = lj.robot(robot), lj.compiled(robot), np.zeros(3)
    for name, call in {
        "q": lambda: lj.fk(m, bad),
        "dv": lambda: lj.inverse_dynamics(m, q, q, bad),
        "external of 'tool0'": lambda: lj.inverse_dynamics(m, q, q, q, external={"tool0": bad}),
        "'xyz:joint2'": lambda: m.replace({"xyz:joint2": bad}),
        "targets of 'tool0'": lambda: lj.ik(m, {"tool0": bad}, "tool0"),
        "dt": lambda: lj.step(m, q, q, bad),
        "v": lambda: k.com_velocity(q, bad),
    }.items():
        with pytest.raises(lw.InputError, match=f"^{name} must be real numbers, not "):
            call()
    bars = lj.robot(lw.load("four_bar"))
    with pytest.raises(lw.InputError, match=r"^actuated 'crank' must be real numbers, not "):
        lj.assemble(bars, {"crank": bad})


def test_importing_linkwork_does_not_load_jax():
    assert python("import sys, linkwork; print('jax' in sys.modules)") == "False"


def test_without_jax_the_error_names_the_extra():
    text = (
        "import sys\nsys.modules['jax'] = None\n"
        "try:\n    import linkwork.jax\nexcept ImportError as error:\n    print(error)"
    )
    assert "linkwork[jax]" in python(text)


@pytest.mark.slow
def test_shard_map_over_devices():
    text = """
import jax, numpy as np, linkwork as lw, linkwork.jax as lj
from jax.sharding import PartitionSpec as P
jax.config.update("jax_enable_x64", True)
robot = lw.load("planar_3r")
m, q = lj.robot(robot), robot.random(8, seed=0)
mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rows",))
shard_map = getattr(jax, "shard_map", None)
if shard_map is None:
    from jax.experimental.shard_map import shard_map
call = shard_map(lambda m, q: lj.fk(m, q, "tool0"), mesh=mesh, in_specs=(P(), P("rows")),
                 out_specs=P("rows"))
found = jax.jit(call)(m, q)
print(len(found.sharding.device_set), np.abs(found - robot.fk(q, "tool0")).max() < 1e-12)
k = lj.compiled(robot)
more = {"check_rep": False} if not hasattr(jax, "shard_map") else {}
slope = lambda q: jax.grad(lambda q: k.fk(q, "tool0")[..., :3, 3].sum())(q)
call = shard_map(slope, mesh=mesh, in_specs=(P("rows"),), out_specs=P("rows"), **more)
print(len(jax.jit(call)(q).sharding.device_set), np.abs(call(q) - slope(q)).max() < 1e-12)
"""
    found = python(text, XLA_FLAGS="--xla_force_host_platform_device_count=4")
    assert found.splitlines() == ["4 True", "4 True"]
