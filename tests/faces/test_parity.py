"""Parity files are read strictly, and what they promise is there and tested.

Every row that is not missing has a test with its mark, every mark is a row, every name exists in
the face; and of a sample of rows, the tests fail when the row's behaviour is taken away.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import parity
import pytest
from _pytest.mark import ParameterSet

from linkwork.errors import InputError, UnknownNameError
from linkwork.faces.table import FACES, FaceEntry
from seeds import rng

TESTS = Path(__file__).resolve().parent
SAMPLE = 12  # rows whose behaviour is taken away in a run; LINKWORK_TEST_SEED picks others
GOOD = """
[face]
name = "old"
version = "1.2"
documentation = "https://example.org"

[rows]
"A-1" = ["Robot.load", "same"]
"A-2" = ["the example of the front page", "better", "runs"]

[names]
"old" = ["Robot(name, links=)", "later", "VERSION"]
"old.Robot" = ["load(path)", "links"]

[missing]
"old.later" = "a reason"
"""


@cache
def record_of(name: str) -> parity.Parity:
    return parity.read(name)


def with_parity_file() -> list[ParameterSet]:
    return [pytest.param(entry, id=entry.name) for entry in FACES]


# reading


def test_a_good_file():
    record = parity.parse(GOOD, "x/parity.toml")
    assert (record.face, record.version, record.documentation) == (
        "old", "1.2", "https://example.org"
    )  # fmt: skip
    assert record.rows == (
        parity.Row("A-1", "Robot.load", "same"),
        parity.Row("A-2", "the example of the front page", "better", "runs"),
    )
    assert [row.is_name for row in record.rows] == [True, False]
    assert record.names == (
        parity.OriginalName("old", "Robot", (("name", False), ("links", True))),
        parity.OriginalName("old", "later"),
        parity.OriginalName("old", "VERSION"),
        parity.OriginalName("old.Robot", "load", (("path", False),)),
        parity.OriginalName("old.Robot", "links"),
    )
    assert [name.dotted for name in record.names if record.reason_missing(name)] == ["old.later"]


def test_what_misses_a_class_misses_what_is_in_it():
    record = parity.parse(GOOD.replace('"old.later" =', '"old.Robot" ='), "f")
    there = [name.dotted for name in record.names if record.reason_missing(name) is None]
    assert there == ["old.later", "old.VERSION"]


def test_a_reason_may_list_what_is_missing():
    text = GOOD.replace('"old.later" = "a reason"', '"a reason" = ["old.later", "old.VERSION"]')
    assert parity.parse(text, "f").missing == {"old.later": "a reason", "old.VERSION": "a reason"}
    with pytest.raises(InputError, match=r"old\.latter' stands nowhere"):
        parity.parse(text.replace("old.later", "old.latter"), "f")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"A-2"', '"A-1"', "line 9"),
        ('"better"', '"bettr"', "row 'A-2': state 'bettr' is none of same, better, missing"),
        (', "runs"', "", "row 'A-2': what is the 'same' has no difference; any other state"),
        ('"runs"', '""', "row 'A-2': a name, a state and a difference are needed"),
        ('"better"', '"same"', "row 'A-2': what is the 'same' has no difference"),
        ('"Robot.load"', "3", "row 'A-1': a name, a state and a difference are needed"),
        ('["Robot.load", "same"]', '"same"', "row 'A-1': a name, a state and a difference"),
        ('name = "old"', "", "[face]: name is missing"),
        ('version = "1.2"', 'versoin = "1.2"', "[face]: unknown key 'versoin'"),
        ("[rows]", "[row]", "unknown key 'row'"),
        ("[face]", "[feace]", "tables [face] and [rows] are needed"),
        ("[face]", "[face", "line 2"),
        ('"VERSION"', '"no name"', "[names] 'old': 'no name' is no name"),
        ('"VERSION"', '"f(a,b)"', "[names] 'old': 'f(a,b)' is no name"),
        ('"VERSION"', "3", "[names] 'old': 3 is no name"),
        ('"VERSION"', '"later"', "[names] 'old.later' is there twice"),
        ('["load(path)", "links"]', '"links"', "[names] 'old.Robot' must be a list"),
        ('"old.later" =', '"old.latter" =', "[missing] 'old.latter' stands nowhere in [names]"),
        ('"a reason"', '""', "[missing] 'old.later' needs a reason"),
        ('"old.later" = "a reason"', "[missing.x]", "[missing] 'x' stands nowhere"),
    ],
)
def test_each_fault_is_named_with_file_and_row(old: str, new: str, said: str):
    assert old in GOOD
    with pytest.raises(InputError) as caught:
        parity.parse(GOOD.replace(old, new), "x/parity.toml")
    lines = str(caught.value).splitlines()
    assert any(said in line for line in lines), lines
    assert all(line.startswith("x/parity.toml: ") for line in lines)


def test_all_faults_come_at_once():
    text = GOOD.replace('"same"', '"sme"').replace(', "runs"', "")
    with pytest.raises(InputError) as caught:
        parity.parse(text, "f")
    assert str(caught.value).count("\n") == 1


def test_an_unknown_face():
    with pytest.raises(UnknownNameError, match="no face named 'urdfpi'; nearest: urdfpy"):
        parity.read("urdfpi")


def test_names_in_a_face():
    entry = FaceEntry("x", {"x": "parity"})
    assert parity.find(entry, "Row.is_name") is parity.Row.is_name
    assert parity.find(entry, "STATES") == parity.STATES
    for name in ("Row.no", "nothing", "Row.is_name.deeper"):
        with pytest.raises(UnknownNameError):
            parity.find(entry, name)


def test_names_by_the_modules_of_the_original():
    entry = FaceEntry("x", {"x": "linkwork.faces", "x.tables": "parity"})
    assert parity.find(entry, "x.tables.Row.is_name") is parity.Row.is_name
    assert parity.find(entry, "x.available") is parity.find(entry, "available")
    is_name = parity.OriginalName("x.tables.Row", "is_name")
    assert parity.find_original(entry, is_name) is parity.Row.is_name
    for owner, name in (("x.tables.Row", "no"), ("x.tables.No", "is_name"), ("x", "Row")):
        with pytest.raises(UnknownNameError):
            parity.find_original(entry, parity.OriginalName(owner, name))


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        (lambda a, b=1: 0, ""),
        (lambda a=0, b=1, c=2: 0, ""),
        (lambda a=0, b=1, *, c=2: 0, ""),
        (lambda *args, **options: 0, ""),
        (lambda a, b: 0, "'b' may be left out there, and not here"),
        (lambda a, c=1: 0, "parameter 2 is 'b' there, and here c=1"),
        (lambda a: 0, "parameter 2 is 'b' there, and here none"),
        (lambda a, /, b=1: 0, "parameter 1 is 'a' there, and here b=1"),
        (lambda a, b=1, *, c: 0, "needs c, which is not there"),
    ],
)
def test_parameters_are_taken_as_the_original_does(ours: Callable[..., object], said: str):
    name = parity.OriginalName("x", "f", (("a", False), ("b", True)))
    assert parity.refused_parameters(ours, name) == said


def test_annotations_are_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = (
        "class A:\n    x: int\n    def __init__(self):\n        self.x = 1\nclass B(A):\n    pass\n"
    )
    (tmp_path / "annotated_face.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    entry = FaceEntry("x", {"x": "annotated_face"})
    assert parity.find(entry, "B.x") is int
    with pytest.raises(UnknownNameError):
        parity.find(entry, "B.y")


# the files that there are


def marks_in(text: str) -> Iterator[tuple[str, int]]:
    """The rows that the marks of a test file name, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr == "row" and ast.unparse(node.func) == "pytest.mark.row":
            for argument in node.args:
                if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                    raise ValueError(f"line {node.lineno}: a row's mark takes its id as text")
                yield argument.value, node.lineno


