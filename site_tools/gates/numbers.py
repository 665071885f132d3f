r"""Every decimal and percentage on a page is computed there, or quoted with its source; both languages have the same.

A number is computed if it equals, rounded to its digits, a number in an output (`#> ` line) or in the code of the
page's blocks, or in figures/data/<page>.json; 12.3 % may be 0.123 there. Others stand in docs/quoted_figures.toml:

    [[figure]]
    page = "temperature"
    value = "0.7"
    what = "default temperature of ..."
    source = "key in docs/references.toml"
    date = "2026-11"

0 and 1 need no source. Not meant: whole numbers, versions (2.13.0, PyTorch 2.13, Qwen2.5), sections (§3.2, 3.2 节),
arXiv ids, sizes (1.5B, 1.5 GB).
"""

import ast
import json
import re
import tokenize
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass

from site_tools import LANGUAGES, ROOT
from site_tools.execute import shown_outputs
from site_tools.gates import Finding
from site_tools.gates.page import ATTRIBUTES, read_all
from site_tools.page_code import fences

QUOTED = "docs/quoted_figures.toml"
KEYS = {"page", "value", "what", "source", "date"}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>(?<![\w)}\]])[-−])?(?P<digits>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?!\.?\d)"
    r"(?:[eE](?P<e>[-+]?\d+)|\s*(?:×|·|\\times|\\cdot)\s*10(?:\^\{?(?P<tex>[-−+]?\d+)\}?|(?P<sup>[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)))?"
    r"(?P<percent>\s*\\?%)?(?P<unit>\s*[kKMGT]i?B\b|\s?[BM]\b|\s*节)?",
    re.ASCII,
)
BEFORE = re.compile(
    r"(?:[A-Za-z]-?|§\s*|arXiv:?\s*|(?:Python|NumPy|PyTorch|SciPy|CUDA|Triton|KaTeX|version|Llama|Gemma|Qwen|Mistral|GPT|Claude"
    r"|[Ss]ections?|[Ss]ec\.|[Ee]q\.|[Ee]quation|[Tt]heorem|[Tt]able|[Ff]igure|[Aa]ppendix|第|式|表|图|版本)\s*\(?)$"
)
IDENTIFIER = re.compile(r"\d{4}\.\d{5}$|10\.\d{4,}$")  # arXiv, DOI
PRINTED = re.compile(r"(?<![\w.])-?(?:(?:\d{1,3}(?:,\d{3})+|\d+)\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:\s?%)?")


@dataclass(frozen=True)
class Number:
    """A number as a page shows it: its value, half a unit of its last digit, whether its sign is written."""

    shown: str
    value: float
    slack: float
    signed: bool

    def is_near(self, other):
        other = other if self.signed else abs(other)
        return abs(other - self.value) <= self.slack * (1 + 1e-9) + 1e-15 * abs(self.value)


def numbers(text):
    """Return the decimals and percentages in a piece of prose, code or maths."""
    text = re.sub(r"\\(?!times|cdot|%)[A-Za-z]+", "\\\\", text).replace("{,}", ",")
    found = []
    for match in NUMBER.finditer(text):
        digits, percent = match["digits"].replace(",", ""), bool(match["percent"])
        whole = "." not in digits
        if (whole and not percent) or match["unit"] or BEFORE.search(text[: match.start()]) or IDENTIFIER.match(digits):
            continue
        exponent = int((match["e"] or match["tex"] or (match["sup"] or "0").translate(SUPERSCRIPTS)).replace("−", "-"))
        exponent -= 2 * percent
        sign = "-" if match["sign"] else ""
        value = float(f"{sign}{digits}e{exponent}")
        slack = 0.5 * 10.0 ** (exponent - (0 if whole else len(digits.partition(".")[2])))
        shown = f"{sign}{digits}" + (f"e{exponent + 2 * percent}" if exponent + 2 * percent else "") + "%" * percent
        found.append(Number(shown, value, slack, bool(sign)))
    return found


