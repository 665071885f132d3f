"""MkDocs hook: where each language lives, and what search engines are told about it."""

from pathlib import Path
from urllib.parse import urljoin

from mkdocs.utils import write_file

from site_tools import LANGUAGES


def on_config(config):
    """Give the language its own address under SITE_URL, and the sitemap the addresses of all of them."""
    root = config.site_url
    for other in config.extra["alternate"]:
        other["url"] = urljoin(root, other["link"])
        if other["lang"] == config.theme["language"]:
            config.site_url = other["url"]
    return config


def on_post_build(config):
    """Name all sitemaps in the robots.txt at the root."""
    if config.theme["language"] == LANGUAGES[0]:
        lines = ["User-agent: *", "Allow: /"]
        lines += [f"Sitemap: {other['url']}sitemap.xml" for other in config.extra["alternate"]]
        write_file("\n".join([*lines, ""]).encode(), str(Path(config.site_dir, "robots.txt")))
