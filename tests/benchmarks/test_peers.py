"""What holds for every side's file without its library: pins, names, reasons, traps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.cases.compute import Reference
from benchmarks.cli import take_seats
from benchmarks.context import Context
from benchmarks.environments import ENVIRONMENTS, EnvironmentProblem, seat_for
from benchmarks.lines import Line, compile_loop
from benchmarks.marks import judge
from benchmarks.peers import create_peer, peer_names
from benchmarks.peers.base import Peer
from benchmarks.peers.linkwork import fresh_array
from benchmarks.results import Measurement, Report, ratios
from benchmarks.session import Seat
from benchmarks.tasks import Joint, Robot, Task
from benchmarks.worker import FEWEST_ROWS, Server

from benchmarks import cli, environments
from seeds import rng

OPERATIONS = {"pose", "all_poses", "jacobian", "load"}
WANTED = {
    "dynibo", "mujoco", "pykdl", "drake", "exudyn", "frax", "scikit_robot", "roboticstoolbox",
    "yourdfpy", "pytorch_kinematics",
}  # fmt: skip


def test_the_field_is_there_and_ours_comes_first() -> None:
    names = peer_names()
    assert names[:2] == ["linkwork", "pinocchio"] and set(names) >= WANTED


@pytest.mark.parametrize("name", peer_names())
def test_each_side_pins_all_and_says_why_it_lacks_what_it_lacks(name: str) -> None:
    peer = create_peer(name)
    assert peer.name == name and peer.module
    assert all("==" in item for item in peer.requirement if item != "linkwork")
    assert any(item.startswith("numpy==") for item in peer.requirement)
    for operation in OPERATIONS:
        assert peer.offers(operation) != (operation in peer.lacks), operation
    assert all(tolerance > 1e-9 and reason for tolerance, reason in peer.looser.values())


def test_a_list_that_is_whole_is_installed_without_what_pip_would_add(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: dict[str, bool] = {}

    def ensure(name: str, requirement: object, *, debian: object, dependencies: bool) -> Path:
        asked[name] = dependencies
        return Path("python")

    monkeypatch.setattr(environments, "ensure", ensure)
    for name in ("urdfpy", "urchin"):
        seat_for(name, here=False, core=None)
    assert asked == {"urdfpy": False, "urchin": True}


def test_an_environment_of_its_own_is_named_in_its_variables() -> None:
    seat = seat_for("pykdl", here=True, core=None)
    if not seat.environment:  # with --here nothing of it is needed
        pytest.skip("the variables are made with the environment")
    assert str(ENVIRONMENTS / "pykdl") in seat.environment["PYTHONPATH"]
    assert "{folder}" not in "".join(seat.environment.values())


def test_a_side_that_cannot_be_installed_or_imported_is_left_out_and_the_run_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def seat(name: str, *, here: bool, core: int | None) -> Seat:
        if name == "drake":
            raise EnvironmentProblem("installing drake failed:\nno such version")
        return seat_for("pinocchio", here=True, core=None)

    class Dead:
        def __init__(self, seat: Seat) -> None: ...
        def __enter__(self) -> Dead:
            return self

        def __exit__(self, *_: object) -> None: ...
        def ask(self, command: str) -> dict[str, Any]:
            if command == "check":
                raise cli.WorkerError("pykdl: ImportError: another Python")
            return {}

    monkeypatch.setattr(cli, "seat_for", seat)
    monkeypatch.setattr(cli, "Worker", Dead)
    report = Report({}, {})
    assert take_seats(["drake", "pykdl"], report, here=False, core=None) == {}
    assert [(item.peer, item.what) for item in report.left_out] == [
        ("drake", "everything"),
        ("pykdl", "everything"),
    ]
    assert "no such version" in report.left_out[0].reason and not report.problems
    with pytest.raises(EnvironmentProblem, match="another Python"):
        take_seats(["linkwork"], report, here=False, core=None)


def test_packages_of_debian_need_its_programs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(environments.shutil, "which", lambda program: None)
    monkeypatch.setattr(environments, "ENVIRONMENTS", tmp_path)
    with pytest.raises(EnvironmentProblem, match="python3-x: there is no apt-get here"):
        environments._unpack(["python3-x"], tmp_path / "debian")


def test_what_a_side_lacks_is_listed_with_its_reason(tmp_path: Path) -> None:
    seats = {name: Seat(name, "python") for name in ("linkwork", "yourdfpy")}
    context = Context(seats, tmp_path, 1, 1, 0.0, Report({}, {}), say=lambda text: None)
    assert context.offering("jacobian") == ["linkwork"]
    assert context.offering("pose") == ["linkwork", "yourdfpy"]
    assert [item.what for item in context.report.left_out] == ["jacobian"]


def task(tmp_path: Path) -> Task:
    return Task(
        Robot("r", "", "", "", 2), tmp_path, tmp_path, (Joint("one", "", 0, 0),), ("x", "y", "z")
    )


def test_angular_rows_first_are_noticed(tmp_path: Path) -> None:
    reference = Reference(task(tmp_path), "jacobian")
    J = rng("rows").normal(size=(4, 6, 2))
    assert reference.agreement(J, []).ok
    assert not reference.agreement(J[:, [3, 4, 5, 0, 1, 2]], []).ok


def test_single_precision_agrees_only_at_its_own_tolerance(tmp_path: Path) -> None:
    reference = Reference(task(tmp_path), "jacobian")
    J = rng("single").normal(size=(4, 6, 2))
    assert reference.agreement(J, []).ok
    rounded = J.astype(np.float32).astype(np.float64)
    assert not reference.agreement(rounded, []).ok
    assert reference.agreement(rounded, [], tolerance=1e-5).ok
    assert not reference.agreement(rounded + 1e-4, [], tolerance=1e-5).ok


def test_a_side_with_moving_links_only_is_compared_on_those(tmp_path: Path) -> None:
    reference = Reference(task(tmp_path), "all_poses")
    T = rng("moving").normal(size=(4, 3, 4, 4))
    assert reference.agreement(T, ["x", "y", "z"]).ok
    assert reference.agreement(T[:, [2, 0]], ["z", "x"], some=True).ok
    assert not reference.agreement(T[:, [0, 2]], ["z", "x"], some=True).ok
    assert "missing" in str(reference.agreement(T[:, [2, 0]], ["z", "x"]))
    assert not reference.agreement(T[:, :0], [], some=True).ok  # nothing in common is no agreement


class Own(Peer):
    """A side with its own kind of input and a slow call."""

    name = "own"

    def load(self, path: str, tip: str) -> None:
        self.joint_names = ["one", "two"]

    def pose(self) -> list[Line]:
        return [
            Line(
                "tuples", "assert type(q) is tuple; r = np.full((4, 4), sum(q))", {"np": np},
                "own", given=tuple,
            ),
            Line("slow", "sleep(0.002); r = q", {"sleep": __import__("time").sleep}, "slow"),
        ]  # fmt: skip


def test_inputs_are_converted_before_the_clock_and_a_slow_side_gets_fewer(tmp_path: Path) -> None:
    q = rng("own").normal(size=(500, 2))
    np.save(tmp_path / "q.npy", q)
    server = Server("linkwork")
    server.peer = Own()
    server.load("", "", ["one", "two"])
    server.prepare("pose", str(tmp_path / "q.npy"), False)
    server.result(0, str(tmp_path / "r.npy"), [3])
    assert np.allclose(np.load(tmp_path / "r.npy")[0], q[3].sum())
    assert server.time(0, 0.05)["rows"] == 500
    assert FEWEST_ROWS <= server.time(1, 0.1)["rows"] < 100


def test_a_line_without_conversion_takes_the_input_as_it_is() -> None:
    line = Line("plain", "r = q")
    item = object()
    assert compile_loop(line)([line.take(item)]) is item


def batch(role: str, ns: float) -> Measurement:
    return Measurement("batch", "panda", "pose", 100_000, "linkwork", role, role, [ns], [ns])


@pytest.mark.parametrize(("bound", "said"), [(6.5, "fresh met (0.6)"), (5.0, "fresh MISSED (0.6)")])
def test_fresh_memory_is_set_against_filling_fresh_memory(bound: float, said: str) -> None:
    out, fresh = batch("out", 4.0), batch("fresh", 10.0)
    fill = batch("memory fresh", bound)
    assert judge(fill, ratios(fill, [out, fresh, fill]), True) == said
    old = batch("memory", 3.0)
    assert judge(old, ratios(old, [out, fresh, old]), True) == "out met (0.6)"


def test_fresh_memory_is_zero_and_its_own_each_time() -> None:
    first, second = fresh_array((3, 4, 4)), fresh_array((3, 4, 4))
    assert first.shape == (3, 4, 4) and first.flags.c_contiguous and first.flags.writeable
    first.fill(1.0)
    assert not second.any()


def first(robot: str, operation: str, role: str, ns: float) -> Measurement:
    return Measurement("compile", robot, operation, 1, "linkwork", role, role, [ns], [ns])


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (first("panda", "jacobian", "nothing cached", 0.39e9), "met (400 ms)"),
        (first("panda", "jacobian", "nothing cached", 0.41e9), "MISSED (400 ms)"),
        (first("talos", "all_poses", "nothing cached", 1.9e9), "met (2,000 ms)"),
        (first("talos", "pose", "nothing cached", 9e9), ""),
        (first("talos", "pose", "cached on disk", 81e6), "MISSED (80 ms)"),
        (first("ur5", "pose", "cached on disk, heavy imports done before", 19e6), "met (20 ms)"),
    ],
)
def test_first_calls_have_limits(entry: Measurement, said: str) -> None:
    assert judge(entry, {}, True) == said
