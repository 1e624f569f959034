"""The robot's methods of dynamics: keywords, batches, results, and what is refused when."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import linkwork as lw
from dynamics_cases import near, random_inputs, solid
from linkwork.algorithms.registry import ALGORITHMS, evaluate, find, parameters_of
from linkwork.loading import load
from linkwork.robot import Robot
from robots import chain_urdf, every_joint_urdf, mechanism_from
from seeds import rng

METHODS = [
    name
    for name, entry in ALGORITHMS.items()
    if (entry.keywords or entry.needs or name.startswith("frame_")) and not entry.needs_loops
]
KEYWORDS = {
    "external": "wrench:hand",
    "gravity": "gravity",
    "armature": "armature",
    "losses": "damping",
}


@pytest.fixture(scope="module")
def robot() -> Robot:
    return Robot(mechanism_from(solid(every_joint_urdf())))


@pytest.fixture(scope="module")
def small() -> Robot:
    """A chain of three joints with losses; that all types compile is tests/reference' affair."""
    losses = '<dynamics damping="0.3" friction="0.2"/><limit'
    return Robot(mechanism_from(solid(chain_urdf(3)).replace("<limit", losses)))


def inputs(robot: Robot, name: str, n: int | None = 3) -> list[np.ndarray]:
    return random_inputs(name, robot.mechanism, rng(f"inputs {name}"), n)


def frames(name: str) -> dict[str, str]:
    return {"frame": "hand"} if "frame" in find(name).static else {}


def ends(robot: Robot) -> tuple[str, str]:
    """Two frames that wrenches act on."""
    return ("hand", "table") if "hand" in robot.frame_names else ("link3", "link1")


def values(robot: Robot, name: str) -> dict[str, object]:
    """A value for each keyword of a method."""
    random = rng(f"keywords {name}")
    every = {
        "external": dict(
            zip(ends(robot), (random.normal(size=6), random.normal(size=(3, 6))), strict=True)
        ),
        "gravity": random.normal(size=3),
        "losses": True,
        "armature": random.uniform(0.1, 1, robot.n_v),
    }
    has = inspect.signature(getattr(Robot, name)).parameters
    return {key: value for key, value in every.items() if key in has}


@pytest.mark.parametrize("name", METHODS)
def test_keywords_are_what_the_algorithm_depends_on(robot: Robot, name: str):
    known = parameters_of(name, robot.mechanism, **frames(name))
    has = inspect.signature(getattr(Robot, name)).parameters
    for keyword, parameter in KEYWORDS.items():
        assert (keyword in has) == (parameter in known), keyword
    for keyword in ("threads", "on_bad"):
        assert keyword in has
    assert [key for key, _ in find(name).inputs] == list(has)[1 : 1 + len(find(name).inputs)]


ON_EVERY_JOINT = [
    pytest.param("robot", name, marks=() if name == "inverse_dynamics" else pytest.mark.slow)
    for name in ("inverse_dynamics", "forward_dynamics", "centroidal_momentum")
]


