"""Mesh files and packages by their names: searched in few places, and refused elsewhere.

A description may come from anybody, so a name in it must not reach any file it likes. What is
searched, and what a file found may lie in: the description's package (the nearest folder above
it with a ``package.xml``; without one, its folder and that folder's parent), a folder above it
that is *named as* the package, the ROS paths, and what the caller allows. The root of the disk and
the home folder (and what lies above that) are never taken for a package. For ``$(find package)``
the packages count too that lie beside the description's: its siblings, and those with a
``package.xml`` beside a folder further above.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from linkwork.errors import InputError
from linkwork.geometry.guards import show

MESH_SUFFIXES = frozenset({".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off"})
"""The mesh files that are read, by the end of their name in lower case."""

IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".tga", ".webp"})
"""The files that are taken for textures."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+):(?=/)")
_NAME = re.compile(rb"<name>\s*([^<>\s]{1,200})\s*</name>")
_PACKAGE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,199}")
_LONGEST = 4096


def resolve(
    filename: str,
    description_file: str | os.PathLike[str] | None,
    allow: Sequence[str | os.PathLike[str]] = (),
    *,
    ros_paths: Sequence[str | os.PathLike[str]] = (),
    home: str | os.PathLike[str] | None = None,
    suffixes: frozenset[str] = MESH_SUFFIXES,
) -> Path:
    """The file that a mesh name of a description means, with every link resolved.

    The name is relative (to the description, then to its package), ``package://name/path``,
    ``file:///path`` or absolute. ``allow`` are further folders, or files, that it may lie in;
    ``ros_paths`` folders with ROS packages, or packages; both are searched for packages. The file
    is not opened.

    Raises: InputError when there is no such file, it is not a regular file with one of the
    ``suffixes``, it lies outside the places above, or the name is of a kind that is refused
    (``~``, ``$VARIABLE``, ``http://``, ``..`` in a package path).
    """
    return places_of(description_file, allow, ros_paths, home).file(filename, suffixes)


@dataclass(frozen=True)
class Places:
    """The places that the meshes of a description may be in.

    A description that is reached by a link is looked at from there and from where it really lies:
    ``folders`` are its own.
    """

    folders: tuple[Path, ...]
    above: tuple[Path, ...]  # the folders above it that may be packages, nearest first
    package: tuple[Path, ...]
    names: tuple[tuple[str, Path], ...]  # that a package.xml gives, and its folder
    shared: tuple[Path, ...]  # allowed folders and ROS paths
    known: dict[str, tuple[Path, ...]] = field(default_factory=dict, compare=False, repr=False)
    """The answers of `roots` so far."""

    def named(self, package: str) -> list[Path]:
        """The folders above the description that have the name of a package."""
        return [folder for folder in self.above if folder.name == package]

    def roots(self, package: str) -> tuple[Path, ...]:
        """The folders that a mesh may lie in, as given and with links resolved."""
        if package not in self.known:
            given = (*self.package, *self.shared, *(self.named(package) if package else ()))
            real = (Path(os.path.realpath(root)) for root in given)
            self.known[package] = tuple(dict.fromkeys((*given, *real)))
        return self.known[package]

    def file(self, filename: str, suffixes: frozenset[str] = MESH_SUFFIXES) -> Path:
        """The file that a name means: see `resolve`."""
        name = filename.replace("\\", "/")
        _refuse_odd(filename, name)
        scheme = _SCHEME.match(name)
        package = ""
        if name.startswith("package://"):
            path = name[len("package://") :].lstrip("/")  # some write a third slash
            package = path.partition("/")[0]
            candidates = list(_in_packages(filename, path, self))
        elif scheme is not None and scheme[1] == "file":
            candidates = [Path(_of_url(filename, name))]
        elif scheme is not None:
            hint = "relative and whole paths, package:// and file:/// are read"
            raise InputError(f"mesh '{show(filename)}': {scheme[1]}: is not read; {hint}")
        elif os.path.isabs(name):
            candidates = [Path(name)]
        elif not self.folders:
            hint = "say where the description lies with file=..., or give the mesh a whole path"
            raise InputError(f"mesh '{show(filename)}' is relative, but to no file; {hint}")
        else:
            found = [folder / name for folder in (*self.folders, *self.package)]
            # ``..`` leads out of a linked folder to where it really is, or to where it seems to be
            candidates = [each for path in found for each in (path, Path(os.path.normpath(path)))]
        return _first(filename, list(dict.fromkeys(candidates)), self.roots(package), suffixes)


