"""Parameters against descriptions with other numbers in them, and their derivatives."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

import casadi as cs
import numpy as np
import pytest

from dynamics_cases import as_column, near, solid, static_of
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.registry import ALGORITHMS, evaluate, find, parameters_of
from linkwork.compile.symbolic import symbolic
from linkwork.compile.tracing import trace
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.loading import load
from linkwork.mechanism import parameters
from linkwork.mechanism.dynamics_checks import check_inertias
from linkwork.mechanism.edit import lock, with_frame
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from robots import every_joint_urdf, mechanism_from, origin, random_configuration, random_tree
from seeds import rng

WITHOUT = ("integrate", "difference", "all_positions")
NOT_DESCRIBED = ("gravity", "wrench", "armature", "damping", "friction", "stiffness")
IN_JAX = ("relative", "com_jacobian", "frame_acceleration", "inverse_dynamics", "mass_matrix")
"""Of poses, masses, motions, forces and forces of joints in pairs: JAX compiles for seconds.

CasADi's derivatives of all are compared."""


def edited(text: str, changes: Mapping[str, np.ndarray]) -> str:
    """The description with other values of these parameters; payloads are links.

    A name after a joint's quantity means the joint, also where a link is called the same.
    """
    root = ET.fromstring(text)
    joints = {joint.get("name"): joint for joint in root.iter("joint") if joint.get("name")}
    links = {link.get("name"): link for link in root.iter("link") if link.get("name")}
    for name, value in changes.items():
        quantity, _, item = name.partition(":")
        if quantity in ("xyz", "rpy"):
            _child(joints[item.removesuffix("/joint")], "origin").set(quantity, _text(value))
        elif quantity == "payload":
            _add_payload(root, item, value)
        elif quantity in ("mass", "com", "inertia"):
            _set_inertial(links[item], quantity, value)
    return ET.tostring(root, encoding="unicode")


def _child(element: ET.Element, name: str) -> ET.Element:
    found = element.find(name)
    return ET.SubElement(element, name) if found is None else found


def _set_inertial(link: ET.Element, quantity: str, value: np.ndarray) -> None:
    inertial = _child(link, "inertial")
    if quantity == "com":
        _child(inertial, "origin").set("xyz", _text(value))
    mass = _child(inertial, "mass")
    mass.set("value", _text(value) if quantity == "mass" else mass.get("value", "0"))
    inertia = _child(inertial, "inertia")
    for k, key in enumerate(("ixx", "ixy", "ixz", "iyy", "iyz", "izz")):
        inertia.set(key, repr(float(value[k])) if quantity == "inertia" else inertia.get(key, "0"))
    if quantity == "inertia":  # in the link's axes
        _child(inertial, "origin").set("rpy", "0 0 0")


def _add_payload(root: ET.Element, link: str, value: np.ndarray) -> None:
    new = ET.SubElement(root, "link", name=f"payload of {link}")
    _set_inertial(new, "mass", value[:1])
    joint = ET.SubElement(root, "joint", name=f"payload on {link}", type="fixed")
    ET.SubElement(joint, "parent", link=link)
    ET.SubElement(joint, "child", link=f"payload of {link}")
    ET.SubElement(joint, "origin", xyz=_text(value[1:]))


def _text(values: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in values)


def calls(m: Mechanism, frame: str) -> list[tuple[str, dict[str, str]]]:
    """Every algorithm that parameters matter to, with each of its static arguments."""
    found = []
    for name, entry in ALGORITHMS.items():
        if "reference" in entry.static and not entry.needs_loops:
            found += [(name, {"frame": frame, "reference": r}) for r in REFERENCES]
        elif name not in WITHOUT and not entry.needs_loops:
            found.append((name, static_of(name, m, frame)))
    return found


def inputs(name: str, m: Mechanism, random: np.random.Generator) -> list[np.ndarray]:
    kinds = [kind for _, kind in find(name).inputs]
    q, v = random_configuration(random, m), random.normal(size=m.n_v)
    return [q if kind == "q" else v for kind in kinds]


def suited(name: str, text: str) -> str:
    """The description; where forces must determine accelerations, each link with a weight."""
    return solid(text) if check_movable in find(name).needs else text


