"""Every section, figure and chapter is shown in both languages, and every chapter has all its parts.

A chapter is a folder of snippets/. It counts once its page is in the nav of mkdocs.yml; until then it is unfinished.
"""

import json
import re

from site_tools import LANGUAGES, ROOT
from site_tools.gates import Finding
from site_tools.gates.page import read_all
from site_tools.gates.parity import nav_entries

MARKER = re.compile(r"\s*# --8<-- \[(start|end):(\w+)\]")
INCLUDE = re.compile(r'--8<-- "([^":]+):(\w+)"')
PARTS = (
    "snippets/{0}/numpy_reference.py",
    "snippets/{0}/pytorch.py",
    "figures/{0}.py",
    "figures/data/{0}.json",
    "tests/snippets/{0}/test_numpy_reference.py",
    "tests/snippets/{0}/test_pytorch.py",
    "docs/zh/{0}.md",
    "docs/en/{0}.md",
)


def chapters(root=ROOT):
    """Return the finished chapters and the unfinished ones."""
    listed = {file for _, file in nav_entries(root, "zh")}
    found = sorted({path.parent.name for path in (root / "snippets").glob("*/*.py") if path.name != "__init__.py"})
    return [name for name in found if f"{name}.md" in listed], [name for name in found if f"{name}.md" not in listed]


def check(root=ROOT):
    finished, unfinished = chapters(root)
    found = read_all(root)
    shown = {language: _shown(found, language) for language in LANGUAGES}
    later = "".join(path.read_text("utf8") for name in unfinished for path in (root / "snippets" / name).glob("*.py"))
    for path in sorted((root / "snippets").glob("*.py")):  # shared: an unfinished chapter may be the one to show it
        file = path.relative_to(root).as_posix()
        yield from (finding for name, finding in _sections(path, file, shown) if name not in later)
    for name in finished:
        for path in sorted((root / "snippets" / name).glob("*.py")):
            yield from (finding for _, finding in _sections(path, path.relative_to(root).as_posix(), shown))
    for name in finished:
        for part in PARTS:
            if not (root / part.format(name)).exists():
                yield Finding(
                    f"{part.format(name)}:1", "COMPLETE-CHAPTER", f"is missing: the chapter {name} is in the nav"
                )
        data = root / f"figures/data/{name}.json"
        for figure in json.loads(data.read_text("utf8")) if data.exists() else ():
            for language in LANGUAGES:
                if f"figures/{figure}.light.svg" not in shown[language]:
                    yield Finding(f"figures/{name}.py:1", "COMPLETE-FIGURE", f"{figure} is on no page ({language})")


def _shown(found, language):
    """Return the sections (file, name) and the figures (path) on the pages of a language."""
    items = [item for versions in found.values() if language in versions for item in versions[language].items]
    sections = {match.groups() for item in items if item.kind == "fence" for match in INCLUDE.finditer(item.value[1])}
    return sections | {item.value.removeprefix("../") for item in items if item.kind == "figure"}


def _sections(path, file, shown):
    """Yield (name, finding) for what is wrong with the sections of a file: open ones, and those that no page shows.

    Imports count as shown: two files may need the same.
    """
    opened = {}
    for n, line in enumerate(path.read_text("utf8").splitlines(), 1):
        if not (match := MARKER.match(line)):
            continue
        kind, name = match.groups()
        if kind == "start":
            opened[name] = n
            missing = [language for language in LANGUAGES if (file, name) not in shown[language]]
            if missing and name != "imports":
                yield name, Finding(f"{file}:{n}", "COMPLETE-SECTION", f"{name} is on no page ({', '.join(missing)})")
        elif opened.pop(name, None) is None:
            yield name, Finding(f"{file}:{n}", "COMPLETE-SECTION", f"[end:{name}] without its start")
    for name, n in opened.items():
        yield name, Finding(f"{file}:{n}", "COMPLETE-SECTION", f"[start:{name}] without its end")
