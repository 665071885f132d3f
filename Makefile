# The book's commands. Needs make, git and Python 3.11 or newer; everything else comes with the first run.
#   PYTHON=python3.12   the Python that makes the virtual environment
#   PORT=8001           where `make serve` listens
#   SITE_URL=https://…  the address the site will have
#   TORCH_INDEX=https://…  the package index torch is taken from (the tests need it; the site does not)
PYTHON ?= python3
PORT ?= 8000
PY := .venv/bin/python
export PYTHONPATH := $(CURDIR)
export TORCH_INDEX

.PHONY: help serve site test figures check lock clean setup-site setup-test

help:  ## list the commands
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 18

serve: setup-site  ## build the book and show it at http://localhost:8000/, again after every change
	@$(PY) -m site_tools.serve --port $(PORT)

site: setup-site  ## build the book into site/
	@$(PY) -m site_tools.build

figures: setup-site  ## draw the figures whose sources changed; FORCE=1 draws all
	@$(PY) -m figures $(if $(FORCE),--force)

test: setup-test check  ## run every check and test
	@$(PY) -m site_tools.chromium
	@$(PY) -m pytest -q

check: setup-test  ## look for faults in the Python code without running it
	@.venv/bin/ruff check --quiet && .venv/bin/ruff format --check --quiet

lock: setup-site  ## pin the newest allowed versions again: requirements/*.in to *.txt, package.json to its lock
	@requirements/lock.sh

clean:  ## remove everything that was built or downloaded
	@rm -rf .venv .cache build site node_modules docs/*/figures docs/*/labs

setup-site setup-test:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is not installed; the book needs Python 3.11 or newer" >&2; exit 1; }
	@$(PYTHON) site_tools/setup.py $(subst setup-,,$@)
