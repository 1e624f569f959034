"""Payloads: a body more, the same as a link more in the description."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import linkwork as lw
from dynamics_pinocchio import NOT_PLANAR, beside, near
from linkwork.algorithms.registry import evaluate
from linkwork.errors import InputError, ShapeError, UnknownNameError, UnsupportedFeatureError
from linkwork.formats.urdf.read import read
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.parameters import values
from linkwork.mechanism.payload import with_payload
from linkwork.mechanism.serialize import from_json, to_json
from robots import random_tree
from seeds import rng


def drawn(random):
    """Mass, centre of mass and inertia of a cloud of points."""
    masses, points = random.uniform(0.1, 1.0, 5), random.normal(size=(5, 3))
    com = masses @ points / masses.sum()
    d = points - com
    inertia = np.einsum("n,nij->ij", masses, np.einsum("nk,nk,ij->nij", d, d, np.eye(3)))
    return masses.sum(), com, inertia - np.einsum("n,ni,nj->ij", masses, d, d)


def with_link(text: str, parent: str, mass, com, inertia) -> str:
    """The description with a link more, fixed to another one."""
    six = dict(
        zip(
            ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
            inertia[np.triu_indices(3)].tolist(),
            strict=True,
        )
    )
    numbers = " ".join(f'{name}="{value!r}"' for name, value in six.items())
    more = (
        f'<link name="load"><inertial><origin xyz="{" ".join(map(repr, com.tolist()))}"/>'
        f'<mass value="{float(mass)!r}"/><inertia {numbers}/></inertial></link>'
        f'<joint name="load_joint" type="fixed"><parent link="{parent}"/><child link="load"/>'
        "</joint>"
    )
    return text.replace("</robot>", f"{more}</robot>")


def test_it_is_a_link_more_of_the_description():
    """Against Pinocchio with that link: forces and centre of mass."""
    pin = pytest.importorskip("pinocchio", reason="pinocchio (pip install pin) is missing")
    random, compared = rng("payload"), 0
    for k in range(12):
        text = random_tree(random, int(random.integers(2, 8)), NOT_PLANAR)
        base = "floating" if k % 3 == 0 else "fixed"
        plain = from_urdf(read(text), base=base)
        link = plain.frame_names[int(random.integers(plain.n_link_frames))]
        load = drawn(random)
        there = beside(random, read(with_link(text, link, *load)), base)
        m = with_payload(plain, link, *load)
        assert m.frame_names == plain.frame_names
        if base == "floating":  # Pinocchio leaves what is fixed to the world out
            com = pin.centerOfMass(there.model, there.data, there.positions)
            near(evaluate("com", m, there.q), com)
        if m.n_v:
            compared += 1
            tau = evaluate("inverse_dynamics", m, there.q, there.v, there.dv)
            near(tau, there.G.T @ pin.rnea(*there.state))
    assert compared > 5


def test_it_is_the_parameter_of_the_same_numbers():
    m, random = lw.load("panda").mechanism, rng("payload parameter")
    q = random.normal(size=m.n_q)
    given = {"payload:tool0": np.array([2.0, 0.1, -0.2, 0.3])}
    once = with_payload(m, "tool0", 2.0, [0.1, -0.2, 0.3])
    near(evaluate("mass_matrix", once, q), evaluate("mass_matrix", m, q, parameters=given))
    twice = with_payload(with_payload(m, "tool0", 0.5, [0.1, -0.2, 0.3]), "tool0", 1.5,
                         [0.1, -0.2, 0.3], np.zeros(6))  # fmt: skip
    near(evaluate("mass_matrix", twice, q), evaluate("mass_matrix", once, q))
    # what the link weighs counts it: as an input, it is replaced whole
    link = "link7"
    numbers = values(once, [f"mass:{link}", f"com:{link}", f"inertia:{link}"])
    named = dict(zip((f"mass:{link}", f"com:{link}", f"inertia:{link}"), numbers, strict=True))
    near(evaluate("mass_matrix", once, q, parameters=named), evaluate("mass_matrix", once, q))


def test_on_added_frames_and_chains_turned_round():
    robot, random = lw.load("panda"), rng("payload frame")
    T = robot.fk(robot.random(seed=3), "link5")
    mass, com, inertia = drawn(random)
    held = robot.with_frame("camera", "link4", T).with_payload("camera", mass, com, inertia)
    R = T[:3, :3]
    same = robot.with_payload("link4", mass, T[:3, 3] + R @ com, R @ inertia @ R.T)
    near(held.mechanism.I_com, same.mechanism.I_com)
    near(held.mechanism.p_body_com, same.mechanism.p_body_com)
    q = random.normal(size=7)
    back = robot.subchain("tool0", "link0").with_payload("link3", mass, com, inertia)
    first = robot.with_payload("link3", mass, com, inertia).subchain("tool0", "link0")
    near(*(evaluate("mass_matrix", r.mechanism, q) for r in (back, first)))


def test_a_closed_mechanism_carries_it():
    """The work of the load's weight along the motion that the loops leave."""
    bars = lw.load("four_bar")
    q = bars.assemble([1.0]).q
    frame = bars.frame_names[bars.mechanism.n_link_frames - 1]
    held = bars.with_payload(frame, 2.0, [0.1, 0.2, 0.05])
    assert held.loops == bars.loops
    assert held.actuated == bars.actuated
    down = np.array([0.0, -9.0, 0.0])
    J = bars.with_frame("load", frame, lw.pose([0.1, 0.2, 0.05])).actuation_jacobian(q, "load")
    more = held.gravity_forces(q, gravity=down) - bars.gravity_forces(q, gravity=down)
    assert abs(J[1, 0]) > 1e-3
    driven = [bars.mechanism.joint(name) for name in bars.actuated]
    near(more[driven], 2.0 * 9.0 * J[1], 1e-9)


