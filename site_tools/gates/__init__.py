"""The gates: checks that keep every page honest. `python -m site_tools.gates` runs them all.

    page.py          a page as the gates see it: structure and prose, each with its line
    parity.py        the two languages say the same things in the same order
    numbers.py       every decimal and percentage is computed on its page or quoted with a source
    typography.py    what of the style rules a program can check
    blocks.py        fences hold snippets only, and name a language that something runs
    completeness.py  every section, figure and chapter is shown, tested and translated

A gate is a function `check(root)` that yields findings.
"""

from dataclasses import dataclass
from importlib import import_module

from pymdownx.snippets import SnippetMissingError

from site_tools import ROOT

GATES = ("parity", "numbers", "typography", "blocks", "completeness")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: where (`file:line`), by which rule, and what."""

    where: str
    rule: str
    message: str

    def __str__(self):
        return f"{self.where} {self.rule} {self.message}"


def findings(gate, root=ROOT):
    """Return what the gate of that name finds in the repository at `root`."""
    try:
        return list(import_module(f"{__name__}.{gate}").check(root))
    except SnippetMissingError as error:
        where, _, message = str(error).partition(": ")
        return [Finding(where, "CODE-INCLUDE", message)]
