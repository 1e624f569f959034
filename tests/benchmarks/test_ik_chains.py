from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from benchmarks.description import read
from benchmarks.ik import generated
from benchmarks.ik.__main__ import GROUPS, main, parser, solvers, wanted
from benchmarks.ik.chains import Chain, chains
from benchmarks.tasks import ARMS, Robot, prepare


def test_the_chains_that_were_promised_are_there() -> None:
    every = chains(random=2)
    count = Counter(chain.group for chain in every)
    assert count == {"five": 5, "eight": 8, "random": 10, "tasks": 8} and set(count) == set(GROUPS)
    names = {chain.robot.name for chain in every}
    assert {*ARMS, "icub_arm", "snake12", "tiago_driving"} <= names
    assert [chain.robot.name for chain in wanted(["five"], 1)] == list(ARMS)
    assert [chain.robot.name for chain in wanted(["random6_3"], 3)] == ["random6_3"]
    with pytest.raises(ValueError, match=r"no chain or group 'nobody'; there are: .*panda"):
        wanted(["nobody"], 1)


def test_a_random_chain_is_the_same_each_time_and_another_for_another_number() -> None:
    text = [ET.tostring(generated.random_chain(8, k)) for k in (1, 1, 2)]
    assert text[0] == text[1] != text[2]


@pytest.mark.parametrize("joints", range(6, 11))
def test_a_random_chain_has_its_joints_and_enough_that_turn(joints: int, tmp_path: Path) -> None:
    for number in range(1, 30):
        path = generated.save(generated.random_chain(joints, number), tmp_path / "r.urdf")
        moving = [joint for joint in read(path).chain("end_link") if joint.moves]
        assert len(moving) == joints
        assert sum(joint.type != "prismatic" for joint in moving) >= 4
        for joint in moving:
            assert np.isfinite(joint.upper) == (joint.type != "continuous")
            assert joint.lower < 0.0 < joint.upper


def test_the_chains_made_by_code_become_tasks(tmp_path: Path) -> None:
    made = [chain for chain in chains() if chain.group == "random" or "snake" in chain.robot.name]
    for chain in made:
        task = chain.task(tmp_path, tmp_path)
        assert len(task.joints) == chain.robot.joints
        assert all(joint.lower < joint.upper for joint in task.joints)


ARM = """<robot name="arm"><link name="base"/><link name="tip"/><link name="other"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="tip"/></joint>
  <joint name="side" type="continuous"><parent link="base"/><child link="other"/></joint></robot>"""


@pytest.mark.parametrize(("floating", "joints"), [(False, 3), (True, 6)])
def test_a_base_carries_the_robot(floating: bool, joints: int, tmp_path: Path) -> None:
    root = generated.on_base(ET.fromstring(ARM), "base", floating=floating)
    path = generated.save(root, tmp_path / "arm.urdf")
    tree = read(path)
    assert tree.root == "floor"
    names = [joint.name for joint in tree.chain("tip") if joint.moves]
    assert names[-1] == "turn" and len(names) == joints + 1
    assert names[:2] == ["base_x", "base_y"]


def test_several_tips_keep_several_chains(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    one = prepare(Robot("one", "arm.urdf", "base", "tip", 1), tmp_path, tmp_path)
    both = prepare(Robot("both", "arm.urdf", "base", "tip", 2, more=("other",)), tmp_path, tmp_path)
    assert one.joint_names == ["turn"] and both.joint_names == ["turn", "side"]


def test_the_options_know_every_solver(capsys: pytest.CaptureFixture[str]) -> None:
    found = solvers()
    assert found[0] == "linkwork" and {"optik", "pytracik", "eaik", "roboticstoolbox"} <= set(found)
    assert "pinocchio" not in found  # it judges
    assert parser().parse_args(["--peers", "all"]).peers == ["all"]
    assert main(["--targets", "0"]) == 2
    assert main(["--chains", "nobody", "--here"]) == 2
    assert "at least 1" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    chain = Chain(Robot("r", "nowhere.urdf", "a", "b", 1), "five")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.urdf"):
        chain.task(tmp_path, tmp_path)
