"""Store what PyKDL computes, of values and of chains, for machines where it is not installed.

python tests/kdl_facts.py writes tests/reference/pykdl.json and pykdl_chains.json; it needs PyKDL
(Debian's python3-pykdl), and nothing of Linkwork.
"""

from __future__ import annotations

import importlib
import json
import platform
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kdl_chains import chain, said
from kdl_operations import OPERATIONS, Operation, Source

REFERENCE = Path(__file__).resolve().parent / "reference"
FILE, CHAINS_FILE = REFERENCE / "pykdl.json", REFERENCE / "pykdl_chains.json"
CASES, POSITIONS = 5, 3
CHAINS = {"0": (9, False), "1": (4, True)}
"""Seeds, with the number of segments and whether there are scales."""


def source_of(operation: Operation, case: int) -> Source:
    """The arguments of one case."""
    return Source(f"facts: {operation} {case}")


def results(module: Any) -> dict[str, list[list[float]]]:
    """Of every operation the numbers of every case."""
    return {
        str(operation): [
            operation.run(module, operation.arguments(source_of(operation, k)))
            for k in range(CASES)
        ]
        for operation in OPERATIONS
    }


def of_chain(module: Any, seed: str, positions: int) -> list[dict[str, list[float]]]:
    """What is said of one chain, at so many positions."""
    segments, scaled = CHAINS[seed]
    made = chain(module, seed, segments, scaled=scaled)
    return [said(module, made, f"{seed} {k}", inverses=not scaled) for k in range(positions)]


def main() -> None:
    pykdl = importlib.import_module("PyKDL")
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(rows, separators=(',', ':'))}"
        for name, rows in results(pykdl).items()
    )
    versions = {"PyKDL": pykdl.__version__, "Python": platform.python_version()}
    text = f'{{\n"versions": {json.dumps(versions)},\n"results": {{\n{lines}\n}}\n}}\n'
    FILE.write_text(text, encoding="utf-8")
    print(f"{FILE.name}: {len(OPERATIONS)} operations, {CASES} cases each")
    found = {seed: of_chain(pykdl, seed, POSITIONS) for seed in CHAINS}
    text = json.dumps({"version": pykdl.__version__, "chains": found}, separators=(",", ":"))
    text = text.replace('"},{"', '"},\n{"').replace("],", "],\n")
    CHAINS_FILE.write_text(text + "\n", encoding="utf-8")
    print(f"{CHAINS_FILE.name}: {len(CHAINS)} chains, {POSITIONS} positions each")


if __name__ == "__main__":
    main()
