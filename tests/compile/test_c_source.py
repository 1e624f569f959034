"""C files: compiled without a warning, loaded, and compared with the kernels they stand for."""

from __future__ import annotations

import ctypes
import itertools
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import casadi as cs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linkwork as lw
from closed_mechanisms import closed_case
from dynamics_cases import random_inputs, solid, static_of
from graph_values import of_graph, of_traced
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.registry import ALGORITHMS
from linkwork.compile.c_source import RESERVED, Names, c_header, c_source, identifier, is_identifier
from linkwork.compile.graph import graph_of
from linkwork.compile.kernel import build
from linkwork.compile.optable import OP_TABLE
from linkwork.compile.tracing import trace
from linkwork.errors import InputError, UnsupportedFeatureError
from robots import every_joint_urdf, mechanism_from
from seeds import rng
from traced_functions import mixed, traced

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
MORE = ["-Wconversion", "-Wshadow", "-Wdouble-promotion", "-Wmissing-prototypes"]
EDGES = np.array(
    "0 -0 1 -1 0.5 -0.5 2 3.7 -8.25 1e-300 5e-324 1e300 -1e300 1e16 "
    "1.5707963267948966 1e6 0.1 -0.9999999 1.0000001".split(),
    dtype=float,
)


def compilers() -> list[str]:
    return [name for name in ("cc", "gcc", "clang") if shutil.which(name)]


@cache
def compiler() -> str:
    for name in compilers():
        return name
    pytest.skip("no C compiler (cc, gcc or clang) is installed")


def text_of(t, **how) -> str:
    return c_source(graph_of(t, fuse=False), t.signature, **how)


def compiled(folder: Path, text: str, *flags: str, name: str = "f", given: str = "") -> Path:
    source, library = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text, encoding="utf-8")
    line = [given or compiler(), *STRICT, *MORE, "-O1", "-shared", "-fPIC", *flags, str(source)]
    done = subprocess.run(
        [*line, "-o", str(library), "-lm"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return library


def function_of(library: Path, name: str, n_out: int, kind=np.float64):
    """Call with arrays: (status, result)."""
    call = getattr(ctypes.CDLL(str(library)), name)

    def function(*arrays):
        given = [np.ascontiguousarray(a, kind) for a in arrays]
        result = np.full(n_out, 77.0, kind)
        status = call(*[ctypes.c_void_p(a.ctypes.data) for a in (*given, result)])
        return status, result

    return function


def robot_cases():
    m = mechanism_from(solid(every_joint_urdf()))
    for name, entry in ALGORITHMS.items():
        if not entry.needs_loops:
            static = static_of(name, m, m.frame_names[m.n_link_frames - 1])
            yield pytest.param(m, name, static, id=name)


def check(m, name, static, folder, ulps):
    """C against the kernel, and against operations that round as plain C does."""
    rows = 100
    t = trace(name, m, **static)
    given = random_inputs(name, m, rng(f"c {name}"), rows)
    by_kernel = build(t)(*given).reshape(rows, -1)
    values = of_graph(t.graph, t.outputs, given)
    plain = of_traced(t, *given).reshape(rows, -1)
    finite = [np.where(np.isfinite(x), np.abs(x), 0.0) * np.ones(rows) for x in values.values()]
    largest = np.max(finite, axis=0, initial=1.0)
    library = compiled(folder, text_of(t, name="f"), "-ffp-contract=off")
    function = function_of(library, "f", by_kernel.shape[1])
    unit = np.spacing(largest)
    for row in range(rows):
        status, found = function(*[a[row] for a in given])
        assert status == 0
        off = np.abs(found - by_kernel[row]).max(initial=0.0) / unit[row]
        assert off <= ulps, (name, row, off)
        assert np.abs(found - plain[row]).max(initial=0.0) <= unit[row], (name, row)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("m", "name", "static"), list(robot_cases()))
def test_agrees_with_the_kernel(m, name, static, tmp_path):
    divides = check_movable in ALGORITHMS[name].needs  # by pivots of the mass matrix
    check(m, name, static, tmp_path, ulps=(4 + 2 * len(m.joint_names)) * (1000 if divides else 1))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("robot", ["excavator", "delta"])  # in the plane, and in space
@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "loop_forces"])
def test_loops_agree_with_the_kernel(robot, name, tmp_path):
    case = closed_case(robot)
    t = trace(name, case.m)
    given = [case.q, case.v, case.every][: len(ALGORITHMS[name].inputs)]
    expected = build(t)(*given).reshape(len(case.q), -1)
    call = function_of(compiled(tmp_path, text_of(t, name="f")), "f", expected.shape[1])
    for row, wanted in enumerate(expected):
        status, found = call(*[a[row] for a in given])
        assert status == 0
        np.testing.assert_allclose(found, wanted, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.sweep(3)
@pytest.mark.parametrize("robot", ["ur5e", "panda", "scara", "mobile_arm"])
@pytest.mark.parametrize("name", ["fk", "jacobian", "com", "integrate", "difference"])
def test_arms_agree_within_4_ulp_of_the_scale(robot, name, tmp_path):
    loaded = lw.load(robot)
    frame = loaded.frame_names[loaded.mechanism.n_link_frames - 1]
    static = static_of(name, loaded.mechanism, frame)
    check(loaded.mechanism, name, static, tmp_path, ulps=4)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ["fk", "jacobian", "integrate", "difference"])
