"""One look for every figure, and the same bytes on every machine."""

import functools
import io
import logging
import re
import warnings

import matplotlib
from matplotlib import font_manager
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from figures import layout

WIDTH = 4.6  # inches: 331.2 points, shown 358 px wide on a phone of 390 px, so 10.5 points become 11.3 px

# Each color can be read as text on the page's background, and C0 to C3 stay apart for color-blind readers.
# Figures are drawn in the light colors; the dark figure is the same drawing with these strings exchanged.
LIGHT = {
    "ink": "#1f2328",
    "line": "#656d76",
    "grid": "#d8dee4",
    "C0": "#0069d9",
    "C1": "#b84a10",
    "C2": "#16503e",
    "C3": "#9a3f94",
}
DARK = {
    "ink": "#e6edf3",
    "line": "#9aa4af",
    "grid": "#3d444d",
    "C0": "#4f8fe6",
    "C1": "#f0994f",
    "C2": "#6fe3b8",
    "C3": "#f5b0ee",
}


def settings(name):
    """Return the rcParams of figure `name`; all others keep matplotlib's defaults."""
    return {
        "font.family": ["Noto Sans SC", "DejaVu Sans"],  # the second comes with matplotlib and has the Greek letters
        "font.size": 10.5,
        "mathtext.fontset": "cm",
        "axes.labelsize": 10.5,
        "axes.titlesize": 10.5,
        "figure.titlesize": 12,
        "xtick.labelsize": 10.5,
        "ytick.labelsize": 10.5,
        "legend.fontsize": 10.5,
        "figure.dpi": 72,  # what SVG is laid out at
        "figure.figsize": (WIDTH, 3.0),
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "text.color": LIGHT["ink"],
        "axes.labelcolor": LIGHT["ink"],
        "axes.titlecolor": LIGHT["ink"],
        "xtick.labelcolor": LIGHT["ink"],
        "ytick.labelcolor": LIGHT["ink"],
        "axes.edgecolor": LIGHT["line"],
        "xtick.color": LIGHT["line"],
        "ytick.color": LIGHT["line"],
        "grid.color": LIGHT["grid"],
        "grid.linewidth": 0.6,
        "axes.prop_cycle": matplotlib.cycler(color=[LIGHT[hue] for hue in ("C0", "C1", "C2", "C3")]),
        "axes.axisbelow": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "lines.linewidth": 1.8,
        "svg.fonttype": "path",
        "svg.hashsalt": name,
    }


@functools.cache
def use_font(path):
    """Let matplotlib see the font at `path` and its own fonts, none of the machine's: those differ between machines."""
    manager = font_manager.fontManager
    own = matplotlib.get_data_path()
    manager.ttflist = [font for font in manager.ttflist if font.fname.startswith(own)]
    manager.addfont(path)


class RaiseWarnings(logging.Handler):
    """Turns matplotlib's log warnings (a font or a mathematical symbol not found) into errors."""

    def emit(self, record):
        raise RuntimeError(record.getMessage())


def render(draw, name, data, language):
    """Return the light SVG of the figure that `draw(figure, data, say)` composes, as bytes.

    A missing glyph, an unknown font and every other warning is an error, and so is what `layout.check` refuses.
    """
    logger, handler = logging.getLogger("matplotlib"), RaiseWarnings(logging.WARNING)
    with warnings.catch_warnings(), matplotlib.rc_context():
        warnings.simplefilter("error")
        matplotlib.rcdefaults()  # whatever matplotlibrc the machine has
        matplotlib.rcParams.update(settings(name))
        logger.addHandler(handler)
        try:
            figure = Figure(layout="constrained")
            FigureCanvasSVG(figure)
            draw(figure, data, lambda chinese, english: {"zh": chinese, "en": english}[language])
            out = io.BytesIO()
            figure.savefig(out, format="svg", metadata=dict.fromkeys(["Creator", "Date", "Format", "Type"]))
            layout.check(figure)
        finally:
            logger.removeHandler(handler)
    return compact(out.getvalue())


def compact(svg):
    """Return the drawing with its paths in relative coordinates, to a hundredth of a point: a quarter smaller."""

    def relative(path):
        steps, x, y, start = [], 0.0, 0.0, (0.0, 0.0)
        for command, numbers in re.findall(r"([MLQCz])([^MLQCz]*)", path[1]):
            move = [round(float(n) - (y if i % 2 else x), 2) for i, n in enumerate(numbers.split())]
            x, y = start if command == "z" else (round(x + move[-2], 2), round(y + move[-1], 2))
            if command == "M":
                start = x, y
            steps.append(command.lower() + " ".join(f"{n:g}" for n in move))
        return f' d="{"".join(steps)}"'

    return re.sub(r' d="([^"]*)"', relative, svg.decode()).encode()


def darken(svg):
    """Return the drawing in the dark colors."""
    exchange = {LIGHT[key]: DARK[key] for key in LIGHT}
    return re.sub(rb"#[0-9a-f]{6}", lambda color: exchange.get(color[0].decode(), color[0].decode()).encode(), svg)


def title(figure, text):
    """Put the question the figure answers above it, flush left over the whole width."""
    figure.suptitle(text, x=0.01, ha="left", linespacing=1.3)
