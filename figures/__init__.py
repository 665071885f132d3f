"""The book's figures: numbers in data/, one script a chapter, SVG files drawn into docs/<language>/figures/.

A chapter's script `figures/<chapter>.py` holds

    TOLERANCE = 1e-7              how far recomputed numbers may lie from the stored ones, relative

    def data():                   the numbers of every figure, computed from `snippets`:
        return {"temperature_bars": {...}, ...}

    def temperature_bars(figure, data, say):
                                  one function a figure, named <chapter>_<what>: draws its part of the numbers
                                  into a matplotlib Figure; say("中文", "English") gives the page's language

Drawing never computes: what a figure shows is in `figures/data/<chapter>.json`, and `snippets` is imported inside
`data` only. The title asks the question the figure answers (`style.title`). Colors are "C0" to "C3" and those of
rcParams ("text.color", "axes.edgecolor" for lines of reference), never a cue alone: add dashes, markers or labels.

    python -m figures                  draw what changed
    python -m figures --data CHAPTER   compute a chapter's numbers again, after its snippets or `data` changed
"""

import os
from pathlib import Path

os.environ.setdefault(
    "MPLCONFIGDIR", str(Path(__file__).parents[1] / ".cache/matplotlib")
)  # nothing in the home folder
