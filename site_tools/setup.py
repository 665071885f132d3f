"""Prepare what a command needs: `python3 setup.py site` or `python3 setup.py test`.

Makes .venv, installs the pinned requirements into it and the node modules beside it. What is in place already, for the
same content of the requirement files, is left alone. Every problem is one line on stderr. This file must run on any
Python that a machine may have: no syntax or module that an old one lacks.
"""

import hashlib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
LOG = os.path.join(VENV, "setup.log")


def fail(message):
    sys.stderr.write(message + "\n")
    sys.exit(1)


def digest(files):
    """Return a hash of the content of `files`."""
    total = hashlib.sha256()
    for name in files:
        with open(os.path.join(ROOT, name), "rb") as file:
            total.update(file.read())
    return total.hexdigest()


def run(what, *command):
    """Run a command with its output in a file; when it fails, say what could not be done."""
    with open(LOG, "ab") as log:
        environment = dict(os.environ, PATH=os.path.dirname(PYTHON) + os.pathsep + os.environ["PATH"])
        if subprocess.call(command, cwd=ROOT, stdout=log, stderr=log, env=environment) != 0:
            fail("Could not %s: is there a network connection? The details are in .venv/setup.log." % what)


def make_environment():
    """Create .venv unless it is there."""
    if os.path.exists(PYTHON) and os.path.exists(os.path.join(VENV, "bin", "pip")):
        return
    if sys.version_info < (3, 11):
        found = ".".join(map(str, sys.version_info[:3]))
        fail("Python 3.11 or newer is needed, this one is %s; name another: make PYTHON=python3.12 ..." % found)
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        fail("%s has no venv module; on Debian and Ubuntu: apt install python3-venv" % sys.executable)
    venv.create(VENV, clear=True, with_pip=True)


def install(group, files, *steps):
    """Run the installation `steps` unless the group is there, made from the same `files`."""
    stamp = os.path.join(VENV, group + ".done")
    wanted = digest(files)
    if os.path.exists(PYTHON) and os.path.exists(stamp):
        with open(stamp) as file:
            if file.read() == wanted:
                return
    make_environment()
    print("Installing what the %s needs; the first time this takes a few minutes." % group)
    sys.stdout.flush()
    for step in steps:
        run("install " + step[-1], *step)
    with open(stamp, "w") as file:
        file.write(wanted)


def main(group):
    pip = [PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--retries", "2", "-r"]
    site = "requirements/site.txt"
    install("site", [site], pip + [site])
    install("node", ["package-lock.json"], [os.path.join(VENV, "bin", "npm"), "ci", "--no-audit", "--no-fund"])
    if group == "test":
        torch, test = "requirements/torch.txt", "requirements/test.txt"
        index = os.environ.get("TORCH_INDEX")
        first = [pip[:-1] + ["--no-deps", "--index-url", index, "-r", torch]] if index else []
        install("test", [torch, test], *(first + [pip + [torch, "-r", test]]))


if __name__ == "__main__":
    main(sys.argv[1])
