"""What is read from the surroundings, and what is refused there."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork import settings


@pytest.fixture
def threads(monkeypatch):
    """Set LINKWORK_THREADS and ask anew."""

    def ask(value: str | None) -> int:
        if value is None:
            monkeypatch.delenv("LINKWORK_THREADS", raising=False)
        else:
            monkeypatch.setenv("LINKWORK_THREADS", value)
        settings.most_threads.cache_clear()
        return settings.most_threads()

    yield ask
    settings.most_threads.cache_clear()


def test_threads_are_as_many_as_usable_cores(threads):
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert threads(None) == threads("") == usable


def test_threads_may_be_given(threads):
    assert [threads(value) for value in ("1", "3", "64", "007")] == [1, 3, 64, 7]


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", " 2", "2 ", "1e3", "²", "0x2", "+1"])
def test_threads_that_are_no_number_are_refused_by_name(threads, value):
    for _ in range(2):  # an error is not remembered in place of a number
        with pytest.raises(lw.InputError, match="LINKWORK_THREADS must be a positive whole number"):
            threads(value)
    assert threads("2") == 2


def test_the_number_of_threads_does_not_change_the_answer(threads):
    q = lw.load("planar_3r").random(40_000, seed=1)
    answers = []
    for value in ("1", "2", "5"):
        assert threads(value) == int(value)
        answers.append(lw.load("planar_3r").fk(q, "tool0"))
    assert answers[0].tobytes() == answers[1].tobytes() == answers[2].tobytes()
    assert np.isfinite(answers[0]).all()


def test_ros_paths_stand_in_their_order(monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", os.pathsep.join(["/a", "", "/b c"]))
    monkeypatch.setenv("AMENT_PREFIX_PATH", os.pathsep.join(["/opt/x", "/opt/y"]))
    assert settings.ros_paths() == tuple(map(Path, ("/a", "/b c", "/opt/x/share", "/opt/y/share")))
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    assert settings.ros_paths() == ()


def test_the_clock_goes_forward():
    times = [settings.clock() for _ in range(100)]
    assert times == sorted(times)
    assert 0 <= times[-1] - times[0] < 60


def test_folders_that_the_environment_allows(monkeypatch, tmp_path: Path):
    monkeypatch.delenv("LINKWORK_ALLOW", raising=False)
    assert settings.allowed_folders() == ()
    monkeypatch.setenv("LINKWORK_ALLOW", os.pathsep.join(["/a", "", "/b c"]))
    assert settings.allowed_folders() == (Path("/a"), Path("/b c"))
    monkeypatch.chdir(tmp_path)
    settings.hand_on_mesh_options(["here"], load_meshes=False)
    assert settings.allowed_folders() == (tmp_path / "here", Path("/a"), Path("/b c"))


def test_when_meshes_are_read(monkeypatch):
    monkeypatch.delenv("LINKWORK_LOAD_MESHES", raising=False)
    assert not settings.load_meshes_at_once()
    monkeypatch.setenv("LINKWORK_LOAD_MESHES", "0")
    assert not settings.load_meshes_at_once()
    settings.hand_on_mesh_options([], load_meshes=True)
    assert settings.load_meshes_at_once()
    monkeypatch.setenv("LINKWORK_LOAD_MESHES", "yes")
    with pytest.raises(lw.InputError, match="LINKWORK_LOAD_MESHES must be 0 or 1, not 'yes'"):
        settings.load_meshes_at_once()
