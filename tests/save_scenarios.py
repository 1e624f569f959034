"""Saves that are killed, or run out of space, at every step: `python save_scenarios.py HOW FOLDER`.

Each save runs in a forked process of its own, over a robot that is there already. A step is a call
of a function written in C (opening, writing, flushing, moving, ...); until the next one nothing on
the disk changes. What is found afterwards is printed as JSON. It runs outside the test runner,
whose threads forks do not like.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import linkwork as lw
from linkwork.errors import InputError
from linkwork.faces import urdfpy

TEXT = """<robot name="{name}">
  <link name="base"><visual><geometry><mesh filename="meshes/base.stl"/></geometry>
    <material name="wood"><texture filename="meshes/wood.png"/></material></visual></link>
  <link name="arm"><collision><geometry><mesh filename="meshes/arm.obj"/></geometry>
    </collision></link>
  <joint name="j" type="fixed"><parent link="base"/><child link="arm"/></joint>
</robot>
"""
PAIRS = {
    "loops": ("five_bar", "four_bar"),
    "no loops any more": ("five_bar", "panda"),
    "loops at last": ("panda", "four_bar"),
}
"""Saves of a description and the file with its loops: the old robot and the new one."""

TOUCHING = (
    *("open", "write", "flush", "fsync", "replace", "rename", "unlink", "mkdir", "chmod", "close"),
    *("__exit__", "fchmod", "utime", "truncate"),
)
"""Functions that the disk changes in, or is ready to be."""


def make_source(folder: Path, name: str, length: int) -> Path:
    """A description with meshes, an image, and a mesh with a file of its own beside it."""
    meshes = folder / "meshes"
    meshes.mkdir(parents=True)
    corner = f"vertex {length} 0 0\n"
    stl = f"solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n{corner}vertex 0 1 0\n"
    (meshes / "base.stl").write_text(stl + "endloop\nendfacet\nendsolid s\n" + "\n" * 9000)
    (meshes / "arm.obj").write_text(
        f"mtllib arm.mtl\nv 0 0 0\nv {length} 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n"
    )
    (meshes / "arm.mtl").write_text(f"newmtl m\nKd 1 0 0.{length}\n")
    (meshes / "wood.png").write_bytes(f"wood {name}".encode())
    (folder / "robot.urdf").write_text(TEXT.format(name=name))
    return folder / "robot.urdf"


def saver(how: str, source: Path) -> Callable[[Path], Any]:
    """What saves the robot of a file."""
    if how == "face":
        robot = urdfpy.URDF.load(str(source))
        return lambda target: robot.save(str(target))
    document = lw.urdf.read(source)
    return lambda target: lw.urdf.write(document, target, meshes="copy")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder but the parts that a killed process leaves."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in files
        if path.suffix != ".part"
    }


def killed_at(step: int, work: Callable[[], Any]) -> bool:
    """Run ``work`` in a child that kills itself at this step; whether it came to that."""
    pid = os.fork()
    if pid == 0:
        left = step

        def count(frame: Any, event: str, called: Any) -> None:
            nonlocal left
            if event == "c_call" and getattr(called, "__name__", "") in TOUCHING:
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        signal.alarm(30)
        sys.setprofile(count)
        work()
        sys.setprofile(None)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -signal.SIGKILL), status
    return status != 0


def out_of_space_at(size: int, work: Callable[[], Any]) -> bool:
    """Run ``work`` in a child whose files end at this size; whether it was refused."""
    import resource  # noqa: PLC0415  not on every system

    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        try:
            work()
        except InputError:
            os._exit(1)
        except BaseException:
            os._exit(2)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, 1), status
    return status == 1


def trial(
    save: Callable[[Path], Any], folder: Path, stop: Callable[[Callable[[], Any]], bool]
) -> tuple[bool, dict[str, bytes], list[str]]:
    """One save of the second robot over the first one: whether it was stopped, and what is left."""
    place = folder / "place"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder / "before", place)
    stopped = stop(lambda: save(place / "robot.urdf"))
    return stopped, contents(place), [str(path) for path in place.rglob("*.part")]


def run(how: str, folder: Path) -> dict[str, Any]:
    """Save again and again, stopped one step later each time, until nothing stops it."""
    (folder / "before").mkdir()
    if how in PAIRS:
        old, new = map(lw.load, PAIRS[how])
        save = partial(lw.urdf.write, new)
        lw.urdf.write(old, folder / "before" / "robot.urdf")
    else:
        save = saver(how, make_source(folder / "new", "new", 2))
        saver(how, make_source(folder / "old", "old", 1))(folder / "before" / "robot.urdf")
    before = contents(folder / "before")
    _, after, _ = trial(save, folder, lambda work: bool(work()) and False)
    seen = {"old": 0, "new": 0}
    read: list[dict[str, bytes]] = []
    step = 0
    while True:
        stopped, found, _ = trial(save, folder, partial(killed_at, step))
        seen[state(how, found, before, after)] += 1
        if how in PAIRS and found not in read:
            read.append(found)
            name = PAIRS[how][found["robot.urdf"] == after["robot.urdf"]]
            assert lw.load(folder / "place" / "robot.urdf").mechanism == lw.load(name).mechanism
        if not stopped:
            break
        step += 1
    full = 0
    for size in (0, 1, 10, 30, 60, 100, 300, 1000, 5000, 20_000):
        refused, found, parts = trial(save, folder, partial(out_of_space_at, size))
        assert not parts, parts
        assert state(how, found, before, after) == ("old" if refused else "new")
        full += refused
    return {"steps": step, **seen, "full": full, "files": len(after)}


def state(
    how: str, found: dict[str, bytes], before: dict[str, bytes], after: dict[str, bytes]
) -> str:
    """Which of both robots is there: each file is whole, and all that the robot names is there.

    The face puts new meshes in the place of old ones of their name, as programs expect; the others
    stand them beside, so that the old robot is as it was.
    """
    if how in PAIRS:
        return state_of_pair(how, found, before, after)
    for name, data in found.items():
        assert data in (before.get(name), after.get(name)), name
    assert found.keys() >= before.keys()
    if found["robot.urdf"] == before["robot.urdf"]:
        assert how == "face" or all(found[name] == data for name, data in before.items())
        return "old"
    assert found == after
    return "new"


def state_of_pair(
    how: str, found: dict[str, bytes], before: dict[str, bytes], after: dict[str, bytes]
) -> str:
    """Which of both pairs is there: what it is read as, `run` looks at."""
    coming = found.pop("robot.loops.yaml.new", None)
    for name, data in found.items():
        assert data in (before.get(name), after.get(name)), name
    if found["robot.urdf"] == before["robot.urdf"]:
        assert found == before
        return "old"
    assert found == after or coming is not None
    return "new"


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], Path(sys.argv[2]))))
