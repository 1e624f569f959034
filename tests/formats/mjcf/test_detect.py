"""MJCF is known by its root element, whatever stands before or behind it."""

from __future__ import annotations

import pytest

from linkwork.formats.mjcf.read import is_mjcf


@pytest.mark.parametrize(
    "data",
    [
        b"<mujoco/>",
        b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <robot/> -->\n<mujoco model='a'>",
        b"<mujoco><broken></mujoco>",
        b"\n  <?xml version='1.0'?><mujoco/>",
        "<?xml version='1.0' encoding='utf-16'?><mujoco/>".encode("utf-16"),
    ],
)
def test_mjcf(data: bytes):
    assert is_mjcf(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"panda",
        b"<robot name='a'><mujoco/></robot>",
        b"<mujocoinclude/>",
        b"<!DOCTYPE mujoco [<!ENTITY a 'b'>]><mujoco/>",
        b"<mujoco",
        b"\x00" * 100,
        b"<?xml version='1.0' encoding='no-such'?><mujoco/>",
    ],
)
def test_not_mjcf(data: bytes):
    assert not is_mjcf(data)


def test_nothing_behind_the_root_is_read():
    assert is_mjcf(b"<mujoco>" + b"<a>" * 1_000_000)
