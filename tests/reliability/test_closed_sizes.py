"""Closed mechanisms from micrometres to kilometres: virtual work, and dimensional analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import bennett, q_units, resized, slide_powers
from linkwork.errors import InputError
from seeds import rng

SIZES = [(1e-6, 1e-6), (1e-3, 1e2), (1e4, 1e5)]
"""Lengths and masses beside those of the bundled mechanism."""
DOWN = np.array([0.3, -9.81, 0.5])

BALL_SCREW = """<robot name="ball_screw"><link name="base"/>
<link name="nut"><inertial><mass value="50"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="screw"><inertial><mass value="1"/>
  <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><parent link="base"/><child link="nut"/><axis xyz="0 0 1"/>
  <limit lower="-1e3" upper="1e3" effort="1" velocity="1"/></joint>
<joint name="turn" type="continuous"><parent link="base"/><child link="screw"/>
  <axis xyz="0 0 1"/></joint></robot>"""


def near(found: Any, wanted: Any, kinds: np.ndarray, share: float = 1e-9) -> None:
    """Equal within a share of the largest number of the same unit; rows are numbers of v."""
    for kind in (0.0, 1.0):
        own = kinds == kind
        largest = np.abs(wanted[own]).max(initial=0.0)
        np.testing.assert_allclose(found[own], wanted[own], rtol=0, atol=share * largest)


def a_state(robot: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """An assembled q, velocities, and forces of the actuated joints."""
    m, g = robot.mechanism, rng(f"closed sizes {robot.name}")
    at = [int(m.q_start[m.joint(name)]) for name in robot.actuated]
    columns = [int(m.v_start[m.joint(name)]) for name in robot.actuated]
    start = robot.neutral()
    middle = 0.5 * sum(np.clip(bounds[at], -3, 3) for bounds in robot.limits[:2])
    q = robot.assemble(start[at] + 0.05 * (middle - start[at]), q0=start).q
    tau = np.zeros(robot.n_v)
    tau[columns] = g.normal(size=len(columns))
    return q, robot.passive_rates(q) @ g.normal(size=len(columns)), tau


@pytest.mark.sweep(1)
@pytest.mark.parametrize("pitch", [5e-3, 1e-3, 1e-5, 1e-7])
def test_a_ball_screw_holds_its_nut(pitch: float):
    rate = pitch / (2 * np.pi)
    screw = lw.load(BALL_SCREW).with_coupling("slide", "turn", rate=rate)
    weight, q = 50.0 * 9.80665, np.zeros(2)
    for joint, held in (("slide", weight), ("turn", weight * rate)):
        robot = screw.with_actuated(joint)
        wanted = [held, 0.0] if joint == "slide" else [0.0, held]
        for forces in (
            robot.gravity_forces(q),
            robot.bias_forces(q, q),
            robot.inverse_dynamics(q, q, q),
        ):
            np.testing.assert_allclose(forces, wanted, rtol=1e-12)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("crank", [0.5, 1e-2, 1e-4, 1e-6, 1e-8])
def test_next_to_a_dead_centre_virtual_work_holds(crank: float):
    robot = lw.load("slider_crank")
    tree, q = lw.load("slider_crank", loops=False), robot.assemble([crank]).q
    rates = robot.passive_rates(q)[:, 0]
    wanted = tree.gravity_forces(q, gravity=DOWN) @ rates / rates[-1]
    found = robot.with_actuated("slider").gravity_forces(q, gravity=DOWN)
    np.testing.assert_allclose(found, [0.0, 0.0, wanted], rtol=1e-10)


def test_at_a_dead_centre_it_is_refused():
    robot = lw.load("slider_crank").with_actuated("slider")
    q, still = lw.load("slider_crank").assemble([0.0]).q, np.zeros(3)
    for call in (
        lambda at: robot.gravity_forces(at, gravity=DOWN),
        lambda at: robot.inverse_dynamics(at, still, still, gravity=DOWN),
        lambda at: robot.bias_forces(at, still, gravity=DOWN),
        lambda at: robot.inverse_dynamics_derivatives(at, still, still, gravity=DOWN),
    ):
        with pytest.raises(InputError, match="singularity, where the actuated joints cannot"):
            call(q)
        with pytest.raises(InputError, match=r"row \[1\].*singularity"):
            call(np.stack([lw.load("slider_crank").assemble([0.4]).q, q]))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["slider_crank", "gripper", "delta"])  # slides, couplings, space
def test_forces_and_motions_follow_the_units(name: str, size: tuple[float, float]):
    length, mass = size
    robot = lw.load(name)
    other = resized(robot, length, mass)
    q, v, tau = a_state(robot)
    kinds = slide_powers(robot.mechanism)
    at, slides, g = q * q_units(robot.mechanism, length), length**kinds, DOWN * length
    force = mass * length**2 / slides
    dv = robot.forward_dynamics(q, v, tau, gravity=DOWN)
    found = other.forward_dynamics(at, v * slides, tau * force, gravity=g)
    near(found / slides, dv, kinds)
    back = other.inverse_dynamics(at, v * slides, dv * slides, gravity=g)
    near(back / force, tau, kinds)
    near(other.gravity_forces(at, gravity=g) / force, robot.gravity_forces(q, gravity=DOWN), kinds)
    bias = robot.bias_forces(q, v, gravity=DOWN)
    near(other.bias_forces(at, v * slides, gravity=g) / force, bias, kinds)
    driven = [int(robot.mechanism.v_start[robot.mechanism.joint(j)]) for j in robot.actuated]
    rates = other.passive_rates(at) * slides[driven] / slides[:, None]
    near(rates, robot.passive_rates(q), kinds)
    assert other.mobility(at) == robot.mobility(q)


# masses of next to nothing


def lighter(robot: Any, links: list[str], share: float) -> Any:
    """The robot with the masses and inertias of some links multiplied."""
    m = robot.mechanism
    by = np.array([share if name in links else 1.0 for name in m.body_names])
    mass, I_com = m.mass * by, m.I_com * by[:, None, None]
    return lw.Robot(replace(m, mass=mass, I_com=I_com, inertias_accepted=True))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("share", [0.0, 1e-11])
@pytest.mark.parametrize("size", [1.0, 1e-4])
def test_a_coupler_that_weighs_nothing_is_moved_by_its_loop(share: float, size: float):
    robot = lighter(resized(lw.load("four_bar"), size, 1.0), ["coupler_link"], share)
    tree = lw.Robot(replace(robot.mechanism, loops=(), actuated=()))
    q = robot.assemble([0.5]).q
    rates = robot.passive_rates(q)[:, 0]
    tau = np.array([0.3 * size**2, 0.0, 0.0])
    dv = robot.forward_dynamics(q, rates, tau)
    left = tree.mass_matrix(q) @ dv + tree.bias_forces(q, rates) - tau
    assert abs(rates @ left) < 1e-11 * np.abs(left).max()
    f = robot.loop_forces(q, rates, tau)
    done = robot.closure_jacobian(q).T @ f
    np.testing.assert_allclose(done, left, rtol=0, atol=1e-10 * np.abs(left).max())
    opening = robot.closure_jacobian(q) @ dv + robot.closure_bias(q, rates)
    np.testing.assert_allclose(opening, 0.0, atol=1e-10 * size * np.abs(dv).max())


def test_motions_without_inertia_are_refused_by_joint():
    q, still = lw.load("five_bar").neutral(), np.zeros(4)
    links = ["left_near", "left_far"]
    light = lighter(lw.load("five_bar"), links, 0.0)
    assert np.isfinite(light.forward_dynamics(q, still, still)).all()
    nothing = lighter(lw.load("five_bar"), list(lw.load("five_bar").mechanism.body_names), 0.0)
    with pytest.raises(InputError, match="acceleration is not determined"):
        nothing.forward_dynamics(q, still, still)
    # two ways to move, and one mass that turns about one joint
    one = lighter(lw.load("five_bar"), [*links, "right_far"], 0.0)
    with pytest.raises(InputError, match=r"joint '\w+'.*acceleration is not determined"):
        one.forward_dynamics(q, still, still)


@pytest.mark.parametrize("k", [78, 159, 413, 463])
def test_a_mass_in_one_point_does_not_determine_four_joints(k: int):
    """At the end of a chain of links of very different lengths."""
    with pytest.raises(InputError, match="acceleration is not determined"):
        point_at_the_end(k).forward_dynamics(np.zeros(4), np.zeros(4), np.zeros(4))


def point_at_the_end(k: int) -> Any:
    """Four joints and a point mass at their end."""
    g = rng(f"one point {k}")
    none = "".join(f'{name}="0" ' for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    mass = f'<inertial><origin xyz="0.1 0.2 0.3"/><mass value="1"/><inertia {none}/></inertial>'
    text = '<robot name="tail"><link name="l0"/>'
    for j in range(1, 5):
        x, y, z = 10.0 ** g.uniform(-1.5, 1.5) * g.normal(size=3)
        roll, pitch, yaw = g.uniform(-3, 3, 3)
        text += (
            f'<link name="l{j}">{mass if j == 4 else ""}</link>'
            f'<joint name="j{j}" type="continuous"><parent link="l{j - 1}"/><child link="l{j}"/>'
            f'<origin xyz="{x} {y} {z}" rpy="{roll} {pitch} {yaw}"/><axis xyz="0 0 1"/></joint>'
        )
    return lw.load(text + "</robot>")


# any size, mass and rate: virtual work, closure and energy as judges


def any_mechanism(k: int) -> tuple[Any, float]:
    """A closed mechanism with lengths, masses and a gear's rate of any order, and its size."""
    g = rng(f"any closed mechanism {k}")
    length, mass, rate = (10.0 ** g.uniform(*span) for span in ((-6, 4), (-6, 5), (-4, 4)))
    kind = ("four_bar", "bennett", "gear", "slider_crank", "screw", "excavator")[k % 6]
    if kind in ("gear", "screw"):
        text = BALL_SCREW
        if kind == "gear":
            text = text.replace('type="prismatic"', 'type="continuous"')
        tree = lw.load(text)
        tree = lighter(tree, list(tree.mechanism.body_names), mass)
        return tree.with_coupling("slide", "turn", rate=rate * (-1) ** k).with_actuated("turn"), 1.0
    robot = bennett() if kind == "bennett" else lw.load(kind)
    return resized(robot, length, mass), length