def test_it_survives_pickles_and_json_and_is_no_description():
    robot = lw.load("panda").with_payload("tool0", 1.5, [0, 0, 0.1], [0.01, 0, 0, 0.01, 0, 0.01])
    m = robot.mechanism
    assert pickle.loads(pickle.dumps(robot)).mechanism == m == from_json(to_json(m))
    assert m != lw.load("panda").mechanism
    with pytest.raises(UnsupportedFeatureError, match="was changed after it was loaded"):
        lw.urdf.write(robot, "nowhere.urdf")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("tool", 1.0), UnknownNameError, "no frame named 'tool'; nearest: tool0"),
        (("joint1", 1.0), InputError, "'joint1' is a joint; its link is 'link1'"),
        (("tool0", 0.0), InputError, "payload on 'tool0': its mass must be positive, not 0 kg"),
        (("tool0", np.nan), InputError, "payload on 'tool0': its mass must be finite"),
        (("tool0", 1.0, [0, np.inf, 0]), InputError, "its com must be finite"),
        (("tool0", 1.0, [0, 0]), ShapeError, r"com \(3,\) and inertia \(3, 3\)"),
        (("tool0", 1.0, [0, 0, 0], np.ones(5)), ShapeError, "ixx ixy ixz iyy iyz izz"),
        (("tool0", 1.0, [0, 0, 0], np.diag([1, 1, 3])), InputError, "triangle inequality"),
        (("tool0", 1.0, [0, 0, 0], np.triu(np.ones((3, 3)))), InputError, "not symmetric"),
    ],
)
def test_what_is_no_body_is_refused_by_name(arguments, error, text):
    with pytest.raises(error, match=text):
        lw.load("panda").with_payload(*arguments)


def test_inertias_that_are_accepted_are_accepted_here_too():
    robot = lw.load("panda").accept_inertias()
    assert robot.with_payload("tool0", 1.0, [0, 0, 0], np.diag([1.0, 1.0, 3.0])).n_v == 7
