"""Pictures of trees: every link and joint is in them, whatever it is called."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from linkwork import models
from linkwork.errors import InputError
from linkwork.formats.tree_text import LONGEST_LABEL, dot, mermaid, svg
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Joint, Link, Mimic, Robot

NAMES = [
    "plain",
    'a "quoted" name',
    "<b>&amp;</b> & co.",
    "back\\slash\\n\\N",
    "#35; #quot; %% comment",
    "`tick` **bold** __x__",
    "end",
    "a; b{c}[d](e)|f|-->g",
    "click href",
    "名前 – ünïcödé 🤖",
    "<script>alert(1)</script>",
    "]]> <!-- x -->",
    "$x$ ${y} \\l",
]
_AB = Joint("j", "fixed", "a", "b")
SVG = "{http://www.w3.org/2000/svg}"


def odd_robot() -> Robot:
    """A chain of links with odd names, whose last joint mimics the first."""
    links = tuple(Link(name) for name in NAMES)
    joints = [
        Joint(f"to {name}", "revolute" if k % 2 else "fixed", parent, name)
        for k, (parent, name) in enumerate(pairwise(NAMES), 1)
    ]
    joints[-2] = replace(joints[-2], type="revolute", mimic=Mimic(joints[0].name))
    return Robot('r "<&>\\', links, tuple(joints))


def robots() -> list[Robot]:
    bundled = [read(models.path(name)).robot for name in models.MODELS]
    return [*bundled, odd_robot(), Robot("one", (Link("only"),))]


def edges(robot: Robot) -> set[tuple[str, str, str]]:
    return {(joint.parent, joint.name, joint.child) for joint in robot.joints}


# SVG


def texts(picture: str) -> list[str]:
    root = ElementTree.fromstring(picture)
    shown = []
    for element in root.iter(f"{SVG}text"):
        tip = element.find(f"{SVG}title")
        shown.append(tip.text if tip is not None else element.text)
    return [text or "" for text in shown]


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_svg_shows_every_name_inside_its_frame(robot: Robot):
    picture = svg(robot)
    labels = [f"{joint.name} ({joint.type})" for joint in robot.joints]
    assert sorted(texts(picture)) == sorted([*(link.name for link in robot.links), *labels])
    root = ElementTree.fromstring(picture)
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    boxes = []
    for box in root.iter(f"{SVG}rect"):
        x, y, w, h = (float(box.get(name, -1)) for name in ("x", "y", "width", "height"))
        assert 0 <= x and x + w <= width and 0 <= y and y + h <= height
        boxes.append((x, y, w, h))
    for k, (x, y, w, h) in enumerate(boxes):
        for u, v, a, b in boxes[:k]:
            assert x >= u + a or u >= x + w or y >= v + b or v >= y + h, "boxes overlap"
    couplings = [p for p in root.iter(f"{SVG}path") if p.get("class") == "c"]
    assert len(couplings) == sum(joint.mimic is not None for joint in robot.joints)


def test_each_link_stands_below_its_parent():
    robot = read(models.path("quadruped")).robot
    root = ElementTree.fromstring(svg(robot))
    names = [text.text for text in root.iter(f"{SVG}text") if text.get("class") is None]
    boxes = [(float(r.get("x", 0)), float(r.get("y", 0))) for r in root.iter(f"{SVG}rect")]
    place = dict(zip(names, boxes, strict=True))
    for joint in robot.joints:
        assert place[joint.child][1] > place[joint.parent][1]
        assert place[joint.child][0] > place[robot.links[0].name][0]


def test_a_long_name_is_cut_and_whole_in_the_tooltip():
    name = "x" * 500 + "end"
    picture = svg(Robot("r", (Link(name),)))
    (text,) = ElementTree.fromstring(picture).iter(f"{SVG}text")
    assert text.findtext(f"{SVG}title") == name
    assert max(len(part) for part in text.itertext() if "…" in part) <= LONGEST_LABEL


def test_names_that_no_document_can_hold():
    for name in ("a\x00b\x1f", "lone \ud800 surrogate", "\ufffe", "line\nbreak\ttab", ""):
        robot = Robot(name, (Link(name),))
        ElementTree.fromstring(svg(robot).encode())
        assert mermaid(robot)
        assert dot(robot)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("write", [svg, dot, mermaid])
def test_many_links_in_a_row(write: Callable[[Robot], str]):
    n = 5_000
    links = tuple(Link(f"l{k}") for k in range(n))
    joints = tuple(Joint(f"j{k}", "fixed", f"l{k - 1}", f"l{k}") for k in range(1, n))
    assert write(Robot("chain", links, joints)).count("\n") >= 2 * n


@pytest.mark.parametrize("write", [svg, dot, mermaid])
@pytest.mark.parametrize(
    "robot",
    [
        Robot("none"),
        Robot("two roots", (Link("a"), Link("b"))),
        Robot(
            "ring",
            (Link("a"), Link("b")),
            (Joint("j", "fixed", "a", "b"), Joint("k", "fixed", "b", "a")),
        ),
        Robot("missing", (Link("a"),), (Joint("j", "fixed", "a", "b"),)),
        Robot(
            "twice",
            (Link("a"), Link("b")),
            (Joint("j", "fixed", "a", "b"), Joint("k", "fixed", "a", "b")),
        ),
    ],
    ids=lambda robot: robot.name,
)
def test_what_is_no_tree_is_refused(write: Callable[[Robot], str], robot: Robot):
    with pytest.raises(InputError, match="no tree"):
        write(robot)


# Mermaid


def from_mermaid(text: str) -> str:
    """What Mermaid shows for a label: #number; is a character."""
    return re.sub(r"#(\d+);", lambda m: chr(int(m[1])), text)


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_mermaid_has_every_link_and_joint(robot: Robot):
    head, *lines = mermaid(robot).splitlines()
    assert head == "flowchart TD"
    nodes: dict[str, str] = {}
    found: set[tuple[str, str, str]] = set()
    dotted = 0
    types = {joint.name: joint.type for joint in robot.joints}
    for line in lines:
        if node := re.fullmatch(r'  (n\d+)\["([^"\\`<>&{}|;]*(?:#\d+;[^"\\`<>&{}|;]*)*)"\]', line):
            nodes[node[1]] = from_mermaid(node[2])
        elif edge := re.fullmatch(r'  (n\d+) -->\|"([^"|]*)"\| (n\d+)', line):
            name, _, kind = from_mermaid(edge[2]).rpartition(" (")
            assert kind == f"{types[name]})"
            found.add((nodes[edge[1]], name, nodes[edge[3]]))
        else:
            assert re.fullmatch(r'  n\d+ -\.->\|"mimics"\| n\d+', line), line
            dotted += 1
    assert set(nodes.values()) == {link.name for link in robot.links}
    assert found == edges(robot)
    assert dotted == sum(joint.mimic is not None for joint in robot.joints)


