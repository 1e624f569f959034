"""MJCF texts for tests: random trees over all that is read, damaged ones, and MuJoCo's poses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from lxml import etree

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
"""A tetrahedron with three right angles, of volume 1/6."""


class RandomMjcf:
    """One random MJCF: its text, with all that MuJoCo's compiler has to do for it."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.degrees = bool(rng.random() < 0.5)
        self.count = 0
        self.classes = ["main", "first", "second"]

    def text(self, n: int = 6) -> str:
        rng = self.rng
        angle = "degree" if self.degrees else "radian"
        order = "".join(rng.choice(list("xyzXYZ")) for _ in range(3))
        compiler = f'angle="{angle}" eulerseq="{order}"'
        if rng.random() < 0.3:
            compiler += ' inertiafromgeom="true"'
        if rng.random() < 0.3:
            compiler += ' balanceinertia="true" boundmass="0.5" boundinertia="0.01"'
        if rng.random() < 0.3:
            compiler += ' inertiagrouprange="0 1"'
        if rng.random() < 0.2:
            compiler += ' alignfree="true"'
        if rng.random() < 0.2:
            compiler += ' fusestatic="true"'
        gravity = f'<option gravity="{self.numbers(3, scale=9.0)}"/>' if rng.random() < 0.5 else ""
        tops = "".join(self.body(0, n) for _ in range(int(rng.integers(1, 4))))
        return (
            f'<mujoco model="random">\n<compiler {compiler}/>{gravity}\n{self.defaults()}\n'
            '<asset><material name="red" rgba="1 0 0 1"/>'
            '<mesh name="lost" file="lost.stl"/></asset>\n'
            f'<worldbody>\n<geom type="plane" size="1 1 1"/><light/><site/>\n{tops}</worldbody>\n'
            "<sensor><clock/></sensor>\n</mujoco>"
        )

    def defaults(self) -> str:
        def settings() -> str:
            low = self.angle(-2, -0.5)
            return (
                f'<joint damping="{self.number()}" armature="{self.number()}" '
                f'range="{low} {self.angle(0.2, 2)}"/>'
                f'<geom density="{self.number(500, 1500)}" size=".1 .2 .3" group="{self.group()}"/>'
                f'<site {self.orientation()}/><motor gear="2"/>'
            )

        nested = "".join(f'<default class="{c}">{settings()}</default>' for c in self.classes[1:])
        return f"<default>{settings()}{nested}</default>"

    def body(self, depth: int, left: int) -> str:
        rng = self.rng
        name = self.name("b")
        attributes = name + self.pose()
        if rng.random() < 0.3:
            attributes += f' childclass="{rng.choice(self.classes[1:])}"'
        if rng.random() < 0.2:
            attributes += ' gravcomp="1"'
        joints = self.joints(depth)
        if not joints and depth == 0 and rng.random() < 0.3:
            attributes += ' mocap="true"'
        inside = joints + self.inertia() + self.geoms() + self.sites()
        for _ in range(int(rng.integers(0, 3)) if depth < left else 0):
            inside += self.wrapped(self.body(depth + 1, left - 1))
        return f"<body {attributes}>\n{inside}</body>\n"

    def wrapped(self, text: str) -> str:
        """In a frame, or repeated, or as it is."""
        kind = self.rng.integers(0, 6)
        if kind == 0:
            return f"<frame {self.pose()}>\n{text}</frame>\n"
        if kind == 1:
            turn = self.numbers(3, scale=20 if self.degrees else 0.3)
            return (
                f'<replicate count="2" offset="{self.numbers(3)}" euler="{turn}" '
                f'sep="-r{self.next()}-">\n{text}</replicate>\n'
            )
        return text

    def joints(self, depth: int) -> str:
        rng = self.rng
        if depth == 0 and rng.random() < 0.3:
            return f"<freejoint {self.name('j')}/>\n"
        joints = ""
        ball = rng.random() < 0.2  # MuJoCo has no other turn beside it on a body
        for k in range(int(rng.choice([0, 1, 1, 1, 2, 3]))):
            kind = "slide" if ball else rng.choice(["hinge", "slide"])
            kind = "ball" if ball and k == 0 else kind
            text = f'<joint {self.name("j")} type="{kind}" axis="{self.numbers(3)}"'
            if rng.random() < 0.5:
                text += f' pos="{self.numbers(3)}"'
            if rng.random() < 0.5 and kind != "ball":
                text += f' ref="{self.angle(-1, 1) if kind == "hinge" else self.number(-1, 1)}"'
            if rng.random() < 0.4 and kind != "ball":
                at = self.angle(-1, 1) if kind == "hinge" else self.number(-1, 1)
                text += f' stiffness="{self.number()}" springref="{at}"'
            if kind == "ball":
                text += f' range="0 {self.angle(0.3, 2)}"'
            if rng.random() < 0.3:
                text += ' limited="false"'
            if rng.random() < 0.3:
                text += f' frictionloss="{self.number()}" actuatorfrcrange="-5 5"'
            if rng.random() < 0.2:
                text += f' class="{rng.choice(self.classes)}"'
            joints += text + "/>\n"
        return joints

    def inertia(self) -> str:
        rng = self.rng
        if rng.random() < 0.4:
            return ""
        a = rng.normal(size=(3, 3))
        spread = a @ a.T + 0.2 * np.eye(3)
        tensor = np.trace(spread) * np.eye(3) - spread  # of some cloud of points
        start = f'<inertial pos="{self.numbers(3)}" mass="{self.number(0.5, 4)}"'
        if rng.random() < 0.5:
            xx, yy, zz = np.diag(tensor)
            six = (xx, yy, zz, tensor[0, 1], tensor[0, 2], tensor[1, 2])
            return f'{start} fullinertia="{" ".join(map(repr, map(float, six)))}"/>\n'
        main = " ".join(map(repr, map(float, np.linalg.eigvalsh(tensor)[::-1])))
        return f'{start} diaginertia="{main}" {self.orientation()}/>\n'

    def geoms(self) -> str:
        """One with a mass always, so that every body may move; meshes only without a mass."""
        rng = self.rng
        kinds = ["sphere", "capsule", "ellipsoid", "cylinder", "box"]
        geoms = f'<geom type="{rng.choice(kinds)}" group="0" {self.pose()}/>\n'
        if rng.random() < 0.4:
            geoms += f'<geom type="capsule" size=".1" fromto="{self.numbers(6)}"/>\n'
        if rng.random() < 0.4:
            geoms += f'<geom type="box" mass="{self.number()}" material="red"/>\n'
        if rng.random() < 0.4:
            geoms += f'<geom type="mesh" mesh="lost" mass="0" {self.pose()}/>\n'
        return geoms

    def sites(self) -> str:
        number = int(self.rng.integers(0, 3))
        return "".join(f"<site {self.name('s')} {self.pose()}/>\n" for _ in range(number))

    def pose(self) -> str:
        text = f' pos="{self.numbers(3)}"' if self.rng.random() < 0.7 else ""
        return f"{text} {self.orientation()}" if self.rng.random() < 0.7 else text

    def orientation(self) -> str:
        kind = self.rng.choice(["quat", "euler", "axisangle", "xyaxes", "zaxis"])
        if kind == "euler":
            return f'euler="{" ".join(self.angle(-3, 3) for _ in range(3))}"'
        if kind == "axisangle":
            return f'axisangle="{self.numbers(3)} {self.angle(-3, 3)}"'
        return f'{kind}="{self.numbers({"quat": 4, "xyaxes": 6, "zaxis": 3}[kind])}"'

    def name(self, prefix: str) -> str:
        """A name as an attribute; sometimes none, or one that a thing of another kind has."""
        drawn = self.rng.random()
        if drawn < 0.15:
            return ""
        return f' name="{"" if drawn < 0.3 else prefix}{self.next()}"'

    def next(self) -> int:
        self.count += 1
        return self.count

    def group(self) -> int:
        return int(self.rng.integers(0, 3))

    def angle(self, low: float, high: float) -> str:
        value = float(self.rng.uniform(low, high))
        return repr(math.degrees(value) if self.degrees else value)

    def number(self, low: float = 0.1, high: float = 2.0) -> str:
        return repr(float(self.rng.uniform(low, high)))

    def numbers(self, n: int, scale: float = 1.0) -> str:
        return " ".join(repr(float(x)) for x in self.rng.normal(size=n) * scale)


