# A stamp says that everything is installed, the package and its studies; it is redone only when one
# of their pyproject.toml changes.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
BASE := .venv/.installed-base

.PHONY: demo bench test coverage test-slow test-lowest lint install docs dist clean

demo: $(BASE)
	$(BIN)/onesnap demo --force

# About four minutes; leave the machine alone meanwhile.
bench: $(BASE)
	$(BIN)/onesnap bench speed

# One thread of BLAS a worker: two workers with two each would wait for each other. Tests stay in their
# order, so that a file shares what it made, until a worker has none left and takes some of the others.
test: lint
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal

# The same with the lines that no test runs; half as long again.
coverage: $(STAMP)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses auto --dist worksteal --cov --cov-report=term

test-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow

# The suite with the oldest packages that pyproject.toml admits; their own deprecations are not ours.
test-lowest:
	$(PYTHON) -m venv .venv-lowest
	sed -n '/^dependencies/,/^]/p; /^data = /p; /^assimilate = /p; /^grib = /p; /^dask = /p; /^dev = /,/^]/p' pyproject.toml | grep -oE '[a-z0-9-]+>=[0-9.]+' \
		| sed 's/>=/==/' | grep -vE 'ruff|pre-commit' > .venv-lowest/lowest.txt
	# The pyparsing of that time: a later one warns at what matplotlib then called.
	.venv-lowest/bin/python -m pip install --quiet --requirement .venv-lowest/lowest.txt pyparsing==3.1.0
	.venv-lowest/bin/python -m pip install --quiet --no-deps --editable . --editable studies
	.venv-lowest/bin/python -m pytest -W ignore::DeprecationWarning

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

# The website, out/site/index.html. Its tools have an environment of their own.
docs: .venv-docs/.installed
	.venv-docs/bin/python docs/site/build.py

.venv-docs/.installed: pyproject.toml
	test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	sed -n '/^docs = /p' pyproject.toml | grep -oE '"[^"]+"' | xargs .venv-docs/bin/python -m pip install --quiet
	touch $@

# Wheel and sdist in dist/, each installed into a clean environment and run.
dist:
	.ci/dist $(PYTHON)

install: $(STAMP)

$(BASE): pyproject.toml studies/pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "onesnap needs Python 3.11 or newer; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable . --editable studies
	touch $@

$(STAMP): $(BASE)
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --editable studies
	touch $@

clean:
	rm -rf .venv .venv-lowest .venv-docs out .pytest_cache .ruff_cache .hypothesis .coverage dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
