"""One Chromium for the run, one scripted server (and so one clean origin) for every test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from page_driver import Page, chromium
from page_stub import Script, serve
from selenium import webdriver


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def page(driver: webdriver.Chrome, script: Script) -> Iterator[Page]:
    with serve(script) as address:
        page = Page(driver, address).forget()
        yield page
        page.plain_look()
        driver.get("about:blank")
