"""A page as the gates see it: its structure and its prose, each with the line it stands on."""

import re
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from site_tools import LANGUAGES, ROOT
from site_tools.page_code import pages

ATTRIBUTES = re.compile(r"\s*\{:?\s*(?:[#.]|\w+=)[^{}]*\}")  # { #id .class key=value }
BOX = re.compile(r'(!!!|\?\?\?\+?|===[+!]?)\s*([^"]*?)\s*(?:"(.*)")?$')  # !!! note "Title", === "Tab"
KINDS = {"text": "text", "text_special": "escape", "code_inline": "code", "math_inline": "math", "html_inline": "html"}


@dataclass(frozen=True)
class Item:
    """A piece of a page's structure: what it is, its line, and what both languages must have alike."""

    kind: str
    line: int
    value: object


@dataclass(frozen=True)
class Prose:
    """A line of prose (of a paragraph, heading, table cell, alt text) as (kind, text) parts.

    Kinds: text, escape (a character after a backslash), code, math, html, break (a line break of the source),
    open and close (around bold and italic text).
    """

    line: int
    parts: tuple

    def text(self, stand_in="x"):
        """Return the text as read, with `stand_in` for each piece of code and maths."""
        shown = {"code": stand_in, "math": stand_in, "break": "\n", "html": "", "open": "", "close": ""}
        return ATTRIBUTES.sub("", "".join(shown.get(kind, text) for kind, text in self.parts))


@dataclass
class Page:
    name: str
    language: str
    file: str
    items: list = field(default_factory=list)
    prose: list = field(default_factory=list)

    def at(self, line):
        return f"{self.file}:{line}"


def parser():
    md = MarkdownIt("commonmark").enable("table").disable(["code", "text_join"])
    md.use(dollarmath_plugin, allow_labels=False, allow_space=False, double_inline=True)
    md.use(front_matter_plugin)
    return md.use(footnote_plugin, inline=False, move_to_end=False)


def read(path, language, root=ROOT):
    """Return the Markdown file `path` as a Page."""
    page = Page(
        path.relative_to(root / "docs" / language).with_suffix("").as_posix(), language, str(path.relative_to(root))
    )
    line, heading, table = 1, None, None
    for token in parser().parse(path.read_text("utf8")):
        line = token.map[0] + 1 if token.map else line

        def add(kind, value, line=line):
            page.items.append(Item(kind, line, value))

        match token.type:
            case "front_matter":
                for n, entry in enumerate(token.content.splitlines(), 2):
                    if found := re.match(r"(?:title|description): (.*)", entry):
                        page.prose.append(Prose(n, (("text", found[1].strip("\"'")),)))
            case "heading_open":
                heading = token.tag
            case "fence":
                add("fence", (token.info.strip(), token.content.strip()))
            case "math_block":
                add("formula", token.content.strip())
                page.prose.append(Prose(line, (("math", token.content),)))
            case "table_open":
                table, table_line = [0, 0], line
            case "tr_open":
                table[0] += 1
            case "th_open":
                table[1] += 1
            case "table_close":
                add("table", f"{table[0]} rows × {table[1]} columns", table_line)
            case "footnote_reference_open":
                add("footnote text", token.meta["label"])
            case "inline":
                if heading:
                    found = re.search(r"\{[^{}]*#([^\s{}]+)[^{}]*\}\s*$", token.content)
                    add("heading", (heading, found[1] if found else ""))
                    heading = None
                _read_inline(page, line, token, add)
    return page


def _read_inline(page, line, token, add):
    parts = []
    children = token.children
    if box := BOX.match(token.content.split("\n")[0]):
        add("box", " ".join(box.group(1, 2)).strip())
        skipped = next((n for n, child in enumerate(children) if child.type == "softbreak"), len(children))
        parts += [("text", box[3] or ""), ("break", "")]
        children = children[skipped + 1 :]
    for child in children:
        match child.type:
            case "image":
                add("figure", child.attrs["src"])
                page.prose.append(Prose(line, (("alt", child.content),)))
            case "link_open":
                add("link", child.attrs["href"])
            case "footnote_ref":
                add("footnote", child.meta["label"])
            case "math_inline_double":
                add("formula", child.content.strip())
                parts.append(("math", child.content))
            case "softbreak" | "hardbreak":
                parts.append(("break", ""))
            case "strong_open" | "em_open" | "strong_close" | "em_close":
                parts.append((child.type.partition("_")[2], child.markup))
            case kind if kind in KINDS:
                parts.append((KINDS[kind], child.content))
    page.prose.append(Prose(line, tuple(parts)))


def read_all(root=ROOT):
    """Return {name: {language: Page}} of every Markdown page."""
    found = {}
    for language in LANGUAGES:
        for path in pages(language, root):
            page = read(path, language, root)
            found.setdefault(page.name, {})[language] = page
    return found
