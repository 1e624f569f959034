"""A description with a mesh in a file beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n"
TEXT = """<robot name="r"><link name="a"><visual><geometry><mesh filename="part.obj"/></geometry>
</visual><collision><geometry><mesh filename="part.obj" scale="2 2 2"/></geometry></collision>
</link><link name="b"/><joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint></robot>"""


@pytest.fixture(name="file")
def _file(tmp_path: Path) -> Path:
    (tmp_path / "part.obj").write_text(OBJ)
    path = tmp_path / "r.urdf"
    path.write_text(TEXT)
    return path
