"""What the figures look like: legible, nothing clipped, and the same bytes on every machine."""

import gzip
import hashlib
import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from fontTools.ttLib import TTFont
from matplotlib import get_data_path

from figures import engine, font, style

PAGE = 358  # CSS pixels a figure has on a phone of 390: the text column of the page
DRAWINGS = engine.drawings()
FILES = [path for drawing in DRAWINGS for path in drawing.paths().values()]


@pytest.fixture(scope="session", autouse=True)
def drawn():
    """Draw what is missing or changed, as a build does."""
    engine.draw(report=lambda line: None)


def name(drawing):
    return drawing.name


# ---- legible


def text_sizes(svg):
    """Yield, for every text of an SVG, its size in CSS pixels on the phone and the scale of its smallest glyph."""
    root = ElementTree.fromstring(svg)
    width = float(root.get("width").removesuffix("pt"))
    shown = min(1, PAGE / (width * 4 / 3)) * 4 / 3  # CSS pixels a point: the page shrinks figures, never widens them
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        scale = re.search(r"scale\(([\d.]+) -", group.get("transform", ""))
        if scale:
            inner = [re.search(r"scale\(([\d.]+)\)", use.get("transform", "")) for use in group]
            yield float(scale[1]) * 100 * shown, min([float(match[1]) for match in inner if match], default=1)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_text_is_at_least_11_pixels_on_a_phone(path):
    """FIG-2. Sub- and superscripts of formulas may be smaller, as they are in the page's own formulas."""
    sizes = list(text_sizes(path.read_text("utf-8")))
    assert len(sizes) >= 3
    assert min(size for size, _ in sizes) >= 11
    assert min(share for _, share in sizes) >= 0.69


TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])

# What is left of linear RGB without one kind of cone: Machado, Oliveira and Fernandes 2009, severity 1.
BLINDNESS = {
    "red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    "none": np.eye(3),
}


def linear_rgb(color):
    channels = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def lab(linear):
    xyz = TO_XYZ @ np.clip(linear, 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("palette", [style.LIGHT, style.DARK], ids=["light", "dark"])
def test_hues_stay_apart_for_color_blind_readers(palette, kind):
    """A CIELAB distance of 20 is ten times what the eye can just tell."""
    seen = [lab(BLINDNESS[kind] @ linear_rgb(palette[hue])) for hue in ("C0", "C1", "C2", "C3")]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= 20


@pytest.mark.parametrize(("palette", "page"), [(style.LIGHT, "#ffffff"), (style.DARK, "#1e2129")])
def test_colors_can_be_read_as_text(palette, page):
    """WCAG 2 asks for a contrast of 4.5; the grid is decoration."""
    for key in palette.keys() - {"grid"}:
        dark, light = sorted(TO_XYZ[1] @ linear_rgb(color) for color in (palette[key], page))
        assert (light + 0.05) / (dark + 0.05) >= 4.5, key


def test_each_color_has_its_own_dark_one():
    assert style.LIGHT.keys() == style.DARK.keys()
    assert len({*style.LIGHT.values(), *style.DARK.values()}) == 2 * len(style.LIGHT)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_figure_is_small(path):
    """Chinese characters weigh most, 0.4 kB each: a few words on a figure, the rest in the text."""
    assert len(gzip.compress(path.read_bytes(), 9)) <= 30_000


# ---- four files, the same everywhere


@pytest.mark.parametrize("drawing", DRAWINGS, ids=name)
def test_four_files(drawing):
    contents = {variant: path.read_bytes() for variant, path in drawing.paths().items()}
    assert len(set(contents.values())) == 4, "two languages times two schemes"
    for (language, scheme), content in contents.items():
        palette, other = (style.LIGHT, style.DARK) if scheme == "light" else (style.DARK, style.LIGHT)
        colors = set(re.findall(rb"#[0-9a-f]{6}", content))
        assert palette["ink"].encode() in colors, (language, scheme)
        assert not colors & {color.encode() for color in other.values()}, (language, scheme)
        assert b"NotoSansSC-" in content and b"<metadata>" not in content
        ground = ElementTree.fromstring(content).find(".//{*}g[@id='patch_1']/{*}path")
        assert ground.get("style") == "fill: none", "the page's background shows through"


ELSEWHERE = """
import hashlib, json, sys
sys.modules["torch"] = sys.modules["snippets"] = None  # drawing needs neither
from figures import engine, font, style
style.use_font(font.make_ttf(engine.ROOT / ".cache/fonts"))
drawn = {}
for i, drawing in enumerate(engine.drawings()):
    language = engine.LANGUAGES[i % 2]  # one language each: half the time, and they differ in nothing but words
    function = engine.load_script(drawing.chapter)[drawing.name]
    svg = style.render(function, drawing.name, drawing.data, language)
    drawn[str(drawing.paths()[language, "light"])] = hashlib.sha256(svg).hexdigest()
print(json.dumps(drawn))
"""


def test_another_machine_draws_the_same_bytes(tmp_path):
    """Other home folder, time zone, language, hash seed, matplotlibrc, and another font that claims our font's name."""
    impostor = TTFont(Path(get_data_path()) / "fonts/ttf/DejaVuSerif.ttf")
    for record in impostor["name"].names:
        if record.nameID in (1, 4, 16):
            record.string = "Noto Sans SC"
    fonts = tmp_path / ".local/share/fonts"
    fonts.mkdir(parents=True)
    impostor.save(fonts / "impostor.ttf")
    (tmp_path / "matplotlibrc").write_text("font.size: 30\nlines.linewidth: 9\nsvg.fonttype: none\naxes.grid: True\n")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(engine.ROOT),
        "HOME": str(tmp_path),
        "MPLCONFIGDIR": str(tmp_path),
        "TZ": "Asia/Kathmandu",
        "LANG": "de_DE.UTF-8",
        "PYTHONHASHSEED": "42",
    }
    command = [sys.executable, "-c", ELSEWHERE]
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    there = json.loads(run.stdout)
    here = {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in there}
    assert len(there) == len(DRAWINGS)
    assert there == here, "run python -m figures --force; if this stays, a figure depends on its machine"


