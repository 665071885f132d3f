"""What of the book's style rules a program can check: ZH-1 to ZH-5, MATH-2 and TEXT-5."""

import re

from site_tools import ROOT
from site_tools.gates import Finding
from site_tools.gates.page import read_all

HAN = "\u3400-\u9fff"
OPENING, CLOSING = "（“《", "，。；：？！）”》、"
FULL = OPENING + CLOSING
WIDE = HAN + FULL
# rule, what to look for in the prose of a page (each piece of code or maths is an x there), what to say
CHINESE = [
    ("ZH-1", rf"[{HAN}]\s?[,;:?!]|[{HAN}]\.(?!\w)|[,;:?!]\s?[{HAN}]", "half-width punctuation beside Chinese"),
    (
        "ZH-1",
        rf"[{HAN}]\s?\(|\([^()]*[{HAN}][^()]*\)|(?:^|\s)\([^()]*\)\s?[{HAN}]",
        "half-width parentheses in Chinese",
    ),
    ("ZH-1", rf"[{WIDE}]\s?[\"']|[\"']\s?[{WIDE}]", "straight quotes beside Chinese: write “”"),
    (
        "ZH-1",
        rf"[{HAN}][A-Za-z0-9$\\]|[A-Za-z0-9%][{HAN}]",
        "no space between Chinese and Latin, digits, code or maths",
    ),
    ("ZH-1", rf"[ \t][{CLOSING}]|[{FULL}][ \t]+\S", "a space beside full-width punctuation"),
    ("ZH-2", rf"[{WIDE}]\n[{WIDE}]", "a line break between Chinese characters renders a space"),
]
ENGLISH = [("ZH-1", "[，。；：？！（）《》、]", "full-width punctuation in English text")]
LOOK_ALIKES = [
    ("[\u0400-\u04ff]", "a Cyrillic letter"),
    ("[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]", "a full-width letter or digit"),
    ("\u2212", "U+2212: write a hyphen-minus, or the formula as maths"),
    ("[\u00a0\u200b-\u200f\u2060\u3000\ufeff]", "an invisible character"),
    ("[\u2e80-\u2fdf\uf900-\ufaff]", "a compatibility character that looks like an ordinary one"),
]
SOFTMAX_OF_ENTRY = re.compile(r"softmax\}?\s*(?:\\left)?\(\s*[a-z]+_(?:[ijk]|\{[ijk]\})\s*(?:/\s*T\s*)?(?:\\right)?\)")
ASCII_ID = re.compile(r"[a-z][a-z0-9-]*$")
TEXT_COMMAND = re.compile(r"\\text\w*\{[^{}]*\}")


def check(root=ROOT):
    for _, versions in sorted(read_all(root).items()):
        for page in versions.values():
            for prose in page.prose:
                for rule, message in _in_prose(prose, page.language):
                    yield Finding(page.at(prose.line), rule, message)
            for item in page.items:
                if item.kind == "heading" and not ASCII_ID.match(item.value[1]):
                    yield Finding(page.at(item.line), "ZH-5", "the heading has no ASCII id such as { #why-exp }")


def _in_prose(prose, language):
    yield from (fault for kind, content in prose.parts if kind == "alt" for fault in _alt(content, language))
    text = prose.text()
    for rule, pattern, message in CHINESE if language == "zh" else ENGLISH:
        for match in re.finditer(pattern, text):
            yield rule, f"{message}: {_around(text, match)}"
    whole = "".join(content for _, content in prose.parts)
    for pattern, message in LOOK_ALIKES:
        for match in re.finditer(pattern, whole):
            yield "ZH-1", f"{message}: {_around(whole, match)}"
    if language == "zh":
        for char in sorted(set(re.findall(f"[{HAN}]", text))):
            if not _is_simplified(char):
                yield "ZH-1", f"not a simplified character: {char}"
    if match := SOFTMAX_OF_ENTRY.search(whole):
        yield "MATH-2", f"softmax depends on all of z: write softmax(z)_i, not {match[0]}"
    yield from _marks(prose)


def _marks(prose):
    """Bold marks and dollars: what the parser made of them."""
    for n, (kind, content) in enumerate(prose.parts):
        inside = (
            prose.parts[n + 1 : n + 2] if kind == "open" else prose.parts[n - 1 : n] if kind == "close" and n else ()
        )
        if any(text and text[0 if kind == "open" else -1] in FULL for _, text in inside):
            yield "ZH-3", f"full-width punctuation inside the bold marks: {inside[0][1]}"
        if kind == "text" and "**" in content:
            yield "ZH-3", f"asterisks that do not become bold: {content.strip()}"
        if kind == "text" and "$" in content:
            yield "ZH-4", rf"a dollar sign that opens no formula: write \$ for money: {content.strip()}"
        if kind == "math" and re.search(f"[{WIDE}]", TEXT_COMMAND.sub("", content)):
            yield "ZH-4", rf"Chinese in a formula: write \$ for money, \text{{}} for words: {content.strip()}"


def _alt(alt, language):
    if not re.search(r"\w", alt):
        yield "TEXT-5", "the figure has no alt text"
    elif (language == "zh") != bool(re.search(f"[{HAN}]", alt)):
        yield "TEXT-5", f"the alt text is not in the page's language: {alt}"


def _is_simplified(char):
    try:
        return bool(char.encode("gb2312"))  # the character set of the People's Republic: 6763 simplified characters
    except UnicodeEncodeError:
        return False


def _around(text, match, width=8):
    return repr(text[max(0, match.start() - width) : match.end() + width])