def test_float_agrees_to_its_own_precision(name, tmp_path):
    m = mechanism_from(every_joint_urdf(), base="floating")
    static = static_of(name, m, "hand")
    t = trace(name, m, **static)
    given = random_inputs(name, m, rng(f"single {name}"), 30)
    expected = build(t)(*given).reshape(30, -1)
    library = compiled(tmp_path, text_of(t, name="f", single=True))
    function = function_of(library, "f", expected.shape[1], np.float32)
    for row, wanted in enumerate(expected):
        status, found = function(*[a[row] for a in given])
        assert status == 0
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5 * max(1, np.abs(wanted).max()))


@pytest.fixture(scope="module")
def operations(tmp_path_factory):
    """One function for every operation of the table, all in one library."""
    texts, wanted = [], {}
    for code, op in OP_TABLE.items():
        number = getattr(cs, f"OP_{code}")
        symbols = [cs.SX.sym(f"x{k}") for k in range(op.arity)]
        make = cs.SX.unary if op.arity == 1 else cs.SX.binary
        function = cs.Function("f", symbols, [make(number, *symbols)])
        inputs = {f"x{k}": 1 for k in range(op.arity)}
        t = traced(f"op_{op.name}", inputs, lambda *a, n=number, f=make: f(n, *a))
        texts.append(text_of(t))
        wanted[op.name] = (op.arity, function)
    # -Wfloat-equal is not among the flags: choices compare with 0 on purpose
    library = compiled(tmp_path_factory.mktemp("ops"), "\n".join(texts), "-ffp-contract=off")
    return library, wanted


@pytest.mark.parametrize("name", sorted(op.name for op in OP_TABLE.values()))
def test_every_operation_of_the_table(name, operations):
    library, wanted = operations
    arity, reference = wanted[name]
    call = function_of(library, f"op_{name}", 1)
    for point in itertools.product(EDGES, repeat=arity):
        expected = float(reference(*point))
        status, (found,) = call(*[[x] for x in point])
        assert status == int(not np.isfinite(expected)), (name, point, found, expected)
        if status == 0:
            assert abs(found - expected) <= 4 * np.spacing(abs(expected)), (name, point)
        else:
            assert (np.isnan(found) and np.isnan(expected)) or found == expected, (name, point)


def test_every_operation_in_float(tmp_path):
    texts = []
    for code, op in OP_TABLE.items():
        make = cs.SX.unary if op.arity == 1 else cs.SX.binary
        number, sizes = getattr(cs, f"OP_{code}"), {f"x{k}": 1 for k in range(op.arity)}
        t = traced(f"op_{op.name}", sizes, lambda *a, n=number, f=make: f(n, *a))
        texts.append(text_of(t, single=True))
    library = compiled(tmp_path, "\n".join(texts))  # without a warning of promotion to double
    assert function_of(library, "op_FABS", 1, np.float32)([-3.0]) == (0, np.float32(3.0))
    assert function_of(library, "op_LT", 1, np.float32)([1.0], [2.0]) == (0, np.float32(1.0))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_told_by_the_status(bad, tmp_path):
    t = traced("mixed", {"x": 3, "y": 2}, mixed)
    function = function_of(compiled(tmp_path, text_of(t), "-O2"), "mixed", 6)
    g = rng("not finite")
    x, y = g.normal(size=3), g.normal(size=2)
    assert function(x, y)[0] == 0
    for a in (x, y):
        for k in range(a.size):
            kept, a[k] = a[k], bad
            status, result = function(x, y)
            assert status == 1
            assert (result == 77.0).all()  # nothing was written
            a[k] = kept
    assert function([0, 0, 1e200], [1e200, 0])[0] == 1  # the result overflows


def test_outputs_may_lie_over_inputs(tmp_path):
    t = traced("turn", {"x": 3}, lambda x: cs.vertcat(x[2] * x[1], x[0] + x[2], x[0] * x[1]))
    library = compiled(tmp_path, text_of(t))
    x = np.array([2.0, 3.0, 5.0])
    pointer = ctypes.c_void_p(x.ctypes.data)
    assert ctypes.CDLL(str(library)).turn(pointer, pointer) == 0
    assert x.tolist() == [15.0, 7.0, 6.0]


