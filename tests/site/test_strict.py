"""Every kind of fault stops the build, and the message says where it is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PAGE, LAB = "docs/zh/index.md", "docs/labs/mini.py"
LINKS = "[a](nowhere.md) [b](glossary.md#dead) [c](labs/mini.ipynb#gone) [d](#missing)"
FAULTS = {  # name: file, what is added to it, what the message holds
    "links and anchors": (PAGE, LINKS, ["index.md", "'nowhere.md'", "'#dead'", "'#gone'", "'#missing'"]),
    "link in a lab": (LAB, "# %% [markdown]\n# [a](nowhere.md)", ["labs/mini.ipynb", "nowhere.md"]),
    "snippet": (PAGE, '--8<-- "snippets/mini.py:no_such_section"', ["index.md", "no_such_section"]),
    "TeX": (PAGE, r"## $\frac{1}$ { #h }", ["index.md", r"'\\frac{1}' is wrong", "KaTeX parse error"]),
    "Chinese in TeX": (PAGE, "$温度$", ["index.md", "'温度' is wrong"]),
    "cell": (LAB, "# %%\n1 / 0", ["labs/mini.ipynb", "ZeroDivisionError"]),
    "plot without alt text": (LAB, "# %%\nimport pylab\n\npylab.plot([1, 2]);", ["labs/mini.ipynb", "no alt text"]),
    "warning of a cell": (LAB, "# %%\nimport sys\n\nprint(1, file=sys.stderr);", ["labs/mini.ipynb", "stderr"]),
    "data": ("docs/claims.toml", "[a02]\nverdict = 'TRUE'", ["docs/claims.toml: [a02]: no chapter, claim, line"]),
}


@pytest.fixture(scope="module")
def said(book):
    faults = {name: (path, text) for name, (path, text, _) in FAULTS.items()}
    process = subprocess.run(
        [sys.executable, Path(__file__).with_name("strict.py")],
        cwd=book.root, env=book.environment, input=json.dumps(faults), capture_output=True, text=True,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_stops_the_build(said, fault):
    for part in FAULTS[fault][2]:
        assert part in said[fault]
