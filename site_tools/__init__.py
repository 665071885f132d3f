"""The book's own machinery, one small module a job.

Building:
    setup.py          virtual environment and node modules; runs on any Python, imports nothing of the book
    build.py          figures, notebooks, both languages, site/
    serve.py          builds, serves, builds again on change
    notebooks.py      docs/labs/*.py -> one .ipynb a language
    data.py           reads and checks docs/glossary.toml, references.toml, claims.toml
    hooks/            what MkDocs calls while it builds, listed in mkdocs.yml
    templates/        the pages made from data, and an executed notebook, as Markdown
    notebook_kernel/  how the labs' kernels run and plot
Testing:
    page_code.py      the blocks of a page, snippets expanded; published.py: the same of the built site
    execute.py        runs a block and compares its `#> ` lines; run_alone.py: runs it as a reader who copied it
    fence.py          prints the fence that shows a section
    gates/            checks of the pages' text: parity, numbers, typography, blocks, completeness
    prove.py          plants faults and sees each gate catch its own
    chromium.py       finds the browser

The hooks import `data`; nothing imports the hooks.
"""

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ("zh", "en")  # the first is the one at the root of the site


def digest(patterns, *more):
    """Return a hash of the files and folders under ROOT that match `patterns`, by name and content, and of `more`."""
    total = hashlib.sha256("\0".join(more).encode())
    for found in sorted({path for pattern in patterns for path in ROOT.glob(pattern)}):
        for path in sorted(found.rglob("*")) if found.is_dir() else [found]:
            name = path.relative_to(ROOT)
            if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in name.parts):
                total.update(f"\0{name}\0".encode() + path.read_bytes())
    return total.hexdigest()
