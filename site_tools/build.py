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
    old = BUILD / f"{folder.name}.old"
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def draw_figures():
    """Draw the figures that changed; `python -m figures` says itself which."""
    if subprocess.run([sys.executable, "-m", "figures"], cwd=ROOT).returncode:
        raise BuildError("failed: python -m figures")


def run_mkdocs(language, folder):
    """Build the pages of one language into `folder`, and print what MkDocs had to say beyond what it always says."""
    # Neither -q nor -v: the first hides warnings from --strict, the second hides dead anchors.
    command = ["mkdocs", "build", "--strict", "-f", CONFIG[language], "-d", str(folder.relative_to(ROOT))]
    environment = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)  # a failing cell reports in colours
    lines = [line for line in text.splitlines() if not line.startswith("INFO ")]
    if done.returncode:
        trace = next((n for n, line in enumerate(lines) if line.startswith("Traceback ")), len(lines))
        raise BuildError("\n".join([*lines[:trace], *lines[trace:][-1:], f"failed: {' '.join(command)}"]))
    for line in lines:
        print(f"[{language}] {line}", flush=True)


def build_language(language):
    """Build one language into build/<language> unless it is there; return the digest of what it is made from."""
    folder, part, stamp = (BUILD / f"{language}{ending}" for ending in ("", ".part", ".digest"))
    made_from = digest((*SHARED, f"docs/{language}"), os.environ.get("SITE_URL", ""))
    if not (folder.is_dir() and stamp.is_file() and stamp.read_text() == made_from):
        stamp.unlink(missing_ok=True)
        with step(f"pages ({language})"):
            run_mkdocs(language, part)
        replace_folder(part, folder)
        stamp.write_text(made_from)
    return made_from


def assemble(made_from):
    """Put site/ together from the languages unless it is there, made from the same."""
    part, stamp = BUILD / "site.part", BUILD / "site.digest"
    if not (SITE.is_dir() and stamp.is_file() and stamp.read_text() == made_from):
        stamp.unlink(missing_ok=True)
        shutil.rmtree(part, ignore_errors=True)
        for language in LANGUAGES:
            shutil.copytree(BUILD / language, part if language == LANGUAGES[0] else part / language)
        replace_folder(part, SITE)
        stamp.write_text(made_from)


def build():
    """Build what has changed. Raises BuildError."""
    with lock(CACHE / "build.lock"):
        BUILD.mkdir(exist_ok=True)
        if (ROOT / "figures/__main__.py").exists():
            draw_figures()
        notebooks.write_all(ROOT / "docs")
        with ThreadPoolExecutor() as pool:
            languages = [pool.submit(build_language, language) for language in LANGUAGES]
        if errors := [str(error) for language in languages if (error := language.exception())]:
            raise BuildError("\n".join(errors))
        assemble(" ".join(language.result() for language in languages))


def main():
    """Build the site; on failure print why and return 1."""
    try:
        build()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
