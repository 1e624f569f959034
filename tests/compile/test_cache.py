"""Entries are kept and found again; keys and folders are what they should be."""

from __future__ import annotations

import os
import shutil
import stat
import threading
import warnings
from pathlib import Path

import pytest

import linkwork
from fresh_python import python
from linkwork.compile.cache import (
    Cache,
    Entry,
    UnusableFolder,
    default_folder,
    key_of,
    private_folder,
    source_digest,
)
from seeds import rng

KEY = key_of("a kernel")


@pytest.mark.parametrize(
    "entry",
    [
        Entry({}, b""),
        Entry({"name": "fk", "shapes": [[4, 4]], "none": None, "x": 0.1}, b"\x7fELF" + bytes(999)),
        Entry({"ü€": "\ud800 \0 \n", "long": "x" * 100_000}, rng("cache").bytes(300_000)),
    ],
)
def test_what_is_written_is_read(tmp_path, entry):
    cache = Cache(tmp_path / "kernels")
    assert cache.read(KEY) is None
    cache.write(KEY, entry)
    assert cache.read(KEY) == entry
    assert Cache(tmp_path / "kernels").read(KEY) == entry
    assert cache.read(key_of("another")) is None


def test_without_a_folder_nothing_is_kept():
    cache = Cache(None)
    cache.write(KEY, Entry({}, b"x"))
    assert cache.read(KEY) is None


def test_facts_that_json_cannot_hold_are_refused(tmp_path):
    for facts in ({"x": object()}, {"x": float("nan")}, {"x": b""}):
        with pytest.raises((TypeError, ValueError)):
            Cache(tmp_path).write(KEY, Entry(facts, b""))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("key", ["", "x", "../" + "0" * 61, "A" * 64, "0" * 63, "0" * 65, "é" * 64])
def test_only_keys_name_files(tmp_path, key):
    cache = Cache(tmp_path)
    with pytest.raises(ValueError, match="key_of"):
        cache.read(key)
    with pytest.raises(ValueError, match="key_of"):
        cache.write(key, Entry({}, b""))


def test_other_parts_have_another_key():
    lists = [
        (), ("",), (b"",), ("", ""), ("a",), (b"a",), ("a", "b"), ("ab",), ("ab", ""), ("", "ab"),
        ("a", b"b"), (b"a", "b"), ("b", "a"), ("a\0b",), ("s\x01",), ("\ud800",), ("é",),
        (b"\xc3\xa9",),
    ]  # fmt: skip
    assert len({key_of(*parts) for parts in lists}) == len(lists)
    assert key_of("a", b"b") == key_of("a", b"b")
    # SHA-256 of kind, length and bytes: a key must not change by accident.
    assert key_of("a") == "8c55c670d897f80b03daf1a5d2bf5c940074a4ab091e1e511ea7c5bf205d0d29"


def test_the_default_folder_is_the_platforms():
    home = Path("/home/me")
    linux = default_folder({}, home, "linux")
    assert linux == home / ".cache/linkwork"
    assert default_folder({"XDG_CACHE_HOME": "/fast"}, home, "linux") == Path("/fast/linkwork")
    assert default_folder({"XDG_CACHE_HOME": "/fast"}, None, "linux") == Path("/fast/linkwork")
    for unset in ("", "relative", "./x"):
        assert default_folder({"XDG_CACHE_HOME": unset}, home, "freebsd14") == linux
    assert default_folder({"XDG_CACHE_HOME": "/x"}, home, "darwin") == (
        home / "Library/Caches/linkwork"
    )
    local = default_folder({"LOCALAPPDATA": "D:/me/Local"}, home, "win32")
    assert local == Path("D:/me/Local/linkwork")
    assert default_folder({}, home, "win32") == home / "AppData/Local/linkwork"
    for platform in ("linux", "darwin", "win32"):
        assert default_folder({}, None, platform) is None


