"""Pairs of links: each is left out for its reason, and none that can touch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from ball_robots import Balls, arm
from linkwork.collision.pairs import (
    Pair,
    PairTable,
    Sampling,
    contact_findings,
    derive_pairs,
    described_pairs,
)
from linkwork.collision.proof import Motion, motions_of, stays_apart
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.formats import srdf as srdf_format
from robots import example_robot_urdf, random_tree
from seeds import rng


def balls_of(robot: lw.Robot, radius: float = 0.1, **others: float) -> Balls:
    return Balls(robot, {name: ((0, 0, 0), others.get(name, radius)) for name in LINKS})


def touching_when_straight() -> Balls:
    """Balls on l1 and l3 that are one inside the other, by 10 mm, where j2 is zero."""
    small = ((0, 0, 0), 0.002)
    own = {name: small for name in LINKS} | {"l1": ((1.0, 0, 0), 0.008)}
    return Balls(arm(limit=2.0), own)


LINKS = ("base", "tower", "l1", "l2", "l3", "l4", "tool")


# --- what needs no distances ----------------------------------------------------------------------


def test_what_the_description_says():
    table = described_pairs(arm().mechanism, LINKS)
    assert len(table) == 21
    assert {(p.link_a, p.link_b) for p in table if p.reason == "same body"} == {
        ("base", "tower"),
        ("l4", "tool"),
    }
    # the tower and the tool are of bodies that a joint joins, yet no joint joins them
    assert {(p.link_a, p.link_b) for p in table if p.reason == "adjacent"} == {
        ("base", "l1"),
        ("l1", "l2"),
        ("l2", "l3"),
        ("l3", "l4"),
    }
    assert all(pair.checked == (pair.reason == "") for pair in table)


def test_links_without_shapes_do_not_count():
    """A universal joint, and one on a bracket; but no whole arm."""
    link, joint = (
        '<link name="{}"/>'.format,
        """<joint name="{0}" type="revolute">
        <parent link="{0}"/><child link="{1}"/><origin xyz="{2} 0 0" rpy="{3} 0 0"/>
        <axis xyz="0 0 1"/><limit velocity="1" effort="1"/></joint>""".format,
    )
    fixed = """<joint name="f" type="fixed"><parent link="c"/><child link="d"/>
        <origin xyz="0.1 0 0"/></joint>"""
    links = "".join(map(link, "abcdef"))
    joints = joint("a", "b", 0.3, 0) + joint("b", "c", 0, 1.57) + fixed + joint("d", "e", 0.2, 0)
    text = f'<robot name="r">{links}{joints}{joint("e", "f", 0, 1)}</robot>'

    def adjacent(*names: str) -> set[str]:
        table = described_pairs(lw.load(text).mechanism, names)
        return {pair.link_a + pair.link_b for pair in table if pair.reason == "adjacent"}

    assert adjacent(*"abcdef") == {"ab", "bc", "de", "ef"}
    assert adjacent("a", "c", "e") == {"ac", "ce"}
    assert adjacent("a", "d", "f") == {"ad", "df"}
    assert adjacent("a", "f") == adjacent("b", "e") == adjacent("a", "e") == set()


def test_the_hinge_of_a_loop_joins_links():
    robot = lw.load("four_bar")
    m = robot.mechanism
    links = m.frame_names[: m.n_link_frames]
    loop = m.loops[0]
    ends = [links[int(m.frame_link[m.frame(name)])] for name in (loop.frame_a, loop.frame_b)]
    table = described_pairs(m, links)
    assert table.reason(ends[0], ends[1]) == "adjacent"
    with pytest.raises(InputError, match="give q0 and random"):
        derive_pairs(table, m, lambda q, places: np.zeros((len(q), len(places))))


def test_unknown_links_are_refused():
    with pytest.raises(UnknownNameError, match="nearest: tower"):
        described_pairs(arm().mechanism, ("base", "towr"))


def test_an_srdf_comes_before_what_is_derived():
    text = """<robot name="arm">
  <disable_collisions link1="tower" link2="l2" reason="Never"/>
  <disable_collisions link1="l3" link2="l1"/>
  <enable_collisions link1="l1" link2="base"/>
  <enable_collisions link1="l4" link2="tool"/>
  <disable_default_collisions link="l4"/><enable_collisions link1="l4" link2="l1" reason="mine"/>
  <disable_collisions link1="l1" link2="nowhere"/>
