"""Robots in one process after another: what is known is neither traced nor compiled again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fresh_python import python
from linkwork.compile.numpy_abi import array_abi
from portable_kernels import level

pytestmark = pytest.mark.slow  # one process after another

USE = """
    import hashlib, sys
    import linkwork as lw
    bits = hashlib.sha256()
    for name, frame in (("ur5e", "tool0"), ("mobile_arm", "tool0"), ("planar_3r", "tool0")):
        r = lw.load(name)
        q = r.random(50, seed=1)
        T = r.fk(q, frame)
        pieces = [T, r.fk(q[0], frame), r.jacobian(q, frame, reference="local"), r.com(q[3]),
                  r.fk_all(q), r.integrate(q, q[:, :r.n_v]), r.gravity_forces(q)]
        pieces.append(r.function("fk", frame, parameters=["xyz:" + frame])(q, [0.1, 0.2, 0.3]))
        if name != "planar_3r":
            pieces.append(r.ik(T[:9], frame).q)
        pieces += lw.xyz_wxyz(T)
        pieces.append(lw.pose([1, 2, 3], rpy=[0.1, 0.2, 0.3]))
        for piece in pieces:
            bits.update(piece.tobytes())
    print(bits.hexdigest(), "linkwork.compile.tracing" in sys.modules)
"""


def words(code: str, cache: Path | str, **environment: str) -> list[str]:
    """The words that a fresh interpreter prints."""
    return python(code, LINKWORK_CACHE=str(cache), PYTHONWARNINGS="error", **environment).split()


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """A folder that one process has filled, and the bits that it computed."""
    folder = tmp_path_factory.mktemp("known") / "cache"
    bits, traced = words(USE, folder)
    assert traced == "True"
    return folder, bits


def test_a_known_mechanism_is_not_traced_and_gives_the_same_bits(known):
    folder, bits = known
    before = {path.name: path.read_bytes() for path in folder.glob("*.kernel")}
    assert len(before) > 20
    assert words(USE, folder) == [bits, "False"]
    assert {path.name: path.read_bytes() for path in folder.glob("*.kernel")} == before
    assert words(USE, "off") == [bits, "True"]


def test_eight_processes_fill_one_folder_at_once(known, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: words(USE, tmp_path / "shared"), range(8)))
    assert {bits for bits, _ in found} == {known[1]}
    assert words(USE, tmp_path / "shared") == [known[1], "False"]


def test_spoilt_entries_are_made_again(known, tmp_path):
    folder = tmp_path / "spoilt"
    folder.mkdir(mode=0o700)
    entries = sorted(known[0].glob("*.kernel"))
    others = entries[1:] + entries[:1]
    for k, (entry, other) in enumerate(zip(entries, others, strict=True)):
        data = entry.read_bytes()
        flipped = data[:-40] + bytes([data[-40] ^ 1]) + data[-39:]
        (folder / entry.name).write_bytes(
            [data[: len(data) // 2], b"", flipped, other.read_bytes(), data][k % 5]
        )
        (folder / entry.name).chmod(0o600)
    assert words(USE, folder) == [known[1], "True"]
    assert words(USE, folder) == [known[1], "False"]


def test_a_folder_that_cannot_be_used_is_warned_of_and_does_no_harm(known, tmp_path):
    place = tmp_path / "file"
    place.write_text("not a folder")
    code = """
        import warnings
        import linkwork as lw
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            r = lw.load("ur5e")
            print(r.fk(r.neutral()).shape, r.com(r.neutral()).shape)
        print(len(caught), *{str(w.message).split(",")[0].replace(" ", "_") for w in caught})
    """
    assert words(code, place) == ["(4,", "4)", "(3,)", "1", "the_folder_for_compiled_kernels"]


@pytest.mark.skipif(array_abi() is None, reason="no layout of arrays is built into code here")
def test_code_for_another_layout_of_arrays_is_not_taken(known):
    code = """
        from linkwork.compile import numpy_abi
        real = numpy_abi.array_abi()
        numpy_abi.array_abi.cache_clear()
        numpy_abi._is_supported = lambda: False
        import linkwork as lw
        r = lw.load("ur5e")
        print(r.fk(r.neutral()).shape == (4, 4), type(r.function("fk")).__name__)
    """
    assert words(code, known[0]) == ["True", "Kernel"]


def test_another_target_is_another_entry(known):
    code = """
        import sys
        import linkwork as lw
        r = lw.load("ur5e")
        r.fk(r.neutral())
        print("linkwork.compile.tracing" in sys.modules)
    """
    level("x86-64-v2")
    assert words(code, known[0], LINKWORK_TARGET="x86-64-v2") == ["True"]
    assert words(code, known[0], LINKWORK_TARGET="x86-64-v2") == ["False"]
