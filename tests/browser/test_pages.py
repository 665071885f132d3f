"""What holds for every page: nothing from elsewhere, nothing broken, nothing wider than the screen, open to all."""

from urllib.parse import urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser

from site_tools import LANGUAGES, ROOT
from site_tools.published import PREFIX

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
SCRIPTS = ROOT / "node_modules/axe-core/axe.min.js", ROOT / "tests/browser/audit.js"


def addresses(site):
    """Return the addresses of the pages of a language, the 404 page aside."""
    found = (path.relative_to(site).as_posix() for path in site.rglob("index.html"))
    return sorted(path.removesuffix("index.html") for path in found if not path.startswith(PREFIX["en"]))


def prepared(page):
    """Return the page, ready for `axe` and `too_wide`."""
    for script in SCRIPTS:
        page.add_init_script(path=script)
    return page


def visit(pages, urls):
    """Load two pages at the same time: most of the time here is the browser's, and it has a process for each."""
    for page, url in zip(pages, urls, strict=True):
        page.goto(url, wait_until="commit")
    for page in pages:
        page.wait_for_load_state()


def faults(pages, base, script):
    """Return what the script finds on each page, with the page's address."""
    found = [(page.url.removeprefix(base), page.evaluate(script)) for page in pages]
    return [f"{address}: {fault}" for address, faults in found for fault in faults]


def axe(pages, base):
    for page in pages:
        page.evaluate("tags => startAudit(tags)", TAGS)
    return faults(pages, base, "found")


def too_wide(pages, base, width):
    for page in pages:
        page.set_viewport_size({"width": width, "height": 800})
    return faults(pages, base, "tooWide()")


def test_every_page(site, base, open_page):
    assert addresses(site) == addresses(site / "en")
    pages = [prepared(open_page(width=390)) for _ in LANGUAGES]
    wrong = []
    for address in addresses(site):
        visit(pages, [base + PREFIX[language] + address for language in LANGUAGES])
        wrong += [*axe(pages, base), *too_wide(pages, base, 320), *too_wide(pages, base, 390)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("address", ["", "en/temperature/", "labs/temperature/", "404.html", "en/404.html"])
def test_main_pages_in_both_schemes_and_widths(origin, base, built_for, open_page, address):
    pages = [prepared(open_page(color_scheme=scheme)) for scheme in ("light", "dark")]
    if address.endswith("404.html"):
        base = origin + built_for
        for page in pages:
            page.allowed = base
    visit(pages, [base + address] * 2)
    assert [page.evaluate("document.body.dataset.mdColorScheme") for page in pages] == ["default", "slate"]
    wrong = axe(pages, base)
    wrong += too_wide(pages, base, 390)
    wrong += axe(pages, base)
    assert not wrong, "\n".join(wrong)


def test_links_are_relative_and_heads_complete(site):
    wrong, seen = [], {}
    for address in [prefix + address for prefix in PREFIX.values() for address in addresses(site)]:
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
def test_404_page_of_each_language(site, built_for, language, title):
    tree = LexborHTMLParser((site / PREFIX[language] / "404.html").read_text("utf-8"))
    homes = [built_for + PREFIX[other] for other in sorted(LANGUAGES, key=lambda other: other != language)]
    assert tree.css_first("h1").text() == title
    assert [link.attributes["href"] for link in tree.css("article section a")] == homes
