"""Options of the whole test suite. Nothing here needs torch: NumPy tests also run where it is absent."""

import pytest


def pytest_addoption(parser):
    parser.addoption(
        "--device",
        action="append",
        metavar="NAME",
        help="run the PyTorch tests on this device only, e.g. cuda (repeatable; an absent one is an error)",
    )
    parser.addoption(
        "--numeric-cases",
        action="append",
        metavar="FILE",
        help="also run the numeric cases of this JSON file (repeatable)",
    )


def pytest_configure(config):
    if wanted := config.getoption("--device"):
        from tests.snippets.devices import present

        if absent := [name for name in wanted if name not in present()]:
            raise pytest.UsageError(f"--device: this machine has {present()}, not {absent}")


@pytest.fixture(scope="session")
def site():
    """The folder of the built site; built first if anything it is made from has changed."""
    from site_tools.build import SITE, build

    build()
    return SITE
