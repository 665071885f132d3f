"""MkDocs hook: Chinese search knows the book's own words.

The search plugin splits Chinese with jieba, which cuts 困惑度 and 半精度 in two unless told that they are words: the
terms of the glossary. Without jieba the plugin would say nothing and Chinese search would find nothing; so this module
imports it.
"""

import re

import jieba
from mkdocs.plugins import event_priority

from site_tools import ROOT, data

jieba.setLogLevel("WARNING")


@event_priority(50)  # before the search plugin reads its options
def on_config(config):
    cache = ROOT / ".cache/jieba"
    cache.mkdir(parents=True, exist_ok=True)
    jieba.dt.tmp_dir = str(cache)
    words = cache / f"words-{config.theme['language']}.txt"
    terms = " ".join(term["zh"] for term in data.load("glossary").values())
    words.write_text("\n".join(re.findall(r"[\u4e00-\u9fff]{2,}", terms)), "utf-8")
    config.plugins["material/search"].config.jieba_dict_user = str(words)
    return config
