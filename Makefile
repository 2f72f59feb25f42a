# Needs Python 3.11 or newer and make, nothing else: every target sets up .venv by itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_FLAGS ?= -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test tests check fmt bench

help:  ## show these lines
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' Makefile

demo: $(VENV)/.demo  ## add a book, ask two questions, open a footnote, then it is your turn
	@$(BIN)/python -m bot demo --data .demo

test: check tests  ## check, then run every test this machine has the parts for, and name the parts left out

tests: $(VENV)/.test
	$(BIN)/pytest $(PYTEST_FLAGS)

check: $(VENV)/.test  ## check format, lint, types and the dependency rule
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fmt: $(VENV)/.test  ## format the code and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.test  ## measure what the README's last table promises
	$(BIN)/python -m tests.bench

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Loccit needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	@touch $@

# The development list holds the running one, so either stamp serves the demo; the order of the two does not matter.
$(VENV)/.test: $(VENV)/bin/python requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	@touch $@ $(VENV)/.demo
