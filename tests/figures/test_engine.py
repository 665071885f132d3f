"""Only what changed is drawn, names are checked, and two runs at once or a killed one do no harm."""

import subprocess
import sys

import pytest

from figures import engine

SCRIPT = """
def data():
    return {"mini_one": {"x": 1.0}, "mini_two": {"x": 2.0}}

def mini_one(figure, data, say):
    figure.suptitle(say(f"一 {data['x']}？", f"one {data['x']}?"))

def mini_two(figure, data, say):
    figure.suptitle(say(f"二 {data['x']}？", f"two {data['x']}?"))
"""


@pytest.fixture
def book(tmp_path):
    """A book with one chapter of two small figures, its numbers computed and nothing drawn."""
    (tmp_path / "figures").mkdir()
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache/fonts").symlink_to(engine.ROOT / ".cache/fonts")
    (engine.ROOT / ".cache/fonts").mkdir(parents=True, exist_ok=True)
    (tmp_path / "figures/mini.py").write_text(SCRIPT, "utf-8")
    engine.compute(root=tmp_path, report=lambda line: None)
    return tmp_path


def draw(book, **options):
    lines = []
    return engine.draw(root=book, report=lines.append, **options), lines


def set_data(book, **values):
    path = book / "figures/data/mini.json"
    path.write_text(engine.to_json({name: {"x": x} for name, x in values.items()}), "utf-8")


def test_only_what_changed_is_drawn(book):
    drawn, lines = draw(book)
    assert drawn == ["mini_one", "mini_two"]
    assert lines[:2] == ["drawn mini_one (4 files)", "drawn mini_two (4 files)"]
    assert lines[2].startswith("figures: 2 drawn, 0 unchanged (")

    drawn, lines = draw(book)
    assert drawn == [] and len(lines) == 1 and lines[0].startswith("figures: 0 drawn, 2 unchanged (")

    set_data(book, mini_one=1.0, mini_two=2.5)
    assert engine.outdated(root=book) == ["mini_two"]
    assert draw(book)[0] == ["mini_two"]

    (book / "docs/en/figures/mini_one.dark.svg").unlink()
    assert draw(book)[0] == ["mini_one"]

    (book / "docs/zh/figures/mini_two.light.svg").write_text("half a fi")
    assert draw(book)[0] == ["mini_two"]

    assert draw(book, force=True)[0] == ["mini_one", "mini_two"]
    assert engine.outdated(root=book) == []


def test_scripts_style_font_and_matplotlib_count_as_changes(book, tmp_path_factory, monkeypatch):
    draw(book)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "version", lambda package: "0.0")
        assert engine.outdated(root=book) == ["mini_one", "mini_two"]
    with monkeypatch.context() as patch:
        other = tmp_path_factory.mktemp("font") / "other.woff"
        other.write_bytes(engine.font.SOURCE.read_bytes() + b"x")
        patch.setattr(engine.font, "SOURCE", other)
        assert engine.outdated(root=book) == ["mini_one", "mini_two"]
    with monkeypatch.context() as patch:
        folder = tmp_path_factory.mktemp("style")
        (folder / "style.py").write_text("# another look\n")
        patch.setattr(engine, "__file__", str(folder / "engine.py"))
        assert engine.outdated(root=book) == ["mini_one", "mini_two"]
    assert engine.outdated(root=book) == []
    (book / "figures/mini.py").write_text(SCRIPT + "# edited\n", "utf-8")
    assert engine.outdated(root=book) == ["mini_one", "mini_two"]


def test_files_of_a_figure_that_is_gone_go_too(book):
    draw(book)
    keep = book / "docs/zh/figures/not_ours.svg"
    keep.write_text("<svg/>")
    (book / "figures/mini.py").write_text(SCRIPT.replace("mini_two", "mini_new"), "utf-8")
    set_data(book, mini_one=1.0, mini_new=2.0)
    draw(book)
    names = {path.name for path in (book / "docs/zh/figures").iterdir()}
    assert names == {f"mini_{what}.{scheme}.svg" for what in ("one", "new") for scheme in ("light", "dark")} | {
        keep.name
    }


def test_names_that_do_not_match_are_named(book):
    set_data(book, mini_one=1.0, mini_three=3.0)
    with pytest.raises(engine.FigureError, match=r"draws .*mini_two.* but the data has .*mini_three"):
        draw(book)
    with pytest.raises(engine.FigureError, match=r"no such chapter: maxi \(there are: mini\)"):
        engine.draw(["maxi"], root=book)
    (book / "figures/data/mini.json").unlink()
    with pytest.raises(engine.FigureError, match=r"no figures/data/mini.json: run python -m figures --data mini"):
        draw(book)


def test_an_error_names_the_figure(book):
    (book / "figures/mini.py").write_text(SCRIPT.replace("二", "\ue000"), "utf-8")
    with pytest.raises(UserWarning) as caught:
        draw(book)
    assert caught.value.__notes__ == ["while drawing mini_two (zh)"]


def start(book):
    code = "import sys, pathlib; from figures import engine; engine.draw(root=pathlib.Path(sys.argv[1]), force=True)"
    return subprocess.Popen([sys.executable, "-uc", code, book], cwd=engine.ROOT, stdout=subprocess.PIPE, text=True)


def test_two_at_once_and_a_killed_run(book):
    runs = [start(book), start(book)]
    assert [run.communicate()[0].count("drawn mini") for run in runs] == [2, 2]
    assert [run.returncode for run in runs] == [0, 0]
    assert engine.outdated(root=book) == []

    good = {path: path.read_bytes() for path in book.glob("docs/*/figures/*.svg")}
    for path in good:
        path.unlink()
    run = start(book)
    assert run.stdout.readline() == "drawn mini_one (4 files)\n"
    run.kill()
    run.communicate()
    assert all(path.read_bytes() == good[path] for path in good if path.exists()), "no file is ever half written"
    assert "mini_one" not in draw(book)[0]
    assert {path: path.read_bytes() for path in good} == good


def test_matplotlib_is_not_even_imported_when_nothing_changed():
    engine.draw(report=lambda line: None)
    code = "import sys; from figures import engine; engine.draw(); print({'matplotlib', 'numpy'} & {*sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], cwd=engine.ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "set()"


def command(*arguments):
    line = [sys.executable, "-m", "figures", *arguments]
    return subprocess.run(line, cwd=engine.ROOT, capture_output=True, text=True, check=False)


def test_command_line():
    engine.draw(report=lambda line: None)
    assert command("--check").returncode == 0
    wrong = command("no_such_chapter")
    assert wrong.returncode == 1 and wrong.stderr.startswith("figures: no such chapter: no_such_chapter (there are: ")
    assert command("--force", "--data").returncode == 2
