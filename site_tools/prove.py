"""Prove the gates: plant faults in a copy of the repository, one at a time, and see each caught by the gate meant for it.

`make prove`, or `python -m site_tools.prove NAME ...` for the faults whose name holds one of the words. A fault counts as
caught if the gate's command fails and names the rule, and if the same command passes on the copy without the fault.
"""

# ruff: noqa: E501 (a table reads better with one fault a line)
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from site_tools import ROOT

SHARED = (".venv", "node_modules")  # linked into the copy
CACHES = (".cache", "docs/zh/figures", "docs/en/figures")  # copied: building writes them


def gate(name):
    return "-m", "site_tools.gates", name


def tests(*arguments):
    return "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments


BUILD = ("-m", "site_tools.build")
ZH_PAGE, EN_PAGE = "docs/zh/temperature.md", "docs/en/temperature.md"
NUMPY, EXAMPLES = "snippets/temperature/numpy_reference.py", "snippets/temperature/numpy_examples.py"
END = r"\Z"  # pattern of a fault that is appended


@dataclass(frozen=True)
class Fault:
    """What is planted where (the first match of `pattern`; no pattern: the file goes), what must fail, saying what."""

    name: str
    file: str
    pattern: str | None
    text: str
    command: tuple
    says: str


FAULTS = [
    Fault("a broken snippet shown in a tab", NUMPY, r"(?m)^    return ", "    return no_such_name, ", tests(ZH_PAGE), "NameError"),
    Fault("an output line altered", EXAMPLES, r"(?m)^( *#> .*)$", r"\g<1>0", tests(ZH_PAGE), "OUTPUT"),
    Fault("an output line removed", EXAMPLES, r"(?m)^ *#> .*\n", "", tests(EN_PAGE), "OUTPUT"),
    Fault("an example on no page prints something else", EXAMPLES, END, "\nprint(1)\n#> 2\n", tests("tests/docs/test_examples.py"), "OUTPUT"),
    Fault("a snippet that imports another when copied", EXAMPLES, r"(# --8<-- \[start:simple\]\n)", r"\1import snippets.arrays\n", tests("tests/site/test_published_code.py"), "ModuleNotFoundError"),
    Fault("Python typed into a page", ZH_PAGE, END, "\n``` { .python }\nx = 1\n```\n", gate("blocks"), "CODE-ON-PAGE"),
    Fault("a block that nothing executes", ZH_PAGE, END, "\n``` py\nx = 1\n```\n", gate("blocks"), "CODE-LANGUAGE"),
    Fault("a block without a language", EN_PAGE, END, "\n```\nx = 1\n```\n", gate("blocks"), "CODE-LANGUAGE"),
    Fault("a fence that the tests do not see", ZH_PAGE, END, '\n!!! note "甲"\n    ``` { .python }\n    x = 1\n    ```\n', tests("tests/site/test_published_code.py"), "test_every_published_block_is_one_that_runs"),
    Fault("an include of no section", ZH_PAGE, r"(numpy_examples\.py:)\w+", r"\1no_such", gate("blocks"), "CODE-INCLUDE"),
    Fault("a missing translation", EN_PAGE, None, "", gate("parity"), "PARITY-PAGE"),
    Fault("a formula missing in one language", EN_PAGE, r"(?s)\$\$.+?\$\$\n", "", gate("parity"), "PARITY-FORMULA"),
    Fault("a fence missing in one language", EN_PAGE, r"(?s)``` \{ \.python \}.+?```\n", "", gate("parity"), "PARITY-FENCE"),
    Fault("a table row missing in one language", ZH_PAGE, r"(?m)^(\|[-:|\s]+\|\n)\|.*\n", r"\1", gate("parity"), "PARITY-TABLE"),
    Fault("a heading id of its own", EN_PAGE, r"\{ #(\w)", r"{ #x\1", gate("parity"), "PARITY-HEADING"),
    Fault("another order of pages", "mkdocs.en.yml", r"(?m)^(  - .*: glossary\.md\n)(  - .*\n)", r"\2\1", gate("parity"), "PARITY-NAV"),
    Fault("a number changed in one language", EN_PAGE, r"(?m)^([A-Z][^`$|\n]*?\d\.\d+)", r"\g<1>7", gate("numbers"), "NUMBER-PARITY"),
    Fault("a number that nothing computes", ZH_PAGE, END, "\n其中有 0.123456789。\n", gate("numbers"), "NUMBER-STRAY"),
    Fault("a quoted number that no page shows", "docs/quoted_figures.toml", r'value = "', r'value = "9', gate("numbers"), "NUMBER-UNUSED"),
    Fault("a stale figure value", "figures/data/temperature.json", r"0\.(\d)", r"0.9\1", tests("tests/figures/test_data.py"), "python -m figures --data temperature"),
    Fault("a dead anchor", ZH_PAGE, END, "\n见[此处](#no-such-anchor)。\n", BUILD, "no-such-anchor"),
    Fault("a notebook cell that fails", "docs/labs/temperature.py", END, "\n# %%\n1 / 0\n", BUILD, "ZeroDivisionError"),
    Fault("an unused section of a snippet", NUMPY, END, "\n\n# --8<-- [start:unused]\n# --8<-- [end:unused]\n", gate("completeness"), "COMPLETE-SECTION"),
    Fault("a figure on no page", EN_PAGE, r"figures/temperature_\w+\.light", "figures/other.light", gate("completeness"), "COMPLETE-FIGURE"),
    Fault("a chapter without its test", "tests/snippets/temperature/test_pytorch.py", None, "", gate("completeness"), "COMPLETE-CHAPTER"),
    Fault("a bold mark beside 。", ZH_PAGE, END, "\n**注意。**正文。\n", gate("typography"), "ZH-3"),
    Fault("half-width punctuation", ZH_PAGE, END, "\n中文,中文。\n", gate("typography"), "ZH-1"),
    Fault("a line break in a Chinese sentence", ZH_PAGE, END, "\n中文\n中文。\n", gate("typography"), "ZH-2"),
    Fault("money that becomes a formula", ZH_PAGE, END, "\n从 $5 涨到 $6。\n", gate("typography"), "ZH-4"),
    Fault("a heading without an id", EN_PAGE, END, "\n## More\n", gate("typography"), "ZH-5"),
    Fault("a missing alt text", ZH_PAGE, r"!\[[^\]]+\]", "![]", gate("typography"), "TEXT-5"),
    Fault("a request to a third party", "theme/js/site.js", END, '\nfetch("https://example.org/");\n', tests("tests/browser/test_pages.py", "-k", "main_pages and light and en and temperature"), "request outside the site"),
]  # fmt: skip


