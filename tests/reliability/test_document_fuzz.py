"""Anything that somebody puts into a description, through all that can be done with it.

P2, P15 and P22 of the reliability list for reading, checking, writing, editing, comparing and
loading. For more mutations than the 300 of every run: LINKWORK_TEST_MUTATIONS=1000000.
"""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import os
import pickle
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import linkwork as lw
from document_mutations import (
    EDITS,
    SAMPLE,
    damaged,
    edited,
    findings,
    has_usable_masses,
    kept,
    moves,
    pictures,
    symmetric,
    through,
)
from linkwork.errors import DescriptionError, LinkworkError
from linkwork.faces import urdfpy
from linkwork.formats.urdf.records import Document, Robot
from linkwork.mechanism.serialize import from_json, to_json
from seeds import rng
from urdf_strategies import robots

COUNT = int(os.environ.get("LINKWORK_TEST_MUTATIONS", "300"))
SECONDS = 5
"""No mutation takes longer, with all that follows."""

FUZZ = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


def test_the_sample_is_good_and_everything_can_be_done_with_it():
    document = lw.urdf.read(SAMPLE)
    assert not [problem for problem in document.problems if problem.level == "warning"]
    random, made = rng("the sample"), Counter[str]()
    for edit in EDITS:
        for _ in range(12):
            try:
                results = edit(document, random)
            except LinkworkError:
                continue
            made[edit.__name__] += 1
            for result in results if isinstance(results, tuple) else (results,):
                kept(result)
                moves(result, random)
    assert len(made) == len({edit.__name__ for edit in EDITS})


@pytest.mark.slow
def test_p2_a_damaged_file_goes_all_the_way_or_is_refused():
    accepted = 0
    for number in range(COUNT):
        random = rng(f"damage {number}")
        data = damaged(random)
        start = time.process_time()
        try:
            accepted += through(data, random)
        except Exception as error:
            raise AssertionError(f"damage {number}: {data!r:.20000}") from error
        assert time.process_time() - start < SECONDS, data
    assert 0.2 * COUNT < accepted < 0.8 * COUNT  # both happen often, or the damage is of no use


@pytest.mark.slow
def test_p2_accepted_files_compute_and_are_saved(tmp_path: Path):
    done = number = 0
    target = tmp_path / "robot.urdf"
    while done < 25:
        number += 1
        random = rng(f"computed {number}")
        try:
            document = lw.urdf.read(damaged(random))
        except DescriptionError:
            continue
        done += 1
        saved = lw.urdf.write(document, target, meshes=("copy", "reference", "keep")[number % 3])
        assert not saved.copied
        assert not lw.urdf.diff(document, lw.urdf.read(target))
        robot = lw.load(target)
        assert np.isfinite(robot.fk_all(robot.neutral())).all()
        assert [path.name for path in tmp_path.iterdir()] == ["robot.urdf"]


def test_p2_the_face_loads_and_saves_a_damaged_file_or_refuses_it():
    outcomes = Counter[str]()
    for number in range(COUNT // 3):
        random = rng(f"face {number}")
        data = damaged(random)
        try:
            outcomes[_of_face(data, number)] += 1
        except Exception as error:
            raise AssertionError(f"face {number}: {data!r:.20000}") from error
    assert min(outcomes["saved"], outcomes["refused"]) > COUNT // 30


def _of_face(data: bytes, number: int) -> str:
    """Load, save, load again, by the names of urdfpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            robot = urdfpy.URDF.load(io.BytesIO(data))
        except LinkworkError as error:
            assert isinstance(error, (ValueError, TypeError))
            return "refused"
        file = io.BytesIO()
        try:
            robot.save(file)
        except LinkworkError as error:
            assert isinstance(error, ValueError)
            return "not saved"
        again = urdfpy.URDF.load(io.BytesIO(file.getvalue()))
        second = io.BytesIO()
        again.save(second)
    assert second.getvalue() == file.getvalue()
    assert [link.name for link in again.links] == [link.name for link in robot.links]
    if number % 10 == 0:
        for T in robot.link_fk().values():
            assert np.isfinite(T).all()
    return "saved"


# ---- all of the format at random


@pytest.mark.slow
@FUZZ
@given(robots(), st.integers(0, 2**32))
def test_robots_at_random_survive_every_step(robot: Robot, seed: int):
    document = lw.urdf.document(robot)
    random = np.random.default_rng(seed)
    kept(document)
    for result in edited(document, random):
        kept(result)
        pictures(result)
        moves(result, random)


@pytest.mark.slow
@FUZZ
@given(robots(), robots())
def test_differences_are_none_with_itself_and_the_same_both_ways(a: Robot, b: Robot):
    assert not lw.urdf.diff(a, a)
    assert not lw.urdf.diff(a, copy.deepcopy(a))
    symmetric(a, b)


@pytest.mark.slow
@FUZZ
@given(robots())
def test_examining_says_what_reading_says(robot: Robot):
    text = lw.urdf.to_text(robot)
    examined, document = lw.urdf.examine(text), lw.urdf.read(text)
    assert examined.whole
    assert not examined.failed
    assert examined.robot == document.robot == robot
    assert set(document.problems) <= set(examined.problems)
    assert findings(lw.urdf.document(robot).problems) == findings(document.problems)


# ---- P22: documents travel


def _same(a: Any, b: Any) -> bool:
    """Equal in what counts and in what does not: lines, places, comments."""
    return a == b and repr(a) == repr(b)


def travelled(document: Document) -> None:
    """By pickle of every protocol, by copy, and as JSON."""
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert _same(pickle.loads(pickle.dumps(document, protocol)), document)
    for other in (copy.copy(document), copy.deepcopy(document)):
        assert _same(other, document)
    assert hash(document.robot) == hash(copy.deepcopy(document.robot))
    plain = dataclasses.asdict(document.robot)
    assert json.loads(json.dumps(plain, allow_nan=False)) == listed(plain)


def listed(value: Any) -> Any:
    """The value with lists for tuples, as JSON has it."""
    if isinstance(value, dict):
        return {key: listed(each) for key, each in value.items()}
    return [listed(each) for each in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.slow
@FUZZ
@given(robots())
def test_p22_documents_travel(robot: Robot):
    document = lw.urdf.document(robot)
    travelled(document)
    if has_usable_masses(document):
        mechanism = lw.load(document).mechanism
        assert from_json(to_json(mechanism)) == mechanism


def test_p22_what_functions_give_travels(tmp_path: Path):
    document = lw.urdf.read(SAMPLE, file=str(tmp_path / "sample.urdf"))
    travelled(document)
    other = lw.urdf.rename(document, links={"arm": "upper"})
    things = [
        other,
        lw.urdf.diff(document, other),
        lw.urdf.examine(SAMPLE),
        lw.urdf.write(document, tmp_path / "robot.urdf"),
    ]
    for thing in things:
        for twin in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing)):
            assert _same(twin, thing)
    for call in (
        lambda: lw.urdf.read("<robot name='r'><link/></robot>"),
        lambda: lw.urdf.rename(document, links={"nobody": "x"}),
        lambda: lw.urdf.remove(document, "base"),
    ):
        with pytest.raises(LinkworkError) as caught:
            call()
        twin = pickle.loads(pickle.dumps(caught.value))
        assert type(twin) is type(caught.value)
        assert str(twin) == str(caught.value)
