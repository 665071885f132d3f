"""Build one language of the book in this folder once for each fault read from stdin; print what MkDocs said each time.

One process for all: most of the time of a small build goes into starting it.
"""

import io
import json
import logging
import sys
from pathlib import Path

from mkdocs.commands.build import build
from mkdocs.config import load_config

from site_tools import ROOT, notebooks

said = {}
for name, (path, text) in json.load(sys.stdin).items():
    path = Path(path)
    sound = path.read_text("utf-8")
    path.write_text(f"{sound}\n{text}\n", "utf-8")
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setLevel(logging.WARNING)
    logging.getLogger("mkdocs").addHandler(handler)
    try:
        notebooks.write_all(ROOT / "docs")
        build(load_config("mkdocs.yml", strict=True))
    except (Exception, SystemExit) as error:
        stream.write(str(error))
    logging.getLogger("mkdocs").removeHandler(handler)
    path.write_text(sound, "utf-8")
    said[name] = stream.getvalue()
print(json.dumps(said))
