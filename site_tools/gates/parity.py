"""The two languages have the same pages, at the same place, with the same structure in the same order."""

import re
from difflib import SequenceMatcher
from itertools import zip_longest
from posixpath import dirname, join, normpath

import yaml

from site_tools import LANGUAGES, ROOT
from site_tools.gates import Finding
from site_tools.gates.page import read_all

CONFIGS = {"zh": "mkdocs.yml", "en": "mkdocs.en.yml"}
ORDERED = ("heading", "fence", "formula", "figure", "table", "box", "footnote text")
ANY_ORDER = ("link", "footnote")  # within a section: word order differs
TEXT = re.compile(r"\\text(?:bf|it|rm)?\{[^{}]*\}")


def check(root=ROOT):
    found = read_all(root)
    for _, versions in sorted(found.items()):
        if missing := set(LANGUAGES) - set(versions):
            (page,) = versions.values()
            yield Finding(page.at(1), "PARITY-PAGE", f"there is no {missing.pop()} version of this page")
        else:
            zh, en = (versions[language] for language in LANGUAGES)
            for kind in ORDERED:
                yield from _differences(kind, _values(zh, kind), _values(en, kind), zh, en)
            for kind in ANY_ORDER:
                yield from _differences(kind, *map(sorted, (_in_sections(zh, kind), _in_sections(en, kind))), zh, en)
    yield from _nav(root, found)


def _values(page, kind):
    """Return the (comparable value, line) pairs of one kind, in order."""
    return [(_comparable(page, kind, item.value), item.line) for item in page.items if item.kind == kind]


def _in_sections(page, kind):
    section, pairs = "", []
    for item in page.items:
        if item.kind == "heading":
            section = item.value[1]
        elif item.kind == kind and (value := _comparable(page, kind, item.value)):
            pairs.append(((section, value), item.line))
    return pairs


def _comparable(page, kind, value):
    if kind == "formula":
        return re.sub(r"\s+", "", TEXT.sub(r"\\text{}", value))
    if kind == "link":  # to other sites each language may point to its own
        path, _, anchor = value.partition("#")
        return "" if re.match(r"\w+:", value) else normpath(join(dirname(page.name), path or page.name)) + "#" + anchor
    return value


def _differences(kind, zh_values, en_values, zh, en):
    """Yield a finding for each run of values that one page has and the other has not."""
    left, right = [value for value, _ in zh_values], [value for value, _ in en_values]
    rule = f"PARITY-{kind.upper().replace(' ', '-')}"
    for tag, i, i_end, j, j_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for here, there in zip_longest(zh_values[i:i_end], en_values[j:j_end]):
            if here and there:
                yield Finding(zh.at(here[1]), rule, f"{here[0]!r}, but {there[0]!r} at {en.at(there[1])}")
            else:
                page, other, (value, line) = (zh, en, here) if here else (en, zh, there)
                yield Finding(page.at(line), rule, f"{value!r} is missing in {other.file}")


def nav_entries(root, language):
    """Return (depth, file) for each entry of the nav of a language; a section is (depth, "")."""
    config = yaml.load((root / CONFIGS[language]).read_text("utf8"), yaml.BaseLoader)  # BaseLoader: any tag is text
    return list(_entries(config.get("nav", [])))


def _entries(nav, depth=0):
    for entry in nav:
        target = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(target, str):
            yield depth, target
        else:
            yield depth, ""
            yield from _entries(target, depth + 1)


def _nav(root, found):
    zh, en = (nav_entries(root, language) for language in LANGUAGES)
    for here, there in zip_longest(zh, en):
        if here != there:
            yield Finding(
                f"{CONFIGS['en']}:1", "PARITY-NAV", f"has {there} in the nav where {CONFIGS['zh']} has {here}"
            )
            break
    for name, versions in sorted(found.items()):
        if f"{name}.md" not in {file for _, file in zh}:
            page = next(iter(versions.values()))
            yield Finding(page.at(1), "PARITY-NAV", f"the page is not in the nav of {CONFIGS['zh']}")
