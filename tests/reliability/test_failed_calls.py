"""P17, P18: a call that fails says so by an error of ours, and has changed nothing.

Each case is a call with one thing wrong, and the built-in error that programs may catch. Before and
after it, the documents, the robot, the objects of the urdfpy face and every file are compared.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from document_mutations import SAMPLE
from linkwork.errors import LinkworkError
from linkwork.faces import urdfpy
from linkwork.formats.urdf.records import Document, Joint, Link

NAN = float("nan")
URDF: Any = lw.urdf  # called with what its types forbid


@dataclass
class Scene:
    """What calls could harm."""

    folder: Path
    document: Document
    meshed: Document
    other: Document
    robot: lw.Robot
    face: urdfpy.URDF

    @property
    def shoulder(self) -> Any:
        return self.face.joint_map["shoulder"]

    @property
    def base(self) -> Any:
        return self.face.link_map["base"]

    def moved(self, **values: Any) -> Any:
        """The records with other values in the first joint."""
        robot = self.document.robot
        return replace(robot, joints=(replace(robot.joints[0], **values), *robot.joints[1:]))

    def mount(self, **values: Any) -> Joint:
        return replace(Joint("mount", "fixed", "base", "other/base"), **values)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    folder = tmp_path.resolve()
    (folder / "meshes").mkdir()
    (folder / "meshes" / "arm.stl").write_text("solid\nendsolid\n")
    (folder / "folder").mkdir()
    (folder / "folder" / "meshes").touch()
    os.mkfifo(folder / "pipe")
    (folder / "robot.urdf").write_text(SAMPLE)
    text = SAMPLE.replace("package://sample/meshes/arm.stl", "meshes/arm.stl")
    (folder / "meshed.urdf").write_text(text)
    document = lw.urdf.read(folder / "robot.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        face = urdfpy.URDF.load(str(folder / "meshed.urdf"))
    face.link_fk()  # what is computed once is there
    return Scene(
        folder,
        document,
        lw.urdf.read(folder / "meshed.urdf"),
        lw.urdf.prefix(document, "other/"),
        lw.load(document),
        face,
    )


def state(scene: Scene) -> list[Any]:
    """All that the documents, the robot and the face consist of, as values that do not change."""
    documents = [repr(d) for d in (scene.document, scene.meshed, scene.other, scene.robot.document)]
    poses = {link.name: T.tobytes() for link, T in scene.face.link_fk().items()}
    return [*documents, scene.robot.mechanism.digest, parts(scene.face, {}), poses]


def parts(value: Any, seen: dict[int, int]) -> Any:
    """An object of the face attribute by attribute, without what it computed."""
    if isinstance(value, np.ndarray):
        return (value.shape, str(value.dtype), value.tobytes())
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *(parts(each, seen) for each in value)]
    if not isinstance(value, urdfpy.URDFType):
        return repr(value) if not hasattr(value, "__dict__") else type(value).__name__
    if id(value) in seen:
        return seen[id(value)]
    seen[id(value)] = len(seen)
    held = {k: v for k, v in vars(value).items() if k != "_kinematics"}
    return (type(value).__name__, {name: parts(each, seen) for name, each in held.items()})


def files(folder: Path) -> dict[str, Any]:
    """Every file and folder, with contents and times."""
    return {
        str(path): (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else None)
        for path in folder.rglob("*")
    }


def _set(owner: Callable[[Scene], Any], name: str, value: Any) -> Callable[[Scene], Any]:
    return lambda s: setattr(owner(s), name, value)


def shoulder(s: Scene) -> Any:
    return s.shoulder


def base(s: Scene) -> Any:
    return s.base


def write(s: Scene, *where: str, of: Any = None, **how: Any) -> None:
    URDF.write(s.document if of is None else of, s.folder.joinpath(*where), **how)


def merge(s: Scene, **mount: Any) -> None:
    URDF.merge(s.document, s.other, s.mount(**mount))


def records(s: Scene, *links: Any) -> None:
    URDF.document(replace(s.document.robot, links=links))


def a_link(name: str) -> tuple[Any, Any]:
    return urdfpy.Link(name, None, None, None), urdfpy.Joint("n", "fixed", "base", name)


def driving(joint: str) -> Any:
    return urdfpy.Transmission("t", "x", [urdfpy.TransmissionJoint(joint, [])])


CALLS: dict[type[Exception], dict[str, Callable[[Any], Any]]] = {
    KeyError: {
        "rename nobody": lambda s: URDF.rename(s.document, links={"nobody": "x"}),
        "merge below nobody": lambda s: merge(s, parent="nobody"),
        "subtree of nobody": lambda s: URDF.subtree(s.document, "nobody"),
        "cut nobody": lambda s: URDF.cut(s.document, "nobody"),
        "remove no joint": lambda s: URDF.remove(s.document, joint="base"),
        "reroot at nobody": lambda s: URDF.reroot(s.document, "nobody"),
        "a mesh of nobody": lambda s: s.robot.link_mesh("nobody"),
        "poses of nobody": lambda s: s.face.link_fk({"nobody": 0.0}),
        "pose of no link": lambda s: s.face.link_fk(link="nobody"),
        "remove no link": lambda s: s.face.remove_link("nobody"),
        "join at nobody": lambda s: s.face.join(s.face, "nobody", prefix="x"),
    },
    ValueError: {
        "rename to a taken name": lambda s: URDF.rename(s.document, links={"arm": "hand"}),
        "rename two to one": lambda s: URDF.rename(s.document, links={"arm": "x", "hand": "x"}),
        "rename to nothing": lambda s: URDF.rename(s.document, joints={"slide": " "}),
        "rename to nul": lambda s: URDF.rename(s.document, links={"arm": "a\0"}),
        "rename to half a character": lambda s: URDF.rename(s.document, links={"arm": "\ud800"}),
        "rename to a number": lambda s: URDF.rename(s.document, links={"arm": 3}),
        "rename a list": lambda s: URDF.rename(s.document, links=["arm"]),
        "rename in a robot": lambda s: URDF.rename(s.robot, links={"arm": "x"}),
        "a robot without name": lambda s: URDF.rename(s.document, robot=""),
        "prefix none": lambda s: URDF.prefix(s.document, None),
        "prefix nul": lambda s: URDF.prefix(s.document, "\0"),
        "merge with itself": lambda s: URDF.merge(s.document, s.document, s.mount(child="base")),
        "merge not at the root": lambda s: URDF.merge(
            s.document, s.other, s.mount(child="other/arm")
        ),
        "merge by a joint of no type": lambda s: URDF.merge(
            s.document, s.other, s.mount(type="ball")
        ),
        "merge at nan": lambda s: merge(s, xyz=(NAN, 0.0, 0.0)),
        "merge by a name": lambda s: URDF.merge(s.document, s.other, "mount"),
        "merge with nothing": lambda s: URDF.merge(s.document, None, s.mount()),
        "subtree without its leader": lambda s: URDF.subtree(s.document, "arm"),
        "remove the root": lambda s: URDF.remove(s.document, "base"),
        "remove nothing": lambda s: URDF.remove(s.document),
        "remove in another way": lambda s: URDF.remove(s.document, "tool", mimic="no"),
        "reroot over a planar joint": lambda s: URDF.reroot(s.document, "ball"),
        "reroot in another way": lambda s: URDF.reroot(s.document, "arm", frames="x"),
        "differences below zero": lambda s: URDF.diff(s.document, s.document, -1.0),
        "differences to a name": lambda s: URDF.diff(s.document, "ur5e"),
        "records with a name twice": lambda s: URDF.document(
            replace(s.document.robot, links=(Link("a"), Link("a")))
        ),
        "records with nan": lambda s: URDF.document(s.moved(xyz=(NAN, 0.0, 0.0))),
        "records of numbers": lambda s: records(s, 3),
        "no records": lambda s: URDF.document(s.document),
        "the text of nan": lambda s: URDF.to_text(s.moved(rpy=(NAN, 0.0, 0.0))),
        "the text of a document": lambda s: URDF.to_text(s.document),
        "write over a folder": lambda s: write(s, "folder"),
        "write nowhere": lambda s: write(s, "no", "r.urdf"),
        "write into a file": lambda s: write(s, "robot.urdf", "r.urdf"),
        "copy into a file": lambda s: URDF.write(
            s.meshed, s.folder / "robot.urdf" / "r.urdf", meshes="copy"
        ),
        "copy over a file": lambda s: URDF.write(
            s.meshed, s.folder / "folder" / "r.urdf", meshes="copy"
        ),
        "write to nul": lambda s: URDF.write(s.document, f"{s.folder}/a\0"),
        "write a long name": lambda s: write(s, "x" * 999),
        "write to a pipe": lambda s: write(s, "pipe"),
        "write over a file": lambda s: URDF.write(
            s.document, s.folder / "robot.urdf", overwrite=False
        ),
        "write in another way": lambda s: URDF.write(
            s.document, s.folder / "robot.urdf", meshes="move"
        ),
        "write nan": lambda s: write(s, "robot.urdf", of=s.moved(axis=(NAN, 0.0, 0.0))),
        "read a folder": lambda s: URDF.read(s.folder / "folder"),
        "read nothing": lambda s: URDF.read(s.folder / "absent.urdf"),
        "a mesh that is missing": lambda s: s.robot.link_mesh("arm"),
        "a mesh of another kind": lambda s: s.robot.link_mesh("arm", "seen"),
        "a box at nan": lambda s: s.robot.bounding_box([NAN] * 11),
        "a box of too few": lambda s: s.robot.bounding_box([0.0]),
        "a mass below zero": lambda s: s.robot.link_mass_properties("base", -1.0),
        "poses at nan": lambda s: s.face.link_fk({"shoulder": NAN}),
        "poses at infinity": lambda s: s.face.link_fk([np.inf, 0.0, 0.0]),
        "poses of too many": lambda s: s.face.link_fk([0.0] * 7),
        "poses at a word": lambda s: s.face.link_fk({"shoulder": "x"}),
        "many poses of too many": lambda s: s.face.link_fk_batch(np.zeros((2, 9))),
        "a joint of no type": _set(shoulder, "joint_type", "ball"),
        "an axis of two": _set(shoulder, "axis", [0, 1]),
        "an axis of zeros": _set(shoulder, "axis", [0, 0, 0]),
        "a pose of nan": _set(shoulder, "origin", np.full((4, 4), NAN)),
        "no limit": _set(shoulder, "limit", None),
        "a limit of text": lambda s: setattr(s.shoulder.limit, "lower", "x"),
        "a mass of nan": lambda s: setattr(s.base.inertial, "mass", NAN),
        "an inertia of two": lambda s: setattr(s.base.inertial, "inertia", np.eye(2)),
        "visuals that are numbers": _set(base, "visuals", [3]),
        "two colours": lambda s: setattr(s.base.visuals[0].material, "color", [1, 2]),
        "other XML that is none": lambda s: setattr(s.face, "other_xml", "<a>"),
        "a position of nan": lambda s: s.shoulder.get_child_pose(NAN),
        "a link twice": lambda s: s.face.add_link(
            urdfpy.Link("arm", None, None, None), urdfpy.Joint("n", "fixed", "base", "arm")
        ),
        "remove the base": lambda s: s.face.remove_link("base"),
        "remove a colour in use": lambda s: s.face.remove_material("grey"),
        "drive nobody": lambda s: s.face.add_transmission(
            urdfpy.Transmission("t", "x", [urdfpy.TransmissionJoint("nobody", [])])
        ),
        "join itself": lambda s: s.face.join(s.face, "arm"),
        "copy at nan": lambda s: s.face.copy(scale=NAN),
        "copy at a text": lambda s: s.face.copy(scale="x"),
        "load no file": lambda s: urdfpy.URDF.load(str(s.folder / "absent.urdf")),
        "a robot without links": lambda s: urdfpy.URDF("x", []),
        "save over a folder": lambda s: s.face.save(str(s.folder / "folder")),
        "save into a file": lambda s: s.face.save(str(s.folder / "robot.urdf" / "robot.urdf")),
        "save to nul": lambda s: s.face.save(f"{s.folder}/a\0"),
    },
    NotImplementedError: {
        "write a changed robot": lambda s: URDF.write(
            s.robot.with_locked("shoulder"), s.folder / "robot.urdf"
        ),
    },
    TypeError: {
        "poses at a text": lambda s: s.face.link_fk("shoulder"),
        "poses of a number": lambda s: s.face.link_fk(links=3),
        "a pose of text": _set(shoulder, "origin", "here"),
        "a limit that is a number": _set(shoulder, "limit", 3),
        "no effort": lambda s: setattr(s.shoulder.limit, "effort", None),
        "a leader by name": _set(shoulder, "mimic", "slide"),
        "no shape": lambda s: setattr(s.base.visuals[0], "geometry", None),
        "no name": _set(base, "name", None),
        "add no link": lambda s: s.face.add_link(3, 4),
        "add no material": lambda s: s.face.add_material(3),
        "add no transmission": lambda s: s.face.add_transmission(3),
        "load nothing": lambda s: urdfpy.URDF.load(None),
    },
}
"""The calls by the built-in error that programs may catch, by name."""

CASES = {name: (kind, call) for kind, calls in CALLS.items() for name, call in calls.items()}


@pytest.mark.sweep(15)
@pytest.mark.parametrize("case", CASES)
def test_p17_p18_a_call_that_fails_changes_nothing(scene: Scene, case: str):
    kind, call = CASES[case]
    before, disk = state(scene), files(scene.folder)
    with pytest.raises(LinkworkError) as caught:
        call(scene)
    assert isinstance(caught.value, kind), type(caught.value)
    assert str(caught.value).strip()
    assert state(scene) == before
    assert files(scene.folder) == disk


def test_p18_changes_would_be_seen(scene: Scene):
    before, disk = state(scene), files(scene.folder)
    scene.shoulder.limit.lower = -2
    assert state(scene) != before
    (scene.folder / ".linkwork-0.part").touch()
    assert files(scene.folder) != disk


def test_records_cannot_be_changed(scene: Scene):
    robot = scene.document.robot
    inertial: Any = robot.links[0].inertial
    for record in (scene.document, robot, robot.joints[0], robot.links[0], inertial):
        for field in fields(record):
            with pytest.raises(AttributeError):
                setattr(record, field.name, None)
