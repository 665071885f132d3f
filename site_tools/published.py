"""The code blocks of the built site, as the copy button takes them, and those of the sources, as the tests run them."""

import nbformat
from selectolax.lexbor import LexborHTMLParser

from site_tools.page_code import LANGUAGES, ROOT, fences, pages

PREFIX = {"zh": "", "en": "en/"}  # where a language lies in the site


def published(site):
    """Return {page of the site: [(language, text)]} for every code block and notebook cell shown."""
    found = {}
    for path in sorted(site.rglob("*.html")):
        tree = LexborHTMLParser(path.read_text("utf8"))
        blocks = []
        for pre in tree.css("article pre"):
            box = next((node for node in _around(pre) if "highlight" in (node.attributes.get("class") or "")), None)
            classes = (box.attributes["class"] if box else "").split()
            if any("jp-OutputArea" in (node.attributes.get("class") or "") for node in _around(pre)):
                continue  # what a notebook cell printed
            names = [name.removeprefix(p) for name in classes for p in ("language-", "hl-") if name.startswith(p)]
            blocks.append((names[0] if names else "", pre.text().strip("\n").rstrip()))
        # The button of a notebook cell copies a text of its own.
        copied = [node.text().rstrip() for node in tree.css("article .clipboard-copy-txt")]
        shown = [text for _, text in blocks if text]
        if copied and [text for text in copied if text] != shown:
            blocks.append(("copied", "\n".join(copied)))
        if blocks := [block for block in blocks if block[1]]:
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
            if blocks := [block for block in blocks if block[1]]:
                found[page] = blocks
    return found


def _around(node):
    while node := node.parent:
        yield node
