"""Pictures that come one after another, made into the bytes of a file: .png, .gif or .mp4."""

from __future__ import annotations

import zlib
from fractions import Fraction
from io import BytesIO
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, MissingExtraError

ENDINGS = (".png", ".gif", ".mp4")
_PNG = b"\x89PNG\r\n\x1a\n"
_CHOSEN_FROM = 12
"""Pictures of a film, evenly apart, that the colours of a GIF are chosen from."""
_MOST_COLOURS = 255  # and one that stands for what stays as it was


class Film(Protocol):
    """Pictures on their way into a file."""

    form: str
    """The form that pictures come in: the bytes of a "png", or rows of "rgba" pixels."""

    def add(self, picture: bytes) -> None:
        """Take the next picture.

        Raises: InputError for what is none.
        """
        ...

    def finished(self) -> tuple[bytes, float]:
        """The bytes of the file, and how long the film is, s."""
        ...


def film_for(ending: str, size: tuple[int, int], n: int, fps: float) -> Film:
    """The film, or the one picture, that a file with this ending is: n pictures of a size (w, h).

    Raises: MissingExtraError where the extra `render` is missing; InputError for what the file
    cannot have.
    """
    width, height = size
    if ending == ".png":
        return _Picture()
    if ending == ".gif":
        if fps > 50.0:
            raise InputError(f"a .gif has 50 pictures a second at most, not {fps:g}")
        if width * height * n > 1_000_000_000:
            raise InputError(f"{n} pictures of {width} x {height} are too much for a .gif: .mp4 is "
                             "for long films")  # fmt: skip
        return _Gif(size, fps)
    if width % 2 or height % 2:
        raise InputError(f"the size of an .mp4 must be even both ways, not {width} x {height}")
    return _Mp4(size, fps)


class _Picture:
    """A picture as the browser has written it."""

    form = "png"

    def __init__(self) -> None:
        self._data = b""

    def add(self, picture: bytes) -> None:
        if not picture.startswith(_PNG):
            raise InputError("this is no PNG")
        self._data = picture

    def finished(self) -> tuple[bytes, float]:
        return self._data, 0.0


class _Gif:
    """Pictures in up to 255 colours, chosen for all of them; of each only what changes is kept."""

    form = "rgba"

    def __init__(self, size: tuple[int, int], fps: float) -> None:
        self._image = _pillow()
        self._size, self._fps = size, fps
        self._pictures: list[bytes] = []

    def add(self, picture: bytes) -> None:
        pixels = _pixels(picture, self._size)
        self._pictures.append(zlib.compress(pixels.tobytes(), 1))

    def finished(self) -> tuple[bytes, float]:
        n = len(self._pictures)
        palette = self._palette()
        first, *others = [
            self._picture(k).quantize(palette=palette, dither=self._image.Dither.NONE)
            for k in range(n)
        ]
        # delays are whole hundredths of a second: what is cut off one is given to the next
        ends = np.round(100.0 * np.arange(1, n + 1) / self._fps).astype(int)
        delays = np.maximum(np.diff(ends, prepend=0), 2)
        out = BytesIO()
        first.save(
            out, "GIF", save_all=True, append_images=others, duration=(10 * delays).tolist(),
            loop=0, disposal=1, optimize=False,
        )  # fmt: skip
        return out.getvalue(), float(delays.sum()) / 100.0

    def _picture(self, k: int) -> Any:
        return self._image.frombytes("RGB", self._size, zlib.decompress(self._pictures[k]))

    def _palette(self) -> Any:
        n = len(self._pictures)
        chosen = np.unique(np.linspace(0, n - 1, min(n, _CHOSEN_FROM)).astype(int))
        some = [np.asarray(self._picture(int(k)))[::2, ::2] for k in chosen]
        whole = self._image.fromarray(np.concatenate(some))
        return whole.quantize(_MOST_COLOURS, method=self._image.Quantize.MEDIANCUT)


class _Mp4:
    """H.264 as every browser and player shows it."""

    form = "rgba"

    def __init__(self, size: tuple[int, int], fps: float) -> None:
        self._av = _pyav()
        self._size = size
        self._out = BytesIO()
        self._rate = Fraction(fps).limit_denominator(1001)
        self._file = self._av.open(self._out, "w", format="mp4")
        stream: Any = self._file.add_stream("libx264", rate=self._rate, options={"crf": "18"})
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        # the numbers of ITU-T H.273: BT.709, as players take what has no name
        context = stream.codec_context
        context.colorspace = context.color_primaries = context.color_trc = 1
        context.color_range = 1
        self._stream = stream
        self._n = 0

    def add(self, picture: bytes) -> None:
        frame = self._av.VideoFrame.from_ndarray(_pixels(picture, self._size), format="rgb24")
        frame = frame.reformat(format="yuv420p", dst_colorspace="ITU709")
        frame.pts = self._n
        self._file.mux(self._stream.encode(frame))
        self._n += 1

    def finished(self) -> tuple[bytes, float]:
        self._file.mux(self._stream.encode())
        self._file.close()
        return self._out.getvalue(), self._n / float(self._rate)


def _pixels(picture: bytes, size: tuple[int, int]) -> NDArray[np.uint8]:
    """Pixels (h, w, 3) of rows of red, green, blue and opacity.

    Raises: InputError where there are too few or too many.
    """
    width, height = size
    if len(picture) != 4 * width * height:
        raise InputError(f"these are no {width} x {height} pixels")
    rgba = np.frombuffer(picture, np.uint8).reshape(height, width, 4)
    return np.ascontiguousarray(rgba[..., :3])


def _pillow() -> Any:
    try:
        import PIL.Image as module  # noqa: PLC0415  an extra
    except ImportError:
        raise _missing("Pillow", ".gif") from None
    return module


def _pyav() -> Any:
    try:
        import av as module  # noqa: PLC0415  an extra
    except ImportError:
        raise _missing("PyAV", ".mp4") from None
    return module


def _missing(package: str, ending: str) -> MissingExtraError:
    return MissingExtraError(
        f"{ending} files are written by {package}, which is not installed: "
        "pip install 'linkwork[render]'; a .png needs nothing but a browser"
    )
