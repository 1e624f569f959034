"""Descriptions that ROS keeps: a real parameter server of ROS 1, stand-ins for nodes of ROS 2."""

from __future__ import annotations

import importlib.machinery
import os
import shutil
import socket
import subprocess
import sys
import time
import types
import xmlrpc.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from fresh_python import program_as
from linkwork.errors import InputError
from linkwork.faces.skrobot.model import RobotModel
from robots import chain_urdf

TEXT = chain_urdf(2)
NAMES = ["joint1", "joint2"]


@pytest.fixture(autouse=True)
def _without_ros(monkeypatch: pytest.MonkeyPatch):
    for name in ("ROS_VERSION", "ROS_MASTER_URI", "ROS_NAMESPACE"):
        monkeypatch.delenv(name, raising=False)


def free_port() -> int:
    with socket.socket() as given:
        given.bind(("127.0.0.1", 0))
        return given.getsockname()[1]


@pytest.fixture(name="master", scope="module")
def _master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a parameter server that runs while these tests do."""
    program = shutil.which("rosmaster")
    if program is None:
        pytest.skip("rosmaster (apt install python3-rosmaster) is not installed")
    folder = str(tmp_path_factory.mktemp("ros"))
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    environment |= {"ROS_HOME": folder, "ROS_LOG_DIR": folder, "ROS_IP": "127.0.0.1"}
    line = [program, "--core", "-p", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = subprocess.Popen(line, env=environment | {"ROS_MASTER_URI": address}, **quiet)
    try:
        server = xmlrpc.client.ServerProxy(address)
        for _ in range(200):
            try:
                server.getPid("/test")
                break
            except OSError:
                assert running.poll() is None, "rosmaster has ended"
                time.sleep(0.05)
        server.setParam("/test", "/robot_description", TEXT)
        server.setParam("/test", "/left/arm", TEXT.replace('"joint', '"left'))
        server.setParam("/test", "/number", 3)
        yield address
    finally:
        running.terminate()
        running.wait(10)


@pytest.mark.row("S0-009", "S0-010")
def test_a_real_parameter_server_is_asked(master: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ROS_MASTER_URI", master)
    assert RobotModel.from_robot_description().joint_names == NAMES
    robot = RobotModel()
    robot.load_urdf_from_robot_description("/left/arm", include_mimic_joints=False)
    assert robot.joint_names == ["left1", "left2"]
    monkeypatch.setenv("ROS_NAMESPACE", "/left")
    assert RobotModel.from_robot_description("arm").joint_names == ["left1", "left2"]
    begun = time.monotonic()
    with pytest.raises(RuntimeError, match="timeout: no parameter '/nope'"):
        robot.load_urdf_from_robot_description("/nope", timeout_seconds=0.3)
    assert 0.2 < time.monotonic() - begun < 5
    with pytest.raises(RuntimeError, match="no text"):
        robot.load_urdf_from_robot_description("/number", timeout_seconds=0)
    assert robot.joint_names == ["left1", "left2"]


PROGRAM = """
import numpy as np
import skrobot
from skrobot.model import RobotModel
from skrobot.coordinates import CascadedCoords

class Arm(RobotModel):
    def __init__(self, *args, **kwargs):
        super(Arm, self).__init__(*args, **kwargs)
        self.load_urdf_from_robot_description('/arm/robot_description')
        self.end_coords = CascadedCoords(parent=self.link_list[-1])

arm = Arm()
print(arm.name, arm.joint_names, arm.urdf_path)
arm.angle_vector(np.array([0.1, 0.2]))
other = RobotModel.from_robot_description('arm/robot_description', include_mimic_joints=False)
other.angle_vector(arm.angle_vector())
print(bool(np.allclose(other.link_list[-1].worldpos(), arm.end_coords.worldpos())))
try:
    RobotModel().load_urdf_from_robot_description('/nothing', timeout_seconds=0.2)
except RuntimeError as error:
    print('no /nothing:', '/nothing' in str(error))
