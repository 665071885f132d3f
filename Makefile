# The book's commands; `make help` lists them. Needs make, git and Python 3.11 or newer.
PYTHON ?= python3
PY := .venv/bin/python
export PYTHONPATH := $(CURDIR)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: site
site:  ## build the whole site into site/
	@$(PY) -m site_tools.build
