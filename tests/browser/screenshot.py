"""Screenshots for the docs from a running server: ``python tests/browser/screenshot.py URL -o docs/images``.

Asks one question in the page itself and takes four pictures: light, dark, phone, and the first page.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from page_driver import Page, chromium
from selenium.webdriver.common.keys import Keys

QUESTION = "Как перестроить индекс после смены модели?"
LOOKS = (
    ("answer", "light", 1280, 900, 1.0),
    ("answer-dark", "dark", 1280, 900, 1.0),
    ("answer-phone", "light", 390, 844, 2.0),
)
DONE = (
    "return !document.querySelector('.go.stop') && !!document.querySelector('.voice, #notices > *, #failure')"
)


def take(page: Page, question: str, folder: Path) -> list[Path]:
    """Take all pictures; returns their paths."""
    taken = []

    def save(name: str) -> None:
        path = folder / f"{name}.png"
        page.driver.save_screenshot(str(path))
        taken.append(path)

    page.size(1280, 900)
    page.open()
    save("welcome")
    page.type(question)
    page.press(Keys.ENTER)
    page.wait(lambda: page.js(DONE), "the answer is complete")
    for name, scheme, width, height, scale in LOOKS:
        page.scheme(scheme)
        page.size(width, height, mobile=width < 800, scale=scale)
        page.driver.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 400))")
        needed = page.js("return document.documentElement.scrollHeight")
        if width > 800:
            page.size(width, min(max(height, needed), 1400), scale=scale)
        save(name)
    page.plain_look()
    return taken


def main() -> None:
    """Read the arguments, take the pictures, print their paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address", help="address of a running server, for example http://127.0.0.1:8000")
    parser.add_argument("-o", "--out", type=Path, default=Path("docs/images"))
    parser.add_argument("-q", "--question", default=QUESTION)
    parser.add_argument("--patience", type=float, default=180, help="seconds to wait for the answer")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "profile") as driver:
        page = Page(driver, given.address.rstrip("/"), patience_s=given.patience)
        for path in take(page, given.question, given.out):
            sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