</robot>"""
    balls = balls_of(arm(), 0.05)
    table = balls.table(srdf_format.read(text))
    assert table.reason("l2", "tower") == "SRDF: Never"
    assert table.reason("l1", "l3") == "SRDF"
    assert table.reason("l4", "base") == table.reason("l3", "l4") == "SRDF: default of l4"
    assert table.reason("l4", "tool") == "same body"
    checked = {(pair.link_a, pair.link_b) for pair in table.checked}
    assert {("base", "l1"), ("l1", "l4")} < checked
    assert not {("tower", "l2"), ("l1", "l3"), ("l2", "l4")} & checked
    (found,) = table.findings
    assert (found.code, found.name, found.line) == ("srdf-link", "nowhere", 7)
    derived = derive_pairs(table, balls.m, balls.distances)
    assert all(a == b for a, b in zip(table, derived, strict=True) if a.reason)
    assert derived.reason("base", "l1") == "SRDF"


# --- what distances say ---------------------------------------------------------------------------


def test_every_reason_by_distances():
    # the radii are those of balls 0.5 m apart along the arm, of which l1 lies at the base's centre
    table = balls_of(arm(limit=0.3), 0.05, l2=0.3, tool=0.3, tower=0.12).derived()
    assert table.reason("l1", "tool").startswith("never touch (no nearer than")
    assert table.reason("base", "l2").startswith("cannot touch (proven)")
    assert table.reason("l1", "l3") == "cannot touch (proven)"
    always = balls_of(arm(limit=0.3), 0.05, l2=0.6, l4=0.6).derived()
    assert always.reason("l2", "l4") == "always touch (1,000 of 1,000 random states)"
    bent = touching_when_straight().derived()
    assert bent.reason("l1", "l3").startswith("in contact at neutral (10 mm deep), and in ")
    free = balls_of(arm(limit=3.1), 0.2).derived()
    assert free.reason("l1", "tool").startswith("touch in ")
    assert free.reason("l1", "l3").startswith("touch in ")
    assert "1,000 random states" in free.notes[0]
    assert "0.3 %" in free.notes[0]
    for each in (table, always, bent, free):
        for pair in each:
            left_out = ("same", "adjacent", "never", "cannot", "always", "in contact")
            assert pair.reason
            assert pair.checked == (not pair.reason.startswith(left_out))


def test_what_comes_near_is_checked():
    def reason(margin: float) -> str:
        balls = balls_of(arm(limit=1.0, n=4), 0.05)
        table = derive_pairs(
            balls.table(), balls.m, balls.distances, sampling=Sampling(margin=margin)
        )
        pair = next(p for p in table if p.key == {"l1", "l3"})
        assert pair.checked == pair.reason.startswith("come as near as")
        return pair.reason

    # the nearest is where j2 is 1 rad: a chord of 2 * 0.5 cos(0.5) m, less both radii
    nearest = 1e3 * (np.cos(0.5) - 0.1)
    assert f"no nearer than {nearest:.3g} mm" in reason(0.77)
    assert f"come as near as {nearest:.3g} mm" in reason(0.78)
    balls = balls_of(arm(limit=1.0, n=4), 0.05)
    near, few = Sampling(margin=0.78), Sampling(margin=0.78, states=1, seed=1)
    assert balls.derived(sampling=near).reason("l1", "l3").startswith("come as near")  # no proof
    far = balls.robot.random(1, seed=np.random.default_rng(1))
    k = [pair.key for pair in balls.table()].index({"l1", "l3"})
    assert balls.distances(far, [k])[0, 0] > 0.78
    table = derive_pairs(balls.table(), balls.m, balls.distances, sampling=few)
    assert table.reason("l1", "l3") == f"come as near as {nearest:.3g} mm"


def test_the_search_finds_what_random_states_miss():
    """The tool meets a small tower only where six joints agree."""
    robot = arm(limit=1.5, n=6)
    names = ("base", "tower", "tool")
    balls = Balls(robot, {name: ((0, 0, 0), 0.003) for name in names})
    blind, seeing = Sampling(steps=0, margin=0.0), Sampling(margin=0.0)
    generator = rng("search")
    drawn = robot.random(200, seed=generator)

    def reason(how: Sampling) -> str:
        table = derive_pairs(balls.table(), balls.m, balls.distances, sampling=how)
        return table.reason("tower", "tool")

    assert balls.distances(drawn, [2]).min() > 0
    assert reason(blind).startswith("never touch")
    assert reason(seeing) == "touch in states that a search found"


def test_never_is_true_on_balls_of_random_robots():
    generator = rng("never")
    for _ in range(3):
        text = random_tree(generator, 6, ("revolute", "continuous", "prismatic"))
        robot = lw.load(text)
        m = robot.mechanism
        links = m.frame_names[: m.n_link_frames]
        size = 0.1 * generator.random(len(links)) + 0.02
        centres = 0.05 * generator.standard_normal((len(links), 3))
        balls = Balls(robot, dict(zip(links, zip(centres, size, strict=True), strict=True)))
        table = balls.derived()
        q = robot.random(5000, seed=generator)
        out = [k for k, pair in enumerate(table) if pair.reason.startswith(("never", "cannot"))]
        if out:
            nearest = balls.distances(q, out).min(axis=0)
            assert (nearest > 0.0).all(), (text, [table[k] for k in out])


# --- proof ----------------------------------------------------------------------------------------


def along(
    balls: Balls, k: int, motion: Motion, q: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """The distance of pair k for the positions (n, k) of a motion, other joints as in q (nq,)."""

    def distance(values: np.ndarray) -> np.ndarray:
        many = np.repeat(q[None], len(values), axis=0)
        many[:, motion.places] = values
        return balls.distances(many, [k])[:, 0]

    return distance


def test_distances_change_no_faster_than_the_bound():
    generator = rng("bound")
    proved = 0
    for _ in range(3):
        robot = lw.load(random_tree(generator, 5, ("revolute", "prismatic"), mimic=0.5))
        m = robot.mechanism
        links = m.frame_names[: m.n_link_frames]
        centres = 0.2 * generator.standard_normal((len(links), 3))
        balls = Balls(robot, {k: (c, 0.05) for k, c in zip(links, centres, strict=True)})
        for k, (a, b) in enumerate(combinations(links, 2)):
            motion = motions_of(m, a, b, balls.reach)
            if motion is None or not motion.places:
                continue
            distance = along(balls, k, motion, robot.random(seed=generator))
            span = motion.upper - motion.lower
            at = motion.lower + generator.random((400, len(span))) * span
            d = distance(at)
            change = np.abs(np.diff(d)) - np.abs(np.diff(at, axis=0)) @ motion.rates
            assert change.max() < 1e-12
            if stays_apart(distance, motion, least=0.0, most=2000):
                proved += 1
                assert d.min() > 0.0
    assert proved > 3


def test_a_slide_lengthens_what_turns():
    """A hand reaches 0.1 m beyond a slide of 2 m, which turns 0.25 m beside it."""
    joint = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/>
        <origin xyz="0 0 {}"/><axis xyz="{}"/>
        <limit lower="-1" upper="2" velocity="1" effort="1"/></joint>""".format
    turn = joint("t", "revolute", "a", "b", 5, "0 1 0")
    joints = turn + joint("s", "prismatic", "b", "c", 0.25, "1 0 0")
    links = '<link name="a"/><link name="b"/><link name="c"/>'
    m = lw.load(f'<robot name="r">{links}{joints}</robot>').mechanism
    motion = motions_of(m, "a", "c", {"a": 9.0, "c": 0.1})
    assert motion is not None
    # a ball of 1.5 m and 0.1 m more holds the hand; its middle is at 0.5 m of the slide
    np.testing.assert_allclose(motion.rates, [np.hypot(0.5, 0.25) + 1.5 + 0.1, 1.0])
    np.testing.assert_allclose(motions_of(m, "c", "a", {"a": 9.0, "c": 0.1}).rates, motion.rates)
    np.testing.assert_array_equal([motion.lower, motion.upper], [[-1, -1], [2, 2]])