def texts() -> list[tuple[str, str]]:
    random = rng("parametric trees")
    found = [(every_joint_urdf(), "fixed"), (every_joint_urdf(), "floating")]
    for k in range(3):
        found.append((random_tree(random, 7), "floating" if k % 3 == 0 else "fixed"))
    fixed = ("fixed", "fixed", "revolute", "prismatic", "planar")
    found += [(random_tree(random, 9, fixed), "fixed") for _ in range(2)]
    return found


def new_value(m: Mechanism, name: str, random: np.random.Generator) -> np.ndarray:
    (parameter,) = parameters.find(m, name)
    value = random.uniform(-1.2, 1.2, parameter.size)
    if name.startswith(("mass", "payload")):
        value[0] = abs(value[0]) + 0.1
    if name.startswith("inertia"):  # of some body: a square, and its trace on the diagonal
        A = value.reshape(2, 3)
        value = (A.T @ A + np.trace(A @ A.T) * np.eye(3))[np.triu_indices(3)]
    if name in ("armature", "damping", "friction", "stiffness"):
        value = np.abs(value)
    return value


WITHIN = {"inverse_mass_matrix": 1e-10, "forward_dynamics": 1e-10}
WITHIN["forward_dynamics_derivatives"] = 1e-9
"""Of what divides by the mass matrix; 1e-13 of all else."""


def of_joints_and_links(m: Mechanism, names) -> list[str]:
    """Those that a description can be edited for: no poses of links' frames, no gravity, ..."""
    kept = []
    for name in names:
        quantity, _, item = name.partition(":")
        pose = quantity in ("xyz", "rpy")
        if quantity not in NOT_DESCRIBED and not (pose and m.frame(item) < m.n_link_frames):
            kept.append(name)
    return kept


@pytest.mark.slow
@pytest.mark.sweep(1)
@pytest.mark.parametrize("k", range(7))
def test_present_values_change_nothing(k: int):
    text, base = texts()[k]
    bare, weighty = mechanism_from(text, base), mechanism_from(solid(text), base)
    random = rng(f"present {k}")
    frame = bare.frame_names[int(random.integers(len(bare.frame_names)))]
    for name, static in calls(bare, frame):
        m = weighty if check_movable in find(name).needs else bare
        names = [n for n in parameters_of(name, m, **static) if n not in ("damping", "friction")]
        if len(names) > 4:
            names = random.choice(names, 4, replace=False).tolist()
        arrays = inputs(name, m, random)
        expected = evaluate(name, m, *arrays, **static)
        for one, value in zip(names, parameters.values(m, names), strict=True):
            got = evaluate(name, m, *arrays, parameters={one: value}, **static)
            near(got, expected, WITHIN.get(name, 1e-13))


@pytest.mark.slow
@pytest.mark.parametrize("k", range(7))
def test_another_value_is_another_description(k: int):
    described, base = texts()[k]
    m = mechanism_from(described, base)
    random = rng(f"another {k}")
    frame = m.frame_names[int(random.integers(len(m.frame_names)))]
    for name, static in calls(m, frame):
        text = suited(name, described)
        m = mechanism_from(text, base)
        names = of_joints_and_links(m, parameters_of(name, m, **static))
        arrays = inputs(name, m, random)
        if not names:
            continue
        for count in (1, 1, 4):
            chosen = random.choice(names, min(count, len(names)), replace=False).tolist()
            given = {one: new_value(m, one, random) for one in chosen}
            other = mechanism_from(edited(text, given), base)
            expected = evaluate(name, other, *arrays, **static)
            got = evaluate(name, m, *arrays, parameters=given, **static)
            if name == "fk_all":  # payloads are links there
                expected = expected[[other.frame(f) for f in m.frame_names]]
            near(got, expected, 10 * WITHIN.get(name, 1e-13))


def test_the_frame_alone_moves():
    m = with_frame(
        mechanism_from(every_joint_urdf()), "tool", "camera", origin((1, 2, 3), (1, 0, 0))
    )
    random = rng("frames")
    q = random_configuration(random, m)
    before = evaluate("fk_all", m, q)
    for name in (*m.frame_names[: m.n_link_frames], "tool"):
        given = {f"xyz:{name}": random.normal(size=3), f"rpy:{name}": random.normal(size=3)}
        after = evaluate("fk_all", m, q, parameters=given)
        own = m.body_names[m.frame_body[m.frame(name)]]
        T = before[m.frame(own)] @ origin(*given.values())
        near(after[m.frame(name)], T, 1e-12)
        others = np.arange(len(m.frame_names)) != m.frame(name)
        assert np.array_equal(after[others], before[others])


