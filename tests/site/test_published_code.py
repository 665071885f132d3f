"""What a reader sees and copies from the built site is what the tests run, and it runs where this repository is not."""

import json
import subprocess
import sys

from site_tools import ROOT
from site_tools.published import published, written


def run_alone(programs):
    """Return the report of each program, run as if copied."""
    command = [sys.executable, "-m", "site_tools.run_alone"]
    done = subprocess.run(command, cwd=ROOT, input=json.dumps(programs), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_published_block_is_one_that_runs(site):
    shown, run = published(site), written()
    assert shown.keys() == run.keys()
    for page in run:
        assert shown[page] == run[page], page


def test_every_copied_block_runs_alone(site):
    blocks = [
        (page, n, text + "\n")
        for page, found in published(site).items()
        if "/labs/" not in f"/{page}"  # a notebook runs as a whole, when the site is built
        for n, (language, text) in enumerate(found, 1)
        if language == "python"
    ]
    programs = list(dict.fromkeys(code for *_, code in blocks))  # the two languages share most
    reports = dict(zip(programs, run_alone(programs), strict=True))
    bad = [f"{page}, block {n}: {reports[code]}" for page, n, code in blocks if reports[code]]
    assert not bad, "\n".join(bad)
    assert programs
