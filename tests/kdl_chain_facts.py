"""Store what PyKDL computes of chains, for machines where it is not installed.

python tests/kdl_chain_facts.py writes tests/reference/pykdl_chains.json; it needs PyKDL (Debian's
python3-pykdl), and nothing of Linkwork.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from kdl_chains import chain, said

FILE = Path(__file__).resolve().parent / "reference" / "pykdl_chains.json"
CHAINS = {"0": (9, False), "1": (4, True)}
"""Seeds, with the number of segments and whether there are scales."""
CASES = 3


def results(module: Any, seed: str, cases: int) -> list[dict[str, list[float]]]:
    """What is said of one chain, at so many positions."""
    segments, scaled = CHAINS[seed]
    made = chain(module, seed, segments, scaled=scaled)
    return [said(module, made, f"{seed} {k}", inverses=not scaled) for k in range(cases)]


def main() -> None:
    pykdl = importlib.import_module("PyKDL")
    found = {seed: results(pykdl, seed, CASES) for seed in CHAINS}
    text = json.dumps({"version": pykdl.__version__, "chains": found}, separators=(",", ":"))
    FILE.write_text(text.replace('"},{"', '"},\n{"').replace("],", "],\n") + "\n", encoding="utf-8")
    print(f"{FILE.name}: {len(CHAINS)} chains, {CASES} positions each")


if __name__ == "__main__":
    main()
