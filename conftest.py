"""Every Python fence of every page is a test: pytest-markdown-docs finds and runs them, includes expanded."""

import functools
import os
import sys

import pytest
from pytest_markdown_docs._runners import DefaultRunner, register_runner
from pytest_markdown_docs.plugin import MarkdownTextFile

from site_tools import LANGUAGES, page_code
from site_tools.execute import report

os.environ["MPLBACKEND"] = "Agg"


def pytest_addoption(parser):
    parser.addoption("--update-outputs", action="store_true", help="rewrite the `#> ` lines of the snippets' examples")


def pytest_configure(config):
    PageRunner.config = config
    # Read by the plugin's collector. Its own switch, --markdown-docs, would also import every test for docstrings.
    config.option.markdowndocs_syntax = "superfences"


def pytest_collect_file(file_path, parent):
    pages = [parent.config.rootpath / "docs" / language for language in LANGUAGES]
    if file_path.suffix == ".md" and any(folder in file_path.parents for folder in pages):
        return MarkdownTextFile.from_parent(parent, path=file_path)


def pytest_markdown_docs_markdown_it():
    return page_code.parser()


fences = functools.cache(page_code.fences)


class BlockError(Exception):
    """A block of a page failed; the message says where and how."""


@register_runner(default=True)
class PageRunner(DefaultRunner):
    """Runs a fence as the site shows it, in an empty namespace, and reports by the snippets' own lines."""

    def runtest(self, test, args, *, asyncio_runner=None):
        root, compare = self.config.rootpath, not self.config.option.update_outputs
        fence = next(f for f in fences(test.source_path, root) if f.line == test.start_line)
        # The plugin runs a block again when it raises TypeError: BlockError is none.
        if wrong := report(fence.code, fence.at, program=f"{fence.page}:{fence.line}", compare=compare):
            raise BlockError(f"{wrong}\n  in the block at {fence.page}:{fence.line}")

    def repr_failure(self, test, excinfo, style=None):
        return str(excinfo.value) if excinfo.errisinstance(BlockError) else excinfo.exconly()


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