def test_a_graph_with_paired_multiply_adds_gives_the_same(tmp_path):
    def every_pair(x):
        return cs.vertcat(x[0] * x[1] + x[2], x[1] * x[2] - x[0], x[1] - x[0] * x[2])

    t = traced("pairs", {"x": 3}, every_pair)
    graph = graph_of(t, fuse=True)
    assert {node.op.name for node in graph.nodes if node.op} == {"FMA", "FMS", "FNMA"}
    library = compiled(tmp_path, c_source(graph, t.signature), "-ffp-contract=off")
    assert function_of(library, "pairs", 3)([2.0, 3.0, 5.0])[1].tolist() == [11.0, 13.0, -7.0]


def test_constants_are_exact(tmp_path):
    g = rng("constants")
    values = [*g.normal(size=50), *(10.0 ** g.uniform(-300, 300, 50)), 0.1, 5e-324, 1.8e308,
              -1.7976931348623157e308, -0.0, 1e22, 123456789.0, -3.0]  # fmt: skip
    values = [v for v in values if np.isfinite(v)]
    t = traced("constants", {"x": 1}, lambda x: cs.vertcat(x, *values))
    _, found = function_of(compiled(tmp_path, text_of(t)), "constants", len(values) + 1)([0.0])
    # CasADi has one zero: -0 comes back as +0 from it, not from C
    assert found[1:].tolist() == values


def test_constants_that_are_not_finite_and_choices_between_them(tmp_path):
    t = traced("bound", {"x": 1}, lambda x: cs.fmin(x + 1.0, cs.inf) + cs.fmax(-cs.inf, -x * 2.0))
    status, found = function_of(compiled(tmp_path, text_of(t)), "bound", 1)([3.0])
    assert (status, found[0]) == (0, -2.0)


def test_float_refuses_what_it_cannot_hold():
    t = traced("tiny", {"x": 1}, lambda x: x * 1e-60)
    assert "1e-60" in text_of(t)
    with pytest.raises(UnsupportedFeatureError, match="1e-60 is out of the range of float"):
        text_of(t, single=True)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("given", compilers() or [""])
@pytest.mark.parametrize("level", ["-O0", "-O3"])
def test_every_compiler_here_takes_it(given, level, tmp_path):
    if not given:
        pytest.skip("no C compiler (cc, gcc or clang) is installed")
    m = mechanism_from(every_joint_urdf(), base="floating")
    for name in ("fk_all", "difference"):
        compiled(tmp_path, text_of(trace(name, m)), level, given=given)