def with_tiny_meshes(text: str) -> str:
    """The same text with a mesh of its own in place of the file that is not there."""
    here = '<mesh name="lost" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>'
    return text.replace('<mesh name="lost" file="lost.stl"/>', here)


TAGS = (
    *("body", "joint", "freejoint", "geom", "site", "inertial", "frame", "replicate", "default"),
    *("mesh", "material", "compiler", "worldbody", "asset", "attach", "model", "include", "plugin"),
    *("flexcomp", "composite", "equality", "extension", "key", "numeric", "hfield", "skin", "odd"),
)
"""Elements that others are made into."""

SETTINGS = (
    *("name=", "name=a", "class=first", "class=no", "childclass=second", "type=ball", "type=free"),
    *("type=mesh", "type=hfield", "type=sdf", "type=fixed", "mesh=lost", "mesh=no", "material=red"),
    *(
        "pos=1 2",
        "pos=0 0 0",
        "pos=1e90 -1e90 1e-300",
        "pos=nan 0 0",
        "quat=0 0 0 0",
        "quat=1e-200",
    ),
    *("euler=1 2 3", "axisangle=0 0 0 1", "xyaxes=1 0 0 1 0 0", "zaxis=0 0 0", "axis=0 0 0"),
    *("axis=1e-30 0 0", "range=1 -1", "range=0 0", "limited=true", "ref=1e50", "mass=0", "mass=-1"),
    *("mass=1e90", "density=1e90", "size=0", "size=-1 1 1", "size=", "size=1e90 1e90 1e90"),
    *("fromto=0 0 0 0 0 0", "fromto=1 2 3", "diaginertia=1 1 9", "diaginertia=0 0 0"),
    *("fullinertia=1 1 1 5 5 5", "count=0", "count=-1", "count=3", "count=999999999", "count=x"),
    *("offset=1e90 0 0", "sep=", "mocap=true", "gravcomp=nan", "group=-1", "group=99999999999"),
    *("angle=radian", "eulerseq=xxx", "eulerseq=", "coordinate=global", "inertiafromgeom=true"),
    *("inertiafromgeom=false", "inertiagrouprange=5 1", "balanceinertia=true", "settotalmass=2"),
    *("boundmass=-1", "autolimits=false", "alignfree=true", "strippath=true", "meshdir=../.."),
    *(
        "file=../../../etc/passwd",
        "file=/dev/zero",
        "file=a.stl",
        "file=",
        "vertex=0 0 0",
        "face=9",
    ),
    *("vertex=0 0 0 1 0 0 0 1 0 0 0 1", "scale=0 0 0", "refquat=0 0 0 0", "maxhullvert=3"),
    *("inertia=shell", "inertia=legacy", "builtin=sphere", "params=1 2", "content_type=model/obj"),
    *("user=1 2 3", "model=random", "prefix=x", "body=b", "frame=f", "plugin=no", "instance=no"),
    *("damping=-1", "armature=-1", "actuatorfrcrange=5 -5", "stiffness=nan", "springdamper=1 1"),
)
"""Attributes that elements are given, with their values."""


