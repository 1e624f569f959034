"""The cache's folder holds anything at all: no call fails, hangs or runs what it should not.

What is found is taken for what it is: an entry of the key, whole and private, or nothing.
"""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cache_scenarios import result, scenario
from fresh_python import python
from linkwork.compile.cache import Cache, Entry, key_of
from linkwork.compile.numpy_abi import array_abi
from portable_kernels import level
from seeds import rng

posix = pytest.mark.skipif(os.name != "posix", reason="needs a POSIX system")
KEY, OTHER = key_of("a kernel"), key_of("another")
ENTRY = Entry({"name": "fk", "shapes": [[4, 4]]}, rng("attacks").bytes(700))


@pytest.fixture
def cache(tmp_path) -> Cache:
    made = Cache(tmp_path / "kernels")
    made.write(KEY, ENTRY)
    assert made.read(KEY) == ENTRY
    return made


def place(cache: Cache, key: str = KEY) -> Path:
    assert cache.folder is not None
    return cache.folder / f"{key}.kernel"


# across processes


def test_another_process_runs_what_one_compiled(tmp_path):
    made = result(scenario("make", tmp_path))
    assert result(scenario("use", tmp_path)) == made
    # what a third one compiles is the same, bit for bit
    assert result(scenario("make", tmp_path)) == made


@posix
def test_a_folder_that_can_only_be_read():
    # Not below the test runner's own folder, which an ordinary user cannot reach where root tests.
    with tempfile.TemporaryDirectory() as folder:
        assert result(scenario("without_rights", Path(folder))) == "fine"


@posix
def test_a_disk_that_is_full(tmp_path):
    assert result(scenario("without_space", tmp_path)) == "fine"


# one file


def test_every_shorter_file_is_no_entry(cache):
    whole = place(cache).read_bytes()
    for n in range(len(whole)):
        place(cache).write_bytes(whole[:n])
        assert cache.read(KEY) is None
    place(cache).write_bytes(whole + b"\0")
    assert cache.read(KEY) is None
    place(cache).write_bytes(whole)
    assert cache.read(KEY) == ENTRY


def test_every_byte_counts(cache):
    whole = place(cache).read_bytes()
    for n in range(len(whole)):
        changed = bytearray(whole)
        changed[n] ^= 1 << (n % 8)
        place(cache).write_bytes(changed)
        assert cache.read(KEY) is None, n


def forged(body: bytes) -> bytes:
    """A file whose digest is right, as of a program with a fault, or an enemy."""
    return b"linkwork kernel 1\n" + hashlib.sha256(KEY.encode() + body).digest() + body


def facts(text: bytes, length: int | None = None) -> bytes:
    return forged((len(text) if length is None else length).to_bytes(8, "little") + text + b"code")