@pytest.mark.parametrize("given", ["c++", "g++", "clang++"])
def test_it_is_cpp_as_well(given, tmp_path):
    if shutil.which(given) is None:
        pytest.skip(f"{given} is not installed")
    t = traced("mixed", {"x": 3, "y": 2}, mixed)
    (tmp_path / "mixed.h").write_text(c_header(t.signature))
    (tmp_path / "mixed.cpp").write_text(text_of(t))
    (tmp_path / "use.cpp").write_text(
        '#include "mixed.h"\n#include "mixed.h"\n'
        "int main() { double x[MIXED_X] = {1, 2, 3}, y[MIXED_Y] = {4, 5}, r[MIXED_RESULT];\n"
        "  return mixed(x, y, r); }\n"
    )
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    files = [str(tmp_path / name) for name in ("mixed.cpp", "use.cpp")]
    done = subprocess.run(
        [given, *flags, *files, "-o", str(tmp_path / "use")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert subprocess.run([str(tmp_path / "use")], check=False).returncode == 0


def test_fast_math_is_refused_by_the_file_itself(tmp_path):
    (tmp_path / "f.c").write_text(text_of(traced("f", {"x": 1}, lambda x: x)))
    line = [compiler(), "-ffast-math", "-c", "f.c"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "without -ffast-math" in done.stderr


def test_sanitizers_find_nothing(tmp_path):
    m = mechanism_from(every_joint_urdf(), base="floating")
    t = trace("difference", m)
    q = random_inputs("difference", m, rng("sanitizer"), 1)
    numbers = [", ".join(repr(float(x)) for x in a[0]) for a in q]
    (tmp_path / "main.c").write_text(
        text_of(t, name="f") + "int main(void) {\n"
        f"double a[] = {{{numbers[0]}}}, b[] = {{{numbers[1]}}}, r[{m.n_v}];\n"
        "if (f(a, b, r)) return 1;\na[0] = a[0] / (a[0] - a[0]);\nreturn f(a, b, r) ? 0 : 2; }\n"
    )
    line = [compiler(), *STRICT, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover",
            "main.c", "-o", "main", "-lm"]  # fmt: skip
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "sanitize" in done.stderr or "libasan" in done.stderr or "libubsan" in done.stderr:
        pytest.skip("this compiler has no sanitizers")
    assert done.returncode == 0, done.stderr
    # a preloaded library (a profiler, a memory checker) would come before the sanitizer's own
    ran = subprocess.run(
        ["./main"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={"ASAN_OPTIONS": "verify_asan_link_order=0"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr


# --- the text ------------------------------------------------------------------------------------


def test_variables_are_used_again():
    def long(x):
        for _ in range(500):
            x = cs.sin(x) * 0.5 + x
        return x

    text = text_of(traced("long", {"x": 1}, long))
    assert text.count("\n    w") == 1500
    assert "take at most 24 bytes" in text


def test_the_comment_says_what_a_caller_needs():
    m = mechanism_from(every_joint_urdf())
    t = trace("fk", m, frame="hand")
    about = {"robot": "every_joint", "frame": "hand"}
    labels = {"q": [f"joint number {k}" for k in range(m.n_q)]}
    text = text_of(t, about=about, labels=labels)
    comment = text[: text.index("*/")]
    for wanted in ("Pose of one frame in the world.", "Frame: hand", "[3] joint number 3",
                   "element (i, j) is fk[4 * i + j]", "Units: metre, radian", "Returns 0, or 1",
                   "is yours", "bytes of the stack"):  # fmt: skip
        assert wanted in comment
    assert "int every_joint_fk_hand(const double q[" in text
    header = c_header(t.signature, about=about, labels=labels)
    assert f"#define EVERY_JOINT_FK_HAND_Q {m.n_q}\n" in header
    assert "int every_joint_fk_hand(const double q[" in header


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    "robot", ["*/ int x; /*", "a\nb\\", "é ü 日本", "1st", "??/", "/**//", "", "double", "a" * 500]
)
def test_any_robot_name_gives_a_valid_file(robot, tmp_path):
    t = traced("mixed", {"double": 3, "2 y:z*/": 2}, mixed)
    labels = {"double": [robot] * 3, "mixed": [robot, "*/"]}
    about = {"robot": robot, "frame": robot}
    compiled(tmp_path, text_of(t, about=about, labels=labels), "-trigraphs")
    (tmp_path / "h.c").write_text(c_header(t.signature, about=about, labels=labels))
    line = [compiler(), *STRICT, "-trigraphs", "-c", "h.c"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_names_that_collide_are_told_apart(tmp_path):
    inputs = {"q": 3, "q_0": 1, "w0": 1, "f": 1, "f_finite": 1, "x": 1, "n": 1, "k": 1}
    t = traced("f", inputs, lambda *a: cs.vertcat(cs.vertcat(*a) * 2.0))
    function = function_of(compiled(tmp_path, text_of(t)), "f", 10)
    status, found = function([1, 2, 3], [4], [5], [6], [7], [8], [9], [10])
    assert status == 0
    assert found.tolist() == [2.0 * k for k in range(1, 11)]


@pytest.mark.parametrize("name", ["2x", "a b", "int", "sin", "a__b", "_a", "x" * 70, "é", "a;"])
def test_a_name_that_c_does_not_take_is_refused(name):
    t = traced("f", {"x": 1}, lambda x: x)
    with pytest.raises(InputError, match="a name for a C function"):
        text_of(t, name=name)
    with pytest.raises(InputError, match="would do"):
        c_header(t.signature, name=name)


# --- Names for C: valid, not taken, each used once ---


@given(st.text(max_size=20) | st.text(alphabet="ab_1 é/", max_size=100))
def test_any_text_becomes_an_identifier_which_stays_as_it_is(text):
    name = identifier(text)
    assert is_identifier(name)
    assert identifier(name).rstrip("_") == name.rstrip("_")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("q", "q"), ("panda arm", "panda_arm"), ("xyz:joint-1", "xyz_joint_1"), ("2R", "x2R"),
        ("", "x"), ("__a__b__", "a_b"), ("sin", "sin_v"), ("sinf", "sinf_v"), ("class", "class_v"),
        ("I", "I"), ("EOF", "eof"), ("日本", "x"), ("lambda", "lambda_v"), ("y0", "y0_v"),
        ("a" * 100, "a" * 63),
    ],
)  # fmt: skip
def test_examples(text, name):
    assert identifier(text) == name


@pytest.mark.parametrize("name", sorted(RESERVED)[::17])
def test_words_of_the_languages_are_changed(name):
    assert identifier(name) not in RESERVED
    assert not is_identifier(name)


@given(st.lists(st.text(alphabet="aq_0:2 ", max_size=4), max_size=20))
def test_names_are_each_used_once(texts):
    names = Names()
    names.take("a")
    given_out = [names.new(text) for text in texts]
    assert len({*given_out, "a"}) == len(texts) + 1
    prefix = names.prefix("a")
    assert not any(re.fullmatch(rf"{prefix}\d+", name) for name in given_out)
    assert all(is_identifier(name) for name in given_out)
