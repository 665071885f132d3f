"""The built site, served under a folder as a project page is, in one Chromium for the whole session.

The 404 page alone knows its own address, so the server also answers at the address the site was built for.
"""

import functools
import http.server
import re
import threading
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import sync_playwright

from site_tools import chromium

FOLDER = "/softmax/"
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # one connection for many files

    def __init__(self, *args, built_for, **kwargs):
        self.built_for = built_for
        super().__init__(*args, **kwargs)

    def translate_path(self, path):
        for root in (FOLDER, self.built_for):
            if path.startswith(root):
                return super().translate_path("/" + path.removeprefix(root))
        return "nothing here"

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def built_for(site):
    """The path of SITE_URL when the site was built, for example / or /softmax/."""
    home = (site / "index.html").read_text("utf-8")
    return urlsplit(re.search(r'<link rel="canonical" href="([^"]+)"', home)[1]).path


@pytest.fixture(scope="session")
def origin(site, built_for):
    handler = functools.partial(Handler, directory=str(site), built_for=built_for)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def base(origin):
    return origin + FOLDER


@pytest.fixture(scope="session")
def browser():
    path = chromium.find()
    assert path, chromium.ADVICE
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chrome
        chrome.close()


@pytest.fixture
def open_page(browser, base):
    """Open pages in contexts of their own: `open_page(width=390, color_scheme="dark", …)`.

    Whatever goes wrong in them is in `page.faults`: requests outside the site's folder or failed, all that the console
    says, and errors of scripts. No page of the site has any, so each test ends by asserting that.
    """
    contexts, faults = [], []

    def open_page(width=1280, height=800, color_scheme="light", **options):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=color_scheme, reduced_motion="reduce", **options
        )
        context.set_default_timeout(15_000)
        contexts.append(context)
        page = context.new_page()
        page.faults, page.requested = faults, []

        def fault(text):
            faults.append(f"{page.url.removeprefix(base)}: {text}")

        def request(sent):
            page.requested.append(sent.url)
            if sent.url.startswith(("http", "ws")) and not sent.url.startswith(page.allowed):
                fault(f"request outside the site: {sent.url}")

        def failed(sent):
            if sent.failure != "net::ERR_ABORTED":  # leaving a page aborts what it was still loading
                fault(f"{sent.failure}: {sent.url}")

        page.allowed = base
        context.on("request", request)
        context.on("requestfailed", failed)
        context.on("response", lambda got: got.status >= 400 and fault(f"{got.status}: {got.url}"))
        context.on("console", lambda said: fault(f"console: {said.text}"))
        context.on("weberror", lambda error: fault(f"script: {error.error}"))
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults, "\n".join(faults)
