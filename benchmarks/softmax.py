"""Softmax along the last axis: NumPy by the textbook, SciPy, PyTorch on one thread, and our blocks.

A time is CPU time, the least of several rounds; in a round every contestant runs once, so
that a change of clock frequency or of load meets all of them. A new result array is part
of the work, except where one is passed in. For comparison two parts of the work alone: one
np.exp over the input, and one copy of it.
"""

import datetime
import json
import os
import platform
import time
from pathlib import Path

import numpy as np
import scipy
import torch

from snippets.probabilities.numpy_reference import softmax as reference
from snippets.stability.numpy_reference import blockwise_softmax

RESULTS = Path(__file__).parent / "results" / "softmax.json"
CASES = [("float32", (4096, 1024)), ("float32", (256, 131_072)), ("float64", (4096, 1024)), ("float64", (256, 131_072))]
BASE = "scipy.special.softmax"
PARTS = ("np.exp", "np.copyto")


def textbook(logits):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def contestants(logits):
    """Return, by name, functions without arguments; those not in PARTS return softmax(logits)."""
    out, tensor = np.empty_like(logits), torch.from_numpy(logits)
    return {
        "textbook": lambda: textbook(logits),
        "scipy.special.softmax": lambda: scipy.special.softmax(logits, axis=-1),
        "torch.softmax": lambda: torch.softmax(tensor, -1),
        "blockwise_softmax": lambda: blockwise_softmax(logits),
        "blockwise_softmax(out=)": lambda: blockwise_softmax(logits, out=out),
        "np.exp": lambda: np.exp(logits, out=out),
        "np.copyto": lambda: np.copyto(out, logits),
    }


def check(functions, logits):
    """Raise unless every contestant returns the softmax of a few rows."""
    for name, function in functions.items():
        if name not in PARTS:
            np.testing.assert_allclose(np.asarray(function())[:4], reference(logits[:4]), rtol=1e-5, err_msg=name)


def fastest(functions, rounds):
    """Return the least CPU time of each function in milliseconds."""
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.process_time()
            function()
            best[name] = min(best[name], time.process_time() - start)
    return {name: round(1000 * seconds, 3) for name, seconds in best.items()}


def cpu_model():
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def measure(rounds):
    """Return the times of every case, with what they depend on."""
    torch.set_num_threads(1)
    cases = []
    for dtype, shape in CASES:
        logits = np.random.default_rng(0).standard_normal(shape).astype(dtype)
        functions = contestants(logits)
        check(functions, logits)
        cases.append({"dtype": dtype, "shape": shape, "milliseconds": fastest(functions, rounds)})
    return {
        "date": datetime.date.today().isoformat(),
        "machine": {
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "simd": np.show_config(mode="dicts")["SIMD Extensions"]["found"],
        },
        "threads": 1,
        "rounds": rounds,
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "torch": torch.__version__,
        },
        "cases": cases,
    }


def speed(case):
    """Return how many times as fast as SciPy each contestant is."""
    times = case["milliseconds"]
    return {name: times[BASE] / milliseconds for name, milliseconds in times.items()}


def table(result):
    """Return the speeds as text: one line a contestant, one column a case."""
    cases = result["cases"]
    heads = [f"{case['dtype']} {case['shape'][0]}x{case['shape'][1]}" for case in cases]
    lines = [f"{f'speed, {BASE} = 1':27}" + "".join(f"{head:>21}" for head in heads)]
    for name in cases[0]["milliseconds"]:
        lines.append(f"{name:27}" + "".join(f"{speed(case)[name]:21.2f}" for case in cases))
    return "\n".join(lines)


def write(result):
    RESULTS.write_text(json.dumps(result, indent=1) + "\n")
    return RESULTS
