"""What a reader does: switch the language, search, copy, choose a tab, look at the figures."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from site_tools.published import published

CHAPTER, LAB = "temperature/", "labs/temperature/"


def heading_ids(site, address):
    tree = LexborHTMLParser((site / address / "index.html").read_text("utf-8"))
    return [node.attributes["id"] for node in tree.css("article :is(h2, h3)[id]")]


# ---- The other language ----


@pytest.mark.parametrize(("here", "there"), [("", "en/"), ("en/", "")])
def test_language_switch_keeps_page_and_heading(site, base, open_page, here, there):
    page = open_page(height=500)
    first, second, *_ = heading_ids(site, here + LAB)

    page.goto(base + here + LAB)  # at the top
    page.click(".language")
    page.wait_for_url(base + there + LAB)

    page.goto(f"{base}{here}{LAB}#{first}")  # by its address
    page.click(".language")
    page.wait_for_url(f"{base}{there}{LAB}#{first}")

    page.goto(base + here + LAB)  # by scrolling
    page.evaluate("id => document.getElementById(id).scrollIntoView()", second)
    page.click(".language")
    page.wait_for_url(f"{base}{there}{LAB}#{second}")


@pytest.mark.parametrize(("here", "there"), [("", "en/"), ("en/", "")])
def test_language_switch_without_script(site, base, open_page, here, there):
    page = open_page(java_script_enabled=False)
    for address in ("", LAB):
        page.goto(base + here + address)
        page.click(".language")
        assert page.url == base + there + address
    heading = heading_ids(site, here + CHAPTER)[-1]
    page.goto(base + here + CHAPTER)
    page.click(f"#{heading} .section-language")
    assert page.url == f"{base}{there}{CHAPTER}#{heading}"


def test_an_anchor_lands_below_the_header(site, base, open_page):
    for width in (390, 1280):
        page = open_page(width=width, height=500)
        heading = heading_ids(site, CHAPTER)[-3]  # far down: whatever moves while the page loads adds up
        page.goto(f"{base}{CHAPTER}#{heading}")
        top = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", heading)
        header = page.evaluate("document.querySelector('.md-header').getBoundingClientRect().bottom")
        assert header <= top <= 250, (width, header, top)


# ---- Search ----


@pytest.mark.parametrize(
    ("home", "words", "found"),
    [
        ("", "温度", CHAPTER),
        ("", "困惑度", "glossary/"),
        ("", "半精度", "glossary/"),
        ("", "temperature", "glossary/"),
        ("en/", "temperature", CHAPTER),
        ("en/", "perplexity", "glossary/"),
        ("en/", "half precision", "glossary/"),
    ],
)
def test_search_finds_the_page_first_or_second(base, open_page, home, words, found):
    page = open_page()
    page.goto(base + home)
    page.click("input.md-search__input")
    page.keyboard.insert_text(words)  # as an input method does
    items = page.locator(".md-search-result__item > a:first-child")
    for _ in range(100):
        page.keyboard.press("End")  # the theme searches when a key comes up, once its index is there
        if items.count():
            break
        page.wait_for_timeout(100)
    links = items.evaluate_all("links => links.map((link) => link.href)")
    places = [link.split("?")[0].split("#")[0] for link in links]
    assert base + home + found in places[:2], places


# ---- Code ----


def test_copy_button_gives_the_text_of_the_block(site, base, open_page):
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(base + CHAPTER)
    copied = []
    buttons = page.locator("article [data-md-type=copy]")
    for n in [n for n in range(buttons.count()) if buttons.nth(n).is_visible()][:6]:
        page.evaluate("navigator.clipboard.writeText('')")
        buttons.nth(n).click()
        page.wait_for_function("async () => (await navigator.clipboard.readText()) !== ''")
        copied.append(page.evaluate("navigator.clipboard.readText()"))
    shown = [text for _, text in published(site)[f"{CHAPTER}index.html"]]
    assert len(copied) == 6
    assert [text for text in copied if text not in shown] == []


def test_the_chosen_tab_is_remembered(site, base, open_page):
    tabbed = [
        path.parent.name for path in sorted(site.glob("*/index.html")) if 'class="tabbed-set' in path.read_text("utf-8")
    ]
    page = open_page()
    page.goto(f"{base}{tabbed[0]}/")
    page.locator(".tabbed-labels").first.get_by_text("PyTorch").click()
    page.goto(f"{base}{tabbed[-1]}/")
    chosen = page.locator(".tabbed-set > input:checked").evaluate_all(
        "inputs => inputs.map((input) => document.querySelector(`label[for=${input.id}]`).textContent)"
    )
    assert chosen
    assert set(chosen) == {"PyTorch"}


# ---- Figures ----


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_only_figures_of_the_current_scheme_are_fetched(base, open_page, scheme):
    page = open_page(color_scheme=scheme, width=390)
    page.add_init_script(
        """window.shift = 0;
        new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value; })
          .observe({ type: "layout-shift", buffered: true });"""
    )
    page.goto(base + CHAPTER)
    figures = page.locator("article figure")
    for n in range(figures.count()):
        image = figures.nth(n).locator(f"img.{scheme}")
        image.scroll_into_view_if_needed()
        page.wait_for_function("image => image.complete && image.naturalWidth > 0", arg=image.element_handle())
    fetched = [url for url in page.requested if url.endswith(".svg") and "/figures/" in url]
    assert len(set(fetched)) == figures.count() > 0
    assert [url for url in fetched if not url.endswith(f".{scheme}.svg")] == []
    assert page.evaluate("window.shift") < 0.02


def test_figures_without_script(base, open_page):
    page = open_page(java_script_enabled=False)
    page.goto(base + CHAPTER)
    figure = page.locator("article figure").first
    assert figure.locator("img.light").is_visible()
    assert not figure.locator("img.dark").is_visible()