def test_a_proof_that_is_too_long_is_none():
    balls = balls_of(arm(limit=3.0), 0.05)
    k = [p.key for p in balls.table()].index(frozenset(("l1", "l3")))
    motion = motions_of(balls.m, "l1", "l3", balls.reach)
    assert motion is not None

    distance = along(balls, k, motion, np.zeros(4))
    # at 3 rad the balls are 71 mm apart, less 100 mm: they touch
    assert not stays_apart(distance, motion, least=0.0, most=10_000)
    near = balls_of(arm(limit=2.9), 0.05)
    motion = motions_of(near.m, "l1", "l3", near.reach)
    assert motion is not None  # at 2.9 rad they are 120 mm apart, less 100 mm
    assert stays_apart(distance, motion, least=0.0, most=10_000)
    assert not stays_apart(distance, motion, least=0.0, most=3)
    assert motions_of(balls.m, "l1", "tool", balls.reach) is None  # three joints


# --- what the caller gives ------------------------------------------------------------------------


def test_states_of_the_caller_are_the_only_ones():
    """As where loops are to be closed: nothing but these states and q0 is looked at."""
    balls = balls_of(arm(limit=0.3), 0.05)
    drawn = balls.robot.random(50, seed=rng("own"))
    table = derive_pairs(
        balls.table(),
        balls.m,
        balls.distances,
        q0=np.zeros(4),
        random=lambda n: drawn[:n],
        sampling=Sampling(states=40),
    )
    assert balls.asked == [1, 40]
    assert "in 40 random states)" in table.reason("base", "tool")


