"""Build the site, serve it, and build again whenever a source changes: `python -m site_tools.serve --port 8000`."""

import argparse
import logging
import os
import socket
import sys
from urllib.parse import urlsplit

from mkdocs.livereload import LiveReloadServer

from site_tools import LANGUAGES, ROOT
from site_tools.build import CONFIG, SITE, BuildError, build

HOST = "localhost"
# Folders without their subfolders where the build itself writes: figures, notebooks, data.
FLAT = ("docs", "figures", *(f"docs/{language}" for language in LANGUAGES))
DEEP = ("docs/labs", "snippets", "theme", "site_tools", *CONFIG.values())


def rebuild():
    """Build; print what is wrong and leave the last good site in place if it fails."""
    try:
        build()
    except BuildError as error:
        print(error, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m site_tools.serve", description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="default: %(default)s")
    port = parser.parse_args().port
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        sys.exit(
            f"Cannot listen on port {port} ({os.strerror(error.errno)}); choose another: make serve PORT={port + 1}"
        )
    try:
        build()
    except (BuildError, KeyboardInterrupt) as error:
        sys.exit(str(error))

    logging.basicConfig(format="%(message)s")
    logging.getLogger("mkdocs.livereload").setLevel(logging.INFO)  # it says where it serves and when it rebuilds
    server = LiveReloadServer(rebuild, HOST, port, str(SITE), urlsplit(os.environ.get("SITE_URL", "/")).path or "/")
    server.error_handler = lambda code: (SITE / "404.html").read_bytes() if code == 404 else None
    for folder in FLAT:
        server.watch(str(ROOT / folder), recursive=False)
    for path in DEEP:
        server.watch(str(ROOT / path))
    try:
        server.serve()
    except KeyboardInterrupt:
        server.shutdown()


if __name__ == "__main__":
    main()
