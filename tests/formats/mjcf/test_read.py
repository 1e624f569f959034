"""Reading MJCF: from paths, texts and bytes, with its findings; mutated texts, and many at once."""

from __future__ import annotations

import os
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from linkwork.errors import DescriptionError, UnsupportedFeatureError
from linkwork.formats.mjcf.read import read
from linkwork.mechanism.from_mjcf import from_mjcf
from mjcf_samples import RandomMjcf, damaged, with_tiny_meshes
from robots import model_poses, random_configuration
from seeds import rng

mujoco = pytest.importorskip("mujoco", reason="MuJoCo (pip install mujoco) is not installed")

ARM = """<mujoco model="arm">
<option gravity="0 0 -1.62"/>
<worldbody>
<body name="upper"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" size=".05 .2"/>
<body name="lower" pos="0 0 .4"><joint name="elbow" axis="0 1 0"/>
<geom type="capsule" size=".05 .2"/><site name="tip"/></body></body>
</worldbody>
<actuator><motor joint="shoulder"/>
<adhesion body="upper" ctrlrange="0 1"/></actuator>
<equality><joint joint1="shoulder" joint2="elbow"/>
<flexvert flex="f"/></equality>
</mujoco>"""


def test_a_path_a_text_and_bytes_are_the_same(tmp_path: Path):
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    models = [
        read(path),
        read(str(path)),
        read(ARM, file=str(path)),
        read(ARM.encode(), file=str(path)),
    ]
    assert all(model == models[0] for model in models)
    assert [body.name for body in models[0].bodies] == ["world", "upper", "lower"]


@pytest.mark.parametrize(
    ("text", "file", "name"),
    [
        ('<mujoco model="m"/>', "a/robot.xml", "m"),
        ("<mujoco/>", "a/robot.xml", "robot"),
        ("<mujoco/>", None, "mjcf"),
    ],
)
def test_the_name_is_the_models_or_the_files(text: str, file: str | None, name: str):
    assert read(text, file=file).name == name


def test_what_is_not_read_is_a_finding_with_its_line():
    found = {p.code: (p.level, p.line) for p in read(ARM).problems}
    assert found == {
        "no-gravity": ("note", 2),
        "no-actuator": ("note", 9),
        "no-equality": ("warning", 11),
    }


def test_the_usual_gravity_is_no_finding():
    assert not read('<mujoco><option gravity="0 0 -9.81"/></mujoco>').problems


def test_what_mujoco_warns_of_is_a_finding_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    text = ARM.replace("<option", '<compiler settotalmass="3"/><option')
    model = read(text)
    assert sum(body.mass for body in model.bodies) == pytest.approx(3, rel=1e-12)
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
    assert mujoco.get_mju_user_warning() is None


def test_missing_files_and_folders_are_refused(tmp_path: Path):
    for path in (tmp_path, tmp_path / "no.xml"):
        with pytest.raises(DescriptionError):
            read(path)


def test_texts_read_in_threads_are_what_they_are_alone():
    texts = [RandomMjcf(rng(f"threads {k}")).text() for k in range(12)]
    alone = [read(text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, texts * 3)) == alone * 3


def mutated(text: str, draw: random.Random) -> str:
    """The text with a piece taken out, doubled, moved or changed."""
    a, b = sorted(draw.randrange(len(text)) for _ in range(2))
    b = min(b, a + draw.choice((1, 5, 40)))
    piece = text[a:b]
    words = [
        "-1",
        "0",
        "1e30",
        "nan",
        '"',
        "<",
        "/>",
        "free",
        "ball",
        "mesh",
        "\0",
        "é",
        " ",
        "99999",
    ]
    kind = draw.randrange(4)
    if kind == 0:
        return text[:a] + text[b:]
    if kind == 1:
        return text[:b] + piece * draw.randrange(1, 4) + text[b:]
    if kind == 2:
        c = draw.randrange(len(text))
        return text[:c] + piece + text[c:]
    return text[:a] + draw.choice(words) + text[b:]


def way(text: str, generator: np.random.Generator) -> bool:
    """Read a text and make a mechanism of it; whether it was accepted.

    What is accepted has finite numbers and moves; what is not is refused by one error of ours, with
    the line of each problem.
    """
    try:
        mechanism = from_mjcf(read(text))
    except UnsupportedFeatureError as error:
        assert re.match(r"\S+:\d+: ", str(error)), str(error)
        return False
    except DescriptionError as error:
        assert all(problem.line for problem in error.problems), str(error)
        return False
    poses = model_poses(mechanism, random_configuration(generator, mechanism))
    assert all(np.isfinite(T).all() for T in poses.values())
    assert np.isfinite(mechanism.link_mass).all() and (mechanism.link_mass >= 0).all()
    assert np.isfinite(mechanism.link_I_com).all()
    return True


MUTATIONS = int(os.environ.get("LINKWORK_MUTATIONS", "100"))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("kind", ["letters", "elements"])
def test_mutated_texts_are_read_or_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    generator = rng(f"mutations of {kind}")
    draw = random.Random(int(generator.integers(1 << 30)))
    base = [ARM] + [RandomMjcf(generator).text(2) for _ in range(5)]
    base += [with_tiny_meshes(text) for text in base[1:3]]
    accepted = 0
    capfd.readouterr()  # the seed
    for _ in range(MUTATIONS):
        text = draw.choice(base)
        if kind == "elements":
            text = damaged(generator, text)
        else:
            for _ in range(draw.randrange(1, 4)):
                text = mutated(text, draw)
            text = text if text.startswith("<") else "<mujoco>" + text
        (tmp_path.parent / f"{tmp_path.name}.last").write_text(text)  # there after a crash
        accepted += way(text, generator)
    assert 0 < accepted < MUTATIONS
    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