@cache
def marks() -> dict[str, list[str]]:
    """For each row that a mark names, where."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        if path.name == Path(__file__).name:
            continue
        for row, line in marks_in(path.read_text(encoding="utf-8")):
            found[row].append(f"{path.relative_to(TESTS)}:{line}")
    return found


def test_marks_are_found():
    text = (
        '@pytest.mark.row("A-1", "A-2")\ndef test_x(): ...\n'
        'y = pytest.param(1, marks=pytest.mark.row("A-3"))\n'
        '@pytest.mark.other("A-4")\ndef test_z(): ...\n'
    )
    assert sorted(marks_in(text)) == [("A-1", 1), ("A-2", 1), ("A-3", 3)]
    with pytest.raises(ValueError, match="line 1"):
        list(marks_in("pytest.mark.row(NAME)"))


def test_every_mark_is_a_row():
    rows = {row.id for entry in FACES for row in record_of(entry.name).rows}
    strange = {row: places for row, places in marks().items() if row not in rows}
    assert not strange


def test_no_two_faces_share_a_row():
    counted = Counter(row.id for entry in FACES for row in record_of(entry.name).rows)
    assert {row for row, count in counted.items() if count > 1} == set()


@pytest.mark.sweep(1)
@pytest.mark.parametrize("entry", with_parity_file())
def test_every_row_that_is_not_missing_has_a_test(entry: FaceEntry):
    there = marks()
    bare = [r.id for r in record_of(entry.name).rows if r.state != "missing" and r.id not in there]
    assert not bare, f"{len(bare)} rows without a test: {', '.join(bare)}"


@pytest.mark.parametrize("entry", with_parity_file())
def test_every_name_is_in_the_face(entry: FaceEntry):
    absent = []
    for row in record_of(entry.name).rows:
        if row.state != "missing" and row.is_name:
            try:
                parity.find(entry, row.name)
            except UnknownNameError:
                absent.append(f"{row.id}: {row.name}")
    assert not absent, "\n".join(absent)


@pytest.mark.parametrize("entry", with_parity_file())
def test_every_public_name_of_the_original_is_there_or_known_to_be_missing(entry: FaceEntry):
    record = record_of(entry.name)
    assert record.names, "[names] is empty: see tools/original_names.py"
    wrong = []
    for name in record.names:
        missing = record.reason_missing(name) is not None
        try:
            found = parity.find_original(entry, name)
        except UnknownNameError:
            if not missing:
                wrong.append(f"{name.dotted} is not in the face")
            continue
        if missing:
            wrong.append(f"{name.dotted} is in the face, and in [missing]")
        elif name.parameters is not None and (said := parity.refused_parameters(found, name)):
            wrong.append(f"{name.dotted}: {said}")
    assert not wrong, "\n".join(wrong)


# a test that cannot fail is none


def rows_to_take_away() -> list[tuple[FaceEntry, parity.Row]]:
    """A sample of all rows whose name can be replaced."""
    rows = [
        (entry, row)
        for entry in FACES
        for row in record_of(entry.name).rows
        if row.is_name and row.state != "missing"
    ]
    picked = rng("rows to take away").permutation(len(rows))[:SAMPLE]
    return [rows[int(k)] for k in picked]


def green_without(rows: list[tuple[str, str, str]], tests: Path, folder: Path) -> dict[str, str]:
    """For each row: "red" where its tests fail without the name, else what they do."""
    plan, said = folder / "plan.json", folder / "said.json"
    plan.write_text(json.dumps(rows))
    environment = {**os.environ, "LINKWORK_TAKE_AWAY": str(plan), "LINKWORK_TAKEN_AWAY": str(said)}
    shared = str(TESTS.parent)
    environment["PYTHONPATH"] = os.pathsep.join([shared, *[p for p in sys.path if p]])
    options = ["-q", "-x", "-m", "", "-p", "taking_away", "-p", "no:cacheprovider", "-p"]
    options += ["no:xdist", "--import-mode=importlib"]
    line = [sys.executable, "-m", "pytest", *options, str(tests)]
    done = subprocess.run(
        line, env=environment, capture_output=True, text=True, check=False, timeout=300, cwd=folder
    )
    assert said.exists(), done.stdout + done.stderr
    return json.loads(said.read_text())


@pytest.mark.slow
def test_the_tests_of_a_row_fail_when_it_is_taken_away(tmp_path: Path):
    sample = rows_to_take_away()
    rows = [(entry.modules[entry.module], row.name, row.id) for entry, row in sample]
    said = green_without(rows, TESTS, tmp_path)
    green = {f"{row.id} {row.name}": said[row.id] for _, row in sample if said[row.id] != "red"}
    assert not green


@pytest.mark.slow
def test_the_check_sees_a_test_that_cannot_fail(tmp_path: Path):
    (tmp_path / "small_face.py").write_text(
        "class A:\n    size = property(lambda self: 3)\n    def f(self):\n        return 1\n"
        "    @staticmethod\n    def s():\n        return 2\n    @classmethod\n    def c(cls):\n"
        "        return 4\ndef g(x):\n    return x + 1\nN = 5\n"
        "class Base:\n    pass\nclass B(Base):\n    def __init__(self, x):\n        self.x = x\n"
        "    def h(self):\n        return self.x\n"
    )
    (tmp_path / "test_small.py").write_text(
        "import inspect\nimport pytest\nimport small_face\nrow = pytest.mark.row\n"
        "from small_face import A, B, Base, g\n"
        "@row('g')\ndef test_g(): assert g(1) == 2\n"
        "@row('A')\ndef test_a(): assert A().f() == 1\n"
        "@row('f')\ndef test_f(): assert A().f() == 1\n"
        "@row('s', 'c')\ndef test_s(): assert A.s() + A.c() == 6\n"
        "@row('size')\ndef test_size(): assert A().size == 3\n"
        "@row('n')\ndef test_n(): assert small_face.N == 5\n"
        "@row('weak')\ndef test_weak(): A().f()\n"
        "@row('weaker')\ndef test_weaker(): g(1)\n"
        "def fits(): return list(inspect.signature(B).parameters) == ['x']\n"
        "@row('base')\ndef test_base(): assert Base() is not None\n"
        "@row('B')\ndef test_b(): assert B(1).x == 1 and fits()\n"
        "@row('h')\ndef test_h(): assert B(1).h() == 1 and fits()\n"
        "@row('two')\ndef test_one_is_weak(): g(1)\n"
        "@row('two')\ndef test_and_one_is_not(): assert g(1) == 2\n"
        "@row('red already')\ndef test_broken(): assert g(1) == 0\n"
        "@row('skipped')\ndef test_skipped(): pytest.skip('no')\n"
    )
    names = {
        "base": "Base", "B": "B", "h": "B.h", "g": "g", "A": "A", "f": "A.f", "s": "A.s",
        "c": "A.c", "size": "A.size", "n": "N",
        "weak": "A.f", "weaker": "g", "two": "g", "red already": "g", "skipped": "g", "none": "g",
    }  # fmt: skip
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = row\n")
    environment = os.environ.get("PYTHONPATH", "")
    rows = [("small_face", name, row) for row, name in names.items()]
    sys.path.insert(0, str(tmp_path))
    try:
        said = green_without(rows, tmp_path, tmp_path)
    finally:
        sys.path.remove(str(tmp_path))
    assert os.environ.get("PYTHONPATH", "") == environment
    green = {row: word for row, word in said.items() if word != "red"}
    assert set(green) == {"weak", "weaker", "red already", "skipped", "none"}
    assert re.search("stays green", green["weak"])
    assert re.search("no test", green["none"])
