"""Which figures exist, which of them changed, and where their files go."""

import hashlib
import json
import math
import os
import re
import runpy
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from figures import font

ROOT = Path(__file__).parents[1]
LANGUAGES = ("zh", "en")
SCHEMES = ("light", "dark")
NOT_CHAPTERS = {"__init__", "__main__", "engine", "font", "layout", "style"}


class FigureError(Exception):
    """Something is missing or misnamed; the message says what to do."""


# ---- chapters, their numbers and their drawing functions


def chapters(names=(), root=ROOT):
    """Return the chapters that have a script, sorted; only `names` if any are given."""
    found = sorted(path.stem for path in (root / "figures").glob("*.py") if path.stem not in NOT_CHAPTERS)
    unknown = sorted(set(names) - set(found))
    if unknown:
        raise FigureError(f"no such chapter: {', '.join(unknown)} (there are: {', '.join(found)})")
    return [name for name in found if not names or name in names]


def load_script(chapter, root=ROOT):
    """Return the names that the chapter's script defines; run afresh, never an old import."""
    return runpy.run_path(str(root / "figures" / f"{chapter}.py"), run_name=f"figures.{chapter}")


def load_data(chapter, root=ROOT):
    """Return the checked-in numbers of a chapter by figure name."""
    path = root / "figures/data" / f"{chapter}.json"
    if not path.exists():
        raise FigureError(f"no {path.relative_to(root)}: run python -m figures --data {chapter}")
    return json.loads(path.read_text("utf-8"))


def check_names(chapter, script, data):
    """Raise unless every figure has both numbers and a drawing function of its name."""
    functions = {name for name in script if name.startswith(f"{chapter}_")}
    if functions != set(data):
        raise FigureError(
            f"figures/{chapter}.py draws {sorted(functions)} but the data has {sorted(data)}: "
            f"name them alike, then run python -m figures --data {chapter}"
        )


# ---- numbers to JSON


def plain(value):
    """Return `value` as JSON knows it: arrays as lists, numbers with 8 significant digits."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):  # NumPy's arrays and scalars
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            raise FigureError(f"a figure's numbers must be finite, got {value}")
        return float(f"{value:.8g}")
    return value


def to_json(data):
    """Return `data` as JSON text: keys sorted, one row of numbers a line."""
    text = json.dumps(data, indent=1, sort_keys=True, ensure_ascii=False)
    return re.sub(r"\[[^][{}]*\]", lambda row: " ".join(row[0].split()), text) + "\n"


def compute(names=(), root=ROOT, report=print):
    """Recompute `figures/data/<chapter>.json` for the chapters named, or for all."""
    for chapter in chapters(names, root):
        script = load_script(chapter, root)
        data = plain(script["data"]())
        check_names(chapter, script, data)
        target = root / "figures/data" / f"{chapter}.json"
        same = target.exists() and target.read_text("utf-8") == to_json(data)
        write(target, to_json(data).encode(), root)
        report(f"{'unchanged' if same else 'computed'} figures/data/{chapter}.json ({len(data)} figures)")


# ---- drawing what changed


@dataclass(frozen=True)
class Drawing:
    """One figure: its chapter, its name, its numbers, and the folder the book lives in."""

    chapter: str
    name: str
    data: dict
    root: Path

    def paths(self):
        """Return the four files the figure consists of, by language and scheme."""
        return {
            (language, scheme): self.root / f"docs/{language}/figures/{self.name}.{scheme}.svg"
            for language in LANGUAGES
            for scheme in SCHEMES
        }

    def key(self):
        """Return a hash of everything that decides how the figure looks."""
        style = Path(__file__).with_name("style.py")
        sources = [style, Path(font.__file__), font.SOURCE, self.root / f"figures/{self.chapter}.py"]
        parts = [digest(path.read_bytes()) for path in sources]
        return digest("\n".join([*parts, version("matplotlib"), to_json(self.data)]).encode())

    def stamp_path(self):
        return self.root / f".cache/figures/{self.name}.json"

    def is_current(self):
        """Say whether all four files are there, as they were drawn, and from today's sources."""
        try:
            files = {path: path.read_bytes() for path in self.paths().values()}
            return self.stamp_path().read_text() == stamp(self.key(), files)
        except FileNotFoundError:
            return False

    def render(self):
        """Return the four SVG files as bytes, by path."""
        from figures import style  # imports matplotlib: only when there is something to draw

        style.use_font(font.make_ttf(self.root / ".cache/fonts"))
        function = load_script(self.chapter, self.root)[self.name]
        files = {}
        for language in LANGUAGES:
            try:
                light = style.render(function, self.name, self.data, language)
            except Exception as error:
                error.add_note(f"while drawing {self.name} ({language})")
                raise
            files |= {(language, "light"): light, (language, "dark"): style.darken(light)}
        return {path: files[variant] for variant, path in self.paths().items()}


def drawings(names=(), root=ROOT):
    """Return every figure of the chapters named, or of all."""
    if not font.SOURCE.exists():
        raise FigureError(f"no {font.SOURCE.relative_to(ROOT)}: run npm ci")
    return [
        Drawing(chapter, name, data, root)
        for chapter in chapters(names, root)
        for name, data in sorted(load_data(chapter, root).items())
    ]


def draw(names=(), force=False, root=ROOT, report=print):
    """Draw the figures that changed (all with `force`) of the chapters named, or of all; return their names.

    Two runs at once do no harm: both write the same bytes, and each file in one step.
    """
    started = time.perf_counter()
    figures = drawings(names, root)
    todo = [figure for figure in figures if force or not figure.is_current()]
    for chapter in sorted({figure.chapter for figure in todo}):
        check_names(chapter, load_script(chapter, root), load_data(chapter, root))
    for figure in todo:
        key = figure.key()  # before drawing: what is edited meanwhile counts as changed
        files = figure.render()
        for path, content in files.items():
            write(path, content, root)
        write(figure.stamp_path(), stamp(key, files).encode(), root)
        report(f"drawn {figure.name} ({len(files)} files)")
    if not names:
        remove_old({figure.name for figure in figures}, root)
    seconds = time.perf_counter() - started
    report(f"figures: {len(todo)} drawn, {len(figures) - len(todo)} unchanged ({seconds:.1f} s)")
    return [figure.name for figure in todo]


def outdated(names=(), root=ROOT):
    """Return the names of the figures whose files are missing, altered, or drawn from other sources."""
    return [figure.name for figure in drawings(names, root) if not figure.is_current()]


def remove_old(names, root=ROOT):
    """Delete the files of figures that were drawn once and no longer exist: the site would publish them."""
    for stamp in (root / ".cache/figures").glob("*.json"):
        if stamp.stem not in names:
            for path in Drawing("", stamp.stem, {}, root).paths().values():
                path.unlink(missing_ok=True)
            stamp.unlink(missing_ok=True)


def stamp(key, files):
    """Return the text that records what four files were drawn from and what is in them."""
    return to_json({"key": key, "files": [digest(content) for content in files.values()]})


def digest(content):
    return hashlib.sha256(content).hexdigest()


def write(path, content, root):
    """Write a file in one step, so that a reader or a second run never sees half of it."""
    part = root / f".cache/figures/{path.name}.{os.getpid()}.part"
    part.parent.mkdir(parents=True, exist_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    part.write_bytes(content)
    part.replace(path)
