"""Where meshes are looked for, and everywhere else where they are not."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

import pytest

from linkwork.errors import InputError
from linkwork.formats.urdf.read import read
from linkwork.formats.urdf.records import Mesh
from linkwork.geometry.meshes import IMAGE_SUFFIXES, package_finder, resolve


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """ws/src/my_robot is a package with urdf/ and meshes/; other things lie around it."""
    root = tmp_path.resolve()
    for name in (
        "ws/src/my_robot/meshes/arm.stl",
        "ws/src/my_robot/meshes/sub/hand.DAE",
        "ws/src/my_robot/urdf/near.obj",
        "ws/src/my_robot/meshes/secret.txt",
        "ws/src/other/meshes/wheel.stl",
        "ws/secret.stl",
        "share/third/base.stl",
        "bare/urdf/near.stl",
        "bare/meshes/arm.stl",
        "home/me/meshes/arm.stl",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    (root / "ws/src/my_robot/package.xml").write_text("<package>\n <name>my_robot</name></package>")
    return root


def urdf(disk: Path) -> Path:
    return disk / "ws/src/my_robot/urdf/robot.urdf"


FOUND = [
    ("near.obj", "ws/src/my_robot/urdf/near.obj"),
    ("./near.obj", "ws/src/my_robot/urdf/near.obj"),
    ("../meshes/arm.stl", "ws/src/my_robot/meshes/arm.stl"),
    ("..\\meshes\\arm.stl", "ws/src/my_robot/meshes/arm.stl"),
    ("meshes/arm.stl", "ws/src/my_robot/meshes/arm.stl"),
    ("package://my_robot/meshes/arm.stl", "ws/src/my_robot/meshes/arm.stl"),
    ("package:///my_robot/meshes/arm.stl", "ws/src/my_robot/meshes/arm.stl"),
    ("package://my_robot/meshes/sub/hand.DAE", "ws/src/my_robot/meshes/sub/hand.DAE"),
    ("package://ws/secret.stl", "ws/secret.stl"),  # a folder above, named as the package
]


@pytest.mark.parametrize(("name", "file"), FOUND)
def test_what_is_found(disk: Path, name: str, file: str):
    assert resolve(name, urdf(disk)) == disk / file
    assert resolve(name, str(urdf(disk))) == disk / file


def test_whole_paths_inside_the_package(disk: Path):
    arm = disk / "ws/src/my_robot/meshes/arm.stl"
    for name in (str(arm), f"file://{arm}", f"file://localhost{arm}", f"file:{arm}", arm.as_uri()):
        assert resolve(name, urdf(disk)) == arm


def test_a_file_url_is_decoded(disk: Path):
    path = disk / "ws/src/my_robot/meshes/an arm.stl"
    path.write_bytes(b"x")
    assert resolve(path.as_uri(), urdf(disk)) == path
    assert "%20" in path.as_uri()


REFUSED = [
    ("package://my_robot/../../secret.stl", "inside the package"),
    ("package://../secret.stl", "inside the package"),
    ("package://./secret.stl", "inside the package"),
    ("package://my_robot/meshes/../../../secret.stl", "inside the package"),
    ("package://my_robot\\..\\..\\secret.stl", "inside the package"),
    ("package://my_robot", "inside the package"),
    ("package://", "inside the package"),
    ("../../../secret.stl", "outside"),
    ("../../other/meshes/wheel.stl", "outside"),
    ("package://other/meshes/wheel.stl", "not found"),
    ("package://third/base.stl", "not found"),
    ("/etc/passwd", "by its name"),
    ("/etc/passwd.stl", "outside"),
    ("file:///etc/hostname.stl", "outside"),
    ("file://server/share/a.stl", "host 'server'"),
    ("file:a.stl", "not found"),
    ("file://", "whole path"),
    ("~/meshes/arm.stl", "home folder"),
    ("~root/arm.stl", "home folder"),
    ("$HOME/meshes/arm.stl", "variables"),
    ("${HOME}/arm.stl", "variables"),
    ("package://my_robot/$HOME/arm.stl", "variables"),
    ("$(find my_robot)/arm.stl", "variables"),
    ("%USERPROFILE%/arm.stl", "variables"),
    ("http://127.0.0.1/arm.stl", "http: is not read"),
    ("https://example.org/arm.stl", "https: is not read"),
    ("ftp://example.org/arm.stl", "ftp: is not read"),
    ("model://my_robot/meshes/arm.stl", "model: is not read"),
    ("../meshes/secret.txt", "by its name"),
    ("../meshes/nothing.stl", "not found"),
    ("../meshes", "by its name"),
    ("", "empty"),
    ("   ", "empty"),
    ("a\0.stl", "control"),
    ("a\n.stl", "control"),
    ("x" * 5000 + ".stl", "longer"),
    ("../meshes/" + "x" * 300 + ".stl", "not found"),
]


@pytest.mark.parametrize(("name", "part"), REFUSED, ids=[ascii(n)[:40] for n, _ in REFUSED])
def test_what_is_refused(disk: Path, name: str, part: str):
    with pytest.raises(InputError) as caught:
        resolve(name, urdf(disk))
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_outside_is_not_even_looked_at(disk: Path, monkeypatch: pytest.MonkeyPatch):
    seen: list[str] = []
    real = os.stat
    monkeypatch.setattr(
        os, "stat", lambda path, *a, **k: (seen.append(str(path)), real(path, *a, **k))[1]
    )
    with pytest.raises(InputError) as there:
        resolve(str(disk / "share/third/base.stl"), urdf(disk))
    with pytest.raises(InputError) as absent:
        resolve(str(disk / "share/third/none.stl"), urdf(disk))
    assert str(there.value).replace("base", "none") == str(absent.value)
    assert not any("share" in path for path in seen)


def test_allow_opens_folders_and_files(disk: Path):
    wheel = disk / "ws/src/other/meshes/wheel.stl"
    for allow in ([disk / "ws/src/other"], [str(disk / "ws/src")], [wheel]):
        assert resolve("../../other/meshes/wheel.stl", urdf(disk), allow) == wheel
        assert resolve(str(wheel), urdf(disk), allow) == wheel
    for allow in ([disk / "ws/src/other"], [disk / "ws/src"]):
        assert resolve("package://other/meshes/wheel.stl", urdf(disk), allow) == wheel
    with pytest.raises(InputError, match="outside"):
        resolve(str(wheel), urdf(disk), [disk / "ws/src/oth"])


def test_ros_paths_hold_packages(disk: Path):
    base = disk / "share/third/base.stl"
    for ros in (disk / "share", disk / "share/third", disk):
        assert resolve("package://third/base.stl", urdf(disk), ros_paths=[ros]) == base
    assert resolve("package://third/base.stl", None, ros_paths=[disk / "share"]) == base
    with pytest.raises(InputError, match="not found"):
        resolve("package://fourth/base.stl", urdf(disk), ros_paths=[disk / "share"])


def test_without_a_package_it_is_the_folder_and_its_parent(disk: Path):
    bare = disk / "bare/urdf/robot.urdf"
    assert resolve("near.stl", bare) == disk / "bare/urdf/near.stl"
    for name in ("../meshes/arm.stl", "meshes/arm.stl", "package://any/meshes/arm.stl"):
        assert resolve(name, bare) == disk / "bare/meshes/arm.stl"
    with pytest.raises(InputError, match="outside"):
        resolve("../../share/third/base.stl", bare)


def test_the_home_folder_and_the_root_are_no_packages(disk: Path):
    home = disk / "home/me"
    (home / "package.xml").write_text("<package><name>me</name></package>")
    (home / "robots").mkdir()
    (disk / "home/me.stl").write_bytes(b"x")
    robot = home / "robots/robot.urdf"
    assert resolve("package://me/meshes/arm.stl", robot)  # not known to be the home folder
    for name in ("package://me/meshes/arm.stl", "../meshes/arm.stl", "package://home/me.stl"):
        with pytest.raises(InputError):
            resolve(name, robot, home=home)
    with pytest.raises(InputError):
        resolve("package:///etc/x.stl", "/robot.urdf")
    with pytest.raises(InputError, match="outside"):
        resolve("../etc/x.stl", Path("/robots/robot.urdf"))


def test_a_text_without_a_file(disk: Path):
    with pytest.raises(InputError, match="file="):
        resolve("arm.stl", None)
    arm = disk / "bare/meshes/arm.stl"
    with pytest.raises(InputError, match="outside"):
        resolve(str(arm), None)
    assert resolve(str(arm), None, [disk / "bare"]) == arm


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_are_followed_before_the_place_is_judged(disk: Path):
    meshes = disk / "ws/src/my_robot/meshes"
    (meshes / "out.stl").symlink_to(disk / "ws/secret.stl")
    (meshes / "in.stl").symlink_to(meshes / "arm.stl")
    (meshes / "text.stl").symlink_to(meshes / "secret.txt")
    (meshes / "loop.stl").symlink_to(meshes / "loop.stl")
    (meshes / "away").symlink_to(disk / "share")
    assert resolve("../meshes/in.stl", urdf(disk)) == meshes / "arm.stl"
    for name, part in (
        ("../meshes/out.stl", "outside"),
        ("package://my_robot/meshes/out.stl", "outside"),
        ("../meshes/away/third/base.stl", "outside"),
        ("../meshes/text.stl", "by its name"),
        ("../meshes/loop.stl", "not found"),
    ):
        with pytest.raises(InputError, match=part):
            resolve(name, urdf(disk))
    assert resolve("../meshes/out.stl", urdf(disk), [disk / "ws"]) == disk / "ws/secret.stl"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_only_regular_files(disk: Path):
    meshes = disk / "ws/src/my_robot/meshes"
    os.mkfifo(meshes / "pipe.stl")
    (meshes / "folder.stl").mkdir()
    (meshes / "zero.stl").symlink_to("/dev/zero")
    for name, part in (("pipe", "regular"), ("folder", "regular"), ("zero", "outside")):
        with pytest.raises(InputError, match=part):
            resolve(f"../meshes/{name}.stl", urdf(disk))


def test_a_link_to_the_package_itself_is_fine(disk: Path):
    (disk / "link").symlink_to(disk / "ws/src/my_robot")
    found = resolve("../meshes/arm.stl", disk / "link/urdf/robot.urdf")
    assert found == disk / "ws/src/my_robot/meshes/arm.stl"


ROUND = [
    ("link to the folder", "ws/src/my_robot/urdf", "link", "../meshes/arm.stl"),
    ("link to the folder", "ws/src/my_robot/urdf", "link", "meshes/arm.stl"),
    ("link to the folder", "ws/src/my_robot/urdf", "link", "near.obj"),
    ("link to the folder", "ws/src/my_robot/urdf", "link", "package://my_robot/meshes/arm.stl"),
    ("link without a package.xml", "bare/urdf", "link", "../meshes/arm.stl"),
    ("link without a package.xml", "bare/urdf", "link", "package://bare/meshes/arm.stl"),
    ("link to a folder above", "ws/src", "link", "../meshes/arm.stl"),
    ("link far below", "ws/src/my_robot/urdf", "deep/down/there/urdf", "../meshes/arm.stl"),
]


@pytest.mark.parametrize(("what", "folder", "link", "name"), ROUND)
def test_a_mesh_is_found_from_the_link_as_from_the_real_place(
    disk: Path, what: str, folder: str, link: str, name: str
):
    (disk / link).parent.mkdir(parents=True, exist_ok=True)
    (disk / link).symlink_to(disk / folder)
    below = "my_robot/urdf" if folder == "ws/src" else "."
    there = resolve(name, disk / folder / below / "robot.urdf")
    assert resolve(name, disk / link / below / "robot.urdf") == there
    for start in (disk / folder, disk / link):
        whole = os.path.relpath(there, disk / "ws/src") if folder == "ws/src" else None
        if whole:  # a whole name through the link, wherever the description is opened
            named = str(disk / link / whole)
            assert resolve(named, start / below / "robot.urdf") == there


def test_a_description_that_is_a_link_is_looked_at_from_both_places(disk: Path):
    urdf(disk).write_text("<robot/>")
    (disk / "ws/src/other/urdf").mkdir()
    linked = disk / "ws/src/other/urdf/robot.urdf"
    linked.symlink_to(urdf(disk))
    for name in ("../meshes/arm.stl", "near.obj", "package://my_robot/meshes/arm.stl"):
        assert resolve(name, linked) == resolve(name, urdf(disk))
    # where the link is, files are found as before
    assert resolve("../meshes/wheel.stl", linked) == disk / "ws/src/other/meshes/wheel.stl"


def test_a_folder_of_the_package_that_is_a_link_is_where_it_seems_to_be(disk: Path):
    far = disk / "data/urdf"
    far.mkdir(parents=True)
    (disk / "ws/src/my_robot/robots").symlink_to(far)
    from_link = resolve("../meshes/arm.stl", disk / "ws/src/my_robot/robots/robot.urdf")
    assert from_link == disk / "ws/src/my_robot/meshes/arm.stl"


def test_links_lead_to_no_file_outside(disk: Path):
    link = disk / "links/link"  # by itself: the folder around it may be read
    link.parent.mkdir()
    link.symlink_to(disk / "ws/src/my_robot/urdf")
    (disk / "ws/src/my_robot/meshes/out.stl").symlink_to(disk / "ws/secret.stl")
    (disk / "ws/src/my_robot/out").symlink_to(disk / "ws")
    for name in (
        "../../../secret.stl",
        "../meshes/out.stl",
        "../out/secret.stl",
        str(disk / "ws/secret.stl"),
        str(link / "../../../secret.stl"),
        "package://other/meshes/wheel.stl",
    ):
        for start in (link, disk / "ws/src/my_robot/urdf"):
            with pytest.raises(InputError):
                resolve(name, start / "robot.urdf")
    # whether there is a file outside makes no difference to what is said
    said = []
    for name in (str(disk / "ws/secret.stl"), str(disk / "ws/absent.stl")):
        with pytest.raises(InputError, match="outside") as error:
            resolve(name, link / "robot.urdf")
        said.append(str(error.value).replace("secret", "absent"))
    assert said[0] == said[1]


def test_textures_have_suffixes_of_their_own(disk: Path):
    image = disk / "ws/src/my_robot/meshes/skin.PNG"
    image.write_bytes(b"x")
    assert resolve("../meshes/skin.PNG", urdf(disk), suffixes=IMAGE_SUFFIXES) == image
    with pytest.raises(InputError, match="by its name"):
        resolve("../meshes/skin.PNG", urdf(disk))


@pytest.mark.slow
def test_real_robots_have_their_meshes():
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("example-robot-data (pip install example-robot-data) is not installed")
    found = 0
    absent = {"alex_psyonic_hands.urdf", "ur3.urdf", "romeo_laas_small.urdf"}  # faulty; elsewhere
    for path in sorted(Path(str(f.locate())) for f in files if f.suffix == ".urdf"):
        if path.name in absent:
            continue
        robot = read(path).robot
        for link in robot.links:
            for shape in (*link.visuals, *link.collisions):
                if isinstance(shape.geometry, Mesh):
                    assert resolve(shape.geometry.filename, robot.file).is_file()
                    found += 1
    assert found > 2000


# packages


def package(folder: Path, name: str | None = None) -> Path:
    """A folder, with a package.xml where a name is given."""
    folder.mkdir(parents=True, exist_ok=True)
    if name:
        (folder / "package.xml").write_text(f"<package>\n<name> {name} </name></package>")
    return folder


@pytest.fixture(name="own")
def _own(tmp_path: Path) -> Path:
    """A package in a workspace, whose folder has another name than the package."""
    return package(tmp_path / "ws" / "src" / "robot-main", "robot_description")


def test_the_own_package_by_its_name_or_its_folder(own: Path):
    find = package_finder(own / "urdf" / "r.xacro")
    assert find("robot_description") == own
    assert find("robot-main") == own
    assert own in find.roots


def test_siblings_with_and_without_a_manifest(own: Path):
    plain = package(own.parent / "meshes_only")
    named = package(own.parent / "repo-clone", "gripper_description")
    find = package_finder(own / "urdf" / "r.xacro")
    assert find("meshes_only") == plain
    assert find("gripper_description") == named
    assert plain not in find.roots  # files of it may be read once it was asked for


def test_beside_folders_above_only_with_a_manifest(own: Path, tmp_path: Path):
    package(tmp_path / "ws" / "secrets")
    far = package(tmp_path / "ws" / "tools", "tools")
    find = package_finder(own / "urdf" / "r.xacro")
    assert find("tools") == far
    with pytest.raises(InputError, match="not found"):
        find("secrets")


def test_allowed_folders_and_ros_paths_hold_packages_or_are_some(own: Path, tmp_path: Path):
    one = package(tmp_path / "a" / "one")
    two = package(tmp_path / "b" / "share" / "two")
    three = package(tmp_path / "checkout-3", "three")
    file = own / "r.xacro"
    for name, place, parent in (("one", one, one.parent), ("two", two, tmp_path / "b")):
        with pytest.raises(InputError):
            package_finder(file)(name)
        assert package_finder(file, [parent])(name) == place
        assert package_finder(file, ros_paths=[parent])(name) == place
    assert package_finder(file, [one])("one") == one
    assert package_finder(file, [three])("three") == three


def test_without_a_manifest_the_own_package_is_a_guess_that_is_told(tmp_path: Path):
    folder = package(tmp_path / "kr6")
    find = package_finder(folder / "urdf" / "r.xacro", home=tmp_path)
    found = find("kr6_support")
    assert isinstance(found, tuple)
    assert found[0] == folder
    assert "kr6_support" in found[1]
    assert find("kr6") == folder


def test_with_a_manifest_nothing_is_guessed(own: Path):
    with pytest.raises(InputError, match=r"'other' is not found; looked at '.*other'"):
        package_finder(own / "urdf" / "r.xacro")("other")


def test_the_home_folder_holds_no_packages(tmp_path: Path):
    package(tmp_path / "private")
    own = package(tmp_path / "robot", "robot")
    with pytest.raises(InputError):
        package_finder(own / "r.xacro", home=tmp_path)("private")
    assert package_finder(own / "r.xacro")("private") == tmp_path / "private"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../up", "a/b", "/etc", "~", ".ssh", "a\0b", "a\n", "x" * 300, "$HOME", " "],
)
def test_names_that_are_no_packages(own: Path, name: str):
    with pytest.raises(InputError, match="no name of a package"):
        package_finder(own / "r.xacro", [own.parent])(name)
