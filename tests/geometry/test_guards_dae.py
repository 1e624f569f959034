"""What a COLLADA file says of itself: unit, axis, pictures, pieces; and its bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

import mesh_files as made
from linkwork.errors import InputError
from linkwork.geometry.guards_dae import DEEPEST, examine

PATH = Path("a.dae")


def test_what_it_says():
    image = (
        '<library_images><image id="i"><init_from> a b.png </init_from></image></library_images>'
    )
    unit, up = '<unit meter="0.25"/>', "<up_axis> X_UP </up_axis>"
    found = examine(made.dae(unit=unit, up=up, libraries=image), PATH)
    assert (found.unit, found.up, found.images) == (0.25, "X_UP", ("a b.png",))
    found = examine(made.dae(unit="", up=""), PATH)
    assert (found.unit, found.up, found.images) == (1.0, "Y_UP", ())


def test_only_the_file_s_own_asset_counts():
    asset = '<asset><unit meter="7"/><up_axis>X_UP</up_axis></asset>'
    found = examine(made.dae(f"<node>{asset}{made.instance()}</node>"), PATH)
    assert (found.unit, found.up) == (1.0, "Z_UP")


def test_other_encodings_and_no_namespace():
    text = made.dae(unit='<unit meter="0.5"/>').decode()
    for encoding in ("utf-16", "latin-1"):
        data = text.replace('encoding="utf-8"', f'encoding="{encoding}"').encode(encoding)
        assert examine(data, PATH).unit == 0.5
    bare = text.replace(' xmlns="http://www.collada.org/2005/11/COLLADASchema"', "")
    assert examine(bare.encode(), PATH).unit == 0.5


def test_depth_is_bounded_to_the_element():
    inside = 3  # COLLADA, library_visual_scenes, visual_scene
    for more, sound in ((DEEPEST - inside, True), (DEEPEST - inside + 1, False)):
        data = made.dae("<node>" * more + "</node>" * more)
        if sound:
            examine(data, PATH)
        else:
            with pytest.raises(InputError, match="inside each other"):
                examine(data, PATH)


@pytest.mark.parametrize(
    "scene",
    [
        '<node id="a"><instance_node url="#a"/></node>',
        '<node id="a"><node><instance_node url="#a"/></node></node>',
        '<node id="a"><node id="b"><node><instance_node url="#b"/></node></node></node>',
    ],
)
def test_nodes_that_show_themselves(scene: str):
    with pytest.raises(InputError, match="shows itself"):
        examine(made.dae(scene), PATH)


@pytest.mark.parametrize("place", ["_v", "normals"])
def test_nan_matters_in_positions_alone(place: str):
    data = made.dae().replace(b"0.0", b"NaN", 1).decode()
    if place == "normals":
        data = data.replace(
            'semantic="POSITION" source="#body-p"', 'semantic="POSITION" source="#x"'
        )
        examine(data.encode(), PATH)
    else:
        with pytest.raises(InputError, match="1 numbers of its vertices are not finite"):
            examine(data.encode(), PATH)
