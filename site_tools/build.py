"""Build the whole site: `python -m site_tools.build` draws the figures, makes the notebooks, and writes site/.

Each language is one strict MkDocs run of its own, both at the same time, skipped when nothing it reads has changed:

    docs/zh + mkdocs.yml    -> build/zh  \
                                           site/ (Chinese at /, English at /en/)
    docs/en + mkdocs.en.yml -> build/en  /

Everything is written beside its place and then renamed, and one lock lets only one build run at a time: an interrupted
build leaves the last good site, and the next build starts from there.
"""

import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from site_tools import LANGUAGES, ROOT, digest, notebooks

BUILD, SITE, CACHE = ROOT / "build", ROOT / "site", ROOT / ".cache"
CONFIG = {"zh": "mkdocs.yml", "en": "mkdocs.en.yml"}
# What every language reads; each one reads docs/<language> too.
SHARED = (
    *CONFIG.values(), "package-lock.json", "LICENSE*", "requirements", "docs/*.toml", "snippets", "theme",
    "site_tools/hooks", "site_tools/templates", "site_tools/notebook_kernel", "site_tools/data.py",
)  # fmt: skip


class BuildError(Exception):
    """What stopped the build, in words for the reader of the terminal."""


@contextlib.contextmanager
def step(what):
    """Say what is being done once it takes over two seconds, and then how long it took."""
    start = time.monotonic()
    timer = threading.Timer(2, print, [f"{what} …"], {"flush": True})
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if (seconds := time.monotonic() - start) > 2:
        print(f"{what}: {seconds:.1f} s", flush=True)


@contextlib.contextmanager
def lock(path):
    """Hold the file `path` for as long as the block runs; wait for whoever holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build is running; waiting for it.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def replace_folder(new, folder):
    """Put the folder `new` where `folder` is."""
    old = folder.with_name(folder.name + ".old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def run(*command):
    """Run a Python module from the root of the repository; return its output; raise BuildError when it fails."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)  # a failing cell reports in colours
    lines = [line for line in text.splitlines() if not line.startswith("INFO ")]
    if done.returncode:
        trace = next((n for n, line in enumerate(lines) if line.startswith("Traceback ")), len(lines))
        lines = lines[:trace] + lines[trace:][-1:]
        raise BuildError("\n".join([*lines, f"failed: {' '.join(command)}"]))
    return lines


def draw_figures():
    """Draw what changed; `python -m figures` says itself what it draws."""
    if subprocess.run([sys.executable, "-m", "figures"], cwd=ROOT).returncode:
        raise BuildError("failed: figures")


def build_language(language):
    """Build one language into build/<language>; return the digest of what it was made from."""
    folder, stamp = BUILD / language, BUILD / f"{language}.digest"
    wanted = digest((*SHARED, f"docs/{language}"), os.environ.get("SITE_URL", ""))
    if folder.is_dir() and stamp.is_file() and stamp.read_text() == wanted:
        return wanted
    stamp.unlink(missing_ok=True)
    part = BUILD / f"{language}.part"
    with step(f"pages ({language})"):
        # Neither -q nor -v: the first hides warnings from --strict, the second hides dead anchors.
        for line in run("mkdocs", "build", "--strict", "-f", CONFIG[language], "-d", str(part)):
            print(f"[{language}] {line}", flush=True)
    replace_folder(part, folder)
    stamp.write_text(wanted)
    return wanted


def build():
    """Build what has changed and put site/ together. Raises BuildError."""
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    with lock(CACHE / "build.lock"):
        BUILD.mkdir(exist_ok=True)
        if (ROOT / "figures/__main__.py").exists():
            draw_figures()
        notebooks.write_all(ROOT / "docs")
        with ThreadPoolExecutor() as pool:
            made_from = " ".join(pool.map(build_language, LANGUAGES))
        stamp = BUILD / "site.digest"
        if SITE.is_dir() and stamp.is_file() and stamp.read_text() == made_from:
            return
        stamp.unlink(missing_ok=True)
        part = ROOT / "site.part"
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(BUILD / "zh", part)
        shutil.copytree(BUILD / "en", part / "en")
        replace_folder(part, SITE)
        stamp.write_text(made_from)


def main():
    """Build the site; on failure print why and return 1."""
    try:
        build()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