def copy_tree(root, target):
    """Copy the files of the repository that git does not ignore, as they are now; link or copy what is slow to make."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=root, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, target / name)
    for name in SHARED:
        if (root / name).exists():
            (target / name).symlink_to(root / name)
    for name in CACHES:
        if (root / name).exists():
            shutil.copytree(root / name, target / name, dirs_exist_ok=True)


def run(command, root):
    """Run a Python command in the copy; return its exit status and what it printed."""
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout


def prove(fault, root, clean):
    """Plant a fault in the copy at `root`, take it out again, and return what is wrong with the gate, "" if nothing."""
    if fault.command not in clean:
        clean[fault.command] = run(fault.command, root)
    if clean[fault.command][0]:
        return f"the gate fails without the fault\n{clean[fault.command][1][-3000:]}"
    path = root / fault.file
    text = path.read_text("utf-8")
    if fault.pattern is None:
        path.unlink()
    else:
        planted, found = re.subn(fault.pattern, fault.text, text, count=1)
        if not found or planted == text:
            return f"nothing to change in {fault.file}"
        path.write_text(planted, "utf-8")
    status, printed = run(fault.command, root)
    path.write_text(text, "utf-8")
    if not status:
        return "the gate passes"
    return "" if fault.says in printed else f"the gate fails without saying {fault.says}\n{printed[-3000:]}"


def main(words, faults=FAULTS, root=ROOT):
    missed, clean = [], {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_tree(root, copy)
        for fault in faults:
            if words and not any(word in fault.name for word in words):
                continue
            started = time.monotonic()
            wrong = prove(fault, copy, clean)
            seconds = time.monotonic() - started
            verdict, *details = (wrong or "caught").splitlines()
            print(f"{fault.name:46} {fault.says[:36]:36} {verdict:24} {seconds:6.1f} s", *details, sep="\n", flush=True)
            missed += [fault] if wrong else []
    print(f"{len(missed)} faults were missed" if missed else "every fault was caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
