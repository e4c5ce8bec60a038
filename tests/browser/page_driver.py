"""The page as a person uses it: type, ask, read, press keys; and Chromium to do it in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import ElementNotInteractableException, StaleElementReferenceException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
PATIENCE_S = 15


def find_program(*names: str, package: str) -> str:
    """Path of the first of ``names`` that is installed.

    Raises:
        RuntimeError: None is; the message names the package to install.
    """
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    raise RuntimeError(
        f"{names[0]} was not found: install the package {package} (Debian: apt-get install {package})"
    )


@contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """A headless Chromium with an empty profile folder of its own."""
    options = Options()
    options.binary_location = find_program(
        "chromium", "chromium-browser", "google-chrome", package="chromium"
    )
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}", "--window-size=1280,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = Service(find_program("chromedriver", package="chromium-driver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


class Page:
    """Otvet's page at ``address``."""

    def __init__(self, driver: webdriver.Chrome, address: str, patience_s: float = PATIENCE_S) -> None:
        self.driver = driver
        self.address = address
        self.patience_s = patience_s

    def forget(self) -> Page:
        """Nothing kept: a port may come again within a run, and what the browser keeps goes by the port."""
        self.driver.get(f"{self.address}/static/favicon.svg")
        self.js("localStorage.clear()")
        return self

    def open(self, language: str | None = "ru", ready: bool = True) -> Page:
        """Open with a chosen language remembered, or None for what the browser prefers."""
        self.driver.get(f"{self.address}/static/favicon.svg")
        if language:
            self.js("localStorage.setItem('otvet.language', arguments[0])", language)
        self.requests()
        self.complaints()
        self.driver.get(f"{self.address}/")
        self.wait(
            lambda: self.js("return document.activeElement.id === 'question'"),
            "the question box has the focus",
        )
        if ready:
            self.wait(
                lambda: self.js("return document.documentElement.dataset.server === 'ready'"),
                "the page is ready",
            )
        return self

    def js(self, script: str, *values: Any) -> Any:
        return self.driver.execute_script(script, *values)

    def wait(self, condition: Callable[[], Any], what: str) -> Any:
        """What ``condition`` gives once it is true; an element not there yet, or no more, is waited for."""
        soon = (StaleElementReferenceException, ElementNotInteractableException, IndexError)
        return WebDriverWait(self.driver, self.patience_s, 0.03, ignored_exceptions=soon).until(
            lambda _: condition(), message=f"waited for: {what}"
        )

    def wait_focus(self, name: str) -> None:
        self.wait(lambda: self.focused() == name, f"the focus is on {name}")

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        return self.wait(lambda: next(iter(self.all(css)), None), css)

    def seen(self, css: str) -> str:
        """Text a person sees in the first match, or an empty string."""
        found = [element for element in self.all(css) if element.is_displayed()]
        return found[0].text if found else ""

    def wait_text(self, css: str, text: str) -> None:
        self.wait(
            lambda: (
                text
                in self.js(
                    "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText).join('\\n')",
                    css,
                )
            ),
            f"{text!r} in {css}",
        )

    def type(self, text: str) -> None:
        box = self.one("#question")
        box.send_keys(Keys.CONTROL, "a")
        box.send_keys(text)

    def paste(self, text: str) -> None:
        """Set the question at once, as pasting does; for texts that keys cannot write."""
        self.js(
            "const box = document.getElementById('question'); box.value = arguments[0];"
            "box.dispatchEvent(new InputEvent('input', {bubbles: true})); box.focus();",
            text,
        )

    def ask(self, text: str) -> None:
        self.paste(text)
        self.one("#question").send_keys(Keys.ENTER)

    def press(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def focused(self) -> str:
        return self.js("const e = document.activeElement; return e.id || e.className || e.tagName")

    def cdp(self, command: str, **values: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, values)

    def scheme(self, scheme: str) -> None:
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def size(self, width: int, height: int, mobile: bool = False, scale: float = 1) -> None:
        self.cdp(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=mobile,
        )
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=mobile)

    def plain_look(self) -> None:
        self.cdp("Emulation.clearDeviceMetricsOverride")
        self.cdp("Emulation.setTouchEmulationEnabled", enabled=False)
        self.cdp("Emulation.setEmulatedMedia", features=[])

    def requests(self) -> list[str]:
        """Addresses requested since the last call, without those that the page's own policy refused."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        refused = {
            message["params"]["requestId"]
            for message in messages
            if message["method"] == "Network.loadingFailed"
            and message["params"].get("blockedReason") == "csp"
        }
        sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in sent if request["requestId"] not in refused]

    def complaints(self) -> list[str]:
        """Errors in the browser's console since the last call (a refused policy is one).

        Where a test opens a bare file, Chromium asks for a picture of the site by itself, now or later.
        """
        told = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        return [message for message in told if not message.startswith(f"{self.address}/favicon.ico ")]
