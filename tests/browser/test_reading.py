"""What a reader does: switch the language, search, copy, choose a tab, look at the figures."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from site_tools.published import published

CHAPTER, LAB = "temperature/", "labs/temperature/"


def heading_ids(site, address):
    tree = LexborHTMLParser((site / address / "index.html").read_text("utf-8"))
    return [node.attributes["id"] for node in tree.css("article :is(h2, h3)[id]")]


# ---- The other language ----


def test_language_switch_keeps_page_and_heading(site, base, open_page):
    first, second, *_ = heading_ids(site, LAB)
    page = open_page(height=500)
    page.goto(f"{base}{LAB}#{first}")
    page.click(".language")  # the heading in the address
    page.wait_for_url(f"{base}en/{LAB}#{first}")
    page.evaluate("id => document.getElementById(id).scrollIntoView()", second)
    page.click(".language")  # the heading in view
    page.wait_for_url(f"{base}{LAB}#{second}")
    page.evaluate("scrollTo(0, 0)")
    page.click(".language")  # the top of the page
    page.wait_for_url(base + "en/" + LAB)


def test_language_switch_without_script(site, base, open_page):
    page = open_page(java_script_enabled=False)
    heading = heading_ids(site, LAB)[-1]
    page.goto(base)
    page.click(".language")
    assert page.url == base + "en/"
    page.goto(base + LAB)
    page.click(".language")
    assert page.url == base + "en/" + LAB
    page.click(f"#{heading} .section-language")
    assert page.url == f"{base}{LAB}#{heading}"
    page.click(f"#{heading} .section-language")
    assert page.url == f"{base}en/{LAB}#{heading}"


def test_an_anchor_lands_below_the_header(site, base, open_page):
    heading = heading_ids(site, CHAPTER)[-3]  # far down: whatever moves while the page loads adds up
    page = open_page(height=500)
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 500})
        page.goto("about:blank")
        page.goto(f"{base}{CHAPTER}#{heading}")
        top = page.evaluate("id => document.getElementById(id).getBoundingClientRect().top", heading)
        header = page.evaluate("document.querySelector('.md-header').getBoundingClientRect().bottom")
        assert header <= top <= 250, (width, header, top)


# ---- Search ----


@pytest.mark.parametrize(
    ("home", "pages"),
    [
        ("", {"温度": CHAPTER, "困惑度": "glossary/", "半精度": "glossary/", "temperature": "glossary/"}),
        ("en/", {"temperature": CHAPTER, "perplexity": "glossary/", "half precision": "glossary/"}),
    ],
)
def test_search_finds_the_page_first_or_second(base, open_page, home, pages):
    page = open_page()
    page.goto(base + home)
    page.click("input.md-search__input")

    def results(words, done):
        """Type the words, as an input method does, and return the pages found as soon as they are `done`."""
        page.fill("input.md-search__input", "")
        page.keyboard.insert_text(words)
        for _ in range(100):
            page.keyboard.press("End")  # the theme searches when a key comes up
            links = page.locator(".md-search-result__item > a:first-child").evaluate_all(
                "all => all.map((a) => a.href)"
            )
            found = [link.partition("?")[0].partition("#")[0].removeprefix(base + home) for link in links]
            if done(found):
                break
            page.wait_for_timeout(50)
        return found

    wrong = []
    for words, wanted in pages.items():
        found = results(words, lambda found, wanted=wanted: wanted in found[:2])
        if wanted not in found[:2]:
            wrong.append(f"{words}: found {found}, not {wanted} first or second")
        results("", lambda found: not found)
    assert not wrong, "\n".join(wrong)


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