def places_of(
    description_file: str | os.PathLike[str] | None,
    allow: Sequence[str | os.PathLike[str]],
    ros_paths: Sequence[str | os.PathLike[str]],
    home: str | os.PathLike[str] | None,
) -> Places:
    """The places of a description's meshes; the arguments are those of `resolve`."""
    shared = tuple(Path(os.path.abspath(path)) for path in (*allow, *ros_paths) if str(path))
    if description_file is None:
        return Places((), (), (), (), shared)
    if "\0" in os.fspath(description_file):
        name = os.fspath(description_file)
        raise InputError(f"{name!r} is no name of a file: it has a zero byte")
    files = dict.fromkeys((os.path.abspath(description_file), os.path.realpath(description_file)))
    folders = tuple(dict.fromkeys(Path(file).parent for file in files))
    above: list[Path] = []
    package: list[Path] = []
    names: list[tuple[str, Path]] = []
    too_wide = _too_wide(home)
    for folder in folders:
        own = [f for f in (folder, *folder.parents) if f.parent != f and f not in too_wide]
        above += own
        manifest = next((f for f in own if (f / "package.xml").is_file()), None)
        if manifest is not None:
            package.append(manifest)
            name = package_name(manifest / "package.xml")
            names += [(name, manifest)] if name else []
        else:
            package += [folder, *(parent for parent in own if parent == folder.parent)]
    unique = tuple(dict.fromkeys(package))
    return Places(folders, tuple(dict.fromkeys(above)), unique, tuple(names), shared)


def _too_wide(home: str | os.PathLike[str] | None) -> frozenset[Path]:
    """The folders that are no package: the home folder, and what is above it."""
    if home is None or not str(home):
        return frozenset()
    own = Path(os.path.abspath(home))
    return frozenset((own, *own.parents))


def package_name(manifest: Path) -> str:
    """The name that a package.xml gives, or nothing."""
    try:
        with manifest.open("rb") as stream:
            found = _NAME.search(stream.read(65536))
    except OSError:
        return ""
    return found[1].decode("utf-8", "replace") if found else ""


def _refuse_odd(filename: str, name: str) -> None:
    """Names that a shell would expand, that no file system takes, or that are no names."""
    reason = ""
    if not name.strip():
        reason = "the name is empty"
    elif len(name) > _LONGEST:
        reason = f"the name is longer than {_LONGEST} characters"
    elif any(ord(character) < 32 for character in name):
        reason = "the name has control characters"
    elif name.startswith("~"):
        reason = "the home folder ~ is not looked up; write the whole path"
    elif "$" in name or re.search(r"%[A-Za-z_]\w*%", name):
        reason = "variables are not looked up; write the whole path"
    if reason:
        raise InputError(f"mesh '{show(filename)}': {reason}")


def _in_packages(filename: str, path: str, places: Places) -> Iterator[Path]:
    """The places that the path of a ``package://`` name may mean, best first."""
    package, _, rest = path.partition("/")
    parts = rest.split("/")
    if package in ("", ".", "..") or ".." in parts or not rest:
        hint = "package://name/path, with a path that stays inside the package"
        raise InputError(f"mesh '{show(filename)}' is no path in a package; write {hint}")
    for name, folder in places.names:
        if name == package:
            yield folder / rest
    for folder in places.named(package):
        yield folder / rest
    for folder in places.shared:
        if folder.name == package:
            yield folder / rest
        yield folder / package / rest
        yield folder / "share" / package / rest
    for folder in places.package:
        yield folder / package / rest
    if not places.names:  # the package's name is not known: its own paths may be meant
        for folder in places.package:
            yield folder / rest


def _of_url(filename: str, name: str) -> str:
    """The path of a ``file:`` URL."""
    path = unquote(name[len("file:") :])
    if path.startswith("//"):
        host, slash, rest = path[2:].partition("/")
        if host not in ("", "localhost"):
            hint = "a file URL is file:///folder/mesh.stl"
            raise InputError(f"mesh '{show(filename)}' names the host '{show(host)}'; {hint}")
        path = slash + rest
    if os.name == "nt" and re.match(r"/[A-Za-z]:", path):
        path = path[1:]
    if not os.path.isabs(path) or "\0" in path:
        raise InputError(f"mesh '{show(filename)}': a file URL holds a whole path: file:///...")
    return path


