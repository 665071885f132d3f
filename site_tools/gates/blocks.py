"""A page holds no code of its own: a Python fence only includes snippets, and every fence names a language."""

import re

from site_tools import LANGUAGES, ROOT
from site_tools.gates import Finding
from site_tools.page_code import fences, pages

INCLUDE = re.compile(r'--8<-- "snippets/[\w/]+\.py:\w+"$')
KNOWN = ("python", "text", "console", "bash", "toml", "yaml")
OPENING = re.compile(r"\{ \.\w+(?: [.\w=\"-]+)* \}$")


def check(root=ROOT):
    for language in LANGUAGES:
        for path in pages(language, root):
            page = path.relative_to(root).as_posix()
            found = fences(path, root)
            for fence in found:
                where = f"{page}:{fence.line}"
                if not OPENING.match(fence.info) or fence.language not in KNOWN:
                    message = f"a fence opens with ``` {{ .python }} (or {', '.join(KNOWN[1:])}), not {fence.info!r}"
                    yield Finding(where, "CODE-LANGUAGE", message)
                for n, line in enumerate(fence.raw.splitlines(), fence.line + 1):
                    if fence.language == "python" and line.strip() and not INCLUDE.match(line):
                        yield Finding(
                            f"{page}:{n}", "CODE-ON-PAGE", f"not an include of a snippet's section: {line.strip()}"
                        )
            yield from _not_found(path, page, found)


def _not_found(path, page, found):
    """A fence that does not parse as one (no blank line before it in a box) would be shown and run by nobody."""
    inside = {n for fence in found for n in range(fence.line, fence.line + fence.raw.count("\n") + 2)}
    for n, line in enumerate(path.read_text("utf8").splitlines(), 1):
        if n not in inside and re.match(r"\s*(?:>\s*)*(```|~~~)", line):
            yield Finding(f"{page}:{n}", "CODE-LANGUAGE", "this fence is not read as one: put a blank line before it")