def test_joints_without_limits_are_named():
    text = random_tree(rng("free"), 4, ("continuous", "revolute"), mimic=0.0)
    robot = lw.load(text)
    m = robot.mechanism
    links = m.frame_names[: m.n_link_frames]
    balls = Balls(robot, {link: ((0, 0, 0), 0.01) for link in links})
    free = [
        name for name, kind in zip(m.joint_names, m.joint_types, strict=True)
        if kind.label == "continuous"
    ]  # fmt: skip
    notes = balls.derived().notes
    assert [note for note in notes if "without limits" in note] == [
        f"without limits, taken from -pi to pi or -1 m to 1 m: {', '.join(free)}" for _ in free[:1]
    ]


def test_distances_that_are_none_are_refused():
    balls = balls_of(arm())

    def holes(q: np.ndarray, places: Sequence[int]) -> np.ndarray:
        found = balls.distances(q, places)
        found[-1, 0] = np.nan
        return found

    with pytest.raises(InputError, match="distance of 'base' and 'l2' is no number"):
        derive_pairs(balls.table(), balls.m, holes)
    with pytest.raises(ShapeError, match="not \\(1, 15\\)"):
        derive_pairs(balls.table(), balls.m, lambda q, places: np.zeros(len(q)))
    with pytest.raises(InputError, match="no configurations"):
        derive_pairs(balls.table(), balls.m, balls.distances, random=lambda n: np.zeros((0, 4)))
    with pytest.raises(InputError, match="states from 1"):
        Sampling(states=0)
    with pytest.raises(InputError, match="share"):
        Sampling(always=1.5)


def test_a_hand_that_hangs_in_a_leg_is_checked():
    """They touch at neutral, with five joints between them, and nearly nowhere else."""
    robot = arm(limit=2.5, n=5)
    balls = Balls(
        robot, {"base": ((2.4, 0, 0), 0.1), "l2": ((0, 0, 9), 1), "tool": ((0, 0, 0), 0.1)}
    )
    table = balls.derived()
    assert table[1].checked
    assert table[1].reason.endswith("of 1,000 random states and at neutral")
    (found,) = contact_findings(table)
    assert "the pair is checked" in found.hint
    loose = balls.derived(sampling=Sampling(near=5))
    assert loose[1].reason.startswith("in contact at neutral (100 mm deep)")


