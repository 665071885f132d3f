"""docs/labs/<lab>.py -> docs/<language>/labs/<lab>.ipynb.

A lab is one Python file with `# %%` cells, in both languages: a Markdown cell tagged lang="zh" or lang="en" goes to
that language, every other cell to both, so the code cannot differ. A cell that draws says what its plot shows with
alt_zh="…" alt_en="…". Same source, same bytes.
"""

import jupytext
import nbformat

from site_tools import LANGUAGES


def render(source, language):
    """Return the notebook of the lab at `source` in `language` as text, without outputs."""
    notebook = jupytext.read(source)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.get("lang", language) == language]
    for number, cell in enumerate(notebook.cells):
        alt = cell.metadata.get(f"alt_{language}")
        cell.metadata = {"alt": alt} if alt else {}
        cell["id"] = f"cell-{number}"  # nbformat's own are random
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return nbformat.writes(notebook) + "\n"


def write_all(docs):
    """Write the notebooks of every lab under the folder `docs`, touching only those that changed; remove orphans."""
    for language in LANGUAGES:
        folder = docs / language / "labs"
        folder.mkdir(parents=True, exist_ok=True)
        wanted = {folder / f"{source.stem}.ipynb": source for source in sorted((docs / "labs").glob("*.py"))}
        for orphan in set(folder.glob("*.ipynb")) - set(wanted):
            orphan.unlink()
        for path, source in wanted.items():
            text = render(source, language)
            if not path.is_file() or path.read_text("utf-8") != text:
                part = path.with_suffix(".part")
                part.write_text(text, "utf-8")
                part.replace(path)
