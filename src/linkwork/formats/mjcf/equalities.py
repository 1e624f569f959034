"""Loops, couplings and driven joints of a model that MuJoCo compiled.

Source: https://mujoco.readthedocs.io/en/stable/XMLreference.html (equality, tendon, actuator);
what the numbers of a compiled equality mean was found from MuJoCo's own residuals.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np

from linkwork.errors import DescriptionError, Finding
from linkwork.formats.mjcf.flat import Flat
from linkwork.formats.mjcf.records import (
    Anchor,
    Closure,
    Coupling,
    Drive,
    Place,
    Quaternion,
    Terms,
    Vector,
)
from linkwork.formats.urdf.convert import show

_CONNECT, _WELD, _JOINT, _TENDON = range(4)
_OF_JOINT, _OF_JOINT_IN_PARENT, _OF_TENDON = 0, 1, 3
_SITE = 6
_ALONG_SITES = ("site", "geom", "pulley")
_WRAPS_SITE = 3
_INFO = re.compile(r"line (\d+)")
_UNTURNED: Quaternion = (1.0, 0.0, 0.0, 0.0)


def prune_tendons(mujoco: Any, spec: Any, flat: Flat, place_of: Any) -> list[Finding]:
    """Take out of a specification the tendons that are not read, and what belongs to them.

    A tendon along sites is read where it is a rod: between two of them, and held alone.
    """
    tendon_equality = mujoco.mjtEq.mjEQ_TENDON
    held = [e for e in spec.equalities if e.type == tendon_equality]
    alone = {equality.name1 for equality in held if not equality.name2}
    rods: set[str] = set()
    for tendon in list(spec.tendons):
        along = _along_sites(tendon, flat)
        if along is None:
            continue
        if along == ["site", "site"] and tendon.name in alone:
            rods.add(tendon.name)
            continue
        text = "tendons along sites are not read, but for rods between two"
        place = place_of(tendon, flat)
        flat.found("note", "no-tendon", text, place=place, element="tendon")
        spec.delete(tendon)
    known = {tendon.name for tendon in spec.tendons}
    problems: list[Finding] = []
    for equality in list(spec.equalities):
        if equality.type != tendon_equality:
            continue
        named = [name for name in (equality.name1, equality.name2) if name]
        lost = [n for n in named if n not in known or (n in rods and len(named) > 1)]
        if lost:
            text = f"the tendon '{show(lost[0])}' is not read: these joints move freely"
            problems.append(_problem("warning", "no-equality", text, place_of(equality, flat)))
            spec.delete(equality)
    for actuator in list(spec.actuators):
        target, pulls = actuator.target, actuator.trntype == mujoco.mjtTrn.mjTRN_TENDON
        if pulls and (target not in known or target in rods):
            text = f"the tendon '{show(target)}' is not read: it drives no joint here"
            problems.append(
                _problem("note", "no-actuator", text, place_of(actuator, flat), "actuator")
            )
            spec.delete(actuator)
    return problems


def _along_sites(tendon: Any, flat: Flat) -> list[str] | None:
    """What a tendon goes along; None for one that is a sum of joints.

    Told by the lines of the text: every element has its own there.
    """
    found = _INFO.search(tendon.info)
    line = int(found[1]) if found else 0
    if not 0 < line <= len(flat.tags) or flat.tags[line - 1] != "spatial":
        return None
    return list(takewhile(_ALONG_SITES.__contains__, flat.tags[line:]))


class Equalities:
    """What the equalities and actuators of a compiled model say."""

    def __init__(self, model: Any, names: Sequence[str], places: Sequence[Place]) -> None:
        self.m, self.names, self.places = model, names, places
        self.closures: list[Closure] = []
        self.couplings: list[Coupling] = []
        self.problems: list[Finding] = []
        for k in range(model.neq):
            self._equality(k)

    def _equality(self, k: int) -> None:
        m, kind, place = self.m, int(self.m.eq_type[k]), self.places[k]
        if not np.isfinite(m.eq_data[k]).all():
            raise DescriptionError(
                [_problem("error", "not-finite", "a number of it is not finite", place)]
            )
        if not m.eq_active0[k]:
            text = "it is not active at the start, and not read"
            self.problems.append(_problem("note", "inactive", text, place, name=self.names[k]))
        elif kind in (_CONNECT, _WELD):
            self._closure(k, weld=kind == _WELD and bool(m.eq_data[k][10]))
        elif kind == _TENDON and self._is_rod(k):
            self._rod(k)
        elif kind in (_JOINT, _TENDON):
            self._coupling(k, kind)

    def _closure(self, k: int, *, weld: bool) -> None:
        m, data = self.m, self.m.eq_data[k]
        one, two = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        if int(m.eq_objtype[k]) == _SITE:
            a, b = (self._at_site(s) for s in (one, two))
        elif int(m.eq_type[k]) == _WELD:  # the point of body 2 stands first
            a = Anchor(one, _vector(data[3:6]), _wxyz(data[6:10]))
            b = Anchor(two, _vector(data[0:3]), _UNTURNED)
        else:
            a = Anchor(one, _vector(data[0:3]), _UNTURNED)
            b = Anchor(two, _vector(data[3:6]), _UNTURNED)
        kind = "weld" if weld else "connect"
        self.closures.append(Closure(self.names[k], kind, a, b, self.places[k]))

    def _is_rod(self, k: int) -> bool:
        first = int(self.m.tendon_adr[int(self.m.eq_obj1id[k])])
        return int(self.m.wrap_type[first]) == _WRAPS_SITE

    def _rod(self, k: int) -> None:
        """The length of a tendon counts from that at ``qpos0``."""
        m, tendon = self.m, int(self.m.eq_obj1id[k])
        length = float(m.tendon_length0[tendon] + m.eq_data[k][0])
        if not length > 0.0:
            text = f"its length would be {length:.6g}: these joints move freely"
            problem = _problem("warning", "no-equality", text, self.places[k], name=self.names[k])
            self.problems.append(problem)
            return
        first = int(m.tendon_adr[tendon])
        a, b = (self._at_site(int(s)) for s in m.wrap_objid[first : first + 2])
        self.closures.append(Closure(self.names[k], "rod", a, b, self.places[k], length))

    def _at_site(self, s: int) -> Anchor:
        m = self.m
        return Anchor(int(m.site_bodyid[s]), _vector(m.site_pos[s]), _wxyz(m.site_quat[s]), s)

    def _coupling(self, k: int, kind: int) -> None:
        m = self.m
        one, two = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        terms = self._terms(one, kind)
        other = self._terms(two, kind) if two >= 0 else ()
        polynomial = tuple(float(x) for x in m.eq_data[k][:5])
        self.couplings.append(Coupling(self.names[k], terms, other, polynomial, self.places[k]))

    def _terms(self, number: int, kind: int) -> Terms:
        """The joints of a joint or of a fixed tendon, with their factors."""
        return ((number, 1.0),) if kind == _JOINT else tendon_terms(self.m, number)


def tendon_terms(m: Any, tendon: int) -> Terms:
    """The joints of a fixed tendon, with their factors."""
    first = int(m.tendon_adr[tendon])
    terms = range(first, first + int(m.tendon_num[tendon]))
    found = [(int(m.wrap_objid[w]), float(m.wrap_prm[w])) for w in terms]
    return tuple(pair for pair in found if pair[1])


def drives(m: Any, places: Sequence[Place]) -> tuple[Drive, ...]:
    """The joints that each actuator drives."""
    found: list[Drive] = []
    for k in range(m.nu):
        kind, target = int(m.actuator_trntype[k]), int(m.actuator_trnid[k][0])
        if kind in (_OF_JOINT, _OF_JOINT_IN_PARENT):
            found.append(Drive((target,), places[k]))
        elif kind == _OF_TENDON:
            found.append(Drive(tuple(j for j, _ in tendon_terms(m, target)), places[k]))
    return tuple(found)


def _problem(
    level: Any, code: str, text: str, place: Place, element: str = "equality", name: str = ""
) -> Finding:
    return Finding(level, code, text, place.file, place.line, element, show(name))


def _vector(values: Any) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _wxyz(values: Any) -> Quaternion:
    w, x, y, z = (float(value) for value in values)
    return w, x, y, z
