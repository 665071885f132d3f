"""Run the gates: `python -m site_tools.gates`, or only some: `python -m site_tools.gates parity numbers`."""

import argparse
import sys

from site_tools.gates import GATES, completeness, findings


def main():
    parser = argparse.ArgumentParser(
        prog="python -m site_tools.gates", description="Check the pages of both languages."
    )
    parser.add_argument("gate", nargs="*", choices=[*GATES, "all"], default="all")
    gate = parser.parse_args().gate
    names = GATES if "all" in gate else gate
    found = [str(finding) for name in names for finding in findings(name)]
    finished, unfinished = completeness.chapters()
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(found)} findings by {', '.join(names)}; chapters: {', '.join(finished) or 'none'}", end="")
    print(f" (not in the nav yet: {', '.join(unfinished)})" if unfinished else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
