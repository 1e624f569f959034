"""The making of collision models: pieces of shapes, their cover, pairs; each kept in the cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import combinations, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.apart import Apart
from linkwork.collision.cover import Cover, cover
from linkwork.collision.mesh_pieces import pieces_of_shape
from linkwork.collision.model import CollisionModel, CollisionParts, kernels
from linkwork.collision.pairs import (
    Pair,
    PairTable,
    Sampling,
    derive_pairs,
    described_pairs,
    findings_of,
)
from linkwork.collision.pieces import Piece, prepared
from linkwork.compile.cache import Entry, key_of, source_digest
from linkwork.compile.compiler import Compiler
from linkwork.compile.threads import in_parallel
from linkwork.errors import LinkworkError
from linkwork.formats.srdf import Srdf
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.shapes import LinkShape

Floats = NDArray[np.float64]

TOLD = 1e-3
"""Pieces that reach farther out of their mesh than this (m) are told of."""


@dataclass(frozen=True, eq=False, slots=True)
class LinkSolid:
    """A shape of a link; ``content`` is what it is, as bytes, with what its mesh file holds."""

    link: str
    shape: LinkShape
    content: bytes


def build_model(  # noqa: PLR0913  all but three are named
    mechanism: Mechanism,
    solids: Sequence[LinkSolid],
    opened: Callable[[LinkShape], LinkShape],
    *,
    overhang: float,
    margin: float,
    decompose: Any,
    srdf: Srdf | None,
    compiler: Compiler,
    threads: int,
    assembled: Callable[[int], Floats] | None = None,
    notes: Iterable[str] = (),
) -> CollisionModel:
    """The model of shapes on the links of a mechanism; ``opened`` gives a shape its mesh.

    ``margin``: see `pairs.Sampling`.
    ``assembled`` is asked for a closed mechanism: configurations (k, nq) in which its loops are
    closed, the first near neutral, of so many that are drawn.

    Raises: InputError for shapes that are none, and where ``opened`` does.
    """
    contents = [part for s in solids for part in (s.link.encode(), s.content)]
    key = key_of(source_digest(), "cover", repr(overhang), repr(decompose), *contents)
    entry = compiler.cache.read(key)
    if entry is None:
        # what nobody has compiled yet takes LLVM seconds, in which Python goes on
        made = partial(_parts, solids, opened, overhang, decompose)
        both: list[Callable[[], Any]] = [made, partial(kernels, compiler)]
        parts = in_parallel(lambda make: make(), both, threads)[0]
        compiler.cache.write(key, _packed(parts))
    else:
        parts = _unpacked(entry)
    parts = replace(parts, notes=(*notes, *parts.notes))
    said = "" if srdf is None else srdf.said()
    key = key_of(source_digest(), "pairs", mechanism.digest, said, repr(margin), key)
    entry = compiler.cache.read(key)
    if entry is None:
        described = described_pairs(mechanism, parts.bodies, srdf)
        model = CollisionModel(mechanism, parts, described, compiler, threads)
        table = _derived(model, assembled, Sampling(margin=margin))
        facts: dict[str, Any] = {
            "checked": [pair.checked for pair in table.pairs],
            "reasons": [pair.reason for pair in table.pairs],
            "notes": list(table.notes),
            "margin": repr(table.margin),
        }
        model = model.with_pairs(table).with_tables()
        facts["apart"] = [
            (each.names, each.places, each.low, each.width, each.period) for each in model.apart
        ]
        facts["arrays"] = [[each.cells.dtype.str, each.cells.shape] for each in model.apart]
        cells = b"".join(each.cells.tobytes() for each in model.apart)
        compiler.cache.write(key, Entry(facts, cells))
        return model
    table = PairTable(
        tuple(
            Pair(a, b, checked, reason)
            for (a, b), checked, reason in zip(
                combinations(parts.bodies, 2),
                entry.facts["checked"],
                entry.facts["reasons"],
                strict=True,
            )
        ),
        parts.bodies,
        mechanism.name,
        tuple(entry.facts["notes"]),
        findings_of(mechanism, srdf),
        srdf,
        float(entry.facts["margin"]),
    )
    return CollisionModel(mechanism, parts, table, compiler, threads, _tables_of(entry))


def _tables_of(entry: Entry) -> tuple[Apart, ...]:
    """The tables of distances that were kept with the pairs."""
    made: list[Apart] = []
    for own, cells in zip(entry.facts["apart"], _arrays(entry), strict=True):
        names, places, low, width, period = map(tuple, own)
        made.append(Apart(names, places, low, width, period, cells))
    return tuple(made)


def _parts(
    solids: Sequence[LinkSolid],
    opened: Callable[[LinkShape], LinkShape],
    overhang: float,
    decompose: Any,
) -> CollisionParts:
    """The pieces of all shapes and their cover; links of the same shapes share them."""
    of_link: dict[str, list[LinkSolid]] = {}
    for solid in solids:
        of_link.setdefault(solid.link, []).append(solid)
    notes: list[str] = []
    known: dict[tuple[bytes, ...], tuple[tuple[Piece, ...], Cover, list[str]]] = {}
    pieces: list[tuple[Piece, ...]] = []
    covers: list[Cover] = []
    for link, own in of_link.items():
        content = tuple(solid.content for solid in own)
        if content not in known:
            found, told = _pieces(link, own, opened, decompose)
            known[content] = found, cover([found], overhang=overhang), told
        found, covering, told = known[content]
        pieces.append(found)
        covers.append(covering)
        notes += (f"'{link}': {each}" for each in told)
    return CollisionParts(
        bodies=tuple(of_link),
        frames=tuple(of_link),
        pieces=tuple(pieces),
        covers=tuple(covers),
        notes=tuple(notes),
    )


def _pieces(
    link: str,
    solids: Sequence[LinkSolid],
    opened: Callable[[LinkShape], LinkShape],
    decompose: Any,
) -> tuple[tuple[Piece, ...], list[str]]:
    """The pieces of the shapes of a link, and what is to be said of those far out of a mesh."""
    made: list[Piece] = []
    told: list[str] = []
    for solid in solids:
        try:
            shape = opened(solid.shape)
            found, outside = pieces_of_shape(shape.shape, shape.T_link_shape, decompose)
        except LinkworkError as error:
            raise type(error)(f"link '{link}': {error}") from None
        if outside > TOLD:
            n = len(found)
            told.append(
                f"{n} convex piece{'s' if n > 1 else ''} reach up to "
                f"{1e3 * outside:.1f} mm out of the mesh"
            )
        made += found
    return tuple(prepared(made)), told


def _derived(
    model: CollisionModel, assembled: Callable[[int], Floats] | None, how: Sampling
) -> PairTable:
    """The pairs of a model, those left out that cannot touch or always do."""
    m, table = model.mechanism, model.pairs
    places = {name: k for k, name in enumerate(model.links)}

    def distances(q: Any, which: Sequence[int]) -> Any:
        chosen = [table.pairs[k] for k in which]
        rows = np.array([(places[p.link_a], places[p.link_b]) for p in chosen], np.int64)
        return model.body_distances(q, rows)

    reach = {link: length for link, (_, length) in model.carriers.items()}
    if not m.is_closed:
        return derive_pairs(table, m, distances, reach=reach, sampling=how)
    q = np.zeros((0, m.n_q)) if assembled is None else assembled(how.states)
    if not len(q):
        why = "no configuration was found in which the loops are closed: all pairs are checked"
        return replace(table, notes=(*table.notes, why))
    return derive_pairs(table, m, distances, q0=q[0], random=lambda _: q, reach=reach, sampling=how)


# --- the cache ------------------------------------------------------------------------------------


def _packed(parts: CollisionParts) -> Entry:
    """Pieces and cover: texts and the places of arrays as facts, the arrays one after another."""
    pieces = [piece for own in parts.pieces for piece in own]
    arrays: list[NDArray[Any]] = [
        np.array([p.kind for p in pieces], np.int64),
        np.array([p.radius for p in pieces]),
        np.array([p.sizes for p in pieces]).reshape(-1, 3),
        np.array([p.T_body_piece for p in pieces]).reshape(-1, 4, 4),
        np.array([p.sphere for p in pieces]).reshape(-1, 4),
    ]
    for piece in pieces:
        arrays += (each for each in _of_hull(piece) if each is not None)
    for each in parts.covers:
        arrays += (getattr(each, f.name) for f in fields(Cover))
    facts = {
        "bodies": parts.bodies,
        "notes": parts.notes,
        "pieces": [len(own) for own in parts.pieces],
        "there": [[each is not None for each in _of_hull(p)] for p in pieces],
        "arrays": [[each.dtype.str, each.shape] for each in arrays],
    }
    return Entry(facts, b"".join(each.tobytes() for each in arrays))


def _of_hull(piece: Piece) -> tuple[NDArray[Any] | None, ...]:
    return piece.vertices, piece.faces, piece.lookup


def _unpacked(entry: Entry) -> CollisionParts:
    """The parts that `_packed` wrote; their arrays cannot be written to."""
    facts, arrays = entry.facts, _arrays(entry)
    kinds, radii, sizes, poses, spheres = islice(arrays, 5)
    pieces: list[Piece] = []
    columns = kinds.tolist(), radii.tolist(), sizes, poses, spheres, facts["there"]
    for kind, radius, size, T, sphere, there in zip(*columns, strict=True):
        vertices, faces, lookup = [next(arrays) if each else None for each in there]
        pieces.append(Piece(kind, radius, size, vertices, faces, T, lookup, sphere))
    rest = iter(pieces)
    names = [f.name for f in fields(Cover)]
    bodies = tuple(facts["bodies"])
    return CollisionParts(
        bodies=bodies,
        frames=bodies,
        pieces=tuple(tuple(islice(rest, count)) for count in facts["pieces"]),
        covers=tuple(Cover(**{name: next(arrays) for name in names}) for _ in bodies),
        notes=tuple(facts["notes"]),
    )


def _arrays(entry: Entry) -> Iterator[NDArray[Any]]:
    """The arrays of an entry, in order."""
    at = 0
    for kind, shape in entry.facts["arrays"]:
        n = math.prod(shape)
        made = np.frombuffer(entry.object_code, kind, n, at)
        at += made.nbytes
        yield made.reshape(shape)
