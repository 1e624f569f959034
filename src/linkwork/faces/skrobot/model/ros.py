"""The description of a robot that ROS keeps as a parameter (rows S0-009 and S0-010).

ROS 1: the parameter server's XML-RPC interface is asked, so that nothing of ROS is needed here.
Source: https://wiki.ros.org/ROS/Parameter%20Server%20API. ROS 2: each node's service for parameters
is asked, through rclpy.
"""

from __future__ import annotations

import http.client
import importlib
import importlib.util
import xmlrpc.client
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from linkwork import settings
from linkwork.errors import InputError, LinkworkError

_PERIOD = 1.0
"""The time to wait before asking again, s."""
_ANSWER = 2.0
"""The time that a node or the server may take to answer, s."""
_DEFAULT_MASTER = "http://localhost:11311"
_STRING = 4
"""The type of a parameter of ROS 2 that is text: rcl_interfaces/msg/ParameterType."""


class NoRosError(LinkworkError, RuntimeError):
    """A parameter of ROS that cannot be had: without ROS, without the parameter, or not in time."""


def robot_description(param_name: str, timeout_seconds: float) -> str:
    """The text of a parameter of ROS, which is waited for.

    Raises: NoRosError (a RuntimeError); InputError for an address that is none, or a time.
    """
    try:
        timeout = float(timeout_seconds)
    except (TypeError, ValueError):
        raise InputError(f"timeout_seconds is a number, not {timeout_seconds!r:.40}") from None
    if not timeout >= 0.0:
        raise InputError(f"timeout_seconds is at least 0, not {timeout}")
    if not isinstance(param_name, str) or not param_name.strip("/"):
        raise InputError(
            f"a parameter's name is text such as '/robot_description', not {param_name!r}"
        )
    version, master = settings.ros_version(), settings.ros_master()
    if version == "2":
        return _from_nodes(param_name, timeout)
    if not master:
        if importlib.util.find_spec("rospy") is not None:
            master = _DEFAULT_MASTER
        elif version != "1" and importlib.util.find_spec("rclpy") is not None:
            return _from_nodes(param_name, timeout)
        else:
            raise NoRosError(
                "neither rclpy (ROS 2) nor rospy (ROS 1) is available: set up a shell of ROS "
                "(source setup.bash), or name the parameter server of ROS 1 in ROS_MASTER_URI, "
                f"such as {_DEFAULT_MASTER}"
            )
    return _from_server(master, _resolved(param_name), timeout)


def _resolved(name: str) -> str:
    """A name from the root, where it is relative to a name space."""
    if name.startswith("/"):
        return name
    return f"{settings.ros_namespace().rstrip('/')}/{name}"


def _again_and_again(ask: Callable[[float], str | None], timeout: float) -> str | None:
    """The first answer, asked for at intervals until a time is over; None where there is none.

    It is asked for once at least, and told how much time is left.
    """
    end = settings.clock() + timeout
    while True:
        left = end - settings.clock()
        found = ask(max(left, 0.1))
        left = end - settings.clock()
        if found is not None or left <= 0.0:
            return found
        settings.wait(min(_PERIOD, left))


# ---- ROS 1


class _Transport(xmlrpc.client.Transport):
    """HTTP that does not wait for ever."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        connection = super().make_connection(host)
        connection.timeout = self._seconds
        return connection


def _from_server(master: str, name: str, timeout: float) -> str:
    """A parameter of a parameter server, at ``master``."""
    address = urlsplit(master)
    if address.scheme != "http" or not address.netloc:
        raise InputError(
            f"ROS_MASTER_URI is the address of a parameter server, such as {_DEFAULT_MASTER}, not "
            f"'{master:.200}'"
        )
    said = ""

    def ask(left: float) -> str | None:
        nonlocal said
        server = xmlrpc.client.ServerProxy(master, _Transport(min(_ANSWER, left)))
        try:
            with server:
                answer: Any = server.getParam("/linkwork", name)
        except (OSError, http.client.HTTPException) as error:
            said = f"the server does not answer ({error})"
            return None
        except (xmlrpc.client.Error, SyntaxError, ValueError) as error:
            said = f"the server's answer cannot be read ({error})"
            return None
        code, message, value = _answer(answer)
        if code == 1 and isinstance(value, str):
            return value
        said = message if code != 1 else f"it is no text but of type {type(value).__name__}"
        return None

    found = _again_and_again(ask, timeout)
    if found is None:
        raise NoRosError(
            f"timeout: no parameter '{name}' at {master} within {timeout:g} seconds: {said}. Is it "
            "set? `rosparam list` shows the names there are"
        )
    return found


def _answer(given: Any) -> tuple[int, str, Any]:
    """Code, message and value of an answer."""
    if isinstance(given, list | tuple) and len(given) == 3 and isinstance(given[0], int):
        return given[0], str(given[1]), given[2]
    return 0, f"the answer {given!r:.80} is not that of a parameter server", None


# ---- ROS 2


def _from_nodes(param_name: str, timeout: float) -> str:
    """A parameter of any node."""
    try:
        ros: Any = importlib.import_module("rclpy")
        kind: Any = importlib.import_module("rcl_interfaces.srv").GetParameters
    except ImportError:
        raise NoRosError(
            "neither rclpy (ROS 2) nor rospy (ROS 1) is available, and ROS_VERSION is 2: set up a "
            "shell of ROS 2 (source setup.bash)"
        ) from None
    name = param_name.strip("/")
    started = not ros.ok()
    if started:
        ros.init()
    try:
        node = ros.create_node("linkwork_robot_description")
        try:
            asked: set[str] = set()

            def ask(left: float) -> str | None:
                for path in _nodes(node):
                    asked.add(path)
                    found = _asked(ros, node, kind, path, name, min(_ANSWER, left))
                    if found is not None:
                        return found
                return None

            found = _again_and_again(ask, timeout)
        finally:
            node.destroy_node()
    finally:
        if started:
            ros.shutdown()
    if found is None:
        raise NoRosError(
            f"no node has the parameter '{name}' within {timeout:g} seconds; asked: "
            f"{', '.join(sorted(asked)) or 'none, as there is none'}"
        )
    return found


def _nodes(node: Any) -> list[str]:
    """The other nodes by their paths, those that keep descriptions first."""
    found = [
        f"{space.rstrip('/')}/{name}"
        for name, space in node.get_node_names_and_namespaces()
        if name != node.get_name()
    ]
    return sorted(found, key=lambda path: (not path.endswith("robot_state_publisher"), path))


def _asked(ros: Any, node: Any, kind: Any, path: str, name: str, seconds: float) -> str | None:
    """A parameter of one node; None where it has none, or does not answer."""
    client = node.create_client(kind, f"{path}/get_parameters")
    try:
        if not client.wait_for_service(timeout_sec=seconds):
            return None
        request = kind.Request()
        request.names = [name]
        future = client.call_async(request)
        ros.spin_until_future_complete(node, future, timeout_sec=seconds)
        answer = future.result() if future.done() else None
    finally:
        node.destroy_client(client)
    values = [] if answer is None else answer.values
    if values and values[0].type == _STRING and values[0].string_value:
        return values[0].string_value
    return None
