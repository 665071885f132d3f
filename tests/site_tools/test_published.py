"""Blocks that the comparison of sources and site must notice, and programs that must fail where a reader runs them."""

import json
import subprocess
import sys

import pytest

from site_tools import ROOT
from site_tools.published import published

BOX = '<article><div class="language-{0} highlight"><pre><span></span><code>{1}</code></pre></div></article>'
HTML = {
    BOX.format("python", "\n\n<span>x</span> = 1 &lt; 2\n"): [("python", "x = 1 < 2")],
    BOX.format("Python", "x"): [("Python", "x")],
    "<article><pre>x = 1</pre></article>": [("", "x = 1")],
    BOX.format("python cell", "x"): [("python", "x")],
    BOX.format("text output", "3"): [],
    "<p>nothing</p>": [],
}
ALONE = {
    "print(1)\n#> 1\n": "",
    "import numpy, torch\n": "",
    "x = 1\nprint(x)\n#> 2\n": "line 2: OUTPUT",
    "import snippets\n": "line 1: ModuleNotFoundError",
    "from snippets.arrays import as_floating\n": "line 1: ModuleNotFoundError",
    "import site_tools.execute\n": "line 1: ModuleNotFoundError",
    "import warnings\n\nwarnings.warn('w')\n": "line 3: UserWarning",
    "import os\n\nassert os.listdir() == []\n": "",
    "import os\n\nos.abort()\n": "died with status 6",
    "x = 1\n": "",
    "x\n": "line 1: NameError",
}  # fmt: skip


@pytest.mark.parametrize("html, blocks", HTML.items())
def test_blocks_are_read_as_they_are_copied(tmp_path, html, blocks):
    (tmp_path / "index.html").write_text(html, "utf8")
    assert published(tmp_path).get("index.html", []) == blocks


def test_a_copied_program_has_nothing_of_this_repository():
    command = [sys.executable, "-m", "site_tools.run_alone"]
    done = subprocess.run(command, cwd=ROOT, input=json.dumps(list(ALONE)), capture_output=True, text=True, check=True)
    for (code, start), report in zip(ALONE.items(), json.loads(done.stdout), strict=True):
        assert report.startswith(start) and bool(report) == bool(start), (code, report)
