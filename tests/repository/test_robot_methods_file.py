"""The file of Robot's computing methods is what the registry says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_file_is_up_to_date():
    command = [sys.executable, str(ROOT / "tools" / "docs" / "robot_methods.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
