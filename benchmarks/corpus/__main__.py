"""Every description of a few packages, library by library: ``python -m benchmarks.corpus``."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.corpus.judge import judge
from benchmarks.corpus.packages import PACKAGES, descriptions, folder
from benchmarks.corpus.page import page
from benchmarks.corpus.sides import LIBRARIES, WITHOUT_MESHES, Side, without_meshes
from benchmarks.corpus.truth import Truth, truth_of
from linkwork.terminal import progress_line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, write the results, and the page that is made of them."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus", description=__doc__)
    parser.add_argument("--folder", action="append", type=Path, help="instead of the packages")
    parser.add_argument("--libraries", nargs="+", default=list(LIBRARIES), choices=LIBRARIES)
    parser.add_argument("--json", type=Path, help="write every verdict to this file")
    parser.add_argument("--page", type=Path, help="write the page to this file")
    given = parser.parse_args(arguments)
    tops = {top.name: top for top in given.folder or []}
    tops = tops or {package: folder(package) for package in PACKAGES}
    files = [(name, path) for name, top in tops.items() for path in descriptions([top])]
    with tempfile.TemporaryDirectory() as scratch:
        results = {
            library: _run(library, files, tops, Path(scratch)) for library in given.libraries
        }
    meshes = _meshes(files, tops)
    whole = {"packages": Counter(name for name, _ in files), "results": results, "meshes": meshes}
    if given.json:
        given.json.write_text(json.dumps(whole, indent=1), encoding="utf-8")
    text = page(whole)
    if given.page:
        given.page.write_text(text, encoding="utf-8")
    print(text)
    return 0


def _label(name: str, path: Path, tops: dict[str, Path]) -> str:
    parts = path.relative_to(tops[name]).as_posix().split("site-packages/", 1)
    return f"{name.partition('==')[0]}: {parts[-1]}"


def _plain(text: str, *paths: Path) -> str:
    """A message without the folders of this machine."""
    for path in paths:
        text = text.replace(f"{path.parent}/", "")
    return re.sub(r"\S*site-packages/", "", text)


def _run(
    library: str, files: list[tuple[str, Path]], tops: dict[str, Path], scratch: Path
) -> dict[str, Any]:
    side, found = Side(library), {}
    with progress_line(library) as tell:
        for k, (name, path) in enumerate(files):
            truth = truth_of(path)
            shown = without_meshes(path, scratch) if library in WITHOUT_MESHES else path
            question = {
                "file": str(shown),
                "positions": truth.positions,
                "followers": truth.followers,
            }
            verdict, why = judge(truth, side.ask(question))
            found[_label(name, path, tops)] = [verdict, _plain(why, path, shown)]
            if tell is not None:
                tell(k + 1, len(files))
    side.close()
    return found


def _meshes(files: list[tuple[str, Path]], tops: dict[str, Path]) -> dict[str, Any]:
    """For ours: files that name meshes, and those for which every one is found."""
    from linkwork.errors import InputError  # noqa: PLC0415  the others' part needs nothing of it
    from linkwork.locating import locate  # noqa: PLC0415

    named, whole, missing = 0, 0, {}
    for name, path in files:
        truth: Truth = truth_of(path)
        if truth.faults or not truth.meshes:
            continue
        named += 1
        lost = []
        for mesh in truth.meshes:
            try:
                locate(mesh, path)
            except InputError as error:
                lost.append(str(error))
        whole += not lost
        if lost:
            why = _plain(lost[0], tops[name], path)
            missing[_label(name, path, tops)] = [len(lost), len(truth.meshes), why]
    return {"named": named, "whole": whole, "missing": missing}


if __name__ == "__main__":
    sys.exit(main())
