"""The fences of a page, with the snippets in them expanded as the site shows them."""

from dataclasses import dataclass

import markdown
from markdown_it import MarkdownIt
from pymdownx.snippets import SnippetExtension, SnippetMissingError, SnippetPreprocessor
from pytest_markdown_docs.plugin import parse_superfences_block_info

from site_tools import ROOT


@dataclass(frozen=True)
class Fence:
    """One fence of a page. `where[n]` is the file and line that line n (from 0) of the expanded `code` comes from."""

    page: str
    line: int  # of the opening ```
    info: str
    raw: str
    code: str
    where: tuple[str, ...]

    @property
    def language(self):
        return (parse_superfences_block_info(self.info) or [""])[0]

    def at(self, line):
        """Name line `line` (from 1) of the expanded code."""
        return self.where[min(line, len(self.where)) - 1] if self.where else f"{self.page}:{self.line}"


class _Tagged(SnippetPreprocessor):
    """Leaves `\\0file:line` behind every line it takes from a file."""

    def read_lines(self, path):
        return [
            line if not line.strip() or "8<" in line else f"{line}\0{path}:{n}"
            for n, line in enumerate(super().read_lines(path), 1)
        ]


def parser():
    """Return a parser that finds fences in tabs, admonitions and lists too, and takes their indentation off."""
    return MarkdownIt("commonmark").disable("code")  # "code": four spaces make a code block


def expand(raw, page, first_line, root=ROOT):
    """Expand the `--8<--` lines of a fence; return the code and where each of its lines comes from."""
    options = {"base_path": [str(root)], "check_paths": True, "dedent_subsections": True}  # as in mkdocs.yml
    snippets = _Tagged(SnippetExtension(**options).getConfigs(), markdown.Markdown())
    code, where = [], []
    for n, line in enumerate(raw.splitlines(), first_line):
        try:
            expanded = snippets.run([line]) if "8<" in line else [line]
        except SnippetMissingError as error:
            raise SnippetMissingError(f"{page}:{n}: {error}") from None
        for out in expanded:
            text, _, origin = out.partition("\0")
            file, _, number = origin.rpartition(":")
            code.append(text)
            where.append(f"{file.removeprefix(f'{root}/')}:{number}" if origin else f"{page}:{n}")
    return "\n".join(code) + "\n", tuple(where)


def fences(path, root=ROOT):
    """Return the fences of the Markdown file `path`, in their order."""
    page = path.relative_to(root).as_posix()
    found = []
    for token in parser().parse(path.read_text("utf8")):
        if token.type == "fence" and token.map:
            line = token.map[0] + 1
            code, where = expand(token.content, page, line + 1, root)
            found.append(Fence(page, line, token.info.strip(), token.content, code, where))
    return found


def pages(language, root=ROOT):
    """Return the Markdown pages of a language, as paths, in alphabetical order."""
    return sorted((root / "docs" / language).rglob("*.md"))