def _first(
    filename: str, candidates: list[Path], roots: tuple[Path, ...], suffixes: frozenset[str]
) -> Path:
    """The first of the candidates that exists, if it lies where it may."""
    missing: list[str] = []
    outside = ""
    for candidate in candidates:
        if candidate.suffix.lower() not in suffixes:
            known = ", ".join(sorted(suffixes))
            raise InputError(f"'{show(filename)}' is no such file by its name; read are: {known}")
        place = os.path.normpath(candidate)
        # Links are followed, but whether a file outside exists is nobody's business.
        if not inside(Path(place), roots) and not inside(Path(os.path.realpath(candidate)), roots):
            outside = outside or place
            continue
        try:
            found = candidate.resolve(strict=True)
            status = found.stat()
        except (OSError, RuntimeError, ValueError):
            missing.append(f"'{show(place)}'")
            continue
        if inside(found, roots):
            if not stat.S_ISREG(status.st_mode):
                message = f"mesh '{show(filename)}': '{show(str(found))}' is no regular file"
                raise InputError(message)
            if found.suffix.lower() not in suffixes:
                message = f"mesh '{show(filename)}' is a link to '{show(str(found))}'"
                raise InputError(message + ", which is no such file by its name")
            return found
        missing.clear()
        outside = str(found)
        break
    if outside and not missing:
        hint = f"to read it, pass allow=['{show(str(Path(outside).parent))}']"
        raise InputError(
            f"mesh '{show(filename)}' lies outside the description's package, "
            f"at '{show(outside)}'; {hint}"
        )
    tried = ", ".join(missing[:4]) or "nowhere"
    hint = "pass allow=[folder] with the folder that holds it or its package"
    raise InputError(f"mesh '{show(filename)}' is not found; looked at {tried}; {hint}")


def inside(path: Path, roots: Sequence[Path]) -> bool:
    """Whether a path is one of the roots, or lies in one."""
    return any(path == root or root in path.parents for root in roots)


# packages


@dataclass(frozen=True)
class Packages:
    """The packages that a description may name; ``roots`` are the folders that are its own."""

    places: Places

    @property
    def roots(self) -> tuple[Path, ...]:
        """The description's package, and what was allowed: files may be read there."""
        return self.places.roots("")

    def __call__(self, name: str) -> Path | tuple[Path, str]:
        """The folder of a package, with a warning where it is only likely.

        Raises: InputError when there is none, or the name is no package's.
        """
        if not _PACKAGE.fullmatch(name):
            raise InputError(f"'{show(name[:80])}' is no name of a package")
        tried: list[str] = []
        for folder in dict.fromkeys(self._candidates(name)):
            if folder.is_dir():
                return folder
            tried.append(f"'{folder}'")
        own = self.places
        if own.package and not own.names:
            # as for meshes: the package's name is not known, and its own may be meant
            reason = "there is no package.xml that says otherwise"
            note = f"the package '{name}' is taken to be '{own.package[-1]}': {reason}"
            return own.package[-1], note
        looked = ", ".join(tried[:4]) or "nowhere"
        hint = "allow the folder that holds it"
        raise InputError(f"the package '{name}' is not found; looked at {looked}; {hint}")

    def _candidates(self, name: str) -> Iterator[Path]:
        """The folders that the package may be, best first."""
        own = self.places
        yield from (folder for package, folder in own.names if package == name)
        yield from own.named(name)
        for folder in own.shared:
            if folder.name == name or package_name(folder / "package.xml") == name:
                yield folder
            yield folder / name
            yield folder / "share" / name
        for folder in own.package:
            if folder.parent in own.above:
                yield folder.parent / name
        for folder in own.above:
            if (folder / name / "package.xml").is_file():
                yield folder / name
        # A package in a folder of another name, beside the description's own.
        for folder in own.package:
            if folder.parent in own.above:
                yield from _declared(folder.parent, name)


def _declared(folder: Path, name: str) -> Iterator[Path]:
    """The folders in ``folder`` whose package.xml gives this name."""
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entry.path for entry in entries if entry.is_dir())
    except OSError:
        return
    for path in inside[:1000]:
        if package_name(Path(path) / "package.xml") == name:
            yield Path(path)


def package_finder(
    file: str | os.PathLike[str],
    allow: Sequence[str | os.PathLike[str]] = (),
    *,
    ros_paths: Sequence[str | os.PathLike[str]] = (),
    home: str | os.PathLike[str] | None = None,
) -> Packages:
    """The finder of packages for a description: ``finder("name")`` is a folder.

    Searched, in this order: the description's package, a folder above it of that name, ``allow``
    and ``ros_paths`` (packages, or folders of packages), the siblings of the description's package,
    and folders with a ``package.xml`` beside a folder above the description.
    """
    return Packages(places_of(file, allow, ros_paths, home))
