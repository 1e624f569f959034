"""``python -m linkwork``: the same as the command ``linkwork``."""

from __future__ import annotations

from linkwork.cli import main

if __name__ == "__main__":
    main()