# ---- what must not pass silently


@pytest.mark.parametrize(
    ("text", "message"),
    [("\ue000", "Glyph 57344 .* missing"), ("$一$", "does not have a glyph")],
    ids=["text", "formula"],
)
def test_a_missing_glyph_is_an_error(text, message):
    style.use_font(font.make_ttf(engine.ROOT / ".cache/fonts"))
    with pytest.raises((UserWarning, RuntimeError), match=message):
        style.render(lambda figure, data, say: style.title(figure, text + "?"), "x", {}, "zh")


def test_a_missing_font_is_an_error():
    def draw(figure, data, say):
        figure.text(0.5, 0.5, "x", family="No Such Font")

    with pytest.raises(RuntimeError, match="No Such Font"):
        style.render(draw, "x", {}, "zh")


def question(figure, data, say):
    style.title(figure, say("什么？", "What?"))


def long_title(figure, data, say):
    style.title(figure, "Does a title as long as this one fit above a figure as narrow as ours?")


def low_text(figure, data, say):
    question(figure, data, say)
    figure.text(0.5, -0.02, "x")


def two_texts(figure, data, say):
    question(figure, data, say)
    axes = figure.subplots()
    axes.text(0.5, 0.5, "first")
    axes.text(0.52, 0.52, "second")


def text_on_tick(figure, data, say):
    question(figure, data, say)
    axes = figure.subplots()
    axes.text(0, -0.1, "label")


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda figure, data, say: style.title(figure, "Softmax"), "must be a question: 'Softmax'"),
        (long_title, "cut off at a side: 'Does a title"),
        (low_text, "cut off at the top or bottom: 'x'"),
        (two_texts, "'second' touches 'first'"),
        (text_on_tick, "touches"),
    ],
)
def test_texts_that_do_not_fit_are_an_error(draw, message):
    with pytest.raises(ValueError, match=message):
        style.render(draw, "x", {}, "en")


def test_compact_keeps_the_picture():
    svg = b'<path id="a" d="M 10 20.123456 \nL 30 20 \nQ 40.5 21 41 22 \nC 1 2 3 4 5 6 \nz\nM 12 20 \nL 11 19 \n"/>'
    assert (
        style.compact(svg)
        == b'<path id="a" d="m10 20.12l20 -0.12q10.5 1 11 2c-40 -20 -38 -18 -36 -16zm2 -0.12l-1 -1"/>'
    )


def test_drawing_leaves_the_settings_of_matplotlib_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    style.render(question, "x", {}, "zh")
    assert dict(matplotlib.rcParams) == before
