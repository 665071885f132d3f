"""MkDocs hook: turn TeX into HTML and MathML with KaTeX while the site is built.

KaTeX runs inside V8 (mini-racer), so a page needs no script, and a TeX error stops the build with the page's name; so
does Chinese outside \\text{}. The search index is written before this hook sees a page: it keeps the TeX.
"""

import html
import json
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File
from mkdocs.utils import get_relative_url
from py_mini_racer import JSEvalException, MiniRacer

from site_tools import ROOT

KATEX = ROOT / "node_modules/katex"
CSS = "assets/katex/katex.min.css"
PAGE_MATH = re.compile(r'<(span|div) class="arithmatex">\s*(?:\\\((.*?)\\\)|\\\[(.*?)\\\])\s*</\1>', re.S)
CONTENTS_MATH = re.compile(r"()\\\((.+?)\\\)()", re.S)  # same groups; a heading in the table of contents is plain text


class Renderer:
    """KaTeX, and the formulas it has rendered so far: kept on disk, since most of a page stays as it was."""

    def __init__(self, path):
        self.path, self.engine, self.used = path, None, {}
        self.known = json.loads(path.read_text("utf-8")) if path.exists() else {}

    def render(self, tex, display):
        key = f"{'display' if display else 'inline'} {tex}"
        if key not in self.used:
            self.used[key] = self.known.get(key) or self.run_katex(tex, display)
        return self.used[key]

    def run_katex(self, tex, display):
        if self.engine is None:
            self.engine = MiniRacer()
            self.engine.eval("var self = globalThis;" + (KATEX / "dist/katex.min.js").read_text("utf-8"))
        options = {"displayMode": display, "throwOnError": True, "strict": "error", "output": "htmlAndMathml"}
        try:
            return self.engine.call("katex.renderToString", tex, options)
        except JSEvalException as error:
            reason = next(line for line in str(error).splitlines() if line.strip())
            raise ValueError(f"the formula {tex!r} is wrong: {reason}") from None

    def close(self):
        """Stop V8: left running, it now and then keeps the process from ending."""
        if self.engine:
            self.engine.close()

    def save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(self.used, ensure_ascii=False), "utf-8")
        part.replace(self.path)


renderer = None  # of the build that is running


def on_config(config):
    global renderer
    version = json.loads((KATEX / "package.json").read_text("utf-8"))["version"]
    renderer = Renderer(ROOT / f".cache/formulas-{config.theme['language']}-{version}.json")
    return config


def on_files(files, config):
    """Publish KaTeX's style sheet and the woff2 fonts it asks for."""
    css = (KATEX / "dist/katex.min.css").read_text("utf-8")
    css = re.sub(r',url\([^)]+\.(?:woff|ttf)\) format\("[a-z]+"\)', "", css)
    files.append(File.generated(config, CSS, content=css))
    for font in sorted((KATEX / "dist/fonts").glob("*.woff2")):
        files.append(File.generated(config, f"{Path(CSS).parent}/fonts/{font.name}", abs_src_path=str(font)))
    return files


def replace_math(text, pattern):
    """Return `text` with every match of `pattern` rendered."""

    def formula(match):
        tag, inline, display = match.groups()
        rendered = renderer.render(html.unescape(inline or display).strip(), display=not inline)
        return f'<{tag} class="math">{rendered}</{tag}>' if tag else rendered

    return pattern.sub(formula, text)


@event_priority(-50)  # after the search plugin has read the page
def on_page_context(context, page, config, nav):
    def walk(items):
        for item in items:
            item.title = replace_math(item.title, CONTENTS_MATH)
            walk(item.children)

    try:
        page.content = replace_math(page.content, PAGE_MATH)
        walk(page.toc)
    except ValueError as error:
        raise PluginError(f"{page.file.src_uri}: {error}") from None
    return context


def on_post_page(output, page, config):
    """Link the style sheet on the pages that have formulas."""
    if 'class="katex"' not in output:
        return output
    return output.replace("</head>", f'<link rel="stylesheet" href="{get_relative_url(CSS, page.url)}"></head>', 1)


def on_post_build(config):
    renderer.save()
    renderer.close()


def on_build_error(error):
    if renderer:
        renderer.close()