# DOT


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz (dot) is not installed")
@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_graphviz_reads_back_every_link_and_joint(robot: Robot):
    done = subprocess.run(
        ["dot", "-Tjson0"], input=dot(robot).encode(), capture_output=True, check=True, timeout=60
    )
    read_back = json.loads(done.stdout)

    def shown(label: str) -> str:
        return html.unescape(re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], label))

    names = [shown(node["label"]) for node in read_back["objects"]]
    assert sorted(names) == sorted(link.name for link in robot.links)
    found, dotted = set(), 0
    for edge in read_back.get("edges", ()):
        if edge["label"] == "mimics":
            dotted += 1
            continue
        joint, _, kind = shown(edge["label"]).rpartition("\n")
        assert kind[1:-1] == next(j.type for j in robot.joints if j.name == joint)
        found.add((names[edge["tail"]], joint, names[edge["head"]]))
    assert found == edges(robot)
    assert dotted == sum(joint.mimic is not None for joint in robot.joints)


def test_dot_quotes():
    text = dot(odd_robot())
    assert '[label="a \\"quoted\\" name"]' in text
    assert '[label="<b>&amp;amp;</b> &amp; co."]' in text
    assert '[label="back\\\\slash\\\\n\\\\N"]' in text
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
    assert not re.search(r"[<>&\\\"]", outside.replace("->", ""))
