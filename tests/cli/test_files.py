"""Reading numbers strictly, and writing files whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from linkwork.cli import files
from linkwork.errors import InputError
from seeds import rng

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="file modes of POSIX")


def csv_of(folder: Path, text: str | bytes) -> str:
    path = folder / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def message(name: str) -> str:
    with pytest.raises(InputError) as caught:
        files.read(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), (" -2.5e-3 ", -0.0025), ("+.5", 0.5), ("0", 0.0), ("1e400", None), ("", None)]
    + [(bad, None) for bad in ("x", "nan", "inf", "-Infinity", "1_0", "0x1", "1,5", "١", "1 2")],
)
def test_number(text: str, value: float | None):
    assert files.number(text) == value


def test_csv_with_and_without_a_header(tmp_path: Path):
    with_header = files.read(csv_of(tmp_path, "a, b\r\n1,2\r\n\r\n3,4e-1\r\n"))
    assert isinstance(with_header, files.Table)
    assert with_header.header == ("a", "b")
    np.testing.assert_array_equal(with_header.values, [[1, 2], [3, 0.4]])
    bare = files.read(csv_of(tmp_path, b"\xef\xbb\xbf1,2\n3,4"))
    assert isinstance(bare, files.Table)
    assert bare.header is None
    np.testing.assert_array_equal(bare.values, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n1,oops\n", "x.csv:3: cell 2 is not a finite number: 'oops'"),
        ("1,2\n\n1,nan\n", "x.csv:3: cell 2 is not a finite number: 'nan'"),
        ("1,oops\n1,2\n", "x.csv:1: cell 2 is not a finite number: 'oops'"),
        ("1,2\n1,\n", "x.csv:2: cell 2 is not a finite number: ''"),
        ("1,2\n1,2,3\n", "x.csv:2: this line has 3 cells, the first has 2"),
        ("a,b\n1\n", "x.csv:2: this line has 1 cells, the first has 2"),
        ("", "holds no rows of numbers"),
        ("a,b\n", "holds no rows of numbers"),
        (b"\xff\xfe1,2", "is not a .csv file in UTF-8"),
        ('1,"2\n', "is not a .csv file in UTF-8"),
        (b"1,2\n" + b"1" * 200_000 + b",2\n", "is not a .csv file"),
    ],
)
def test_a_csv_that_is_refused(tmp_path: Path, text: str | bytes, said: str):
    assert said in message(csv_of(tmp_path, text))


def test_npy(tmp_path: Path):
    for array in (rng("npy").normal(size=(3, 2)), np.arange(4), np.float32([[1.5]]), np.array(2.0)):
        path = tmp_path / "x.npy"
        np.save(path, array)
        read = files.read(str(path))
        assert isinstance(read, np.ndarray)
        assert read.dtype == np.float64
        np.testing.assert_array_equal(read, np.atleast_1d(array) if array.ndim == 0 else array)


def test_an_npy_that_is_refused(tmp_path: Path):
    path = tmp_path / "x.npy"
    for array, said in (
        (np.array([1.0, np.nan]), "the value at [1] is not a finite number"),
        (np.array(["a"]), "not numbers"),
        (np.array([1j]), "not numbers"),
        (np.array([True]), "not numbers"),
        (np.zeros((0, 7)), "an empty array"),
    ):
        np.save(path, array)
        assert said in message(str(path))
    np.save(path, np.array([{}], dtype=object), allow_pickle=True)
    assert "is not a .npy array of numbers" in message(str(path))
    np.savez(tmp_path / "x.npz", a=np.zeros(3))
    path.write_bytes((tmp_path / "x.npz").read_bytes())
    assert "is not a .npy array of numbers" in message(str(path))
    np.save(path, np.zeros((100, 7)))
    path.write_bytes(path.read_bytes()[:-1])
    assert "is not a .npy array of numbers" in message(str(path))
    path.write_bytes(b"")
    assert "is not a .npy array of numbers" in message(str(path))


def test_other_names_and_missing_files(tmp_path: Path):
    assert "must end in .csv or .npy" in message("poses.txt")
    assert "cannot be read" in message(str(tmp_path / "none.npy"))
    (tmp_path / "folder.csv").mkdir()
    assert "cannot be read" in message(str(tmp_path / "folder.csv"))


# writing


def test_what_is_written_is_read_again_to_the_last_bit(tmp_path: Path):
    values = rng("files").normal(size=(50, 3)) * 10.0 ** rng("exp").integers(-300, 300, (50, 3))
    path = files.target(str(tmp_path / "a.csv"))
    assert path is not None
    files.write_csv(path, ("x", "y,z", 'q"'), values.tolist())
    read = files.read(str(path))
    assert isinstance(read, files.Table)
    assert read.header == ("x", "y,z", 'q"')
    np.testing.assert_array_equal(read.values, values)
    binary = files.target(str(tmp_path / "a.NPY"))
    assert binary is not None
    files.write_npy(binary, values)
    np.testing.assert_array_equal(np.load(binary), values)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.NPY", "a.csv"]


def test_no_target():
    assert files.target(None) is None


def test_a_target_that_is_refused(tmp_path: Path):
    (tmp_path / "d.csv").mkdir()
    for name, said in (
        ("x.txt", r"must end in \.csv or \.npy"),
        ("x", r"must end in \.csv or \.npy"),
        (str(tmp_path / "none" / "x.csv"), "there is no folder"),
        (str(tmp_path / "d.csv"), "something that is not a file is there"),
        (str(tmp_path / ("x" * 300 + ".csv")), "cannot be written"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            files.target(name)
        assert "\n" not in str(caught.value)


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a.csv"
    path.write_text("old")

    def rows() -> Iterator[list[int]]:
        yield [1]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_csv(path, ("a",), rows())
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(5, "it is broken")))
    with pytest.raises(InputError, match=r"a\.csv cannot be written: it is broken"):
        files.write_csv(path, ("a",), [[1]])
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


@POSIX
def test_the_mode_and_a_link_are_kept(tmp_path: Path):
    old, link = tmp_path / "a.csv", tmp_path / "link.csv"
    old.write_text("old")
    old.chmod(0o640)
    link.symlink_to(old)
    path = files.target(str(link))
    assert path is not None
    files.write_csv(path, ("a",), [[1]])
    assert link.is_symlink()
    assert old.read_text() == "a\n1\n"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    fresh = tmp_path / "new.csv"
    files.write_csv(fresh, ("a",), [[1]])
    (tmp_path / "plain").write_text("")
    assert fresh.stat().st_mode == (tmp_path / "plain").stat().st_mode
