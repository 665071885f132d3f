"""MkDocs hook: what the theme's pages need beyond templates and CSS.

The way to the other language, figures for both colour schemes, output lines in code, a description for each page, and
small repairs of the theme's HTML. Each repair counts what it replaces, so that a theme upgrade that changes the HTML
fails the build instead of bringing the fault back.
"""

import html
import posixpath
import re
from urllib.parse import urljoin

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url

from site_tools import ROOT

LICENCES = {"licence-code.txt": "LICENSE", "licence-text.txt": "LICENSE-text.md"}
HTML_LANG = {"zh": "zh-Hans", "en": "en"}
SEARCH = {"zh": "搜索", "en": "Search"}
# The link beside a heading, by the language of the page it stands on: where it leads, what it shows, what it is called.
SECTION_LINK = {"zh": ("en", "EN", "This section in English"), "en": ("zh-Hans", "中文", "本节中文版")}


def on_config(config):
    """Turn the palette into the list Material wants; a mapping is what mkdocs.en.yml can inherit."""
    config.theme["palette"] = list(config.theme["palette"].values())
    return config


def on_files(files, config):
    """Publish the texts of the licences, which the footer of every page links to."""
    for name, source in LICENCES.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text("utf-8")))
    return files


# ---- The same page in the other language ----


def twin(url, base_url, language):
    """Return the address of the page `url` in the other language; `base_url` leads to the root of this language."""
    path = posixpath.join(base_url, "en" if language == "zh" else "..", url)
    return posixpath.normpath(path).rstrip("/") + ("/" if path.endswith("/") else "")


def on_page_context(context, page, config, nav):
    context["twin"] = twin(page.url, context["base_url"], config.theme["language"])
    page.meta.setdefault("description", description(page.content) or config.site_description)
    return context


def on_template_context(context, template_name, config):
    context["twin"] = twin("./", context["base_url"], config.theme["language"])
    return context


def link_headings(output, address, language):
    """Put a link to the same heading in the other language after each heading's permalink."""
    lang, text, label = SECTION_LINK[language]
    attributes = f'hreflang="{lang}" lang="{lang}" aria-label="{label}"'
    link = rf'<a class="section-language" href="{address}\1" {attributes}>{text}</a>'
    return re.sub(r'<a class="headerlink" href="(#[^"]+)"[^>]*>[^<]*</a>', rf"\g<0>{link}", output)


def description(content):
    """Return the first paragraph of a page as text, cut at 160 characters, without its formulas."""
    paragraph = re.search(r"<p>(.*?)</p>", re.sub(r'<(span|div) class="arithmatex">.*?</\1>', "…", content), re.S)
    text = html.unescape(re.sub(r"<[^>]+>", "", paragraph[1] if paragraph else "")).strip()
    return text if len(text) <= 160 else text[:159].rstrip() + "…"


# ---- Figures and code ----


def size(svg):
    """Return width and height of an SVG text in CSS pixels, rounded."""
    pixels = {"": 1, "px": 1, "pt": 4 / 3}
    root = re.search(r"<svg\b[^>]*>", svg)[0]
    return [round(float(n) * pixels[unit]) for n, unit in re.findall(r'\s(?:width|height)="([\d.]+)(px|pt|)"', root)]


def lighter_code(content):
    """Mark output lines, and take away the elements around tokens in the colour of plain text: three in four."""
    content = re.sub(r'<span class="c1">(?=#&gt;)', '<span class="c1 output">', content)
    return re.sub(r'<span class="(?:n|p|o|ow|w|kc)">([^<]*)</span>', r"\1", content)


def on_page_content(content, page, config, files):
    """Turn each paragraph that is a figure's light image into a <figure> with both images, of a known size."""

    def both(match):
        alt, src = match["alt"], match["src"]
        images = []
        for scheme in ("light", "dark"):
            address = src.replace(".light.svg", f".{scheme}.svg")
            uri = urljoin(page.url, address)
            source = next((file for file in files if file.url == uri), None)
            if source is None:
                raise PluginError(f"{page.file.src_uri}: {uri} does not exist")
            width, height = size(source.content_string)
            images.append(
                f'<img class="{scheme}" src="{address}" alt="{alt}" width="{width}" height="{height}" loading="lazy">'
            )
        return f"<figure>{''.join(images)}</figure>"

    pattern = r'<p><img alt="(?P<alt>[^"]*)" src="(?P<src>[^"]*\.light\.svg)"\s*/?></p>'
    content, figures = re.subn(pattern, both, content)
    if figures != len(re.findall(r'<img [^>]*src="[^"]*\.light\.svg"', content)):
        raise PluginError(f"{page.file.src_uri}: a figure must stand in a paragraph of its own")
    return lighter_code(content)


# ---- Repairs of the theme's HTML ----


def replace(output, pattern, replacement, count):
    """Replace `pattern`, which must occur `count` times."""
    output, found = re.subn(pattern, replacement, output)
    if found != count:
        raise PluginError(f"theme: {pattern!r} occurs {found} times, not {count}; has the theme changed?")
    return output


def name_formulas_in_headers(output):
    """Name each formula in a table's header cells by its TeX: checkers take a cell of MathML alone for an empty one."""

    def name(formula):
        return f'<math aria-label="{formula["tex"].replace(chr(34), "&quot;")}" {formula["rest"]}'

    def name_all(cell):
        return re.sub(r"<math (?P<rest>.*?<annotation[^>]*>(?P<tex>.*?)</annotation>)", name, cell[0], flags=re.S)

    return re.sub(r"<th[ >].*?</th>", name_all, output, flags=re.S)


def repair(output, language):
    output = replace(output, rf'<html lang="{language}"', f'<html lang="{HTML_LANG[language]}"', 1)
    output = replace(output, r'<div class="md-search"[^>]* role="dialog"', rf'\g<0> aria-label="{SEARCH[language]}"', 1)
    return replace(output, r'(<input class="md-toggle"[^>]*?) autocomplete="off">', r"\1>", 2)


def on_post_page(output, page, config):
    language = config.theme["language"]
    address = twin(page.url, get_relative_url(".", page.url), language)
    output = link_headings(output, address, language)
    return repair(name_formulas_in_headers(output), language)


def on_post_template(output_content, template_name, config):
    return repair(output_content, config.theme["language"]) if template_name == "404.html" else output_content
