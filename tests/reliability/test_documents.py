"""Promises about documents that are written, edited, compared and saved.

P12, P15, P16, P23, P29, P30, P31 and P32 of the reliability list. The same for reading stands in
test_reading and test_attacks, P2 and P22 in test_document_fuzz, P17 and P18 in
test_failed_calls. More files for P15: LINKWORK_CORPUS=folder; a larger star:
LINKWORK_TEST_STAR=1000000.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork
import linkwork as lw
from document_mutations import LOCATED, SAMPLE, bits, kept, pictures
from document_work import FAULTY
from fresh_python import python
from linkwork.algorithms.registry import evaluate
from linkwork.errors import DescriptionError, InputError, LinkworkError, UnknownNameError
from linkwork.faces import urdfpy
from linkwork.formats import tree_text
from linkwork.formats.urdf.records import Document, Joint
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.models import MODELS
from robots import example_robot_urdfs

TESTS = Path(__file__).parents[1]


# ---- P12: size

STAR = int(os.environ.get("LINKWORK_TEST_STAR", "4000"))


def tree(parents: list[int]) -> Document:
    """Links below these ones, by revolute joints."""
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    parts = ['<link name="l0"/>']
    parts += [
        f'<link name="l{k}"/><joint name="j{k}" type="revolute"><origin xyz="0 0 0.{k}"/>'
        f'<parent link="l{parent}"/><child link="l{k}"/><axis xyz="0 0 1"/>{limit}</joint>'
        for k, parent in enumerate(parents, 1)
    ]
    return lw.urdf.read(f'<robot name="r">{"".join(parts)}</robot>')


STEPS: dict[str, Callable[[Document], Any]] = {
    "write": lambda d: lw.urdf.to_text(d.robot),
    "examine": lambda d: lw.urdf.examine(lw.urdf.to_text(d.robot)),
    "check records": lambda d: lw.urdf.document(d.robot),
    "rename": lambda d: lw.urdf.rename(d, links={"l1": "a", "l2": "l1"}),
    "prefix": lambda d: lw.urdf.prefix(d, "x"),
    "remove": lambda d: lw.urdf.remove(d, "l2"),
    "subtree": lambda d: lw.urdf.subtree(d, "l1"),
    "reroot": lambda d: lw.urdf.reroot(d, d.robot.links[-1].name),
    "move": lambda d: lw.urdf.reroot(d, d.robot.links[-1].name, frames="move"),
    "differ": lambda d: lw.urdf.diff(d, replace(d.robot, name="s")),
    "svg": lambda d: tree_text.svg(d.robot),
    "dot": lambda d: tree_text.dot(d.robot),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "parents", [list(range(10_000)), [0] * STAR], ids=["chain of 10,000", f"star of {STAR}"]
)
def test_p12_time_is_linear_and_depth_does_not_count(parents: list[int]):
    few, many = tree(parents[: len(parents) // 4]), tree(parents)
    for name, step in STEPS.items():
        # four times as many links may take eight times as long, and not sixteen
        times = [(seconds(step, few), seconds(step, many))]
        while times[-1][1] > 8 * times[-1][0] + 0.1:
            assert len(times) < 3, (name, times)
            times.append((seconds(step, few), seconds(step, many)))
        assert times[-1][1] < 300e-6 * len(parents), (name, times)


def seconds(step: Callable[[Document], Any], document: Document) -> float:
    start = time.process_time()
    assert step(document)
    return time.process_time() - start


@pytest.mark.slow
def test_p12_two_chains_become_one_and_are_saved(tmp_path: Path):
    def joined(document: Document) -> bool:
        end = document.robot.links[-1].name
        mount = Joint("mount", "fixed", end, "x/l0")
        merged = lw.urdf.merge(document, lw.urdf.prefix(document, "x/"), mount)
        lw.urdf.write(merged, tmp_path / "robot.urdf")
        with pytest.raises(UnknownNameError):
            lw.urdf.rename(merged, links={"l99999": "x"})
        return lw.urdf.read(tmp_path / "robot.urdf").robot == merged.robot

    few, many = (tree(list(range(n))) for n in (1_000, 4_000))
    times: list[tuple[float, float]] = []
    while not times or times[-1][1] > 8 * times[-1][0] + 0.1:  # as above
        assert len(times) < 3, times
        times.append((seconds(joined, few), seconds(joined, many)))


# ---- P15: nothing is lost


def described() -> list[Path]:
    """Every description that is at hand."""
    folder = os.environ.get("LINKWORK_CORPUS")
    found = sorted(Path(folder).rglob("*.urdf")) if folder else []
    return [lw.models.path(name) for name in MODELS] + example_robot_urdfs() + found


@pytest.mark.slow
def test_p15_the_second_save_is_the_first_byte_by_byte(tmp_path: Path):
    saved = 0
    first, second = tmp_path / "first.urdf", tmp_path / "second.urdf"
    for path in described():
        try:
            document = lw.urdf.read(path)
        except DescriptionError:
            continue
        lw.urdf.write(document, first, meshes="keep")
        again = lw.urdf.read(first)
        lw.urdf.write(again, second, meshes="keep")
        assert second.read_bytes() == first.read_bytes(), path
        assert bits(again.robot) == bits(document.robot), path
        moving = [replace(from_urdf(d), findings=()).digest for d in (document, again)]
        assert moving[0] == moving[1], path
        saved += 1
    assert saved > 30


@pytest.mark.slow
def test_p15_the_faces_second_save_is_the_first_byte_by_byte(tmp_path: Path):
    for name in MODELS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot = urdfpy.URDF.load(str(lw.models.path(name)))
            robot.save(str(tmp_path / "first.urdf"))
            urdfpy.URDF.load(str(tmp_path / "first.urdf")).save(str(tmp_path / "second.urdf"))
        text = (tmp_path / "first.urdf").read_bytes()
        assert (tmp_path / "second.urdf").read_bytes() == text, name
        own = from_urdf(lw.urdf.read(tmp_path / "first.urdf"))
        q = np.linspace(-1, 1, own.n_q)
        # the face keeps poses as matrices, so that angles are rounded once
        T = evaluate("fk_all", own, q)
        np.testing.assert_allclose(T, evaluate("fk_all", lw.load(name).mechanism, q), atol=1e-14)


# ---- P23: memory

ROUNDS = """
    import gc, sys, warnings
    from pathlib import Path
    import linkwork as lw
    from linkwork.faces import urdfpy
    from linkwork.formats import tree_text
    from save_scenarios import make_source
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    source = make_source(folder / "source", "robot", 1)
    def resident():
        gc.collect()
        return int(open("/proc/self/statm").read().split()[1]) * 4096
    def work():
        document = lw.urdf.read(source)
        other = lw.urdf.prefix(document, "x")
        mount = lw.urdf.records.Joint("m", "fixed", "arm", "xbase")
        merged = lw.urdf.merge(document, other, mount)
        lw.urdf.reroot(lw.urdf.rename(merged, links={"arm": "hand"}), "xarm")
        assert lw.urdf.diff(document, merged) and lw.urdf.examine(source).whole
        tree_text.svg(merged.robot)
        lw.urdf.write(merged, folder / "robot.urdf", meshes="copy")
        robot = lw.load(folder / "robot.urdf")
        assert len(robot.link_mesh("base").faces) == len(robot.link_mesh("arm", "collision").faces)
        face = urdfpy.URDF.load(str(source))
        face.link_fk(); face.copy().save(str(folder / "face.urdf"))
        for bad in ("<robot name='r'><link/></robot>", "<robot"):
            try: lw.urdf.read(bad)
            except lw.DescriptionError: pass
    for _ in range(60): work()
    sizes = []
    for _ in range(4):
        before = resident()
        for _ in range(50): work()
        sizes.append(resident() - before)
    print(sum(sorted(sizes)[:3]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_p23_nothing_is_kept_of_documents_edits_meshes_and_errors(tmp_path: Path):
    # the largest of four quarters is left out: the heap grows by steps
    grown = int(python(ROUNDS, tmp_path))
    assert grown / 150 <= 1000


# ---- P29: names

NAMES = [
    *(
        "__class__",
        "__dict__",
        "__init__",
        "None",
        "name",
        "a\nb",
        "a\tb",
        "a\rb",
        "a b",
        "/",
        "..",
    ),
    *("<&>\"'", "</robot>", "<!--", "--", "]]>", "<![CDATA[", "&amp;", "&#10;", "<?x?>", "%s"),
    *(
        "{0}",
        "${x}",
        "$(find x)",
        "名",
        "🦾",
        "e\u0301",
        "\u202eevil",
        "\ufeff",
        "a\x85b",
        "a\u2028b",
    ),
    *(" a ", "'; DROP TABLE links", "x" * 60_000, "\ue000", "\U0010fffd", "-", "1"),
]
IMPOSSIBLE = ["", " ", "\t", "\0", "\x08", "\ud800", "\ufffe", "\uffff", "x" * 70_000]


@pytest.mark.parametrize("name", NAMES, ids=lambda n: ascii(n)[1:16])
def test_p29_any_name_is_given_and_kept(name: str, tmp_path: Path):
    document = lw.urdf.read(SAMPLE)
    joint = f"{name.strip()}j"  # stands in a text, too, where white space around it is nothing
    new = lw.urdf.rename(
        document,
        links={"arm": name},
        joints={"shoulder": joint},
        materials={"grey": name},
        transmissions={"drive": name},
        robot=name,
    )
    kept(new)
    pictures(new)
    robot = new.robot
    assert robot.name == robot.links[1].name == robot.transmissions[0].name == name
    assert robot.joints[0].child == robot.joints[1].parent == name
    assert robot.joints[1].mimic is not None
    assert robot.joints[1].mimic.joint == robot.joints[0].name == joint
    assert type(robot) is type(document.robot)
    back = lw.urdf.rename(
        new,
        links={name: "arm"},
        joints={joint: "shoulder"},
        materials={name: "grey"},
        transmissions={name: "drive"},
        robot="sample",
    )
    assert back.robot == document.robot
    assert all(len(line) < 1000 for line in str(lw.urdf.diff(document, new)).split("\n"))
    lw.urdf.write(new, tmp_path / "robot.urdf", meshes="keep")
    assert lw.load(tmp_path / "robot.urdf").mechanism.frame_names[1] == name


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", NAMES, ids=lambda n: ascii(n)[1:16])
def test_p29_the_face_takes_any_name(name: str, tmp_path: Path):
    (tmp_path / "robot.urdf").write_text(SAMPLE, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        robot = urdfpy.URDF.load(str(tmp_path / "robot.urdf"))
        link, joint = urdfpy.Link(name, None, None, None), urdfpy.Joint(name, "fixed", "tool", name)
        robot.add_link(link, joint)
        robot.name = name
        robot.save(str(tmp_path / "new.urdf"))
        again = urdfpy.URDF.load(str(tmp_path / "new.urdf"))
    assert again.name == again.links[-1].name == again.joints[-1].name == name
    assert again.link_map[name] is again.links[-1]
    assert type(again) is urdfpy.URDF
    assert again.link_fk(link=name).shape == (4, 4)


@pytest.mark.parametrize("name", IMPOSSIBLE, ids=lambda n: ascii(n)[1:16])
def test_p29_what_no_file_holds_is_refused(name: str):
    document = lw.urdf.read(SAMPLE)
    for kind in ("links", "joints"):
        names: Any = {kind: {getattr(document.robot, kind)[0].name: name}}
        with pytest.raises(InputError if not name.strip() else DescriptionError) as caught:
            lw.urdf.rename(document, **names)
        assert len(str(caught.value)) < 5000


# ---- P30, P31: locale and hash seed


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return json.loads(worked(tmp_path_factory.mktemp("plain")) or "null")


def worked(folder: Path, *more: str, **environment: str) -> str:
    return python(TESTS / "document_work.py", folder, *more, **environment)


def test_p30_a_decimal_comma_changes_nothing(plain: dict[str, str], tmp_path: Path):
    names = ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE")
    if (found := json.loads(worked(tmp_path, *names))) is None:
        pytest.skip("no locale with a decimal comma (de_DE.UTF-8) is installed")
    assert found == plain


@pytest.mark.sweep(1)
@pytest.mark.parametrize("setting", [{"LC_ALL": "C"}, {"LC_ALL": "de_DE.UTF-8"}])
def test_p30_settings_of_the_environment_change_nothing(
    plain: dict[str, str], tmp_path: Path, setting: dict[str, str]
):
    assert json.loads(worked(tmp_path, **setting)) == plain


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", ["1", "2", "77", "4294967295"])
def test_p31_the_same_bytes_for_any_hash_seed(plain: dict[str, str], tmp_path: Path, seed: str):
    found = json.loads(worked(tmp_path, PYTHONHASHSEED=seed))
    assert [name for name in plain if plain[name] != found.get(name)] == []
    assert list(found) == list(plain)
    assert len(plain) > 60
    assert len(set(plain.values())) > 40


# ---- P32: where

Edit = Callable[[Any], Any]

NUMBERS: Any = {"drive": 3}
REFUSALS: dict[str, Edit] = {
    "'wrist'": lambda d: lw.urdf.rename(d, links={"wrist": "x"}),
    "'arm' cannot be renamed to 'hand'": lambda d: lw.urdf.rename(d, links={"arm": "hand"}),
    "joint 'slide' cannot": lambda d: lw.urdf.rename(d, joints={"slide": ""}),
    "material 'grey' cannot": lambda d: lw.urdf.rename(d, materials={"grey": "wood"}),
    "transmission 'drive' cannot": lambda d: lw.urdf.rename(d, transmissions=NUMBERS),
    "no joint named 'elbow'": lambda d: lw.urdf.remove(d, joint="elbow"),
    "link 'base' is the root": lambda d: lw.urdf.remove(d, "base"),
    "follow joints that are gone: 'slide'": lambda d: lw.urdf.subtree(d, "arm"),
    "joint 'plane' is planar": lambda d: lw.urdf.reroot(d, "ball"),
    "links with one name: 'base'": lambda d: lw.urdf.merge(
        d, d, Joint("m", "fixed", "arm", "base")
    ),
    "no link named 'wrist'": lambda d: lw.urdf.merge(
        d, lw.urdf.prefix(d, "x"), Joint("m", "fixed", "wrist", "xbase")
    ),
    "the other robot is 'xbase'": lambda d: lw.urdf.merge(
        d, lw.urdf.prefix(d, "x"), Joint("m", "fixed", "arm", "xarm")
    ),
    "joint 'slide': attribute 'rpy'": lambda d: lw.urdf.to_text(
        replace(d.robot, joints=(replace(d.robot.joints[1], rpy=(0.0, np.inf, 0.0)),))
    ),
}


@pytest.mark.parametrize("named", REFUSALS)
def test_p32_refused_edits_name_whom(named: str):
    with pytest.raises(LinkworkError, match=re.escape(named)):
        REFUSALS[named](lw.urdf.read(SAMPLE))


def test_p32_edits_of_a_file_say_its_lines(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    path.write_text(SAMPLE)
    document = lw.urdf.read(path)
    arm = 1 + next(k for k, line in enumerate(SAMPLE.split("\n")) if 'link name="arm"' in line)
    mounts = (Joint("m", "ball", "arm", "xbase"), Joint("", "fixed", "arm", "xbase"))
    other = lw.urdf.prefix(document, "x")
    calls: list[Callable[[], Any]] = [
        lambda: lw.urdf.rename(document, links={"arm": "a\0"}),
        lambda: lw.urdf.document(replace(document.robot, links=document.robot.links[:1])),
        *(lambda mount=mount: lw.urdf.merge(document, other, mount) for mount in mounts),
    ]
    for call in calls:
        with pytest.raises(DescriptionError) as caught:
            call()
        for line in str(caught.value).split("\n"):
            assert LOCATED.match(line), line
            assert line.startswith(f"{path}:")
    with pytest.raises(DescriptionError, match=rf"{re.escape(str(path))}:{arm}: error: <link>"):
        calls[0]()


def test_p32_everything_wrong_is_said_by_every_way_to_read(tmp_path: Path):
    path = tmp_path / "robot.urdf"
    path.write_text(FAULTY)
    problems = lw.urdf.examine(path).problems
    errors = [problem for problem in problems if problem.level == "error"]
    assert len({problem.code for problem in errors}) >= 4
    ways: list[Callable[[], Any]] = [
        lambda: lw.urdf.read(path),
        lambda: lw.load(path),
        lambda: urdfpy.URDF.load(str(path)),
    ]
    for way in ways:
        with pytest.raises(DescriptionError) as caught:
            way()
        assert list(caught.value.problems) == errors
    said = python(f"from linkwork.cli.app import app; import sys; sys.argv[1:] = "
                  f"['check', {str(path)!r}]\ntry: app()\nexcept SystemExit: pass")  # fmt: skip
    for problem in problems:
        assert f"{path}:{problem.line}: {problem.level}:" in said


# --------------------------------------------------------------------- P16: saves that are stopped


SCENARIOS = Path(__file__).parents[1] / "save_scenarios.py"


def stopped_saves(how: str, folder: Path) -> dict[str, Any]:
    """What `save_scenarios` saw."""
    source = str(Path(linkwork.__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, str(SCENARIOS), how, str(folder)],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("how", ["document", "face"])
def test_p16_a_save_stopped_at_any_step_leaves_the_old_robot_or_the_new_one(
    tmp_path: Path, how: str
):
    said = stopped_saves(how, tmp_path)
    assert said["steps"] > 50  # there is much to stop at
    assert said["old"] > 50  # the description comes last
    assert said["new"] >= 2
    assert said["full"] >= 8  # a full disk is told of


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("how", ["loops", "no loops any more", "loops at last"])
def test_p16_a_description_and_its_loops_change_together(tmp_path: Path, how: str):
    said = stopped_saves(how, tmp_path)
    assert said["old"] > 20 and said["new"] > 5
    assert said["full"] >= 5
