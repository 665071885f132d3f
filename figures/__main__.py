"""Draw the figures, or recompute their numbers: python -m figures --help."""

import argparse
import sys

from figures import engine


def main():
    parser = argparse.ArgumentParser(prog="python -m figures", description="Draw the figures whose sources changed.")
    parser.add_argument("chapter", nargs="*", help="only these chapters (default: all)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--force", action="store_true", help="draw every figure, changed or not")
    what.add_argument("--check", action="store_true", help="draw nothing; exit 1 if a figure is out of date")
    what.add_argument("--data", action="store_true", help="recompute figures/data/<chapter>.json from the snippets")
    args = parser.parse_args()
    try:
        if args.data:
            engine.compute(args.chapter)
        elif args.check:
            stale = engine.outdated(args.chapter)
            sys.exit(f"out of date: {', '.join(stale)}: run python -m figures" if stale else 0)
        else:
            engine.draw(args.chapter, force=args.force)
    except engine.FigureError as error:
        sys.exit(f"figures: {error}")


if __name__ == "__main__":
    main()