def damaged(random: np.random.Generator, text: str) -> str:
    """The text with one to three elements or attributes changed; it stays XML."""
    root = etree.fromstring(text.encode())
    for _ in range(int(random.integers(1, 4))):
        _damage(random, root)
    return etree.tostring(root, encoding="unicode")


def _damage(random: np.random.Generator, root: Any) -> None:
    nodes = list(root.iter())
    node = nodes[int(random.integers(1, len(nodes)))] if len(nodes) > 1 else root
    other = nodes[int(random.integers(len(nodes)))]
    match int(random.integers(9)):
        case 0 if node is not root:
            node.getparent().remove(node)
        case 1:
            other.append(etree.fromstring(etree.tostring(node)))
        case 2 if other not in node.iter():
            other.insert(int(random.integers(len(other) + 1)), node)
        case 3 if node is not root:
            node.tag = str(random.choice(TAGS))
        case 4 if node.attrib:
            del node.attrib[str(random.choice(list(node.attrib)))]
        case 5:
            etree.SubElement(node, str(random.choice(TAGS)))
        case 6 if other.attrib:
            node.set(*other.attrib.items()[int(random.integers(len(other.attrib)))])
        case _:
            node.set(*str(random.choice(SETTINGS)).split("=", 1))


def mujoco_state(mujoco: Any, model: Any, qpos: np.ndarray) -> Any:
    """MuJoCo's data with the poses of everything at this configuration."""
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return data


def closed(equality: str, *, more: str = "", default: str = "") -> str:
    """A linkage of five joints in space, with sites, and these equalities."""
    return f"""<mujoco model="linkage"><compiler angle="radian"/>{default}
<worldbody>
<body name="crank" pos="0 0 1"><joint name="h" axis="0 1 0"/><joint name="h2" axis="1 0 0"/>
<geom size=".1"/><site name="s1" pos=".1 0 0" euler="0 0 .3"/></body>
<body name="rocker" pos="1 0 1"><joint name="g" axis="0 1 0" ref="0.2"/>
<joint name="g2" axis="1 0 0"/>
<joint name="slide" type="slide" axis="0 .6 .8" ref="-.1"/><geom size=".1"/>
<body name="tip" pos="0 .1 0"><geom size=".1"/>
<site name="s2" pos=".2 0 .1" euler=".1 .2 0"/></body>
</body>
</worldbody>
<tendon><fixed name="both"><joint joint="h" coef="2"/><joint joint="h2" coef="-1"/></fixed>
<fixed name="one"><joint joint="g" coef="1"/></fixed>
<fixed name="other"><joint joint="h2" coef="3"/><joint joint="h" coef=".5"/></fixed></tendon>
<equality>{equality}</equality>{more}
</mujoco>"""


FOUR_BAR = """<mujoco model="four_bar"><worldbody>
<body name="crank"><joint name="crank" axis="0 1 0"/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 .1"/>
<body name="coupler" pos="0 0 .1"><joint name="coupler" axis="0 1 0"/>
<geom type="capsule" size=".02" fromto="0 0 0 .3 0 .1"/>
<site name="end" pos=".3 0 .1"/></body></body>
<body name="rocker" pos=".3 0 0"><joint name="rocker" axis="0 1 0"/>
<geom type="capsule" size=".02" fromto="0 0 0 0 0 .2"/><site name="top" pos="0 0 .2"/></body>
</worldbody>
<equality>{}</equality>
<actuator><motor joint="crank" ctrlrange="-1 1"/></actuator></mujoco>"""
"""A planar four-bar; what closes it is to be put in."""
