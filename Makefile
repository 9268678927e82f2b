# `make demo` shows the main job, `make test` proves the whole. Both set up what they need.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

UV := $(shell command -v uv 2>/dev/null || echo .tools/uv/bin/uv)
RUN := $(UV) run --no-sync
BUNDLE := src/loadstone/report/bundle/report.html
WEB_SOURCES := $(shell find web -type f -not -path '*/node_modules/*' -not -path '*/dist/*' -not -name document.ts 2>/dev/null)
RESULTS ?= results

# Tests start hundreds of commands: where the environment forbids it, each would compile its modules.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help: ## Show what there is to make
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.PHONY: setup
setup: ## Install tools and libraries, build the driver and the report pages
	@scripts/setup all

.PHONY: web
web: $(BUNDLE) ## Build the report pages

$(BUNDLE): $(WEB_SOURCES)
	@scripts/setup node
	cd web && npm ci --no-progress --loglevel=error && npm run --silent build
	@touch $@

.PHONY: demo
demo: ## Climb a tuning ladder on a real PostgreSQL and write the report
	@scripts/setup demo
	$(RUN) loadstone ladder examples/oltp-ladder.yaml --results $(RESULTS) --allow-unsafe

.PHONY: lint
lint: setup ## Check form and types of Python, Rust and TypeScript
	@scripts/lint

PART ?=

.PHONY: test
test: ## What CI runs: lint, types, unit, integration, end to end; a part of the tests: make test PART="cube dss"
	@scripts/setup tests
ifeq ($(PART),)
	@scripts/lint
	@scripts/test
else
	$(RUN) python tests/parts.py --quick $(PART)
endif

.PHONY: test-long
test-long: ## All tests, long ones too, within an hour; a part of them: make test-long PART="cube dss"
	@scripts/setup tests
	$(RUN) python tests/parts.py $(PART)

.PHONY: bench
bench: setup ## Measure Loadstone itself against its peers; writes docs/benchmarks.md
	@scripts/setup packages
	$(RUN) python -m benchmarks

.PHONY: clean
clean: ## Remove what was built, not what was measured
	rm -rf .venv .tools driver/target java/target src/loadstone/workloads/ssj/jars web/node_modules web/dist $(BUNDLE)
