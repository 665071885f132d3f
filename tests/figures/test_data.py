"""The checked-in numbers are what the snippets give today."""

import json

import numpy as np
import pytest

from figures import engine

ZERO = 1e-15  # rounding noise where the exact value is 0


def leaves(value, path=""):
    """Yield every number and string of nested JSON with its path."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(item, f"{path}/{key}")
    else:
        yield path, value


def difference(stored, fresh, tolerance):
    """Return one line about the first place where two sets of numbers differ by more than `tolerance`, or None."""
    stored, fresh = dict(leaves(stored)), dict(leaves(fresh))
    if stored.keys() != fresh.keys():
        return f"only in one of them: {sorted(stored.keys() ^ fresh.keys())[:3]}"
    for path, old in stored.items():
        new = fresh[path]
        same = old == new if isinstance(old, str) else np.isclose(new, old, rtol=tolerance, atol=ZERO)
        if not same:
            return f"{path} is {old}, computed {new} (relative tolerance {tolerance})"
    return None


@pytest.mark.parametrize("chapter", engine.chapters())
def test_stored_numbers_are_the_computed_ones(chapter):
    script = engine.load_script(chapter)
    fresh = engine.plain(script["data"]())
    changed = difference(engine.load_data(chapter), fresh, script["TOLERANCE"])
    assert not changed, (
        f"figures/data/{chapter}.json {changed}: run python -m figures --data {chapter}, and look at the figures"
    )


@pytest.mark.parametrize("chapter", engine.chapters())
def test_every_figure_has_numbers_and_a_function(chapter):
    engine.check_names(chapter, engine.load_script(chapter), engine.load_data(chapter))


@pytest.mark.parametrize("chapter", engine.chapters())
def test_file_has_the_form_that_the_command_writes(chapter):
    text = (engine.ROOT / f"figures/data/{chapter}.json").read_text("utf-8")
    assert text == engine.to_json(engine.plain(json.loads(text)))


def test_a_difference_is_found():
    stored = {"a": [1.0, 2.0], "b": {"c": 0.5, "name": "x"}}
    assert difference(stored, stored, 1e-7) is None
    assert "/a/1 is 2.0, computed 2.001" in difference(stored, {**stored, "a": [1.0, 2.001]}, 1e-7)
    assert "/b/name" in difference(stored, {**stored, "b": {"c": 0.5, "name": "y"}}, 1e-7)
    assert "/a/2" in difference(stored, {**stored, "a": [1.0, 2.0, 3.0]}, 1e-7)


def test_plain_rounds_to_eight_digits_and_refuses_what_json_lacks():
    value = {"x": np.array([1 / 3, 2.0e-20 / 3]), "n": np.int64(3), "s": "文", "t": (np.float32(0.5), True)}
    assert engine.plain(value) == {"x": [0.33333333, 6.6666667e-21], "n": 3, "s": "文", "t": [0.5, True]}
    with pytest.raises(engine.FigureError, match="must be finite, got nan"):
        engine.plain([1.0, float("nan")])


def test_json_is_sorted_with_one_row_a_line():
    assert engine.to_json({"b": [[1, 2], [3, 4]], "a": 1.5}) == (
        '{\n "a": 1.5,\n "b": [\n  [ 1, 2 ],\n  [ 3, 4 ]\n ]\n}\n'
    )
