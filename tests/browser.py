"""Pages in a real browser, without a display: skips by name where there is none.

What a page asks of the network is in the browser's log of requests, which `Browser.requests` reads.
"""

from __future__ import annotations

import base64
import io
import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

ARGUMENTS = (
    *("--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
    *("--disable-background-networking", "--no-first-run", "--hide-scrollbars"),
    *("--disable-dev-shm-usage", "--force-color-profile=srgb"),
)
CHROMIUM, DRIVER = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)


def _program(names: tuple[str, ...]) -> str:
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(f"{names[0]} is not installed")
    return found


class Browser:
    """A window of headless Chromium."""

    def __init__(self, driver: Any, size: tuple[int, int]) -> None:
        self.driver = driver
        self.resize(size)

    def resize(self, size: tuple[int, int], *, phone: bool = False) -> None:
        """Make the page as large as this, in CSS pixels."""
        self._tell(
            "Emulation.setDeviceMetricsOverride",
            width=size[0], height=size[1], deviceScaleFactor=2 if phone else 1, mobile=phone,
        )  # fmt: skip

    def prefer(self, scheme: str) -> None:
        """Let the page be told that its reader wants it "dark" or "light"."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._tell("Emulation.setEmulatedMedia", features=features)

    def open(self, address: Path | str) -> None:
        """Open a file or address, and wait until the page is ready."""
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(address if isinstance(address, str) else address.resolve().as_uri())
        self.wait("window.linkwork && (linkwork.ready || linkwork.errors.length)")

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that JavaScript returns."""
        return self.driver.execute_script(script, *arguments)

    def wait(self, condition: str, seconds: float = 20.0) -> None:
        """Wait until an expression of JavaScript is true."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            assert time.monotonic() < end, f"not so after {seconds} s: {condition}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Wait until nothing is drawn any more."""
        still = 0
        while still < 2:
            time.sleep(0.03)
            still = still + 1 if self.run("return linkwork.app.stage.idle") else 0

    def picture(self) -> NDArray[np.uint8]:
        """What is seen, as rows of pixels (height, width, 3), once what was drawn is shown."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
        )
        image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
        data = self._tell("Page.captureScreenshot", format="png")["data"]
        return np.asarray(image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))

    def messages(self) -> list[str]:
        """What the console has said since the page was opened, warnings and errors."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since the page was opened, its own and data left out."""
        found: list[str] = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [url for url in found if not url.startswith(("data:", "blob:"))][1:]

    def mouse(self, kind: str, x: float, y: float, *, down: bool = False) -> None:
        """A real event of the mouse: "mouseMoved", "mousePressed" or "mouseReleased"."""
        button = "left" if down or kind != "mouseMoved" else "none"
        self._tell(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button,
            buttons=1 if down else 0, clickCount=1 if kind != "mouseMoved" else 0,
        )  # fmt: skip

    def drag(self, start: tuple[float, float], end: tuple[float, float], steps: int = 12) -> None:
        """Press at a point, move to another, and let go."""
        self.mouse("mouseMoved", *start)
        self.settle()
        self.mouse("mousePressed", *start, down=True)
        for share in np.linspace(0.0, 1.0, steps + 1)[1:]:
            x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
            self.mouse("mouseMoved", x, y, down=True)
            time.sleep(0.02)
        self.settle()
        self.mouse("mouseReleased", *end)
        self.settle()

    def click(self, x: float, y: float) -> None:
        """Press and let go at a point."""
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, down=True)
        self.mouse("mouseReleased", x, y)
        self.settle()

    def _tell(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)


@contextmanager
def opened_browser(profile: Path, size: tuple[int, int] = (1000, 640)) -> Iterator[Browser]:
    """A browser with an empty profile in this folder; skips where there is none."""
    webdriver: Any = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    service = pytest.importorskip("selenium.webdriver.chrome.service")
    options = webdriver.ChromeOptions()
    options.binary_location = _program(CHROMIUM)
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=service.Service(_program(DRIVER)))
    try:
        yield Browser(driver, size)
    finally:
        driver.quit()
