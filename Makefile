# The book's commands. Needs make, git and Python 3.11 or newer; everything else comes with the first run. Settings:
#   PYTHON=python3.12      the Python that makes the virtual environment
#   PORT=8001              where `make serve` listens
#   SITE_URL=https://…     the address the site will have
#   TORCH_INDEX=https://…  the package index torch comes from (tests only; without it a plain Linux gets CUDA's torch)
PYTHON ?= python3
PORT ?= 8000
PY := .venv/bin/python
export PYTHONPATH := $(CURDIR)
export TORCH_INDEX

.PHONY: help serve site test figures check prove bench lock clean setup-site setup-test

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' Makefile

serve: setup-site  ## build the book, show it at http://localhost:8000/, and again after every change
	@$(PY) -m site_tools.serve --port $(PORT)

site: setup-site  ## build the book into site/
	@$(PY) -m site_tools.build

test: setup-test check  ## run every check and test
	@$(PY) -m site_tools.chromium
	@$(PY) -m pytest -q --cov -n 2 --dist loadfile

figures: setup-site  ## draw the figures whose sources changed (FORCE=1: all)
	@$(PY) -m figures $(if $(FORCE),--force)

check: setup-test  ## look for faults in code and pages without running them
	@$(PY) -m ruff check --output-format concise
	@$(PY) -m ruff format --check --quiet
	@$(PY) -m site_tools.gates

prove: setup-test  ## plant faults in copies of the book: each must be caught (NAME=…: one)
	@$(PY) -m site_tools.prove $(NAME)

bench: setup-test  ## measure speed, as ratios in one run, into benchmarks/results
	@$(PY) -m benchmarks

lock: setup-site  ## pin the newest versions that requirements/*.in and package.json allow
	@$(PYTHON) -m venv .cache/lock && .cache/lock/bin/pip install -q pip-tools
	@for group in site test; do .cache/lock/bin/pip-compile --quiet --upgrade --strip-extras --allow-unsafe --no-header \
	  --no-annotate --no-emit-index-url --no-emit-find-links requirements/$$group.in; done
	@.venv/bin/npm install --package-lock-only --no-audit --no-fund --silent

clean:  ## remove everything that was built or downloaded
	@rm -rf .venv .cache build site node_modules docs/*/figures docs/*/labs

setup-site setup-test:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not installed; the book needs Python 3.11 or newer" >&2; exit 1; }
	@$(PYTHON) site_tools/setup.py $(subst setup-,,$@)
