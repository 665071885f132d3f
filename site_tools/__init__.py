"""The build's own code: one small module a job.

    setup.py          virtual environment and node modules; runs on any Python, imports nothing of the book
    build.py          figures, notebooks, both languages, site/
    serve.py          build, serve, rebuild on change
    notebooks.py      docs/labs/*.py -> one .ipynb a language
    data.py           reads and checks docs/glossary.toml, references.toml, claims.toml
    chromium.py       finds the browser of the tests
    hooks/            what MkDocs calls while it builds, listed in mkdocs.yml
    templates/        the pages made from data, the notebook as Markdown
    notebook_kernel/  how the labs' kernels run and plot

`setup.py` runs before everything else; the hooks import `data`; nothing imports the hooks.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = ("zh", "en")  # the first is the one at the root of the site
