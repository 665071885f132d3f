"""The benchmark of softmax still runs and its record is whole. Nothing here is timed."""

import json

import numpy as np
import pytest

from benchmarks import softmax


@pytest.fixture(scope="module")
def recorded():
    return json.loads(softmax.RESULTS.read_text("utf8"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_contestant_returns_the_softmax(dtype):
    logits = np.random.default_rng(0).standard_normal((6, 50)).astype(dtype)
    functions = softmax.contestants(logits)
    softmax.check(functions, logits)
    functions["textbook"] = lambda: np.full((6, 50), 1 / 50)
    with pytest.raises(AssertionError, match="textbook"):
        softmax.check(functions, logits)


def test_record_has_every_case_and_contestant(recorded):
    assert [(case["dtype"], tuple(case["shape"])) for case in recorded["cases"]] == softmax.CASES
    for case in recorded["cases"]:
        assert case["milliseconds"].keys() == softmax.contestants(np.zeros((1, 2))).keys()
        assert softmax.speed(case)[softmax.BASE] == 1
    assert recorded["machine"]["cpu"]
    assert recorded["threads"] == 1
    assert recorded["versions"].keys() == {"python", "numpy", "scipy", "torch"}


def test_table_shows_the_record(recorded):
    lines = softmax.table(recorded).splitlines()
    assert len(lines) == 1 + len(recorded["cases"][0]["milliseconds"])
    torchs = next(line for line in lines if line.startswith("torch.softmax"))
    assert f"{softmax.speed(recorded['cases'][0])['torch.softmax']:.2f}" in torchs
