from __future__ import annotations

import numpy as np
import pytest

from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.urdfpy import URDF
from linkwork.faces.urdfpy.drawing import frames


@pytest.mark.row("S2-008", "S2-201", "S2-202")
def test_until_there_is_a_viewer_the_error_says_what_to_do(ur5: URDF):
    for call in (ur5.show, ur5.animate):
        with pytest.raises(UnsupportedFeatureError, match="visual_trimesh_fk"):
            call()
        with pytest.raises(UnsupportedFeatureError, match="collision_trimesh_fk"):
            call(use_collision=True)
    with pytest.raises(KeyError):
        ur5.show({"knee": 1.0})


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
