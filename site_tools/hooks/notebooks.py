"""MkDocs hook: labs, run by mkdocs-jupyter, rendered by MkDocs like any other page.

mkdocs-jupyter executes a notebook and keeps the result. Its own HTML brings another Markdown dialect, 574 kB of style
sheet a page and headings without ids; so our template makes it write Markdown (templates/mkdocs_html/notebook.html.j2),
and MkDocs renders that: formulas, links, anchors, search and dark mode are then the same as everywhere else.
"""

import html
import json
import os
import re
import shutil

import mkdocs_jupyter.nbconvert2
import mkdocs_jupyter.plugin
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.pages import Page

from site_tools import ROOT, digest

END = "<!-- end of notebook -->"  # mkdocs-jupyter adds a style sheet after what the template wrote
FAULTS = {"a cell writes to stderr": r"\.stderr \}$", "a plot has no alt text": r'^<p><img .*alt=""'}
DEPENDENCIES = ("snippets", "requirements", "site_tools/templates/mkdocs_html", "site_tools/notebook_kernel")
KERNEL = ROOT / "site_tools/notebook_kernel"

mkdocs_jupyter.nbconvert2.settings.templates_dir = str(ROOT / "site_tools/templates")
mkdocs_jupyter.plugin._get_nb_toc_tokens = lambda path, depth: ([], None)  # MkDocs makes the table of contents


def on_config(config):
    """Set the kernels up, and keep the results of runs apart by all that they depend on besides the notebook."""
    os.environ |= {  # the kernels inherit these; the settings of the user's own Jupyter must not matter
        "JUPYTER_CONFIG_DIR": str(KERNEL),
        "JUPYTER_CONFIG_PATH": str(KERNEL),
        "IPYTHONDIR": str(ROOT / ".cache/ipython"),
        "MATPLOTLIBRC": str(KERNEL / "matplotlibrc"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYTHONPATH": str(ROOT),  # so that a lab can import `snippets`
        "SOURCE_DATE_EPOCH": "0",  # no date in the plots: the same lab gives the same page
    }
    cache = ROOT / ".cache/notebooks" / config.theme["language"]
    current = cache / digest(DEPENDENCIES)[:16]
    for old in set(cache.glob("*")) - {current}:
        shutil.rmtree(old)
    for result in current.glob("*.json"):
        try:
            json.loads(result.read_text("utf-8"))
        except ValueError:  # an interrupted build wrote half of it
            result.unlink()
    config.plugins["mkdocs-jupyter"].config["cache_dir"] = str(current)
    return config


@event_priority(50)  # before the hooks that repair a page's HTML
def on_page_content(content, page, config, files):
    if not page.file.src_uri.endswith(".ipynb"):
        return content
    page.markdown = html.unescape(content.partition(END)[0])
    for fault, pattern in FAULTS.items():
        if re.search(pattern, page.markdown, re.M):
            raise PluginError(f"{page.file.src_uri}: {fault}")
    Page.render(page, config, files)
    return page.content
