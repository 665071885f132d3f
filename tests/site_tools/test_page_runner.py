"""The repository's own conftest.py on a small project of pages: what it runs, and where a failure points."""

import os
import subprocess
import sys
from collections import defaultdict
from xml.etree import ElementTree

import pytest

from site_tools import ROOT
from site_tools.page_code import fences

SNIPPET = """\
# --8<-- [start:imports]
import math
# --8<-- [end:imports]


# --8<-- [start:root]
def root(x):
    return math.sqrt(x)
# --8<-- [end:root]


# --8<-- [start:two]
print(root(2) > 1)
#> True
# --8<-- [end:two]


class Box:
    # --8<-- [start:method]
    def get(self):
        return 1
    # --8<-- [end:method]
"""
BODY = "print(root(2) > 1)\n#> True"


def fence(*sections, indent=""):
    lines = ["``` { .python }", *(f'--8<-- "snippets/NAME/a_examples.py:{s}"' for s in sections), "```"]
    return "".join(f"{indent}{line}\n" for line in lines) + "\n"


PLAIN, DEEP = fence("imports", "root", "two"), fence("imports", "root", "two", indent="    ")
QUOTED = "".join(f"> {line}\n" for line in PLAIN.splitlines())
ONCE = "import os\nn = os.environ['N'] = os.environ.get('N', '') + 'x'\nif n == 'x':\n    raise TypeError('first')"
# name of the page: its text, the lines in place of BODY, blocks that pass, what the one failure says
CASES = {
    "plain": (PLAIN, BODY, 1, []),
    "everywhere": (f'{PLAIN}=== "A"\n\n{DEEP}!!! note\n\n{DEEP}1. item\n\n{DEEP}> - x\n>\n{QUOTED}', BODY, 5, []),
    "indented": (fence("method"), BODY, 1, []),
    "raises": (
        f'=== "A"\n\n{DEEP}', "root(-2)", 0,
        ["NAME:8: ValueError: ", "NAME:13 in <module>: root(-2)", "in the block at docs/zh/raises.md:3"],
    ),
    "output": (PLAIN, "print(1)\n#> 2", 0, ["NAME:13: OUTPUT", "shown:   #> 2\n", "printed: #> 1\n"]),
    "alone": (fence("imports", "root") + fence("two"), BODY, 1, ["NAME:13: NameError"]),
    "once": (PLAIN, ONCE, 0, ["NAME:16: TypeError: first"]),
    "warning": (PLAIN, "import warnings\nwarnings.warn('w')", 0, ["NAME:14: UserWarning: w"]),
    "own": ("# T\n\n``` { .python }\nx = 1\ny = x / 0\n```\n", BODY, 0, ["docs/zh/own.md:5: ZeroDivisionError"]),
    "no_section": ("# T\n\n" + fence("gone"), BODY, 0, ["docs/zh/no_section.md:4: ", "gone"]),
    "no_file": (fence("two").replace("a_ex", "b_ex"), BODY, 0, ["docs/zh/no_file.md:2: ", "b_examples"]),
}  # fmt: skip
NOT_PAGES = ("docs/other.md", "docs/xx/p.md", "tests/p.md", "README.md")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The project's folder and the outcomes of its pages: {page: [failure message or None]}."""
    folder = tmp_path_factory.mktemp("project")
    texts = {name: (ROOT / name).read_text("utf8") for name in ("conftest.py", "pyproject.toml")}
    for name, (page, body, *_) in CASES.items():
        texts[f"docs/zh/{name}.md"] = page.replace("NAME", name)
        texts[f"snippets/{name}/a_examples.py"] = SNIPPET.replace(BODY, body)
    texts["docs/en/english.md"] = PLAIN.replace("NAME", "plain")
    texts |= dict.fromkeys(NOT_PAGES, "``` { .python }\n1 / 0\n```\n")
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf8")
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "--junitxml=report.xml", "."]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert "#>" not in run.stdout.split("FAILURES")[0], "prints leak"
    outcomes = defaultdict(list)
    for case in ElementTree.parse(folder / "report.xml").iter("testcase"):
        failure = case.find("failure")
        outcomes[case.get("classname")].append(None if failure is None else failure.text)
    return folder, outcomes


@pytest.mark.parametrize("name", CASES)
def test_a_page_is_run_and_its_failure_told(project, name):
    _, _, passed, messages = CASES[name]
    outcomes = project[1][f"docs.zh.{name}.md"]
    assert outcomes.count(None) == passed
    failures = [text for text in outcomes if text is not None]
    assert len(failures) == bool(messages)
    for message in messages:
        assert message.replace("NAME", f"snippets/{name}/a_examples.py") in failures[0]


def test_the_pages_of_both_languages_are_run_and_nothing_else(project):
    assert len(project[1]) == len(CASES) + 1, project[1].keys()


def test_every_line_knows_where_it_comes_from(project):
    (found,) = fences(project[0] / "docs/zh/indented.md", project[0])
    assert found.code == "def get(self):\n    return 1\n"
    assert found.where == ("snippets/indented/a_examples.py:20", "snippets/indented/a_examples.py:21")
