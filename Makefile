# Every target says what it is for; `make help` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help run build test unit race e2e bench generate fresh lint tidy req mutants soak

GO ?= go
# Go files that people and tools wrote here, not what npm brings along.
GODIRS := cmd e2e engine handlers policy store web/static web/templates
export CGO_ENABLED ?= 0

help: ## list the targets
	@grep -hE '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-10s %s\n", $$1, $$2}'

build: ## build bin/sluice (needs Go alone)
	$(GO) build -trimpath -o bin/sluice ./cmd/web

run: build ## build and start the server; open the link it prints (ARGS="--listen 127.0.0.1:9000")
	./bin/sluice serve $(ARGS)

test: ## everything that continuous integration runs; installs what it needs where it can
	.ci/need cc git browser
	$(MAKE) lint
	$(MAKE) fresh
	$(MAKE) tidy
	$(MAKE) race
	$(MAKE) e2e

unit: ## the tests of all packages without the race detector: quick, and needs no C compiler
	$(GO) test ./...

race: ## the tests of all packages under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 10m ./...

e2e: ## the real binary in a real browser, with kill -9 at sampled facts
	.ci/need git browser
	$(GO) test -count=1 -tags e2e -timeout 10m ./e2e

bench: ## benchmarks beside their limits, measured in the same run (BENCH=regexp)
	$(GO) test -run '^$$' -bench '$(or $(BENCH),.)' -benchmem -timeout 30m ./policy/... ./engine/... ./store/...

generate: ## write templates and bundles from their sources (the island needs npm)
	.ci/generate templates
	.ci/generate island

fresh: ## prove that generated files are what their sources give, without changing them
	.ci/fresh

lint: ## gofmt, go vet and staticcheck
	@unformatted=$$(gofmt -l $(GODIRS) *.go); [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags e2e,faultinject ./...
	$(GO) tool staticcheck -tags e2e ./...

tidy: ## the rules for the whole repository: import table, pure core, sizes, one path to a tool
	$(GO) test -count=1 .

req: ## list requirement numbers that no test names
	@$(GO) run ./e2e/req

mutants: ## apply each patch of e2e/mutants to a copy; the test it names must fail
	.ci/need git
	@$(GO) run ./e2e/mutants

soak: ## hours instead of minutes: many seeds, a crash at every fact, fuzzing (SEEDS, CHECKS, FUZZTIME)
	.ci/need git browser
	.ci/soak