def test_what_is_added_to_a_link_moves_with_its_joint():
    shift = origin((0.1, -0.2, 0.3), (0.3, 0.4, 0.5))
    text = every_joint_urdf()
    m = with_frame(mechanism_from(text), "tool", "camera", shift)
    q = random_configuration(rng("tool"), m)
    given = {"rpy:mount": np.array([0.2, 0.3, -0.1]), "xyz:mount": np.array([1.0, 0, 0])}
    camera = evaluate("fk", mechanism_from(edited(text, given)), q, frame="camera")
    near(evaluate("fk", m, q, parameters=given, frame="tool"), camera @ shift, 1e-12)
    # a payload in it as well
    load_ = np.array([2.0, 0.1, 0.2, 0.3])
    heavy = edited(text, {**given, "payload:camera": np.r_[2.0, (shift @ np.r_[load_[1:], 1])[:3]]})
    expected = evaluate("com", mechanism_from(heavy), q)
    near(evaluate("com", m, q, parameters={**given, "payload:tool": load_}), expected, 1e-12)
    # and where the frame is given, the payload stands in that
    pose = dict(zip(("xyz:tool", "rpy:tool"), np.array([[0.5, 0, 1], [0.2, -0.4, 1]]), strict=True))
    at = origin(*pose.values()) @ np.r_[load_[1:], 1]  # in 'lift', the body's own link
    heavy = edited(text, {"payload:lift": np.r_[2.0, at[:3]]})
    expected = evaluate("gravity_forces", mechanism_from(heavy), q)
    near(
        evaluate("gravity_forces", m, q, parameters={**pose, "payload:tool": load_}),
        expected,
        1e-12,
    )


def test_a_locked_joint_is_a_fixed_one():
    text = every_joint_urdf()
    m = lock(mechanism_from(text), "elbow", 0.4)
    q = random_configuration(rng("locked"), m)
    (xyz,) = parameters.values(m, "xyz:elbow/joint")
    near(xyz, [0, 0, 0.4], 1e-12)
    given = {"xyz:elbow/joint": np.array([0.1, 0.2, 0.5]), "mass:lower": np.array([3.0])}
    other = lock(mechanism_from(edited(text, given)), "elbow", 0.4)
    for name, static in calls(m, "hand"):
        if check_movable in find(name).needs:
            continue  # much has no weight here
        known = parameters_of(name, m, **static)
        one = {key: value for key, value in given.items() if key in known}
        arrays = [q, *inputs(name, m, rng(f"locked {name}"))[1:]]
        got = evaluate(name, m, *arrays, parameters=one, **static)
        near(got, evaluate(name, other, *arrays, **static), 1e-12)


def test_gravity_turns_with_the_world():
    m = mechanism_from(every_joint_urdf(), "floating")
    random = rng("gravity turns")
    q, g = random_configuration(random, m), random.normal(size=3)
    per_axis = [
        evaluate("gravity_forces", m, q, parameters={"gravity": axis}) for axis in np.eye(3)
    ]
    near(evaluate("gravity_forces", m, q, parameters={"gravity": g}), g @ np.array(per_axis), 1e-12)
    J = evaluate("com_jacobian", m, q)
    near(np.array(per_axis), -m.mass.sum() * J, 1e-12)


# --------------------------------------------------------------------------- back ends, derivatives


def several(m: Mechanism, name: str, static, random) -> dict[str, np.ndarray]:
    """Up to one parameter of each quantity, at values that are not the present ones."""
    found: dict[str, str] = {}
    names = list(parameters_of(name, m, **static))
    random.shuffle(names)
    for one in names:
        found.setdefault(one.partition(":")[0], one)
    # a frame's own pose takes the place of its joint's: one of them
    chosen = list(found.values())
    while True:
        try:
            given = {one: new_value(m, one, random) for one in chosen}
            arrays = [np.ones(size) for size in find(name).sizes(m).values()]
            evaluate(name, m, *arrays, parameters=given, **static)
            return given
        except InputError:
            chosen.pop()


OF_FORCES = [
    name
    for name, entry in ALGORITHMS.items()
    if check_inertias in entry.needs and not entry.needs_loops
]


