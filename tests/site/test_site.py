"""The built site: search, formulas, labs, and what search engines are told."""

import json
import re
from urllib.parse import urljoin
from xml.etree import ElementTree

import pytest
from selectolax.lexbor import LexborHTMLParser

from site_tools import LANGUAGES

NAMES = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}


@pytest.fixture(scope="module")
def pages(site):
    """Every page as HTML text, by its address below the root of the site."""
    return {path.parent.relative_to(site).as_posix(): path.read_text("utf-8") for path in site.rglob("index.html")}


@pytest.mark.parametrize(
    ("language", "word", "page"),
    [
        ("zh", "温度", "temperature/"), ("zh", "困惑度", "glossary/"), ("zh", "半精度", "glossary/"),
        ("zh", "temperature", "temperature/"), ("en", "temperature", "temperature/"), ("en", "困惑度", "glossary/"),
    ],
)  # fmt: skip
def test_a_word_is_in_the_search_index(site, language, word, page):
    index = json.loads((site / ("" if language == "zh" else language) / "search/search_index.json").read_text("utf-8"))
    separator = index["config"]["separator"]
    found = [
        entry["location"]
        for entry in index["docs"]
        if word in re.split(separator, f"{entry['title']} {re.sub('<[^>]+>', ' ', entry['text'])}".lower())
    ]
    assert any(location.startswith(page) for location in found)
    locations = [entry["location"] for entry in index["docs"]]
    assert len(set(locations)) == len(locations), "two entries of one address break every search that finds them"


def test_formulas_are_rendered(site, pages):
    for address, html in pages.items():
        article = LexborHTMLParser(html).css_first("article")
        prose = "".join(node.text() for node in article.css("p, li, td, h1, h2, h3"))
        assert not re.search(r"\\[([]|arithmatex", prose), address
        assert ("katex.min.css" in html) == ('class="katex"' in html), address
        assert html.count('class="katex"') == html.count("<math "), address
    folder = site / "assets/katex"
    for font in re.findall(r"url\(([^)]+)\)", (folder / "katex.min.css").read_text()):
        assert (folder / font).is_file()


def test_labs_are_pages_like_the_others(pages):
    labs = {address: html for address, html in pages.items() if "labs/" in address}
    assert len(labs) >= len(LANGUAGES)
    for address, html in labs.items():
        tree = LexborHTMLParser(html)
        assert html.lstrip().startswith("<!doctype html>"), address
        assert len(html) < 150_000, address
        assert tree.css("div.cell") and tree.css("div.output")
        assert all(re.fullmatch(r"[a-z0-9-]+", node.id or "") for node in tree.css("article :is(h1, h2, h3)")), address


def test_search_engines_are_told_of_both_languages(site, pages):
    robots = (site / "robots.txt").read_text()
    maps = re.findall(r"^Sitemap: (.*)$", robots, re.M)
    root = urljoin(maps[0], ".")
    assert maps == [f"{root}sitemap.xml", f"{root}en/sitemap.xml"]
    listed = set()
    for address in maps:
        for page in ElementTree.parse(site / address.removeprefix(root)).iterfind("s:url", NAMES):
            own = page.findtext("s:loc", namespaces=NAMES)
            links = {link.get("hreflang"): link.get("href") for link in page.iterfind("x:link", NAMES)}
            chinese = own.replace(f"{root}en/", root)
            assert links == {"zh-Hans": chinese, "en": chinese.replace(root, f"{root}en/"), "x-default": chinese}
            listed.add(own)
            html = pages[own.removeprefix(root).strip("/") or "."]
            assert f'<link rel="canonical" href="{own}">' in html
    assert listed == {f"{root}{address}/".replace("/./", "/") for address in pages}
