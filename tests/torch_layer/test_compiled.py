"""Compiled kernels as functions of tensors: autograd, torch.func, torch.compile, devices, types."""

from __future__ import annotations

import functools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

import linkwork as lw  # noqa: E402
import linkwork.torch as lt  # noqa: E402
from linkwork.compile.derivatives import back  # noqa: E402
from linkwork.compile.tracing import trace  # noqa: E402
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError  # noqa: E402
from robots import chain_urdf  # noqa: E402
from seeds import rng  # noqa: E402

EXACT = {"position_tolerance": 1e-12, "rotation_tolerance": 1e-12}


@functools.cache
def robot(name="panda"):
    return lw.load(name)


def tensor(label, *shape, grad=False):
    return torch.tensor(rng(label).normal(size=shape), requires_grad=grad)


def test_values_are_those_of_the_robot():
    r, k = robot(), lt.compiled(robot())
    q, v = tensor("torch q", 3, 5, 7), tensor("torch v", 7)
    np.testing.assert_array_equal(k.fk(q), r.fk(q.numpy()))
    found = k.inverse_dynamics(q, v, torch.zeros(7, dtype=q.dtype), gravity=[0.0, 0.0, -1.62])
    expected = r.inverse_dynamics(q.numpy(), v.numpy(), np.zeros(7), gravity=[0, 0, -1.62])
    np.testing.assert_array_equal(found, expected)
    assert k.fk(q[:0]).shape == (0, 5, 4, 4)
    assert k.kinetic_energy(v, v).shape == ()
    np.testing.assert_array_equal(k.kinetic_energy(v, v), r.kinetic_energy(v.numpy(), v.numpy()))


