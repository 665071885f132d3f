"""Print the fence that shows a section of a snippet and runs on its own.

    python -m site_tools.fence snippets/temperature/numpy_examples.py:two_limits

A fence must hold everything its last section uses: the imports and each helper, helpers
first. This walks the names a section uses, in its own file and in the snippets that the
file imports from, and prints the `--8<--` lines in an order that runs.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

MARKER = re.compile(r"# --8<-- \[(start|end):(\w+)\]")


def sections(path: str) -> dict[str, str]:
    """Return the text of each section of a snippet file, by name."""
    found: dict[str, list[str]] = {}
    inside = None
    for line in Path(path).read_text("utf-8").splitlines():
        if marker := MARKER.match(line):
            inside = marker[2] if marker[1] == "start" else None
            if inside:
                found[inside] = []
        elif inside:
            found[inside].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def imported_snippets(path: str) -> dict[str, str]:
    """Return, for each name a snippet file imports from another snippet, that snippet's path."""
    tree = ast.parse(Path(path).read_text("utf-8"))
    return {
        alias.name: node.module.replace(".", "/") + ".py"
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("snippets.")
        for alias in node.names
    }


def used_names(code: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}


def closure(path: str, section: str) -> list[tuple[str, str]]:
    """Return (path, section) for `section` and all it needs, in an order that runs."""
    order: list[tuple[str, str]] = []
    imports: list[tuple[str, str]] = []

    def visit(path: str, section: str) -> None:
        if (path, section) in order:
            return
        here, elsewhere = sections(path), imported_snippets(path)
        if "imports" in here and (path, "imports") not in imports:
            imports.append((path, "imports"))
        for name in sorted(used_names(here[section])):
            if name in here and name != section:
                visit(path, name)
            elif name in elsewhere:
                visit(elsewhere[name], name)
        order.append((path, section))

    visit(path, section)
    texts = {place: set(sections(place[0])["imports"].splitlines()) - {""} for place in imports}
    needed: list[tuple[str, str]] = []
    for place in sorted(imports, key=lambda place: -len(texts[place])):  # the longest may hold what the others say
        if not texts[place] <= set().union(*(texts[other] for other in needed)):
            needed.append(place)
    return needed + order


def fence(target: str) -> str:
    """Return the lines of the fence. A function's section ends in its two blank lines, the imports need them added."""
    lines = [
        f'--8<-- "{path}:{section}"' + "\n\n" * (section == "imports") for path, section in closure(*target.split(":"))
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    for target in sys.argv[1:]:
        print(f"``` {{ .python }}\n{fence(target)}\n```\n")
