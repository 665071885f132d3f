"""Find the Chromium that the browser tests drive: `python -m site_tools.chromium` prints its path."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
ADVICE = (
    "The browser tests need Chromium: install chromium with the system's package manager, "
    "or run .venv/bin/playwright install --with-deps chromium"
)


def find():
    """Return the path of a Chromium: from PATH, else Playwright's own, else None."""
    for name in NAMES:
        if path := shutil.which(name):
            return path
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install():
    """Install Debian's chromium where that is possible without asking: as root, with apt-get."""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Installing chromium for the browser tests …", flush=True)
        for command in (["apt-get", "update"], ["apt-get", "install", "-y", "chromium"]):
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


if __name__ == "__main__":
    if find() is None:
        install()
    print(find() or sys.exit(ADVICE))