CONTENTS: dict[str, bytes] = {
    "nothing": b"",
    "a line break": b"\n",
    "text": b"hello " * 1000,
    "zeros": bytes(5000),
    "noise": rng("noise").bytes(5000),
    "a program": b"\x7fELF" + bytes(500),
    "an older format": b"linkwork kernel 0\n" + bytes(500),
    "the magic alone": b"linkwork kernel 1\n",
    "no facts": forged(b""),
    "a list of facts": facts(b"[1, 2]"),
    "a number of facts": facts(b"1"),
    "no JSON": facts(b"{'a': 1}"),
    "no UTF-8": facts(b'{"\xff": 1}'),
    "deep JSON": facts(b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
    "a huge number": facts(b'{"a":' + b"9" * 10_000 + b"}"),
    "facts longer than the file": facts(b"{}", 1 << 40),
    "facts longer than the file, without code": forged((99).to_bytes(8, "little") + b"{}"),
    "facts of the largest length": facts(b"{}", (1 << 64) - 1),
    "facts that reach into the code": facts(b"{}", 4),
}


@pytest.mark.parametrize("content", CONTENTS)
def test_contents_that_are_no_entry(cache, content):
    place(cache).write_bytes(CONTENTS[content])
    assert cache.read(KEY) is None
    cache.write(KEY, ENTRY)
    assert cache.read(KEY) == ENTRY


def test_an_entry_under_another_key_is_none(cache):
    os.replace(place(cache), place(cache, OTHER))
    assert cache.read(OTHER) is None
    assert cache.read(KEY) is None


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Something else in the place of a file."""

    def attack(path: Path) -> None:
        path.rename(path.parent / "moved")
        make(path)

    return attack


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        fd = os.open(path.parent, os.O_RDONLY)  # a socket's path must be short
        made.bind(f"/proc/self/fd/{fd}/{path.name}")
        os.close(fd)


def of_another_user(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 65534, 65534)


ATTACKS: dict[str, Callable[[Path], None]] = {
    "a huge file": lambda path: os.truncate(path, 1 << 36),  # sparse: it takes no disk
    "a link": replaced(lambda path: path.symlink_to(path.parent / "moved")),
    "a link to itself": replaced(lambda path: path.symlink_to(path)),
    "a link to nothing": replaced(lambda path: path.symlink_to(path.parent / "nothing")),
    "a link without end": replaced(lambda path: path.symlink_to("/dev/zero")),
    "a pipe": replaced(lambda path: os.mkfifo(path, 0o600)),
    "a socket": replaced(a_socket),
    "open to others": lambda path: path.chmod(0o666),
    "open to the group": lambda path: path.chmod(0o660),
    "of another user": of_another_user,
}


@posix
@pytest.mark.parametrize("attack", ATTACKS)
def test_files_that_are_not_plain_and_private(cache, attack: str):
    try:
        ATTACKS[attack](place(cache))
    except OSError as error:
        pytest.skip(f"this system does not make that: {error}")
    assert cache.read(KEY) is None
    cache.write(KEY, ENTRY)
    assert cache.read(KEY) == ENTRY
    assert place(cache).stat().st_size < 10_000
    assert not place(cache).is_symlink()


def test_a_folder_in_an_entrys_place_stays(cache):
    place(cache).unlink()
    (place(cache) / "inside").mkdir(parents=True)
    assert cache.read(KEY) is None
    cache.write(KEY, ENTRY)
    assert cache.read(KEY) is None
    assert (place(cache) / "inside").is_dir()
    cache.write(OTHER, ENTRY)
    assert cache.read(OTHER) == ENTRY
    assert not list(place(cache).parent.glob("*.part"))


@posix
@pytest.mark.parametrize("make", ["mkdir", "mkfifo", "symlink", "huge"])
def test_what_stands_in_the_counters_place_does_no_harm(cache, make):
    counter = place(cache).parent / "written"
    counter.unlink()
    aim = counter.parent.parent / "aim"
    aim.write_bytes(b"untouched")
    if make == "mkdir":
        counter.mkdir()
    elif make == "mkfifo":
        os.mkfifo(counter)
    elif make == "symlink":
        counter.symlink_to(aim)
    else:
        counter.write_bytes(b"")
        os.truncate(counter, 1 << 40)
    for _ in range(2):
        cache.write(OTHER, ENTRY)
        assert cache.read(OTHER) == ENTRY
        assert cache.read(KEY) == ENTRY
    assert aim.read_bytes() == b"untouched"


# the folder


@posix
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_a_folder_open_to_others_is_not_used(cache, mode):
    place(cache).parent.chmod(mode)
    assert cache.read(KEY) is None
    cache.write(OTHER, ENTRY)
    assert not place(cache, OTHER).exists()
    place(cache).parent.chmod(0o700)
    assert cache.read(KEY) == ENTRY


@posix
def test_a_link_to_a_private_folder_is_one(cache, tmp_path):
    (tmp_path / "link").symlink_to(place(cache).parent)
    assert Cache(tmp_path / "link").read(KEY) == ENTRY


@pytest.mark.parametrize(
    "folder",
    [
        "file", "file/below", "nul\0", "x" * 300, "/".join("x" * 200 for _ in range(40)),
        "dangling", "\udcff", "/proc/none", "/dev/null", "/dev/null/x", "/sys/x", "", "\ud800",
    ],
    ids=repr,
)  # fmt: skip
def test_folders_that_are_none_only_mean_no_cache(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("x")
    if os.name == "posix":
        (tmp_path / "dangling").symlink_to(tmp_path / "missing" / "too")
    strange = Cache(Path(folder))
    assert strange.read(KEY) is None
    strange.write(KEY, ENTRY)
    assert strange.read(KEY) in (None, ENTRY)
    assert (tmp_path / "file").read_text() == "x"


def test_a_folder_that_goes_while_it_is_used(cache):
    folder = place(cache).parent
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    assert cache.read(KEY) is None
    cache.write(KEY, ENTRY)
    assert cache.read(KEY) == ENTRY


# ------------------------------------------------------------- robots in one process after another


USE = """
    import hashlib, os, sys
    import linkwork as lw
    bits = hashlib.sha256()
    for name in os.environ.get("ROBOTS", "mobile_arm planar_3r").split():
        frame = "tool0"
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


@pytest.mark.slow
def test_a_known_mechanism_is_not_traced_and_gives_the_same_bits(known):
    folder, bits = known
    before = {path.name: path.read_bytes() for path in folder.glob("*.kernel")}
    assert len(before) > 20
    assert words(USE, folder) == [bits, "False"]
    assert {path.name: path.read_bytes() for path in folder.glob("*.kernel")} == before
    assert words(USE, "off") == [bits, "True"]


@pytest.mark.slow
def test_eight_processes_fill_one_folder_at_once(known, tmp_path):
    one = {"ROBOTS": "planar_3r"}
    expected, _ = words(USE, known[0], **one)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: words(USE, tmp_path / "shared", **one), range(8)))
    assert {bits for bits, _ in found} == {expected}
    assert words(USE, tmp_path / "shared", **one) == [expected, "False"]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