def test_nothing_to_ask_is_not_asked():
    m = arm().mechanism
    for links in ((), ("base",), ("base", "tower")):
        table = described_pairs(m, links)
        assert derive_pairs(table, m, lambda q, places: 1 / 0) is table


def test_contacts_as_findings():
    table = touching_when_straight().derived()
    found = contact_findings(table, "arm.urdf")
    assert [(one.name, one.level) for one in found if "'l3'" in one.message] == [("l1", "note")]
    assert "in contact at neutral (10 mm deep)" in str(found[0])
    assert contact_findings(balls_of(arm(limit=0.3), 0.05).derived()) == ()


# --- the table ------------------------------------------------------------------------------------

TABLE = PairTable(
    (
        Pair("a", "b", False, "adjacent"),
        Pair("a", "c", True, "touch in 3 of 10 random states"),
        Pair("a", "<d>", True),
        Pair("b", "c", False, "same body"),
        Pair("b", "<d>", False, "never touch (no nearer than 9 mm in 10 random states)"),
        Pair("c", "<d>", False, "SRDF: Default"),
    ),
    ("a", "b", "c", "<d>"),
    "four",
    ("seen in 10 random states",),
)


def test_the_table_is_read_by_people():
    lines = repr(TABLE).splitlines()
    assert lines[0] == "four: 6 pairs of 4 links, 2 checked"
    assert lines[1].split() == ["link_a", "link_b", "checked", "reason"]
    assert lines[3].split() == ["a", "c", "yes", "touch", "in", "3", "of", "10", "random", "states"]
    assert lines[-1] == "seen in 10 random states"
    assert lines[2].index("adjacent") == lines[6].index("never") == lines[1].index("reason")
    html = TABLE._repr_html_()
    assert "&lt;d&gt;" in html
    assert "<d>" not in html
    many = tuple(Pair(f"x{k}", f"y{k}", True) for k in range(100))
    assert "and 40 more" in repr(PairTable(many, ()))
    assert "\x1b" not in repr(PairTable((Pair("\x1b[2J", "b", True),), ()))


def test_views_and_reasons():
    assert len(TABLE) == 6
    assert TABLE[1] in TABLE
    assert [pair.link_b for pair in TABLE.checked] == ["c", "<d>"]
    assert set(TABLE.checked) | set(TABLE.ignored) == set(TABLE)
    assert TABLE.reason("b", "a") == TABLE.reason("a", "b") == "adjacent"
    with pytest.raises(UnknownNameError, match="link with shapes"):
        TABLE.reason("a", "x")
    with pytest.raises(InputError, match="'a' twice"):
        TABLE.reason("a", "a")
    told = TABLE.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert [Pair(**pair) for pair in told["pairs"]] == list(TABLE)


def test_overrides_by_name():
    more = TABLE.with_checked([("b", "a"), ("<d>", "b")])
    assert {pair.key for pair in more.checked} - {pair.key for pair in TABLE.checked} == {
        frozenset("ab"),
        frozenset(("b", "<d>")),
    }
    assert more.reason("a", "b") == "you"
    less = TABLE.with_ignored(["a"])
    assert not less.checked
    assert TABLE.with_ignored("a") == less
    assert more.with_ignored(("a", "b")) == more.with_ignored([("a", "b")]) != less
    assert less.with_checked("b").ignored[-2:] == (TABLE[3], TABLE[5])
    with pytest.raises(InputError, match="one body"):
        TABLE.with_checked([("b", "c")])
    for bad in (["x"], [("a", "x")]):
        with pytest.raises(UnknownNameError, match="link with shapes named 'x'"):
            TABLE.with_ignored(bad)
    assert TABLE.with_ignored(TABLE.checked) == TABLE.with_ignored(
        [(pair.link_b, pair.link_a) for pair in TABLE.checked]
    )
    assert more.with_ignored(more[0]) == more.with_ignored([("a", "b")])
    for worse in ([("a",)], [("a", "b", "c")], [3], 3, None):
        with pytest.raises(InputError, match="a link or a pair"):
            TABLE.with_ignored(worse)