def test_what_was_not_used_for_longest_goes(tmp_path):
    cache = Cache(tmp_path, limit=400_000)
    foreign = tmp_path / "notes.txt"
    foreign.write_bytes(bytes(500_000))
    keys = [key_of(str(k)) for k in range(100)]
    for age, key in enumerate(keys):
        cache.write(key, Entry({}, bytes(10_000)))
        written = tmp_path / f"{key}.kernel"
        time = written.stat().st_mtime - 1000.0 * (len(keys) - age)
        os.utime(written, (time, time))
        sizes = [file.stat().st_size for file in tmp_path.glob("*.kernel")]
        assert sum(sizes) <= 400_000
    there = [cache.read(key) is not None for key in keys]
    assert sum(there) >= 25
    assert there == sorted(there), "an older entry outlived a younger one"
    assert foreign.exists()


def test_what_is_used_stays(tmp_path):
    cache = Cache(tmp_path, limit=400_000)
    used, unused = key_of("used"), key_of("unused")
    for key in (used, unused):
        cache.write(key, Entry({}, bytes(10_000)))
        os.utime(tmp_path / f"{key}.kernel", (1e9, 1e9))
    for k in range(60):
        assert cache.read(used) is not None
        cache.write(key_of(str(k)), Entry({}, bytes(10_000)))
        time = os.stat(tmp_path / f"{key_of(str(k))}.kernel").st_mtime - 10.0
        os.utime(tmp_path / f"{key_of(str(k))}.kernel", (time, time))
    assert cache.read(unused) is None


def test_what_others_left_unfinished_goes_in_time(tmp_path):
    cache = Cache(tmp_path, limit=100_000)
    old, young = (tmp_path / f"{KEY}.kernel.{k}.part" for k in range(2))
    for file in (old, young):
        file.write_bytes(b"x")
    os.utime(old, (1e9, 1e9))
    for k in range(9):
        cache.write(key_of(str(k)), Entry({}, bytes(9_000)))
    assert not old.exists()
    assert young.exists()


def test_threads_share_a_cache(tmp_path):
    cache, found = Cache(tmp_path), []

    def work(k: int) -> None:
        for _ in range(50):
            cache.write(KEY, Entry({"k": k}, bytes(5000)))
            found.append(cache.read(KEY) is not None)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [True] * 200


def test_a_folder_that_was_asked_for_and_cannot_be_used_is_warned_of_once(tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for silent in (Cache(file), Cache(tmp_path / "none", warn=True)):
            assert silent.read(KEY) is None
        Cache(file).write(KEY, Entry({}, b""))
    asked = Cache(file, warn=True)
    with pytest.warns(RuntimeWarning, match=r"file, cannot be used: .*LINKWORK_CACHE") as seen:
        assert asked.read(KEY) is None
        asked.write(KEY, Entry({}, b""))
        assert Cache(file, warn=True).read(KEY) is None
    assert len(seen) == 1


@pytest.mark.slow
def test_the_sources_decide_the_digest(tmp_path):
    root = tmp_path / "linkwork"
    shutil.copytree(
        Path(linkwork.__file__).parent, root, ignore=shutil.ignore_patterns("__pycache__", "models")
    )
    show = """
        import sys; sys.path.insert(0, sys.argv[1])
        import linkwork
        assert linkwork.__path__[0].startswith(sys.argv[1])
        from linkwork.compile.cache import source_digest
        print(source_digest())
    """
    assert python(show, tmp_path) == source_digest()  # wherever it is installed
    changed = {source_digest()}
    for file in ("spatial/so3.py", "compile/kernel.py", "solve/step.py"):
        with open(root / file, "a", encoding="utf-8") as text:
            text.write("# another comment\n")
        changed.add(python(show, tmp_path))
    assert len(changed) == 4
    with open(root / "errors.py", "a", encoding="utf-8") as text:
        text.write("# this decides no kernel\n")
    (root / "spatial" / "notes.txt").write_text("nor does this")
    assert python(show, tmp_path) in changed
    (root / "spatial" / "added.py").write_text("X = 1\n")
    assert python(show, tmp_path) not in changed
    # what cannot be read is like nothing else
    (root / "spatial" / "gone.py").symlink_to(root / "nowhere")
    assert python(show, tmp_path) != python(show, tmp_path)


def test_the_digest_imports_neither_the_tracer_nor_the_compiler():
    text = """
        import sys, linkwork
        from linkwork.compile.cache import Cache, source_digest
        before = set(sys.modules)
        source_digest()
        new = {name.split(".")[0] for name in set(sys.modules) - before}
        print(sorted(new & {"casadi", "llvmlite", "email", "importlib.metadata"}))
    """
    assert python(text) == "[]"


# --- Folders and files that others could write to are not trusted, whatever they are ---

posix = pytest.mark.skipif(os.name != "posix", reason="rights are checked on POSIX systems alone")
as_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root can give files away"
)


