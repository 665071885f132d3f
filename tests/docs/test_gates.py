"""The book passes its gates (site_tools/gates says what each looks for)."""

import pytest

from site_tools.gates import GATES, findings


@pytest.mark.parametrize("gate", GATES)
def test_the_book_passes_its_gates(gate):
    found = findings(gate)
    assert not found, f"{len(found)} findings\n" + "\n".join(map(str, found))
