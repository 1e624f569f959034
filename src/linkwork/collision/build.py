"""How a collision model is made: pieces of shapes, their cover, pairs; each kept in the cache."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.collision.cover import Cover, cover
from linkwork.collision.mesh_pieces import pieces_of_shape
from linkwork.collision.model import CollisionModel, CollisionParts
from linkwork.collision.pairs import Pair, PairTable, Sampling, derive_pairs, described_pairs
from linkwork.collision.pieces import Piece, with_lookup
from linkwork.compile.cache import Entry, key_of, source_digest
from linkwork.compile.compiler import Compiler
from linkwork.errors import LinkworkError
from linkwork.formats.srdf import Srdf, to_text
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
        parts = _parts(solids, opened, overhang, decompose)
        compiler.cache.write(key, Entry({}, _packed(parts)))
    else:
        parts = _unpacked(entry.object_code)
    parts = replace(parts, notes=(*notes, *parts.notes))
    table = described_pairs(mechanism, parts.bodies, srdf)
    model = CollisionModel(mechanism, parts, table, compiler, threads)
    text = to_text(srdf) if srdf is not None else ""
    key = key_of(source_digest(), "pairs", mechanism.digest, text, repr(margin), key)
    entry = compiler.cache.read(key)
    if entry is None:
        table = _derived(model, assembled, Sampling(margin=margin))
        known = [[p.link_a, p.link_b, p.checked, p.reason] for p in table.pairs]
        facts = {"pairs": known, "notes": list(table.notes), "margin": repr(table.margin)}
        compiler.cache.write(key, Entry(facts, b""))
    else:
        table = replace(
            table,
            pairs=tuple(Pair(*row) for row in entry.facts["pairs"]),
            notes=tuple(entry.facts["notes"]),
            margin=float(entry.facts["margin"]),
        )
    return model.with_pairs(table)


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
        made += map(with_lookup, found)
    return tuple(made), told


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

    reach = {
        link: float(np.linalg.norm(ball[:3]) + ball[3])
        for link, ball in zip(model.links, model.parts.cover.body_spheres, strict=True)
    }
    if not m.is_closed:
        return derive_pairs(table, m, distances, reach=reach, sampling=how)
    q = np.zeros((0, m.n_q)) if assembled is None else assembled(how.states)
    if not len(q):
        why = "no configuration was found in which the loops are closed: all pairs are checked"
        return replace(table, notes=(*table.notes, why))
    return derive_pairs(table, m, distances, q0=q[0], random=lambda _: q, reach=reach, sampling=how)


# --- the cache ------------------------------------------------------------------------------------


def _packed(parts: CollisionParts) -> bytes:
    """Pieces and cover as bytes."""
    pieces = [piece for own in parts.pieces for piece in own]
    empty, none = np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    vertices = [empty if p.vertices is None else p.vertices for p in pieces]
    faces = [none if p.faces is None else p.faces for p in pieces]
    lookups = [np.zeros(0) if p.lookup is None else p.lookup for p in pieces]
    arrays = {
        "texts": np.array([*parts.bodies, *parts.notes, ""]),
        "counts": np.array([len(parts.bodies), *map(len, parts.pieces)], np.int64),
        "kinds": np.array([p.kind for p in pieces], np.int64),
        "radii": np.array([p.radius for p in pieces]),
        "sizes": np.array([p.sizes for p in pieces]).reshape(-1, 3),
        "poses": np.array([p.T_body_piece for p in pieces]).reshape(-1, 4, 4),
        "vertices": np.concatenate([empty, *vertices]),
        "faces": np.concatenate([none, *faces]),
        "lookups": np.concatenate([np.zeros(0), *lookups]),
        "spans": np.array([[*map(len, own)] for own in zip(vertices, faces, lookups, strict=True)]),
        "hulls": np.array([p.vertices is not None for p in pieces]),
    }
    held = {
        f"{f.name}_{k}": getattr(each, f.name)
        for k, each in enumerate(parts.covers)
        for f in fields(Cover)
    }
    written = io.BytesIO()
    np.savez(written, **arrays, **held)
    return written.getvalue()


def _unpacked(data: bytes) -> CollisionParts:
    """What `_packed` wrote."""
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        a = {name: held[name] for name in held.files}
    texts = [str(text) for text in a["texts"]]
    n, *counts = (int(count) for count in a["counts"])
    pieces: list[Piece] = []
    v = f = at = 0
    for k in range(len(a["kinds"])):
        more_v, more_f, more = a["spans"][k]
        hull = bool(a["hulls"][k])
        pieces.append(
            Piece(
                int(a["kinds"][k]),
                float(a["radii"][k]),
                a["sizes"][k],
                a["vertices"][v : v + more_v] if hull else None,
                a["faces"][f : f + more_f] if hull else None,
                a["poses"][k],
                a["lookups"][at : at + more] if more else None,
            )
        )
        v, f, at = v + more_v, f + more_f, at + more
    rest = iter(pieces)
    return CollisionParts(
        bodies=tuple(texts[:n]),
        frames=tuple(texts[:n]),
        pieces=tuple(tuple(islice(rest, count)) for count in counts),
        covers=tuple(
            Cover(**{field.name: a[f"{field.name}_{k}"] for field in fields(Cover)})
            for k in range(n)
        ),
        notes=tuple(texts[n:-1]),
    )