def small_and_solid() -> Mechanism:
    """A small tree in which everything has a weight, and a turn and a slide are coupled."""
    types = ("revolute", "prismatic", "revolute", "planar")
    m = mechanism_from(solid(random_tree(rng("small and solid"), 4, types, mimic=0.4)))
    return with_frame(m, "tool", m.body_names[-1], origin((0.1, 0.2, 0.3), (0.4, 0.5, -0.6)))


OF_INERTIA = (*OF_FORCES, "kinetic_energy", "centroidal_momentum", "centroidal_matrix")
EVERY_CALL = calls(mechanism_from(every_joint_urdf()), "tool")
ONE_REFERENCE = [call for call in EVERY_CALL if call[1].get("reference", "local") == "local"]


def derivative_case(name: str, static, every_joint: Mechanism):
    """A function of one vector of parameters, the vector, how it is split, and its slope there."""
    m = small_and_solid() if name in (*OF_INERTIA, "regressor") else every_joint
    if "base" in static:
        static = {**static, "base": m.frame_names[0]}
    random = rng(f"derivatives {name} {static}")
    given, arrays = several(m, name, static, random), inputs(name, m, random)
    assert given
    flat = np.concatenate(list(given.values()))
    bounds = np.cumsum([len(v) for v in given.values()])[:-1]

    def at(x, split=np.split):
        parts = dict(zip(given, split(x, bounds), strict=True))
        return evaluate(name, m, *arrays, parameters=parts, **static)

    h, slopes = 1e-3, []
    for step in h * np.eye(len(flat)):
        ends = [at(flat + k * step).ravel() for k in (1, -1, 2, -2)]
        slopes.append((8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * h))
    return m, static, given, arrays, flat, at, np.array(slopes).T


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("name", "static"), ONE_REFERENCE)
def test_casadi_differentiates_by_parameters(name: str, static, every_joint: Mechanism):
    m, static, given, arrays, flat, at, slope = derivative_case(name, static, every_joint)
    expected, function = at(flat), symbolic(name, m, tuple(given), **static)
    near(np.array(function(*arrays, *given.values())).reshape(expected.shape), expected, 1e-12)
    symbols = [cs.SX.sym(f"x{k}", function.size1_in(k)) for k in range(len(arrays) + len(given))]
    own = cs.vertcat(*symbols[len(arrays) :])
    derivative = cs.Function("d", symbols, [cs.jacobian(as_column(function(*symbols)), own)])
    near(np.array(derivative(*arrays, *given.values())), slope, 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "static"), [call for call in ONE_REFERENCE if call[0] in IN_JAX])
def test_jax_differentiates_by_parameters(name: str, static, every_joint: Mechanism, jax):
    *_, flat, at, slope = derivative_case(name, static, every_joint)
    expected, in_jax = at(flat), lambda x: at(x, jax.numpy.split)

    @jax.jit  # one program of all three, whose parts are shared
    def all_of(x):
        gradient = jax.grad(lambda x: (in_jax(x) ** 2).sum())(x)
        return in_jax(x), jax.jacfwd(lambda x: in_jax(x).ravel())(x), gradient

    value, forward, gradient = all_of(flat)
    near(value, expected, 1e-12)
    near(forward, slope, 1e-8)
    near(gradient, 2 * expected.ravel() @ slope, 1e-8)


@pytest.mark.slow
def test_all_at_once_under_vmap(jax):
    m = load("ur5e").mechanism
    names = [
        n for n in parameters_of("fk", m, frame="tool0") if n not in ("xyz:tool0", "rpy:tool0")
    ]
    values = dict(zip(names, parameters.values(m, names), strict=True))
    q = rng("vmap").normal(size=(5, m.n_q))
    f = jax.vmap(
        lambda q, values: evaluate("fk", m, q, parameters=values, frame="tool0"), in_axes=(0, None)
    )
    expected = [evaluate("fk", m, row, frame="tool0") for row in q]
    near(jax.jit(f)(q, values), expected, 1e-12)


# --------------------------------------------------------------------------------------- faults


