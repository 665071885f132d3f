"""Every file of examples and of exercises runs as a whole and prints what it shows, on a page or not."""

import pytest

from site_tools import ROOT
from site_tools.execute import report, with_outputs

SCRIPTS = sorted(
    path for pattern in ("*_examples.py", "exercises.py") for path in (ROOT / "snippets").glob(f"*/{pattern}")
)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_print_what_they_show(path, request):
    name, code = path.relative_to(ROOT).as_posix(), path.read_text("utf8")
    if request.config.option.update_outputs:
        path.write_text(with_outputs(code), "utf8")
    else:
        wrong = report(code, lambda line: f"{name}:{line}", program=name)
        assert not wrong, f"{wrong}\n`pytest --update-outputs` writes the lines anew"
