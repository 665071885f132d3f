"""The proof itself: what it says of gates that catch, miss, always fail, or fail for another reason."""

import subprocess

import pytest

from site_tools.prove import FAULTS, Fault, main

GATE = "-c", "import sys; text = open('page').read(); sys.exit('RULE 7' if 'bad' in text else 0)"
CASES = {
    "caught": (Fault("f", "page", "good", "bad", GATE, "RULE 7"), "caught"),
    "appended": (Fault("f", "page", r"\Z", "bad", GATE, "RULE 7"), "caught"),
    "removed": (Fault("f", "page", None, "", GATE, "FileNotFoundError"), "caught"),
    "passes": (Fault("f", "page", "good", "fine", GATE, "RULE 7"), "the gate passes"),
    "another": (Fault("f", "page", "good", "bad", GATE, "RULE 8"), "the gate fails without saying RULE 8"),
    "always": (Fault("f", "page", "good", "bad", ("-c", "1 / 0"), "Zero"), "the gate fails without the fault"),
    "nothing": (Fault("f", "page", "absent", "bad", GATE, "RULE 7"), "nothing to change in page"),
}


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "page").write_text("good\n")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("fault, verdict", CASES.values(), ids=CASES.keys())
def test_the_verdict_on_a_gate(repository, capsys, fault, verdict):
    assert main([], [fault], repository) == (verdict != "caught")
    assert verdict in capsys.readouterr().out
    assert (repository / "page").read_text() == "good\n"


def test_a_fault_is_taken_out_before_the_next(repository, capsys):
    faults = [CASES[name][0] for name in ("caught", "removed", "appended")]
    assert main([], faults, repository) == 0
    assert "every fault was caught" in capsys.readouterr().out
    assert main(["no such name"], faults, repository) == 0


def test_the_faults_have_names_of_their_own():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
