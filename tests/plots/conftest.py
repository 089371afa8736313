"""Chromium for the tests of pages, and what they ask of a page in it."""

import shutil

import pytest

CHROMIUM = shutil.which("chromium")
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    if CHROMIUM is None:
        pytest.skip("needs chromium, as from `apt-get install chromium`")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Opens the page of a model from disk, with the network cut; no error may come to the console."""
    complaints, contexts = [], []

    def opened(model, states=None, fragment="", width=1000, screen=None, **about):
        path = tmp_path / f"page{len(contexts)}.html"
        model.page(path, states, **about)
        size = {"width": width, "height": 800}
        context = browser.new_context(viewport=size, offline=True, **(screen or {}))
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{path.as_uri()}{fragment}")
        page.evaluate("() => onesnap.ready")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
