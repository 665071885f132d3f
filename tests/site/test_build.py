"""The build skips what has not changed, survives being killed or run twice, and is served while it is written."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

BUILD = [sys.executable, "-m", "site_tools.build"]


@pytest.fixture(scope="module", autouse=True)
def first_build(book):
    status, output = book.build()
    assert status == 0, output


def generations(book):
    """Return what tells one build of each language, and of the site, from the next."""
    return [(book.root / folder).stat().st_ino for folder in ("build/zh", "build/en", "site")]


def test_both_languages_stand_in_one_site(book):
    assert 'id="home"' in book.read("site/index.html")
    for page in ("site/labs/mini/index.html", "site/en/labs/mini/index.html"):
        assert "1.5 &lt; 2" in book.read(page)
        assert 'id="lab"' in book.read(page)


def test_what_has_not_changed_is_not_built_again(book):
    before = generations(book)
    assert book.build() == (0, "")
    assert generations(book) == before


def test_a_killed_build_leaves_nothing_half_done_and_the_next_ones_take_turns(book):
    book.edit("snippets/mini.py", "x / 2", "x / 4")  # concerns both languages and the lab
    killed = book.start(*BUILD)
    while not any(book.root.glob("build/*.part/index.html")):
        assert killed.poll() is None
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert "1.5 &lt; 2" in book.read("site/labs/mini/index.html")

    for result in book.root.glob(".cache/notebooks/*/*/*.json"):
        result.write_text('{"content"')  # as if killed while writing
    two = [book.start(*BUILD) for _ in range(2)]
    outputs = [process.communicate()[0] for process in two]
    assert [process.returncode for process in two] == [0, 0], outputs
    assert sum("Another build is running" in output for output in outputs) == 1
    for page in ("site/labs/mini/index.html", "site/en/labs/mini/index.html"):
        assert "0.75 &lt; 2" in book.read(page)
    assert not [path for ending in ("part", "old") for path in book.root.glob(f"*/*.{ending}")]


def test_the_server_rebuilds_and_outlives_a_fault(book):
    with socket.create_server(("localhost", 0)) as free:
        port = free.getsockname()[1]
    log = book.root / "serve.log"

    def wait_for(found):
        deadline = time.monotonic() + 60
        while not found():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)

    def page(path):
        return urllib.request.urlopen(f"http://localhost:{port}/{path}").read().decode()

    with log.open("w") as output:
        command = [sys.executable, "-m", "site_tools.serve", "--port", str(port)]
        process = subprocess.Popen(command, cwd=book.root, env=book.environment, stdout=output, stderr=output)
    try:
        before = generations(book)
        wait_for(lambda: f"Serving on http://localhost:{port}/\n" in log.read_text())
        assert 'id="home"' in page("") and 'id="home"' in page("en/")
        book.write("docs/en/index.md", "# Home { #home }\n\n[a](nowhere.md)\n")
        wait_for(lambda: "nowhere.md" in log.read_text())
        assert generations(book) == before
        book.write("docs/en/index.md", "# Home { #home }\n\nAnother text.\n")
        wait_for(lambda: "Another text." in page("en/"))
        assert [new == old for new, old in zip(generations(book), before, strict=True)] == [True, False, False]
    finally:
        process.terminate()
        process.wait()
    assert "Traceback" not in log.read_text()
