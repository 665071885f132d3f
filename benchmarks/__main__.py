"""Run the benchmarks and record them in benchmarks/results/: python -m benchmarks --help."""

import argparse

from benchmarks import softmax

parser = argparse.ArgumentParser(
    prog="python -m benchmarks",
    description="Compare softmax implementations on one thread; write benchmarks/results/softmax.json.",
)
parser.add_argument("--rounds", type=int, default=40, help="times each is run; the fastest counts (default: 40)")
parser.add_argument("--dry-run", action="store_true", help="print the table, write nothing")
options = parser.parse_args()
result = softmax.measure(options.rounds)
print(softmax.table(result))
if not options.dry_run:
    print("written:", softmax.write(result))
