"""Run programs as a reader would who copies them: each alone, with nothing of this repository to import.

Reads a JSON list of programs and writes the list of their reports ("" is fine). NumPy and torch are imported once, then
every program gets a fork of its own; the parent never computes, so no thread pool crosses the fork.
"""

import importlib
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

from site_tools import ROOT
from site_tools.execute import report

PRELOADED = ("numpy", "torch", "matplotlib.pyplot")
HIDDEN = ("snippets", "figures", "site_tools", "tests")


def alone(code):
    """Return the report of `code`, run by this process, which is spoilt by it."""
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]
    sys.modules.update(dict.fromkeys(HIDDEN))  # None: not to be imported, even if installed or already imported
    warnings.simplefilter("error")
    return report(code, "line {}".format)


def main():
    os.environ["MPLBACKEND"] = "Agg"
    for name in PRELOADED:
        importlib.import_module(name)
    reports = []
    for code in json.load(sys.stdin):
        with tempfile.NamedTemporaryFile("w+") as result:
            child = os.fork()
            if child == 0:
                try:
                    result.write(alone(code))
                    result.flush()
                    os._exit(0)
                finally:
                    os._exit(1)
            status = os.waitpid(child, 0)[1]
            result.seek(0)
            reports.append(result.read() if status == 0 else f"died with status {status}")
    json.dump(reports, sys.stdout)


if __name__ == "__main__":
    main()
