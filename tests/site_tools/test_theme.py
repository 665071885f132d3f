"""The theme's hook: addresses of the other language, figures, and repairs that fail when the theme changes."""

from types import SimpleNamespace

import pytest
from mkdocs.exceptions import PluginError

from site_tools.hooks import theme


@pytest.mark.parametrize(
    ("url", "base_url", "language", "address"),
    [
        ("./", ".", "zh", "en/"),
        ("./", ".", "en", "../"),
        ("temperature/", "..", "zh", "../en/temperature/"),
        ("temperature/", "..", "en", "../../temperature/"),
        ("labs/temperature/", "../..", "zh", "../../en/labs/temperature/"),
        ("temperature.html", ".", "zh", "en/temperature.html"),
        ("temperature.html", ".", "en", "../temperature.html"),
        ("./", "/", "zh", "/en/"),  # 404 pages
        ("./", "/en/", "en", "/"),
        ("./", "/softmax/", "zh", "/softmax/en/"),
        ("./", "/softmax/en/", "en", "/softmax/"),
    ],
)
def test_the_address_of_the_other_language(url, base_url, language, address):
    assert theme.twin(url, base_url, language) == address


def test_a_heading_links_to_the_other_language():
    heading = '<h2 id="x">X<a class="headerlink" href="#x" title="Permanent link">&para;</a></h2>'
    linked = theme.link_headings(heading, "../en/temperature/", "zh")
    assert (
        'href="../en/temperature/#x" hreflang="en" lang="en" aria-label="This section in English">EN</a></h2>' in linked
    )


def test_the_description_is_the_first_paragraph_without_formulas_and_not_too_long():
    content = '<h1>T</h1><p>See <em>a</em> &lt; <span class="arithmatex">\\(b\\)</span>.</p><p>More</p>'
    assert theme.description(content) == "See a < …."
    assert len(theme.description(f"<p>{'字' * 300}</p>")) == 160
    assert theme.description("<h1>T</h1>") == ""


def figure(content, *files):
    page = SimpleNamespace(url="temperature/", file=SimpleNamespace(src_uri="temperature.md"))
    svg = '<svg width="480pt" height="240pt" viewBox="0 0 480 240">'
    found = [SimpleNamespace(url=f"figures/{name}", content_string=svg) for name in files]
    return theme.on_page_content(content, page, {}, found)


LIGHT = '<img alt="A &amp; B" src="../figures/a.light.svg" />'


def test_a_figure_has_both_images_and_its_size():
    shown = figure(f"<p>{LIGHT}</p>", "a.light.svg", "a.dark.svg")
    rest = 'alt="A &amp; B" width="640" height="320" loading="lazy">'
    assert shown == (
        f'<figure><img class="light" src="../figures/a.light.svg" {rest}'
        f'<img class="dark" src="../figures/a.dark.svg" {rest}</figure>'
    )


@pytest.mark.parametrize(
    ("content", "files", "message"),
    [
        (f"<p>{LIGHT}</p>", ["a.light.svg"], r"temperature\.md: figures/a\.dark\.svg does not exist"),
        (f"<p>Text {LIGHT}</p>", ["a.light.svg", "a.dark.svg"], "a paragraph of its own"),
    ],
)
def test_a_wrong_figure_stops_the_build(content, files, message):
    with pytest.raises(PluginError, match=message):
        figure(content, *files)


def test_output_lines_are_marked_and_the_text_stays():
    code = (
        '<span class="nb">print</span><span class="p">(</span><span class="mi">1</span><span class="p">)</span>\n'
        '<span class="c1">#&gt; 1</span>\n<span class="c1"># why</span>'
    )
    assert theme.lighter_code(code) == (
        '<span class="nb">print</span>(<span class="mi">1</span>)\n'
        '<span class="c1 output">#&gt; 1</span>\n<span class="c1"># why</span>'
    )


def test_formulas_in_table_headers_have_names():
    formula = '<math xmlns="m"><annotation encoding="application/x-tex">p_1</annotation></math>'
    table = f"<thead><tr><th>{formula}</th></tr></thead><td>{formula}</td>"
    named = theme.name_formulas_in_headers(table)
    assert named == table.replace("<th><math", '<th><math aria-label="p_1"')


PAGE = (
    '<html lang="zh" class="no-js"><input class="md-toggle" id="__drawer" autocomplete="off">'
    '<input class="md-toggle" id="__search" autocomplete="off"><div class="md-search" role="dialog">'
)


def test_repairs():
    repaired = theme.repair(PAGE, "zh")
    assert repaired.startswith('<html lang="zh-Hans"')
    assert "autocomplete" not in repaired
    assert 'role="dialog" aria-label="搜索">' in repaired


@pytest.mark.parametrize("gone", ["lang=", "autocomplete=", "role="])
def test_a_theme_that_has_changed_stops_the_build(gone):
    with pytest.raises(PluginError, match="has the theme changed"):
        theme.repair(PAGE.replace(gone, "data-x=", 1), "zh")
