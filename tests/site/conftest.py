"""A small book in a folder of its own, built by the real code: fast, and free to be broken."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from site_tools import LANGUAGES, ROOT

COPIED = (
    "LICENSE", "LICENSE-text.md", "Makefile", "mkdocs.yml", "mkdocs.en.yml", "package-lock.json", "package.json",
    "requirements", "site_tools", "theme",
)  # fmt: skip
PAGES = ("index.md", "glossary.md", "references.md", "sources.md", "labs/mini.ipynb")
LAB = """\
# %% [markdown] lang="zh"
# # 小实验 { #lab }

# %% [markdown] lang="en"
# # A small lab { #lab }

# %%
from snippets.mini import half

print(half(3), "< 2")
"""
DATA = {
    "glossary": "[perplexity]\nzh = '困惑度'\nen = 'perplexity'\nzh_definition = '取指数。'\nen_definition = 'exp.'\n",
    "references": "[a2017]\nauthors = 'A, B.'\ntitle = 'A* Search'\nyear = 2017\nvenue = 'V'\narxiv = '1706.00001'\n"
    "read.zh = '摘要。'\nread.en = 'The abstract.'\n",
    "claims": "[a01]\nline = '1'\nchapter = 'index'\nverdict = 'TRUE'\nclaim.zh = '对。'\nclaim.en = 'Yes.'\n"
    "right.zh = '对。'\nright.en = 'Yes.'\nsources = ['a2017']\n",
}


class Book:
    """The small book at `root`."""

    def __init__(self, root):
        self.root = root
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
        (root / "figures").mkdir()
        (root / ".cache/jieba").mkdir(parents=True)
        if (dictionary := ROOT / ".cache/jieba/jieba.cache").exists():  # jieba takes seconds to make it
            shutil.copy(dictionary, root / ".cache/jieba")
        (root / "node_modules").symlink_to(ROOT / "node_modules")
        for config in ("mkdocs.yml", "mkdocs.en.yml"):
            nav = "nav:\n" + "".join(f"  - {page.split('.')[0]}: {page}\n" for page in PAGES)
            self.edit(config, r"^nav:\n( .*\n)+", nav)
        for language in LANGUAGES:
            self.write(f"docs/{language}/index.md", "# Home { #home }\n\n$x^2$\n")
            for page, marker in {"glossary": "glossary", "references": "references", "sources": "claims"}.items():
                self.write(f"docs/{language}/{page}.md", f"# {page} {{ #{page} }}\n\n<!-- {marker} -->\n")
        for name, text in DATA.items():
            self.write(f"docs/{name}.toml", text)
        self.write("docs/labs/mini.py", LAB)
        self.write("snippets/mini.py", "def half(x):\n    return x / 2\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, "utf-8")

    def read(self, path):
        return (self.root / path).read_text("utf-8")

    def edit(self, path, pattern, replacement):
        text, found = re.subn(pattern, lambda match: replacement, self.read(path), flags=re.M)
        assert found, f"{pattern} is not in {path}"
        self.write(path, text)

    @property
    def environment(self):
        own = {"PYTHONPATH": str(self.root), "NO_MKDOCS_2_WARNING": "1"}
        return {name: value for name, value in os.environ.items() if name != "SITE_URL"} | own

    def start(self, *command):
        """Start a command in the book's folder, in a process group of its own."""
        return subprocess.Popen(
            command, cwd=self.root, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def build(self):
        """Build the site; return the exit status and what was printed."""
        process = self.start(sys.executable, "-m", "site_tools.build")
        output = process.communicate()[0]
        return process.returncode, output


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return Book(tmp_path_factory.mktemp("book"))
