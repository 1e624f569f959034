from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from linkwork.errors import MissingExtraError
from linkwork.faces.urdfpy import URDF
from linkwork.faces.urdfpy.drawing import frames

PYRENDER = '''
"""The part of pyrender that a window needs; it closes after three frames."""

import threading


class Mesh:
    @staticmethod
    def from_trimesh(mesh, smooth=True):
        made = Mesh()
        made.mesh, made.smooth = mesh, smooth
        return made


class Scene:
    def __init__(self):
        self.poses, self.moves = {}, []

    def add(self, mesh, pose=None):
        node = object()
        self.poses[node] = (mesh.mesh, pose)
        return node

    def set_pose(self, node, pose):
        self.poses[node] = (self.poses[node][0], pose)
        self.moves.append(pose)


class Viewer:
    opened = []

    def __init__(self, scene, run_in_thread=False, use_raymond_lighting=False):
        self.scene, self.threaded = scene, run_in_thread
        self.render_lock, self.left = threading.RLock(), 3
        Viewer.opened.append(self)

    @property
    def is_active(self):
        self.left -= 1
        return self.left >= 0
'''


@pytest.fixture(name="pyrender")
def _pyrender(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A small module of the name in the place of pyrender, which needs a screen."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "pyrender.py").write_text(PYRENDER, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setitem(sys.modules, "pyrender", ModuleType("pyrender"))  # it goes afterwards
    del sys.modules["pyrender"]
    module = pytest.importorskip("pyrender")
    return module


@pytest.mark.row("S2-008", "S2-201")
def test_show_opens_a_window_with_every_mesh_in_its_place(shapes: URDF, pyrender: ModuleType):
    for use_collision, poses in (
        (False, shapes.visual_trimesh_fk([0.4])),
        (True, shapes.collision_trimesh_fk([0.4])),
    ):
        assert shapes.show({"turn": 0.4}, use_collision=use_collision) is None
        viewer = pyrender.Viewer.opened.pop()
        assert not viewer.threaded
        shown = {id(mesh): pose for mesh, pose in viewer.scene.poses.values()}
        assert shown.keys() == {id(mesh) for mesh in poses}
        assert all(np.array_equal(shown[id(mesh)], pose) for mesh, pose in poses.items())
    with pytest.raises(KeyError):
        shapes.show({"knee": 1.0})


@pytest.mark.row("S2-008", "S2-202")
def test_animate_moves_the_meshes_until_the_window_is_closed(ur5: URDF, pyrender: ModuleType):
    way = {"elbow_joint": [0.0, 1.0]}
    assert ur5.animate(way, loop_time=0.1) is None
    viewer = pyrender.Viewer.opened.pop()
    assert viewer.threaded
    n = len(viewer.scene.poses)
    assert len(viewer.scene.moves) == 3 * n
    along = frames(ur5, way, 0.1)
    expected = [pose for cfg in along for pose in ur5.visual_trimesh_fk(cfg).values()]
    assert np.array_equal(viewer.scene.moves, expected)
    free = threading.Thread(target=viewer.render_lock.acquire)
    free.start()
    free.join(5)
    assert not free.is_alive()  # the lock has been given back
    ur5.animate({"elbow_joint": [0.5]})
    assert not pyrender.Viewer.opened.pop().threaded  # nothing moves: shown


@pytest.mark.row("S2-008", "S2-201", "S2-202")
def test_without_pyrender_the_error_says_what_to_do(
    ur5: URDF, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setitem(sys.modules, "pyrender", None)
    for call in (ur5.show, ur5.animate):
        with pytest.raises(MissingExtraError, match=r"pip install pyrender.*visual_trimesh_fk"):
            call()
        with pytest.raises(ImportError, match="collision_trimesh_fk"):
            call(use_collision=True)
    monkeypatch.delitem(sys.modules, "pyrender")
    (tmp_path / "pyrender.py").write_text("import no_such_window_library")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="pyrender cannot be imported: No module"):
        ur5.show()


@pytest.mark.row("S2-202")
def test_arguments_are_checked_first(ur5: URDF):
    for wrong in ({"elbow_joint": [1, 2], "wrist_1_joint": [1, 2, 3]}, {"elbow_joint": [1, "x"]}):
        with pytest.raises(ValueError, match="position"):
            ur5.animate(wrong)
    for wrong in ([1, 2], 3, {"elbow_joint": 3.0}, {3: [1, 2]}):
        with pytest.raises(TypeError):
            ur5.animate(wrong)
    with pytest.raises(KeyError):
        ur5.animate({"knee": [1, 2]})
    for wrong, error in ((0, ValueError), (np.nan, ValueError), ("x", TypeError)):
        with pytest.raises(error):
            ur5.animate(loop_time=wrong)


@pytest.mark.row("S2-202")
def test_the_frames_go_forth_and_back_in_loop_time(ur5: URDF):
    made = frames(ur5, {"elbow_joint": [0.0, 1.0, 4.0]}, loop_time=2.0)
    assert len(made) == 60
    values = np.array([cfg["elbow_joint"] for cfg in made])
    assert values[0] == values[-1] == 0.0
    assert values.max() == 4.0  # the end of the trajectory is shown
    assert np.allclose(values, values[::-1])
    steps = np.diff(values[:30])
    assert (steps > 0).all()
    assert np.isclose(steps[0] * 3, steps[-1])  # equal times, unequal ways
    for loop_time, count in ((0.01, 3), (0.1, 3), (0.5, 15), (3.0, 90)):
        turned = [cfg["elbow_joint"] for cfg in frames(ur5, {"elbow_joint": [1, 5]}, loop_time)]
        assert len(turned) == count
        assert (turned[0], max(turned), turned[-1]) == (1.0, 5.0, 1.0)


@pytest.mark.row("S2-202")
def test_without_a_trajectory_joints_go_from_limit_to_limit(ur5: URDF, shapes: URDF):
    made = frames(shapes)
    values = [cfg[shapes.joints[0]] for cfg in made]
    assert len(made) == 90
    assert min(values) == -1.0
    assert max(values) == 1.5
    assert set(frames(ur5)[0]) == set(ur5.actuated_joints)
    shapes.joints[0].joint_type = "continuous"
    shapes.joints[0].limit = None
    assert frames(shapes) == [{}]
    assert frames(ur5, {"elbow_joint": [0.5]}) == [{"elbow_joint": 0.5}]
