"""The code blocks of the built site, as the copy button takes them, and those of the sources, as the tests run them."""

import nbformat
from selectolax.lexbor import LexborHTMLParser

from site_tools import LANGUAGES, ROOT
from site_tools.page_code import fences, pages

PREFIX = {"zh": "", "en": "en/"}  # where a language lies in the site


def published(site):
    """Return {page of the site: [(language, text)]} for every code block and notebook cell, outputs left out."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        blocks = []
        for pre in LexborHTMLParser(path.read_text("utf8")).css("article pre"):
            classes = (pre.parent.attributes.get("class") or "").split()
            language = next((name.removeprefix("language-") for name in classes if name.startswith("language-")), "")
            if "output" not in classes:
                blocks.append((language, pre.text().strip("\n").rstrip()))
        if blocks:
            found[path.relative_to(site).as_posix()] = blocks
    return found


def written(root=ROOT):
    """Return what `published` should find: the fences of the pages, the cells of the notebooks."""
    found = {}
    for language in LANGUAGES:
        folder = root / "docs" / language
        for path in [*pages(language, root), *sorted(folder.rglob("*.ipynb"))]:
            name = path.relative_to(folder).with_suffix("").as_posix()
            page = PREFIX[language] + ("index.html" if name == "index" else f"{name}/index.html")
            if path.suffix == ".md":
                blocks = [(fence.language or "text", fence.code.strip("\n").rstrip()) for fence in fences(path, root)]
            else:
                cells = nbformat.read(path, as_version=4).cells
                blocks = [("python", cell.source.rstrip()) for cell in cells if cell.cell_type == "code"]
            if blocks:
                found[page] = blocks
    return found
