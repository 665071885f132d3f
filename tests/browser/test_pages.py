"""What holds for every page: nothing from elsewhere, nothing broken, nothing wider than the screen, open to all."""

from urllib.parse import urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from site_tools import LANGUAGES, ROOT
from site_tools.published import PREFIX

AXE = (ROOT / "node_modules/axe-core/axe.min.js").read_text("utf-8")
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# axe takes seconds for thousands of equal elements. A code block that brings no new token colour becomes plain text;
# so do all formulas but the first three and those in table headers.
FLATTEN = """() => { const seen = new Set();
    for (const code of document.querySelectorAll("pre > code")) {
        const colours = code.checkVisibility() ? [...code.querySelectorAll("span")].map((span) => span.className) : [];
        if (colours.every((name) => seen.has(name))) code.textContent = code.textContent;
        colours.forEach((name) => seen.add(name));
    }
    for (const formula of [...document.querySelectorAll(".katex")].slice(3))
        if (!formula.closest("th")) formula.textContent = formula.querySelector("annotation").textContent; }"""
RUN_AXE = """async (tags) => (await axe.run(document, {runOnly: tags, resultTypes: ["violations"]})).violations
    .map((rule) => `axe ${rule.id}: ` + rule.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(" | "))"""
TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.body.querySelectorAll("*")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 3).map((e) => `<${e.localName} class="${e.className}">`)"""


def addresses(site):
    """Return the address of every page, the 404 pages aside."""
    found = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return sorted(path.removesuffix("index.html") for path in found if not path.endswith("404.html"))


def axe(page):
    if not page.evaluate("'axe' in window"):
        page.evaluate(FLATTEN)
        page.evaluate(AXE)
    return page.evaluate(RUN_AXE, TAGS)


def too_wide(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    return [f"wider than {width} px: {element}" for element in page.evaluate(TOO_WIDE)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_page(site, base, open_page, language):
    page = open_page(width=390)
    wrong = []
    for address in addresses(site / PREFIX[language]):
        if language == LANGUAGES[0] and address.startswith(PREFIX["en"]):
            continue
        page.goto(base + PREFIX[language] + address)
        found = [*axe(page), *too_wide(page, 320), *too_wide(page, 390)]
        wrong += [f"{PREFIX[language]}{address}: {fault}" for fault in found]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("address", ["", "temperature/", "labs/temperature/", "404.html"])
def test_main_pages_in_both_schemes_and_widths(origin, base, built_for, open_page, language, scheme, address):
    page = open_page(color_scheme=scheme)
    if address == "404.html":
        page.allowed = base = origin + built_for
    page.goto(base + PREFIX[language] + address)
    assert page.evaluate("document.body.dataset.mdColorScheme") == {"light": "default", "dark": "slate"}[scheme]
    wrong = axe(page)
    wrong += too_wide(page, 390)
    if scheme == "dark" or address == "404.html":  # the others in light: see test_every_page
        wrong += axe(page)
    assert not wrong, "\n".join(wrong)


def test_links_are_relative_and_heads_complete(site):
    wrong, seen = [], {}
    for address in addresses(site):
        tree = LexborHTMLParser((site / address / "index.html").read_text("utf-8"))
        for node in tree.css("[href], [src]"):
            link = node.attributes.get("href") or node.attributes.get("src") or ""
            absolute = urlsplit(link).scheme not in ("", "data") or link.startswith("/")
            meant = node.attributes.get("rel") == "canonical" or (node.tag == "a" and link.startswith("https://"))
            if absolute and not meant:
                wrong.append(f"{address}: the address {link} of <{node.tag}> is not relative")
        description = tree.css_first('meta[name="description"]').attributes["content"]
        if not 10 <= len(description) <= 200:
            wrong.append(f"{address}: the description has {len(description)} characters: {description}")
        for what in ("title", description):
            text = tree.css_first("title").text() if what == "title" else description
            if text in seen:
                wrong.append(f"{address}: {what!r} is that of {seen[text]}")
            seen[text] = address
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("language", "title"), [("zh", "这一页不存在"), ("en", "This page does not exist")])
def test_404_page_of_each_language(origin, built_for, open_page, language, title):
    page = open_page()
    page.allowed = origin + built_for
    for target in ("own", "other"):
        page.goto(origin + built_for + PREFIX[language] + "404.html")
        assert page.locator("h1").text_content() == title
        page.locator("article section a").nth(0 if target == "own" else 1).click()
        home = language if target == "own" else next(other for other in LANGUAGES if other != language)
        page.wait_for_url(origin + built_for + PREFIX[home])
        assert page.locator(f"html[lang|={home}] article").count() == 1