@pytest.mark.slow
@pytest.mark.parametrize("k", range(12))
def test_any_size_mass_and_rate(k: int):
    robot, length = any_mechanism(k)
    tree = lw.Robot(replace(robot.mechanism, loops=(), couplings=(), actuated=()))
    m, g = robot.mechanism, rng(f"any state {k}")
    at = [int(m.q_start[m.joint(name)]) for name in robot.actuated]
    way = 1.0 if robot.name == "bennett" else 0.02
    q = robot.assemble(robot.neutral()[at] + way * q_units(m, length)[at]).q
    units = 1.0 / length ** slide_powers(m)
    rates = robot.passive_rates(q)
    v = rates @ (0.3 * g.normal(size=len(at)) / units[at])
    down = DOWN * length
    # virtual work of weights, and of what drives
    weight = tree.gravity_forces(q, gravity=down)
    held = robot.gravity_forces(q, gravity=down)
    shares = np.abs(rates * weight[:, None]).sum(axis=0)
    assert (np.abs(rates.T @ (held - weight)) <= 1e-9 * shares).all()
    tau = 0.5 * held
    dv = robot.forward_dynamics(q, v, tau, gravity=down)
    moved, bias = tree.mass_matrix(q) @ dv, tree.bias_forces(q, v, gravity=down)
    left = moved + bias - tau
    shares = np.abs(rates * (np.abs(moved) + np.abs(bias) + np.abs(tau))[:, None]).sum(axis=0)
    assert (np.abs(rates.T @ left) <= 1e-9 * shares).all()
    # what the loops do is what is left, and they stay closed
    J = robot.closure_jacobian(q)
    f = robot.loop_forces(q, v, tau, gravity=down)
    most = (np.abs(moved) + np.abs(bias)) * units
    assert (np.abs(J.T @ f - left) * units <= 1e-8 * most.max()).all()
    opening = J @ dv + robot.closure_bias(q, v)
    assert (np.abs(opening) <= 1e-9 * (np.abs(J) @ np.abs(dv) + np.abs(J) @ v**2 * length)).all()
    # energy, less the work of the actuated joints
    found = lw.simulate(robot, q, v, 0.5, torque=tau, gravity=down, record=50)
    assert found.finished, found.reason
    kinetic = robot.kinetic_energy(found.q, found.v)
    energy = kinetic + robot.potential_energy(found.q, gravity=down)
    way = robot.difference(np.broadcast_to(q, found.q.shape), found.q)
    balance = energy - energy[0] - way @ tau
    size = max(float(kinetic.max()), float(np.abs(way @ tau).max()))
    assert np.abs(balance).max() <= 1e-6 * size
