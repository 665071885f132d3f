"""Every public case is answered by the NumPy and the PyTorch snippet; `--numeric-cases FILE` adds cases of a file."""

import pytest

from tests.snippets.numeric_cases import (
    ADAPTERS,
    CHECKS,
    PENDING,
    PUBLIC,
    TO_ARRAY,
    UNSOLVED,
    Missing,
    answer,
    backends,
    judge,
    load,
    read_input,
    run,
)

CASES = {case["id"]: case for case in load(PUBLIC)}


def pytest_generate_tests(metafunc):
    if "case" in metafunc.fixturenames:
        cases = list(CASES.values())
        for file in metafunc.config.getoption("--numeric-cases") or []:
            cases += load(file)
        backend = metafunc.function.__name__.removeprefix("test_")
        cases = [case for case in cases if backend in backends(case)]
        metafunc.parametrize("case", cases, ids=[case["id"] for case in cases])


def solve(case, backend, **device):
    reason = UNSOLVED.get((case["id"], backend))
    try:
        run(case, backend, **device)
    except Missing as missing:
        assert case["function"] in PENDING, missing
        pytest.skip(f"pending: {missing}")
    except AssertionError:
        if reason is None or case["level"] != "stretch":
            raise
    else:
        assert reason is None, f"solved now: remove it from UNSOLVED ({reason})"


def test_numpy(case):
    solve(case, "numpy")


def test_torch(case, device):
    solve(case, "torch", device=device)


def test_pending_functions_are_the_missing_ones():
    missing = set()
    for case in CASES.values():
        for backend in backends(case):
            try:
                answer(case, read_input(case["input"], TO_ARRAY[backend]), backend)
            except Missing:
                missing.add(case["function"])
            except Exception:  # it exists; whether it is right is asked above
                continue
    assert PENDING - missing == set(), "these exist now: remove them from PENDING"
    assert missing - PENDING == set()


def test_unsolved_cases_exist():
    assert {name for name, _ in UNSOLVED} <= CASES.keys()


# The judge itself: it must turn down each of these.


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("N16-p2", ["0.9335356190502", "0.0536153957816598", "0.01284898516831079"]),  # the 13th digit
        ("N17-p2", ["0.8807970779778824", "0.1192029220221176", "1e-15"]),
        ("N15-p1", ["nan", "1"]),
        ("N19-p1", 0),
        ("N12-p1", [["0.09003057317038046", "0.24472847105479765", "0.6652409557748219"]]),  # wrong shape
    ],
)
def test_a_wrong_value_is_caught(name, wrong, backend):
    run(CASES[name], backend)
    with pytest.raises(AssertionError):
        run(CASES[name] | {"expected": wrong}, backend)


def test_a_nan_is_never_right():
    case = CASES["N16-p2"] | {"expected": ["nan", "nan", "nan"]}
    with pytest.raises(AssertionError):
        judge(case, answer(case, read_input(case["input"] | {"x": ["nan", "0", "0"]}, TO_ARRAY["numpy"]), "numpy"))


def test_a_wrong_function_is_caught(monkeypatch):
    """The usual softmax(x / T), which is NaN for T = 1e-310."""
    monkeypatch.setitem(ADAPTERS, "softmax_temperature", lambda s, x: s.probabilities.softmax(x["x"] / float(x["T"])))
    run(CASES["N16-p2"], "torch")
    with pytest.raises(AssertionError):
        run(CASES["N15-p1"], "torch")


def test_a_modified_input_is_caught(monkeypatch):
    def in_place(s, x):
        probs = s.probabilities.softmax(x["x"])
        x["x"][...] = 0
        return probs

    monkeypatch.setitem(ADAPTERS, "softmax", in_place)
    for case in (CASES["N13-p3"], CASES["N16-p2"] | {"function": "softmax", "input": {"x": ["3", "1"]}}):
        with pytest.raises(AssertionError):
            run(case | {"checks": []}, "numpy")


@pytest.mark.parametrize(
    ("check", "name", "adapter"),
    [
        ("no_nan", "N16-p2", lambda s, x: x["x"] * float("nan")),
        ("no_inf", "N20-p1", lambda s, x: x["u"] * float("inf")),
        ("out_dtype=input", "N40-p1", lambda s, x: x["x"].astype("float64")),
        ("out_dtype=float32", "N15-p3", lambda s, x: x["x"].astype("float64")),
        ("float_output", "N12-p1", lambda s, x: x["x"]),
        ("mask_weight_exact_zero", "N15-p2", lambda s, x: x["x"].clip(1e-30)),
        ("exactly_k_nonzero", "N18-p1", lambda s, x: x["x"]),
        ("sum_one", "N16-p2", lambda s, x: x["x"]),
        ("rows_and_cols_sum_zero", "N13-p1", lambda s, x: x["x"]),
    ],
)
def test_each_check_can_fail(check, name, adapter):
    x = read_input(CASES[name]["input"], TO_ARRAY["numpy"])
    assert not CHECKS[check](CASES[name], x, adapter(None, x), None)
