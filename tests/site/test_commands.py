"""Each thing that can be wrong on a reader's machine is one line in the terminal."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pip
import pytest


def make(book, *arguments, **environment):
    """Run make in the book's folder; return its exit status and its error lines without make's own."""
    # These tests run under `make test`, and what that make hands down is not what a reader's shell has.
    outer = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PORT"))}
    done = subprocess.run(["make", *arguments], cwd=book.root, env=outer | environment, capture_output=True, text=True)
    return done.returncode, [line for line in done.stderr.splitlines() if not line.startswith("make:")]


def python_that(book, does):
    """Return the path of a Python that first does something to itself."""
    path = book.root / "strange-python"
    start = "import runpy, sys; sys.argv = sys.argv[1:]"
    path.write_text(f"#!{sys.executable}\n{start}\n{does}\nrunpy.run_path(sys.argv[0], run_name='__main__')\n")
    path.chmod(0o755)
    return f"PYTHON={path}"


@pytest.mark.parametrize("command", ["serve", "test"])
def test_python_too_old(book, command):
    status, errors = make(book, command, python_that(book, "sys.version_info = (3, 9, 2)"))
    assert status
    assert errors == ["Python 3.11 or newer is needed, this one is 3.9.2; name another: make PYTHON=python3.12 ..."]


def test_no_python_at_all(book):
    status, errors = make(book, "site", "PYTHON=no-such-python")
    assert status
    assert errors == ["no-such-python is not installed; the book needs Python 3.11 or newer"]


def test_no_venv_module(book):
    status, (error,) = make(book, "site", python_that(book, "sys.modules['ensurepip'] = None"))
    assert status
    assert error.endswith("has no venv module; on Debian and Ubuntu: apt install python3-venv")


def test_no_network(book):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", ".venv"], cwd=book.root, check=True)
    (book.root / ".venv/bin/pip").touch()  # an environment in a tenth of the time: with the pip of this one
    (book.root / "pip").symlink_to(Path(pip.__file__).parent)
    status, errors = make(
        book, "site", f"PYTHON={sys.executable}", PIP_INDEX_URL="http://localhost:9/", PIP_RETRIES="0"
    )
    assert status
    assert errors == [
        "Could not install requirements/site.txt: is there a network connection? The details are in .venv/setup.log."
    ]
    assert not list(book.root.glob(".venv/*.done"))


def test_port_taken(book):
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        process = book.start(sys.executable, "-m", "site_tools.serve", "--port", str(port))
        assert process.communicate()[0] == (
            f"Cannot listen on port {port} (Address already in use); choose another: make serve PORT={port + 1}\n"
        )
        assert process.returncode == 1