def test_results_may_be_changed_in_place():
    k, q = lt.compiled(robot()), tensor("torch in place", 7, grad=True)
    T, plain = k.fk(q), k.fk(q)
    T[:3, 3] *= 2.0
    (found,) = torch.autograd.grad(T[:3, 3].sum(), q)
    (expected,) = torch.autograd.grad(2.0 * plain[:3, 3].sum(), q)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize(
    "name",
    ["fk", *[pytest.param(n, marks=pytest.mark.slow) for n in ("inverse_dynamics", "mass_matrix")]],
)
def test_gradcheck_and_gradgradcheck(name):
    method = getattr(lt.compiled(robot()), name)
    n = 3 if name == "inverse_dynamics" else 1
    given = [tensor(f"torch {name} {j}", 2, 7, grad=True) for j in range(n)]
    assert torch.autograd.gradcheck(method, given, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(method, given)


def test_transforms_of_torch_func():
    from torch.func import grad, hessian, jacfwd, jacrev, vmap  # noqa: PLC0415

    k, q = lt.compiled(robot()), tensor("torch func", 4, 7)

    def cost(q):
        T = k.fk(q)
        return (T[..., :3, 3] ** 2).sum() + T[..., 0, 1].sin().sum()

    np.testing.assert_allclose(vmap(grad(cost))(q), grad(cost)(q), atol=1e-13)
    np.testing.assert_allclose(jacrev(k.fk)(q[0]), jacfwd(k.fk)(q[0]), atol=1e-13)
    np.testing.assert_allclose(hessian(cost)(q[0]), jacrev(jacrev(cost))(q[0]), atol=1e-12)
    mapped = vmap(k.inverse_dynamics, in_dims=(0, None, None))(q, q[0], q[1])
    np.testing.assert_allclose(mapped, k.inverse_dynamics(q, q[0], q[1]), atol=1e-12)


def test_parameters_are_differentiable():
    k = lt.compiled(robot())
    q, v = tensor("torch parameters", 7), tensor("torch parameters v", 7)
    gravity = torch.tensor([0.0, 0.1, -9.81], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda g: k.inverse_dynamics(q, v, v, parameters={"gravity": g}), (gravity,)
    )


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_torch_compile_takes_a_kernel_as_one_call(backend):
    k, q = lt.compiled(robot()), tensor("torch compile", 5, 7, grad=True)

    def cost(q):
        if backend == "inductor":  # it makes C++ of what else there is, which takes half a minute
            return k.fk(q)
        return (k.fk(2.0 * q)[..., :3, 3] ** 2).sum()

    value = torch.compile(cost, fullgraph=True, backend=backend)(q)
    seed = torch.ones_like(value)
    (found,) = torch.autograd.grad(value, q, seed)
    (expected,) = torch.autograd.grad(cost(q), q, seed)
    assert torch.equal(value, cost(q))
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.slow
def test_torch_compile_takes_wrenches_and_leaves_searches_to_python():
    k, q = lt.compiled(robot("planar_2r")), tensor("torch compile ik", 2)
    push = tensor("torch compile push", 6)

    def forces(q):
        return k.gravity_forces(q) + k.inverse_dynamics(q, q, q, external={"tool0": push})

    found = torch.compile(forces, fullgraph=True, backend="aot_eager")(q)
    np.testing.assert_array_equal(found, forces(q))

    def again(T):
        return k.ik(T, q0=q).q.sum() + k.inverse_dynamics(q, q, q, armature=0.1, losses=True).sum()

    T = k.fk(q).requires_grad_()
    value = torch.compile(again, backend="aot_eager")(T)
    assert value.item() == again(T).item()
    (found,), (expected,) = (torch.autograd.grad(x, T) for x in (value, again(T)))
    np.testing.assert_array_equal(found, expected)


def test_types_and_devices():
    r, k = robot(), lt.compiled(robot())
    q = tensor("torch types", 300, 7)
    single = q.float()
    assert k.fk(single).dtype == torch.float32
    np.testing.assert_array_equal(k.fk(single), r.fk(single.double().numpy()).astype(np.float32))
    assert k.fk(q.bfloat16()).dtype == torch.float32
    assert k.inverse_dynamics(q, single, single).dtype == torch.float64
    with pytest.raises(InputError, match="several devices: q on cpu, v on meta"):
        k.inverse_dynamics(q, q.to("meta"), q)
    with pytest.raises(InputError, match=r"q must be real numbers, not a tensor of torch\.complex"):
        k.fk(q * 1j)
    with pytest.raises(ShapeError, match=r"q must have shape \(\.\.\., 7\)"):
        k.fk(q[..., :6])


def test_one_armature_is_that_of_every_rotor():
    r = lw.load("planar_2r", base="floating")
    k, q = lt.compiled(r), torch.from_numpy(r.random(3, seed=0))
    expected = r.mass_matrix(q.numpy(), armature=0.3)
    np.testing.assert_allclose(k.mass_matrix(q, armature=0.3), expected)
    one = torch.tensor(0.3, requires_grad=True)
    found = k.mass_matrix(q[0].float(), armature=one)
    assert found.dtype == torch.float32
    (slope,) = torch.autograd.grad(torch.trace(found), one)
    assert abs(slope - 2.0) < 1e-6  # a floating base has no rotor


def test_views_that_are_negated_and_arrays_that_are_read_only(recwarn):
    r, k = robot(), lt.compiled(robot())
    q = tensor("torch negated", 2, 7)
    turned = torch.complex(torch.zeros_like(q), q).conj().imag
    assert turned.is_neg()
    np.testing.assert_array_equal(k.fk(turned), r.fk(-q.numpy()))
    still = np.broadcast_to(np.array([0.0, 0.0, -1.62]), (2, 3))
    expected = r.gravity_forces(q.numpy(), gravity=still)
    np.testing.assert_array_equal(k.gravity_forces(q, gravity=still), expected)
    assert not recwarn.list


def test_rows_that_are_not_finite_are_nan():
    k, q = lt.compiled(robot()), tensor("torch bad", 100, 7)
    good = k.fk(q)
    q[[4, 99], [1, 6]] = float("nan")
    found = k.fk(q)
    assert torch.isnan(found).flatten(1).all(1).nonzero().flatten().tolist() == [4, 99]
    np.testing.assert_array_equal(found[5:99], good[5:99])


def test_robots_own_methods_say_what_to_use():
    r, q = robot(), tensor("torch border", 7)
    np.testing.assert_array_equal(r.fk(q), r.fk(q.numpy()))
    with pytest.raises(InputError, match=r"records gradients.*linkwork\.torch\.compiled"):
        r.fk(q.clone().requires_grad_())
    with pytest.raises(InputError, match="q is a tensor on meta"):
        r.fk(q.to("meta"))
    with pytest.raises(InputError, match=r"task 'tool0'|target"):
        r.ik(torch.eye(4, dtype=torch.float64, requires_grad=True))


def test_answers_of_ik_are_differentiable_once():
    r, k = robot("ur5e"), lt.compiled(robot("ur5e"))
    q = np.array([0.3, -1.2, 1.4, 0.5, 0.9, -0.4])
    task = lw.ik.Position(r.tip)
    p = torch.tensor(r.fk(q)[:3, 3], requires_grad=True)

    def answer(p):
        return k.ik(p, tasks=task, q0=q, position_tolerance=1e-12).q

    J = torch.autograd.functional.jacobian(answer, p)
    moved = r.jacobian(answer(p).detach().numpy())[:3] @ J.numpy()
    np.testing.assert_allclose(moved, np.eye(3), atol=1e-8)
    np.testing.assert_allclose(torch.func.jacfwd(answer)(p.detach()), J, atol=1e-12)
    batch = torch.func.vmap(answer)(p.detach()[None].repeat(3, 1))
    np.testing.assert_allclose(batch[2], answer(p).detach(), atol=1e-12)
    (first,) = torch.autograd.grad((answer(p) ** 2).sum(), p, create_graph=True)
    with pytest.raises(UnsupportedFeatureError, match="ik of 'ur5e' has first derivatives alone"):
        first.sum().backward()


def test_assembled_configurations_are_differentiable():
    k = lt.compiled(robot("four_bar"))
    crank = torch.tensor([0.4], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a: k.assemble(a).q, (crank,), check_forward_ad=True)


def test_long_mechanisms_have_values_and_refuse_derivatives_by_name():
    r = lw.load(chain_urdf(120))
    k, q = lt.compiled(r), tensor("torch long", 120)
    np.testing.assert_allclose(k.fk_all(q), r.fk_all(q.numpy()), atol=1e-12)
    with pytest.raises(UnsupportedFeatureError, match="fk_all for chain"):
        torch.func.jacrev(k.fk_all)(q)


def test_weights_of_the_backward_pass_reach_the_kernel_as_they_are():
    m, k = robot().mechanism, lt.compiled(robot())
    q, weight = tensor("torch weights", 7, grad=True), tensor("torch weights w", 4, 4)
    (k.fk(q, "tool0" if "tool0" in m.frame_names else None) * weight).sum().backward()
    frame = "tool0" if "tool0" in m.frame_names else robot().tip
    traced = back(trace("fk", m, frame=frame), [0])
    flat = [number for output in traced.outputs for number in output]
    given = [q.tolist(), weight.flatten().tolist()]
    expected = traced.graph.evaluated(traced.order, flat, given)
    np.testing.assert_allclose(q.grad, np.array(expected, float), atol=1e-12)