def test_a_folder_is_made_for_the_user_alone(tmp_path):
    path = tmp_path / "a" / "b"
    with private_folder(path, create=True) as folder:
        folder.write("x", b"1")
        assert folder.read("x", largest=1) == b"1"
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        assert stat.S_IMODE((path / "x").stat().st_mode) & 0o077 == 0


def test_a_missing_folder_is_told_apart_from_a_bad_one(tmp_path):
    with pytest.raises(FileNotFoundError), private_folder(tmp_path / "none", create=False):
        pass
    (tmp_path / "file").write_text("x")
    for place in ("file", "file/below", "n" * 300, "nul\0"):
        with pytest.raises(UnusableFolder), private_folder(tmp_path / place, create=True):
            pass


@posix
@pytest.mark.parametrize("mode", [0o700, 0o755, 0o500])
def test_a_folder_that_others_can_read_is_fine(tmp_path, mode):
    (tmp_path / "x").write_bytes(b"1")
    tmp_path.chmod(mode)
    with private_folder(tmp_path, create=False) as folder:
        assert folder.read("x", largest=1) == b"1"
    tmp_path.chmod(0o700)


@as_root
def test_what_belongs_to_another_user_is_refused(tmp_path):
    with private_folder(tmp_path, create=True) as folder:
        folder.write("x", b"1")
        os.chown(tmp_path / "x", 65534, 65534)
        assert folder.read("x", largest=1) is None
    os.chown(tmp_path, 65534, 65534)
    with (
        pytest.raises(UnusableFolder, match="belongs to another user"),
        private_folder(tmp_path, create=True),
    ):
        pass


@posix
def test_a_folder_is_not_exchanged_while_it_is_open(tmp_path):
    path, other = tmp_path / "real", tmp_path / "other"
    other.mkdir()
    with private_folder(path, create=True) as folder:
        folder.write("x", b"mine")
        (other / "x").write_bytes(b"evil")
        path.rename(tmp_path / "moved")
        path.symlink_to(other)
        assert folder.read("x", largest=9) == b"mine"
        folder.write("y", b"mine")
        folder.remove("x")
    assert (tmp_path / "moved" / "y").exists()
    assert sorted(os.listdir(other)) == ["x"]


def test_a_file_is_there_in_whole_or_not_at_all(tmp_path):
    with private_folder(tmp_path, create=True) as folder:
        folder.write("x", b"old")
        with pytest.raises(TypeError):
            folder.write("x", "text")  # type: ignore[arg-type]  # fails after the file is opened
        assert folder.read("x", largest=9) == b"old"
        folder.write("x", b"new")
        assert folder.read("x", largest=3) == b"new"
        assert folder.read("x", largest=2) is None
    assert os.listdir(tmp_path) == ["x"]


def test_a_file_is_marked_as_used_once_a_day(tmp_path):
    with private_folder(tmp_path, create=True) as folder:
        for name in ("x", "clock"):
            folder.write(name, b"")
        now = (tmp_path / "clock").stat().st_mtime
        for behind, marked in ((100_000.0, True), (80_000.0, False), (-500.0, False)):
            os.utime(tmp_path / "x", (now - behind, now - behind))
            folder.mark_used("x", "clock")
            changed = (tmp_path / "x").stat().st_mtime != pytest.approx(now - behind, abs=1.0)
            assert changed == marked
        folder.mark_used("nothing", "clock")
        folder.mark_used("x", "nothing")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's /proc")
def test_no_file_stays_open(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        with private_folder(tmp_path, create=True) as folder:
            folder.write("x", b"1")
            for name, expected in (("x", b"1"), ("pipe", None), ("folder", None)):
                assert folder.read(name, largest=9) == expected
            with pytest.raises(IsADirectoryError):
                folder.write("folder", b"1")
            folder.files()
            folder.count("n", 1)
    tmp_path.chmod(0o777)
    for _ in range(20):
        with pytest.raises(UnusableFolder), private_folder(tmp_path, create=True):
            pass
    assert len(os.listdir("/proc/self/fd")) == before
