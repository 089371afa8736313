# One stamp says that everything is installed; it is redone only when pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
BASE := .venv/.installed-base

.PHONY: demo test test-slow lint install clean

demo: $(BASE)
	$(BIN)/onesnap demo --force

test: lint
	$(BIN)/python -m pytest --cov --cov-report=term

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

install: $(STAMP)

$(BASE): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "onesnap needs Python 3.11 or newer; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(STAMP): $(BASE)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv out .pytest_cache .ruff_cache .hypothesis .coverage dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