def page_numbers(page):
    """Return (line, Number) for each number in the prose, tables and formulas of a page."""
    found = []
    for prose in page.prose:
        stretch = ""
        for kind, text in (*prose.parts, ("math", "")):  # text around code and maths is read on its own
            if kind in ("code", "math"):
                pieces = ATTRIBUTES.sub("", stretch), text
                found += [(prose.line, number) for piece in pieces for number in numbers(piece)]
                stretch = ""
            elif kind in ("text", "escape", "alt", "break"):
                stretch += text or " "
    return found


def computed(page, root):
    """Return the numbers in the outputs and the code of a page's blocks, and in its figures' data."""
    values = set()
    for fence in fences(root / page.file, root):
        if fence.language != "python":
            continue
        try:
            outputs = " ".join(line for lines in shown_outputs(fence.code).values() for line in lines)
            tree = ast.parse(fence.code)
        except (SyntaxError, tokenize.TokenError):
            continue  # found when the block is run
        for printed in PRINTED.findall(outputs):
            values.add(float(printed.rstrip("% ").replace(",", "")) / (100 if "%" in printed else 1))
        literals = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
        values.update(float(value) for value in literals if type(value) in (int, float))
    data = root / f"figures/data/{page.name}.json"
    if data.exists():
        keep = lambda text: values.add(float(text))  # noqa: E731
        json.loads(data.read_text("utf8"), parse_float=keep, parse_int=keep)
    return values


def check(root=ROOT):
    quoted, used = defaultdict(dict), set()  # page: number as shown: lines of docs/quoted_figures.toml
    for line, entry, fault in _quotes(root):
        if fault:
            yield Finding(f"{QUOTED}:{line}", "NUMBER-QUOTE", fault)
        else:
            quoted[entry["page"]].setdefault(numbers(entry["value"])[0].shown, []).append(line)
    for name, versions in sorted(read_all(root).items()):
        shown = {language: page_numbers(page) for language, page in versions.items()}
        for language, page in versions.items():
            values = computed(page, root)
            for line, number in shown[language]:
                if number.shown in quoted[name]:
                    used.add((name, number.shown))
                elif number.value not in (0, 1) and not any(number.is_near(value) for value in values):
                    message = f"{number.shown} is neither computed on this page nor in {QUOTED}"
                    yield Finding(page.at(line), "NUMBER-STRAY", message)
        if set(versions) == set(LANGUAGES):
            yield from _same(versions, shown)
    for name, lines in quoted.items():
        for shown in lines.keys() - {number for page, number in used if page == name}:
            yield Finding(f"{QUOTED}:{lines[shown][0]}", "NUMBER-UNUSED", f"{shown} is not on page {name}")


def _quotes(root):
    """Yield (line, entry, what is wrong with it or "") for each quoted figure."""
    text = (root / QUOTED).read_text("utf8") if (root / QUOTED).exists() else ""
    lines = [n for n, line in enumerate(text.splitlines(), 1) if line.strip() == "[[figure]]"]
    for line, entry in zip(lines, tomllib.loads(text).get("figure", []), strict=True):
        fault = ""
        if set(entry) != KEYS:
            fault = f"has the keys {', '.join(entry)}, needs {', '.join(sorted(KEYS))}"
        elif entry["source"] not in tomllib.loads((root / "docs/references.toml").read_text("utf8")):
            fault = f"source {entry['source']!r} is not in docs/references.toml"
        elif not re.fullmatch(r"\d{4}(-\d\d){1,2}", entry["date"]) or len(numbers(entry["value"])) != 1:
            fault = "date must be like 2026-11 or 2026-11-29, value one decimal or percentage"
        yield line, entry, fault


def _same(versions, shown):
    counts = {language: Counter(number.shown for _, number in found) for language, found in shown.items()}
    for here, there in (LANGUAGES, LANGUAGES[::-1]):
        surplus = counts[here] - counts[there]
        for line, number in shown[here]:
            if surplus[number.shown] > 0:
                surplus[number.shown] -= 1
                message = f"{number.shown} is here and not in {versions[there].file}, or more often"
                yield Finding(versions[here].at(line), "NUMBER-PARITY", message)