def test_without_effect(every_joint: Mechanism):
    m = load("panda").mechanism
    q = np.zeros(m.n_q)
    with pytest.raises(InputError, match=r"fk of 'link3' does not depend on 'gravity': .* xyz:"):
        evaluate("fk", m, q, parameters={"gravity": np.ones(3)}, frame="link3")
    with pytest.raises(InputError, match=r"on 'xyz:joint4': .*it depends on .*xyz:joint3"):
        trace("fk", m, ["xyz:joint3", "xyz:joint4"], frame="link3")
    with pytest.raises(InputError, match=r"on 'xyz:tool0_joint'.* takes its place"):
        trace("fk", m, ["xyz:tool0_joint", "xyz:tool0"], frame="tool0")
    for name in WITHOUT:
        assert parameters_of(name, every_joint) == ()
        with pytest.raises(InputError, match="it has no parameters"):
            trace(name, every_joint, ["gravity"])
    for name, entry in ALGORITHMS.items():
        if entry.needs_loops:
            continue
        if name in OF_INERTIA:
            assert "inertia:link3" in parameters_of(name, m)
        else:
            static = static_of(name, m, "tool0")
            with pytest.raises(InputError, match="inertia:link3"):
                trace(name, m, ["inertia:link3"], **static)


def test_names_and_shapes(every_joint: Mechanism):
    m = every_joint
    q = random_configuration(rng("names"), m)
    with pytest.raises(UnknownNameError, match="no link named 'x'"):
        evaluate("com", m, q, parameters={"mass:x": 1.0})
    with pytest.raises(ShapeError, match=r"gravity of '.*' has the shape \(3,\), not \(2,"):
        evaluate("gravity_forces", m, q, parameters={"gravity": np.zeros(2)})
    with pytest.raises(ShapeError, match="com takes q; 2 arrays came"):
        evaluate("com", m, q, q, parameters={"mass:a": 1.0})
    one = evaluate("com", m, q, parameters={"mass:a": 1.5})  # a single number is a vector of one
    assert np.array_equal(one, evaluate("com", m, q, parameters={"mass:a": [1.5]}))
    with pytest.raises(InputError, match="named twice"):
        trace("com", m, ["mass:a", "mass:a"])


def test_it_is_the_mechanism_elsewhere(every_joint: Mechanism):
    m = every_joint
    given = Parametric(NUMPY, m, {"mass:c": np.array([7.0])})
    assert given.digest == m.digest
    b = m.body_names.index("c")
    assert given.body_mass(b) == 7.0 and type(given.body_mass(0)) is float
    assert given.placement(3) == m.placement(3)
    assert given.unused() == [] and "mass:c" in given.asked()


def test_what_dynamics_asks_for(every_joint: Mechanism):
    m, random = every_joint, rng("asked")
    hand, w = m.frame("tool"), random.normal(size=6)
    of_v = ("armature", "damping", "friction", "stiffness")
    rows = {name: random.normal(size=m.n_v) for name in of_v}
    given = Parametric(NUMPY, m, {"wrench:tool": w, **rows})
    assert set(given.unused()) == {"wrench:tool", *rows}
    for b in range(m.n_bodies):
        on = given.wrenches(b)
        assert [frame for frame, _ in on] == ([hand] if b == m.frame_body[hand] else [])
        assert all(wrench is w for _, wrench in on)
        assert given.body_inertia(b) == m.body_inertia(b)  # the constants, to the last bit
    assert set(given.unused()) == set(rows)
    for k in range(m.n_v):
        found = [given.joint_armature(k), given.joint_damping(k), given.joint_friction(k)]
        stiffness, _ = given.joint_spring(k)
        assert (*found, stiffness) == tuple(row[k] for row in rows.values())
    assert given.unused() == []


@pytest.mark.parametrize("k", range(6))
def test_inertias_are_those_of_the_edited_description(k: int):
    text, base = texts()[k]
    m, random = mechanism_from(text, base), rng(f"inertias {k}")
    weights = ("mass", "com", "inertia", "payload", "xyz", "rpy")
    names = [n for n in of_joints_and_links(m, parameters.every_name(m)) if ":" in n]
    names = [n for n in names if n.partition(":")[0] in weights]
    for _ in range(5):
        chosen = random.choice(names, 5, replace=False).tolist()
        values = {name: new_value(m, name, random) for name in chosen}
        given = Parametric(NUMPY, m, values)
        other = mechanism_from(edited(text, values), base)
        for b in range(m.n_bodies):
            near(given.body_inertia(b), other.body_inertia(b), 1e-12)