@pytest.mark.parametrize(
    ("which", "name"), [*(("small", name) for name in METHODS), *ON_EVERY_JOINT]
)
def test_a_method_gives_what_the_algorithm_does(which: str, name: str, request):
    robot: Robot = request.getfixturevalue(which)
    arrays, given = inputs(robot, name), values(robot, name)
    m, method = robot.mechanism, getattr(robot, name)
    static = frames(name) if which == "robot" else {key: "link3" for key in frames(name)}
    losses = {"damping": m.damping, "friction": m.friction, "stiffness": m.stiffness}
    if name == "inverse_dynamics_derivatives":
        del losses["friction"]
    for k in (0, 2):
        parameters = {key: given[key] for key in ("gravity", "armature") if key in given}
        parameters |= losses if "losses" in given else {}
        if "external" in given:
            one, many = ends(robot)
            parameters[f"wrench:{one}"] = given["external"][one]
            parameters[f"wrench:{many}"] = given["external"][many][k]
        row = [a[k] for a in arrays]
        for keywords, also in (({}, {}), (given, parameters)):
            expected = evaluate(name, m, *row, parameters=also, **static)
            got = method(*arrays, **keywords, **static)
            if isinstance(got, tuple):
                near([part[k] for part in got], expected, 1e-9)
            else:
                near(got[k], expected, 1e-9 if find(name).needs else 1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_shapes_out_threads_and_bad_rows(small: Robot, name: str):
    arrays, given, fixed = inputs(small, name), values(small, name), frames(name)
    fixed = {key: "link3" for key in fixed}
    method = getattr(small, name)
    shape = find(name).output(small.mechanism)
    for keywords in ({}, given):
        whole = np.array(method(*arrays, **keywords, **fixed))
        threaded = method(*arrays, **keywords, **fixed, threads=2)
        assert np.array_equal(np.array(threaded), whole)
        if "out" in inspect.signature(method).parameters:
            out = np.zeros((3, *shape))
            assert method(*arrays, **keywords, **fixed, out=out) is out
            assert np.array_equal(out, whole)
        bad = [a.copy() for a in arrays]
        bad[0][1, 0] = np.nan
        with pytest.raises(lw.InputError, match=r"in row \[1\] is nan"):
            method(*bad, **keywords, **fixed)
        marked = method(*bad, **keywords, **fixed, on_bad="nan")
        parts = marked if isinstance(marked, tuple) else (marked,)
        for part, right in zip(parts, whole if len(parts) > 1 else (whole,), strict=True):
            assert np.isnan(part[1]).all()
            assert np.array_equal(part[[0, 2]], right[[0, 2]])


def test_derivatives_are_named(small: Robot):
    robot = small
    q, v, dv = inputs(robot, "inverse_dynamics_derivatives", None)
    inverse = robot.inverse_dynamics_derivatives(q, v, dv)
    assert inverse._fields == ("q", "v", "dv")
    tau = robot.inverse_dynamics(q, v, dv)
    forward = robot.forward_dynamics_derivatives(q, v, tau)
    assert forward._fields == ("q", "v", "tau")
    n = robot.n_v
    assert {part.shape for part in (*inverse, *forward)} == {(n, n)}
    near(inverse.dv, robot.mass_matrix(q), 1e-12)
    near(forward.tau, robot.inverse_mass_matrix(q), 1e-9)
    near(inverse.dv @ forward.q, -inverse.q, 1e-9)
    assert robot.inverse_dynamics_derivatives(q[None], v, dv).q.shape == (1, n, n)


def test_inertial_numbers_are_what_the_regressor_multiplies(robot: Robot):
    q, v, dv = inputs(robot, "regressor")
    p = robot.inertial_parameters()
    assert p.shape == (10 * len(robot.mechanism.body_names),)
    Y = evaluate("regressor", robot.mechanism, q[0], v[0], dv[0])
    near(Y @ p, robot.inverse_dynamics(q[0], v[0], dv[0]), 1e-11)
    assert p[::10].sum() == pytest.approx(robot.mechanism.mass.sum(), rel=1e-12)
    p[:] = 0.0  # an array of one's own
    assert robot.inertial_parameters().any()


@pytest.mark.slow
def test_accelerations_by_inertial_parameters(small: Robot):
    robot = small
    q, v, tau = inputs(robot, "forward_dynamics")
    m = robot.mechanism
    rotors = np.linspace(0.1, 0.5, robot.n_v)
    how = {"gravity": [1.0, 2.0, -9.0], "armature": rotors, "losses": True}
    found = robot.forward_dynamics_regressor(q, v, tau, external={"link3": np.arange(6.0)}, **how)
    assert found.shape == (3, robot.n_v, 10 * m.n_bodies)
    dv = robot.forward_dynamics(q, v, tau, external={"link3": np.arange(6.0)}, **how)
    # a mass that is added at the origin of a body's link changes the first of its numbers alone
    for b in (1, m.n_bodies - 1):
        link = m.body_names[b]
        names = ["gravity", "armature", "damping", "friction", "wrench:link3", f"payload:{link}"]
        call = robot.function("forward_dynamics", parameters=names)
        given = (how["gravity"], rotors, m.damping, m.friction, np.arange(6.0))
        near(call(q, v, tau, *given, np.zeros(4)), dv, 1e-9)
        h = 1e-5
        up, down = (call(q, v, tau, *given, [s * h, 0.0, 0.0, 0.0]) for s in (1.0, -1.0))
        near((up - down) / (2.0 * h), found[..., 10 * b], 1e-6)


def test_a_force_that_holds_what_pulls(robot: Robot):
    q, v, dv = inputs(robot, "inverse_dynamics")
    w = np.array([1.0, 2, 3, 4, 5, 6])
    J = robot.jacobian(q, "hand")
    plain = robot.inverse_dynamics(q, v, dv)
    got = robot.inverse_dynamics(q, v, dv, external={"hand": w})
    near(got, plain - np.einsum("nij,i->nj", J, w), 1e-12)
    many = robot.inverse_dynamics(q[0], v[0], dv[0], external={"hand": np.outer([0, 1, 2], w)})
    near(many, plain[0] - np.outer([0, 1, 2], w @ J[0]), 1e-12)


def test_each_combination_is_compiled_once():
    r = load("ur5e")
    q, v = r.random(seed=1), np.ones(6)
    wrenches = ["wrench:wrist_3_link", "wrench:tool0"]  # in the order of the frames
    names = [[], ["gravity"], sorted(wrenches, key=lambda name: r.frame_names.index(name[7:]))]
    kernels = [r.kernel("bias_forces", parameters=each) for each in names]
    assert len(set(kernels)) == 3
    plain = r.bias_forces(q, v)
    for g in ([0, 0, -1], [0, 0, -2], np.zeros((4, 3))):
        assert np.array_equal(r.bias_forces(q, v, gravity=g), kernels[1](q, v, g))
    one = r.bias_forces(q, v, external={"tool0": np.ones(6), "wrist_3_link": np.zeros(6)})
    two = r.bias_forces(q, v, external={"wrist_3_link": np.zeros(6), "tool0": np.ones(6)})
    assert np.array_equal(one, two) and not np.array_equal(one, plain)
    assert np.array_equal(r.bias_forces(q, v, losses=True), plain)  # none are described
    assert [r.kernel("bias_forces", parameters=each) for each in names] == kernels


def test_arguments_that_do_not_fit(robot: Robot):
    q, v, dv = inputs(robot, "inverse_dynamics", None)
    call = robot.inverse_dynamics
    for keywords, message in (
        ({"gravity": [0, 1]}, r"gravity must have shape \(..., 3\), not \(2,\)"),
        ({"armature": [1.0, 2]}, r"armature must have shape"),
        ({"external": {"hand": [1, 2, 3]}}, r"wrench:hand must have shape \(..., 6\)"),
        ({"external": {"hand": np.full(6, np.nan)}}, "wrench:hand"),
        ({"losses": "yes"}, "losses is True"),
        ({"external": {"nothing": np.zeros(6)}}, "no frame named 'nothing'"),
    ):
        with pytest.raises(lw.LinkworkError, match=message):
            call(q, v, dv, **keywords)
    with pytest.raises(lw.ShapeError, match=r"dv must have shape"):
        call(q, v, dv[:-1])
    with pytest.raises(TypeError, match="friction"):
        call(q, v, dv, friction=1.0)
    fixed = load("ur5e")
    with pytest.raises(lw.InputError, match="no joint moves 'base_link', so a wrench"):
        fixed.inverse_dynamics(fixed.neutral(), *np.zeros((2, 6)), external={"base_link": [0] * 6})


def test_a_joint_is_named_where_a_number_is_none(robot: Robot):
    q, v, dv = inputs(robot, "inverse_dynamics", None)
    for k, array in enumerate((v, dv)):
        wrong = array.copy()
        wrong[-1] = np.inf
        arrays = [q, v, dv]
        arrays[k + 1] = wrong
        with pytest.raises(lw.InputError, match="joint 'grip_a'"):
            robot.inverse_dynamics(*arrays)


def test_inertias_are_checked_when_they_are_needed():
    text = solid(chain_urdf(2)).replace('izz="0.0025"', 'izz="0.5"')
    r = lw.load(text)
    q, v = np.zeros(2), np.ones(2)
    assert np.isfinite(r.gravity_forces(q)).all()
    assert r.kinetic_energy(q, v) > 0 and r.com_velocity(q, v).shape == (3,)
    calls = {
        "mass_matrix": (q,),
        "inverse_dynamics": (q, v, v),
        "forward_dynamics": (q, v, v),
        "inverse_dynamics_derivatives": (q, v, v),
    }
    for name, arrays in calls.items():
        for _ in range(2):
            with pytest.raises(lw.InputError, match=r"link 'link1': .*triangle"):
                getattr(r, name)(*arrays)
        with pytest.raises(lw.InputError, match="link 'link1'"):
            r.kernel(name)
        with pytest.raises(lw.InputError, match="link 'link1'"):
            r.symbolic(name)
    accepted = r.accept_inertias()
    for name, arrays in calls.items():
        assert np.isfinite(getattr(accepted, name)(*arrays)).all()
    assert pickle.loads(pickle.dumps(accepted)).mass_matrix(q).shape == (2, 2)
    with pytest.raises(lw.InputError, match="link 'link1'"):
        r.mass_matrix(q)  # the other robot stays as it was
    f = r.function("mass_matrix", parameters=["inertia:link1", "inertia:link2"])
    assert f(q, *np.full((2, 6), 0.1)).shape == (2, 2)


def test_what_cannot_move_is_refused_before_anything_is_computed():
    r = lw.load(chain_urdf(2))
    q, v = np.zeros(2), np.ones(2)
    assert not r.inverse_dynamics(q, v, v).any()
    for name, arrays in (
        ("forward_dynamics", (q, v, v)),
        ("inverse_mass_matrix", (q,)),
        ("forward_dynamics_derivatives", (q, v, v)),
    ):
        with pytest.raises(lw.InputError, match="link 'link2' has no mass and nothing behind"):
            getattr(r, name)(*arrays)
        with pytest.raises(lw.InputError, match="'joint2'"):
            getattr(r.accept_inertias(), name)(*arrays)
    near(r.forward_dynamics(q, v, v, armature=[2.0, 4.0]), [0.5, 0.25], 1e-12)


def test_power_lost_is_that_of_every_joint_followers_too():
    """Against the velocities of all joints as `full` gives them, and the numbers of the file."""
    inertial = (
        '<inertial><mass value="1"/>'
        '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    )
    text = f"""<robot name="r"><link name="a"/>
    <link name="b">{inertial}</link>
    <link name="c">{inertial}</link>
    <link name="d">{inertial}</link>
    <joint name="lead" type="continuous"><parent link="a"/><child link="b"/>
    <dynamics damping="0.3" friction="0.2"/></joint>
    <joint name="slide" type="prismatic"><parent link="b"/><child link="c"/>
    <limit lower="-9" upper="9" velocity="1" effort="1"/>
    <dynamics damping="50" friction="7"/><mimic joint="lead" multiplier="-0.1"/></joint>
    <joint name="fast" type="continuous"><parent link="c"/><child link="d"/>
    <limit velocity="12" effort="1"/>
    <dynamics damping="0.02" friction="0.05"/><mimic joint="slide" multiplier="80"/></joint>
    </robot>"""
    robot = lw.load(text)
    own = {"lead": (0.3, 0.2), "slide": (50.0, 7.0), "fast": (0.02, 0.05)}
    rates = robot.all_positions([1.0]) - robot.all_positions([0.0])  # in the order of the bodies
    for v in (-1.7, 0.4):
        without = robot.inverse_dynamics([0.2], [v], [0.0])
        lost = (robot.inverse_dynamics([0.2], [v], [0.0], losses=True) - without)[0] * v
        speeds = {name: r * v for name, r in zip(own, rates, strict=True)}
        expected = sum(d * speeds[n] ** 2 + f * abs(speeds[n]) for n, (d, f) in own.items())
        assert lost == pytest.approx(expected, rel=1e-12)
    assert robot.limits.velocity.tolist() == [1.5]  # of `fast`, at 8 times its leader's velocity
