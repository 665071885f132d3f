"""Fold what a code block repeats from an earlier block of the same page.

Every block runs on its own, so it carries the imports and helpers it needs, also when the
page has shown them before. Those definitions are wrapped in `<span class="repeated">`, and
a button above the block shows or hides them (theme/js/fold.js, site.css). Without script
nothing is hidden, and the copy button always copies the whole block.
"""

import re

BLOCK = re.compile(
    r'(<div class="[^"]*language-python highlight[^"]*">)(<pre>.*?<code>)(.*?)(</code></pre></div>)', re.S
)
BETWEEN = "\n\n\n"  # two blank lines stand between the sections of a fence
WORDS = {
    "zh": ("上文已列出 {count} 行：{names}", "导入语句"),
    "en": ("{count} lines shown above: {names}", "imports"),
}


def on_page_content(html, page, config, files):
    label, imports = WORDS[config.theme["language"]]
    seen = set()

    def fold(match):
        opening, before, code, after = match.groups()
        parts, names, count = [], [], 0
        for part in code.split(BETWEEN):
            text = re.sub(r"<[^>]+>", "", part).strip()
            if text in seen:
                names.append(name[1] if (name := re.search(r"^(?:def|class) (\w+)", text, re.M)) else imports)
                count += part.count("\n") + 1
                part = f'<span class="repeated">{part}\n\n\n</span>'
            else:
                part += BETWEEN
            seen.add(text)
            parts.append(part)
        if not names:
            return match[0]
        button = (
            f'<button class="unfold" type="button" aria-expanded="false" data-search-exclude hidden>'
            f"{label.format(count=count, names=', '.join(names))}</button>"
        )
        return opening + button + before + "".join(parts).rstrip("\n") + after

    return BLOCK.sub(fold, html)
