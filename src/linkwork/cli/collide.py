"""``linkwork collide``: what touches what, and how near the nearest is."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from click.exceptions import Exit
from numpy.typing import NDArray

import linkwork as lw
from linkwork.cli import inputs, output
from linkwork.cli.arguments import CollideArguments
from linkwork.cli.fk import print_positions
from linkwork.cli.inputs import Angles
from linkwork.terminal import Screen, progress_line
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]

TOUCHES = 1
"""The exit code where the input was right, and something touches."""


class Found(NamedTuple):
    """The answer for one configuration: the nearest pair, and every pair with its distance (m).

    Sorted, nearest first; ``pairs`` and ``distance`` are empty where nothing is checked.
    """

    touches: bool
    pairs: list[tuple[str, str]]
    distance: Floats


def run(given: CollideArguments) -> None:
    """Check, print, write; exit with 1 where something touches."""
    out = output.target_file(given.out)
    saved = output.target_file(given.save_srdf, (".srdf",), "--save-srdf")
    robot, angles = inputs.open_robot(given, None), Angles(given.deg)
    q = inputs.configurations(robot, given.q, given.q_file, angles)
    allow = tuple(given.allow or ())
    scene = None if given.scene is None else inputs.open_scene(given.scene, allow)
    model = _model(robot, given)
    if saved is not None:
        model.pairs.to_srdf(saved)
    if q.ndim == 1:
        touching = _one(robot, model, scene, q, given)
    else:
        touching = _many(robot, model, scene, q, given)
    if out is not None:
        _write(out, model, scene, q)
    if scene is None and not model.pairs.checked:
        output.note(
            "linkwork: no pair of links is checked and there is no scene: nothing can touch"
        )
    if touching:
        raise Exit(TOUCHES)


def _model(robot: Any, given: CollideArguments) -> Any:
    """The collision model; what is odd about its pairs is told on standard error."""
    wish: dict[str, Any] = {}
    if given.srdf is not None:
        wish["srdf"] = given.srdf
    if given.allow:
        wish["allow"] = tuple(given.allow)
    with progress_line("building the collision model"):
        model = robot.collision(**wish)
    for finding in model.pairs.findings:
        output.note(str(finding))
    return model


# --- one configuration ----------------------------------------------------------------------------


def _one(robot: lw.Robot, model: Any, scene: Any, q: Floats, given: CollideArguments) -> bool:
    measured = model.distances(q, scene)
    distance = np.asarray(measured.distance, np.float64)
    order = np.argsort(distance, kind="stable")
    pairs = [tuple(measured.pairs[k]) for k in order]
    found = Found(bool(model.collides(q, scene)), pairs, distance[order])
    if given.json:
        results = [{"q": q, **_record(found, every=given.clearance)}]
        output.print_json({**_head(robot, model, given), "results": results})
    else:
        _show_one(robot, model, q, found, given)
    return found.touches


def _record(found: Found, *, every: bool) -> dict[str, Any]:
    """One configuration as JSON has it."""
    rows = [
        {"pair": pair, "distance": d} for pair, d in zip(found.pairs, found.distance, strict=True)
    ]
    nearest = rows[0] if rows else {"pair": None, "distance": None}
    hits = int(np.count_nonzero(found.distance <= 0.0))
    touching = [{"pair": found.pairs[k], "depth": -found.distance[k]} for k in range(hits)]
    more = {"distances": rows} if every else {}
    return {"touches": found.touches, **nearest, "touching": touching, **more}


def _show_one(
    robot: lw.Robot, model: Any, q: Floats, found: Found, given: CollideArguments
) -> None:
    screen, hits = Screen(), int(np.count_nonzero(found.distance <= 0.0))
    told = "touches" if found.touches else "free"
    if hits:
        told = f"{hits} pair{'s' if hits > 1 else ''} touch{'' if hits > 1 else 'es'}"
    screen.print(output.heading(f"{robot.name}: {told}"))
    print_positions(screen, robot, q, Angles(given.deg))
    screen.print("")
    shown = hits or 1
    if given.clearance:
        shown = output.ROWS_SHOWN
    if found.pairs:
        table = TextTable(("link or object", "link or object", "mm"), numbers=1)
        for pair, distance in list(zip(found.pairs, found.distance, strict=True))[:shown]:
            told = f"{output.number(-1e3 * distance, 3)} deep" if distance < 0.0 else ""
            table.add_row(*pair, told or f"{output.number(1e3 * distance, 3)} apart")
        screen.print(table, "")
    _show_pairs(model, given)


def _show_pairs(model: Any, given: CollideArguments) -> None:
    """The number of pairs that are checked, or all of them with their reasons."""
    screen, pairs = Screen(), model.pairs
    checked = len(pairs.checked)
    if not given.pairs:
        screen.print(f"{checked} of {len(pairs)} pairs of links are checked; --pairs lists them")
        return
    screen.print(output.heading(f"{checked} of {len(pairs)} pairs of links are checked"))
    table = TextTable(("link", "link", "checked", "reason"))
    for pair in pairs:
        table.add_row(pair.link_a, pair.link_b, "yes" if pair.checked else "no", pair.reason)
    screen.print(table)
    for line in (*pairs.notes, *model.parts.notes):
        screen.print(line)


def _head(robot: lw.Robot, model: Any, given: CollideArguments) -> dict[str, Any]:
    """The part of the JSON above the results."""
    pairs = model.pairs
    counts = {"checked": len(pairs.checked), "ignored": len(pairs.ignored)}
    return {
        "robot": robot.name,
        "scene": given.scene,
        "q_names": inputs.position_labels(robot.mechanism),
        "pairs": pairs.to_dict() if given.pairs else counts,
    }


# --- many -----------------------------------------------------------------------------------------


def _many(robot: lw.Robot, model: Any, scene: Any, q: Floats, given: CollideArguments) -> bool:
    touches = np.asarray(model.collides(q, scene), bool)
    hits = int(np.count_nonzero(touches))
    if given.json:
        results: list[dict[str, Any]] = [
            {"q": row, "touches": bool(hit)} for row, hit in zip(q, touches, strict=True)
        ]
        if given.clearance:
            near = model.clearance(q, scene)
            for result, pair, distance in zip(results, near.names, near.distance, strict=True):
                result.update({"pair": pair, "distance": distance})
        head = _head(robot, model, given)
        output.print_json({**head, "touching": hits, "results": results})
        return hits > 0
    screen = Screen()
    counted = f"{hits} of {len(q)} configurations touch"
    screen.print(output.heading(f"{robot.name}: {counted}"))
    told = np.arange(len(q)) if given.clearance else np.flatnonzero(touches)
    rows = told[: output.ROWS_SHOWN]
    if len(rows):
        near = model.clearance(q[rows], scene)
        columns = ("row", "link or object", "link or object", "distance (mm)")
        table = TextTable(columns, numbers=1)
        for row, pair, distance in zip(rows, near.names, near.distance, strict=True):
            table.add_row(str(row), *(pair or ("-", "-")), output.number(1e3 * distance, 3))
        screen.print(table, "")
    _show_pairs(model, given)
    output.tell_rest(len(told), output.ROWS_SHOWN)
    return hits > 0


def _write(out: Any, model: Any, scene: Any, q: Floats) -> None:
    """Distances (.npy), or a line for each configuration with its nearest pair (.csv)."""
    near = model.clearance(q, scene)
    names = [near.names] if q.ndim == 1 else near.names
    distance = np.asarray(near.distance, np.float64)
    touches = np.atleast_1d(np.asarray(model.collides(q, scene), bool))
    rows = (
        [int(hit), d, *(pair or ("", ""))]
        for hit, d, pair in zip(touches, np.atleast_1d(distance).tolist(), names, strict=True)
    )
    output.write_numbers(out, distance, ("touches", "distance", "a", "b"), rows)
