"""MkDocs hook: the pages made from data.

A line `<!-- glossary -->`, `<!-- references -->` or `<!-- claims -->` in a page becomes the entries of that file of
docs/, through the Markdown template of the same name in site_tools/templates/. An entry's id is its anchor:
references.md#guo2017.
"""

import re

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from mkdocs.exceptions import PluginError

from site_tools import ROOT, data

MARKER = re.compile(rf"^<!-- ({'|'.join(data.FORMS)}) -->$", re.M)
templates = Environment(
    loader=FileSystemLoader(ROOT / "site_tools/templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


chapters = {}  # title by page name, in the order of the navigation


def on_nav(nav, config, files):
    chapters.clear()
    chapters.update((page.file.src_uri.removesuffix(".md"), page.title) for page in nav.pages)
    return nav


def on_page_markdown(markdown, page, config, files):
    def entries(match):
        page.meta["data"] = name = match[1]
        return templates.get_template(f"{name}.md.j2").render(
            entries=data.load(name),
            references=data.load("references"),
            chapters=chapters,
            language=config.theme["language"],
        )

    try:
        return MARKER.sub(entries, markdown)
    except data.DataError as error:
        raise PluginError(str(error)) from None


def on_page_content(content, page, config, files):
    """Keep the entries out of the table of contents: there are hundreds."""

    def prune(items):
        items[:] = [item for item in items if item.id not in entries]
        for item in items:
            prune(item.children)

    if name := page.meta.get("data"):
        entries = data.load(name)
        prune(page.toc.items)
    return content