viewer = skrobot.viewers.TrimeshSceneViewer(resolution=(320, 240))
viewer.add(arm)
print(viewer.is_active)
"""


@pytest.mark.row("S0-009", "S0-010")
def test_a_program_with_a_robot_of_the_parameter_server(master: str, tmp_path: Path):
    xmlrpc.client.ServerProxy(master).setParam("/test", "/arm/robot_description", TEXT)
    here = {"ROS_MASTER_URI": master, "LINKWORK_BROWSER": "0"}
    lines = program_as("skrobot", PROGRAM, tmp_path, **here)
    name = TEXT.split('name="', 1)[1].split('"', 1)[0]
    assert lines == [
        f"{name} {NAMES} None", "True", "no /nothing: True", "False"
    ]  # fmt: skip


@pytest.mark.row("S0-009")
def test_a_parameter_that_comes_later_is_waited_for(master: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ROS_MASTER_URI", master)
    late = f"import time, xmlrpc.client as x; time.sleep(0.4); x.ServerProxy({master!r})"
    late += f".setParam('/late', '/late', {TEXT!r})"
    running = subprocess.Popen([sys.executable, "-c", late])
    try:
        robot = RobotModel()
        robot.load_urdf_from_robot_description("/late", timeout_seconds=20)
    finally:
        running.wait(20)
    assert robot.joint_names == NAMES


@pytest.mark.row("S0-009")
def test_without_ros_and_without_a_server(monkeypatch: pytest.MonkeyPatch):
    robot = RobotModel()
    for version in ("", "1", "2"):
        monkeypatch.setenv("ROS_VERSION", version)
        with pytest.raises(RuntimeError, match=r"neither rclpy \(ROS 2\) nor rospy \(ROS 1\)"):
            robot.load_urdf_from_robot_description()
    monkeypatch.setenv("ROS_VERSION", "1")
    monkeypatch.setenv("ROS_MASTER_URI", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(RuntimeError, match=r"timeout.*does not answer"):
        robot.load_urdf_from_robot_description(timeout_seconds=0)
    monkeypatch.setenv("ROS_MASTER_URI", "file:///etc/passwd")
    with pytest.raises(InputError, match="ROS_MASTER_URI"):
        robot.load_urdf_from_robot_description(timeout_seconds=0)
    for name, seconds in (
        ("", 1),
        ("/", 1),
        (3, 1),
        ("/x", -1),
        ("/x", "soon"),
        ("/x", float("nan")),
    ):
        with pytest.raises(InputError):
            robot.load_urdf_from_robot_description(name, timeout_seconds=seconds)


# ROS 2: what is used of rclpy


class Nodes:
    """Nodes with parameters, as rclpy shows them."""

    def __init__(self, parameters: dict[str, dict[str, str]], silent: tuple[str, ...] = ()):
        self.parameters, self.silent = parameters, silent
        self.calls: list[str] = []
        self.running = False

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rclpy = types.ModuleType("rclpy")
        services = types.ModuleType("rcl_interfaces.srv")
        services.GetParameters = types.SimpleNamespace(Request=types.SimpleNamespace)
        rclpy.ok = lambda: self.running
        rclpy.init = lambda: self._run(True)
        rclpy.shutdown = lambda: self._run(False)
        rclpy.create_node = lambda name: Node(self, name)
        rclpy.spin_until_future_complete = lambda node, future, timeout_sec: None
        rclpy.__spec__ = importlib.machinery.ModuleSpec("rclpy", None)
        for module in (rclpy, services, types.ModuleType("rcl_interfaces")):
            monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setenv("ROS_VERSION", "2")

    def _run(self, running: bool) -> None:
        self.running = running
        self.calls.append("init" if running else "shutdown")


class Node:
    def __init__(self, nodes: Nodes, name: str):
        self.nodes, self.name = nodes, name

    def get_name(self) -> str:
        return self.name

    def get_node_names_and_namespaces(self) -> list[tuple[str, str]]:
        found = [path.rpartition("/") for path in self.nodes.parameters]
        return [(name, space or "/") for space, _, name in found] + [(self.name, "/")]

    def create_client(self, kind, service: str):
        path = service.removesuffix("/get_parameters")
        there = path not in self.nodes.silent
        return types.SimpleNamespace(
            wait_for_service=lambda timeout_sec: there,
            call_async=lambda request: self._answer(path, request.names),
        )

    def _answer(self, path: str, names: list[str]):
        self.nodes.calls.append(path)
        text = self.nodes.parameters[path].get(names[0])
        value = types.SimpleNamespace(type=0 if text is None else 4, string_value=text or "")
        answer = types.SimpleNamespace(values=[value])
        return types.SimpleNamespace(done=lambda: True, result=lambda: answer)

    def destroy_client(self, client) -> None:
        self.nodes.calls.append("client gone")

    def destroy_node(self) -> None:
        self.nodes.calls.append("node gone")


@pytest.mark.row("S0-009", "S0-010")
def test_nodes_of_ros_2_are_asked(monkeypatch: pytest.MonkeyPatch):
    about = {"robot_description": TEXT}
    nodes = Nodes({"/a": {}, "/gone": about, "/arm/robot_state_publisher": about}, ("/gone",))
    nodes.install(monkeypatch)
    assert RobotModel.from_robot_description().joint_names == NAMES
    assert nodes.calls == [
        "init", "/arm/robot_state_publisher", "client gone", "node gone", "shutdown"
    ]  # fmt: skip
    nodes.calls.clear()
    nodes.running = True
    with pytest.raises(RuntimeError, match=r"no node has the parameter 'other'.*/a, /arm/robot_st"):
        RobotModel().load_urdf_from_robot_description("/other", timeout_seconds=0)
    assert nodes.calls[-1] == "node gone"
    assert nodes.running
    monkeypatch.delenv("ROS_VERSION")  # rclpy alone is enough
    assert RobotModel.from_robot_description().joint_names == NAMES
    Nodes({}).install(monkeypatch)
    with pytest.raises(RuntimeError, match="none, as there is none"):
        RobotModel().load_urdf_from_robot_description(timeout_seconds=0)