def test_an_srdf_gives_the_table_back(tmp_path: Path):
    path = tmp_path / "arm.srdf"
    balls = touching_when_straight()
    table = balls.derived().with_checked([("l1", "l2")]).with_ignored(["tool"])
    table.to_srdf(path)
    again = balls.table(srdf_format.read(path))
    assert [pair.checked for pair in again] == [pair.checked for pair in table]
    words = {pair.reason for pair in again.ignored}
    assert words <= {"same body", *(f"SRDF: {w}" for w in ("Adjacent", "Default", "Never", "User"))}
    assert again.reason("l1", "l2") == "SRDF: User"
    derived = derive_pairs(again, balls.m, balls.distances)
    before = path.read_text()
    derived.to_srdf(path)
    assert srdf_format.read(path).decisions() == srdf_format.read(before).decisions()


def test_what_else_an_srdf_says_is_kept(tmp_path: Path):
    text = """<robot name="arm">
  <group name="all"/>
  <disable_default_collisions link="l4"/>
  <disable_collisions link1="l1" link2="camera" reason="Never"/>
</robot>
"""
    path = tmp_path / "arm.srdf"
    path.write_text(text)
    table = balls_of(arm()).table(srdf_format.read(path)).with_checked([("l4", "l1")])
    table.to_srdf(path)
    written = path.read_text()
    assert '<group name="all"/>' in written
    assert '<disable_collisions link1="l1" link2="camera" reason="Never"/>' in written
    again = balls_of(arm()).table(srdf_format.read(path))
    assert [pair.checked for pair in again] == [pair.checked for pair in table]
    other = tmp_path / "other.srdf"
    other.write_text('<robot name="leg"/>')
    with pytest.raises(InputError, match="the SRDF of 'leg', not of 'arm'"):
        table.to_srdf(other)


# --- an independent engine ------------------------------------------------------------------------


@pytest.mark.slow
def test_pairs_of_panda_by_another_engine():
    """What is left out as never touching does not touch on the meshes, by coal."""
    coal, pin = pytest.importorskip("coal"), pytest.importorskip("pinocchio")
    path = example_robot_urdf("panda")
    model = pin.buildModelFromUrdf(str(path))
    folder = [str(path.parents[4])]
    geometry = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION, None, folder)
    robot, parts = lw.load(path), {}
    for each in geometry.geometryObjects:
        shape = each.geometry
        if isinstance(shape, coal.BVHModelBase):
            shape.buildConvexHull(True, "Qt")
            shape = shape.convex
        frame = model.frames[each.parentFrame]
        placement = (frame.placement.inverse() * each.placement).homogeneous
        parts.setdefault(frame.name, []).append((shape, placement))
    places = [robot.frame_names.index(link) for link in parts]
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    pairs = list(combinations(range(len(parts)), 2))
    shapes = list(parts.values())

    def distances(q: np.ndarray, columns: Sequence[int]) -> np.ndarray:
        T = np.asarray(robot.fk_all(q))[:, places]
        found = np.full((len(q), len(columns)), np.inf)
        for row, column in np.ndindex(found.shape):
            ends = [
                [(shape, T[row, link] @ placed) for shape, placed in shapes[link]]
                for link in pairs[columns[column]]
            ]
            for (one, A), (two, B) in ((x, y) for x in ends[0] for y in ends[1]):
                at = [coal.Transform3s(M[:3, :3], M[:3, 3]) for M in (A, B)]
                gap = coal.distance(one, at[0], two, at[1], request, coal.DistanceResult())
                found[row, column] = min(found[row, column], gap)
        return found

    table = derive_pairs(described_pairs(robot.mechanism, tuple(parts)), robot.mechanism, distances)
    assert len(table) == 55
    assert 15 <= len(table.checked) <= 25
    never = [k for k, pair in enumerate(table) if pair.reason.startswith("never")]
    assert len(never) > 15
    q = robot.random(1000, seed=rng("panda pairs"))
    assert distances(q, never).min() > 0.0
