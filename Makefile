# Signalbox. `make` alone lists what there is.

VERSION      ?= $(or $(shell git describe --tags --match 'v[0-9]*' --always --dirty 2>/dev/null),dev)
FUZZTIME     ?= 60s
TEST_TIMEOUT ?= 25m
TESTFLAGS    ?=
BENCHFLAGS   ?=

# Every go.mod is a module of its own, and ./... stops at its border. The benchmarks have no tests to
# run, and so many libraries of peers that a new machine compiles them for minutes.
MODULES       := $(sort $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path '*/node_modules/*' -not -path '*/testdata/*')))
TEST_MODULES  := $(filter-out ./bench ./bench/%,$(MODULES))
BENCH_MODULES := $(filter ./bench ./bench/%,$(MODULES))

# The name carries the versions of the linter and of Go: a new one of either builds the linter anew,
# because it cannot read code for a newer Go than its own.
GOLANGCI_VERSION := v2.14.0
GOLANGCI         := bin/tools/golangci-lint-$(GOLANGCI_VERSION)-$(shell go env GOVERSION)

# How everything is built that is not built for the race detector, linters included. One way for all:
# on a new machine the standard library and what we use are compiled once.
PLAIN := CGO_ENABLED=0 GOFLAGS=-trimpath

.DEFAULT_GOAL := help
.PHONY: help run build demo screenshots test test-web test-fast test-fast-server test-fast-clients soak lint lint-bench check-platforms check-deploy check-guides bench parity fuzz fmt clean

help: ## list the commands
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build, then serve on 127.0.0.1:8080 with ./data (SIGNALBOX_LISTEN, SIGNALBOX_DATA)
	SIGNALBOX_LISTEN="$${SIGNALBOX_LISTEN:-127.0.0.1:8080}" SIGNALBOX_DATA="$${SIGNALBOX_DATA:-./data}" bin/signalbox serve

# The version is given, so Go asks version control nothing: the build works from a tarball and in a
# checkout that belongs to another user.
build: ## build bin/signalbox, one static file; with Node.js, the console too
	scripts/build-console
	$(PLAIN) go build -buildvcs=false -ldflags "-s -w -X github.com/signalbox/signalbox/internal/app.version=$(VERSION)" -o bin/signalbox ./cmd/signalbox

demo: build ## serve three months of made-up data, with three programs connected (SIGNALBOX_LISTEN)
	$(PLAIN) go build -o bin/demo ./cmd/demo
	bin/demo

screenshots: build ## take a picture of every screen of the console from the demo, into docs/screenshots
	scripts/ensure-chromium
	$(PLAIN) go build -o bin/demo ./cmd/demo
	scripts/with-node node web/build/screenshots.mjs bin/demo docs/screenshots

# The race detector does not look into SQLite, which is C translated to Go, nor into the hashing of
# passwords: their races are not ours to find, and they would run many times slower. This is safe for
# packages without generic code of others alone: the linker keeps one copy of that, and one that is not
# watched would hide locks from the detector.
RACE := -race $(patsubst %,-gcflags=%=-race=false,modernc.org/sqlite modernc.org/sqlite/lib modernc.org/libc modernc.org/memory golang.org/x/crypto/argon2 golang.org/x/crypto/blake2b)

# What tests need besides Go comes from wrappers named scripts/with-…, which nest: one thing each.
# Some tests wait for others to compute, hence a package more at once than there are processors, and
# four tests of each.
ATONCE := -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) -parallel 4

# Programs of tests are linked without information for debuggers, which takes a third of the time. Stack traces need none.
LINK := -ldflags=-w

# Nothing may be skipped, which SIGNALBOX_TEST_ALL says; make lint vets. By default the race detector waits for a second
# after each package in case goroutines still run; most packages check that none do.
TEST = env CGO_ENABLED=1 SIGNALBOX_TEST_ALL=1 GORACE=atexit_sleep_ms=50 scripts/with-postgres --in-memory scripts/with-node scripts/each-module $(TEST_MODULES) -- \
	go test $(RACE) $(LINK) -vet=off $(ATONCE) -timeout $(TEST_TIMEOUT)

test: ## run every test, with the race detector, on SQLite and PostgreSQL, and in Chromium (TESTFLAGS)
	scripts/ensure-cc
	scripts/ensure-node
	$(TEST) $(TESTFLAGS) ./...
	$(MAKE) --no-print-directory test-web

test-web: ## build, then run the tests of the console alone, in Chromium
	scripts/ensure-chromium
	scripts/build-console --required
	$(MAKE) --no-print-directory build
	scripts/with-node npm --prefix web run --silent test
	scripts/with-node npm --prefix web run --silent browser

# Without e2e, which builds the program and runs it some hundred times.
FAST := -- sh -c 'env -u SIGNALBOX_TEST_POSTGRES -u SIGNALBOX_TEST_ALL go test $(LINK) -vet=off $(ATONCE) $(TESTFLAGS) $$(go list ./... | grep -v /e2e$$)'

test-fast: ## run what needs no PostgreSQL, no Node and no built program, without the race detector (TESTFLAGS)
	@$(MAKE) --no-print-directory -j2 test-fast-server test-fast-clients

# At once: the clients' tests wait more than they compute.
test-fast-server:
	scripts/each-module . $(FAST)
test-fast-clients:
	scripts/each-module $(filter-out .,$(TEST_MODULES)) $(FAST)

# The long forms hold goals of time, so no package is tested beside another.
soak: ATONCE = -p 1 -parallel 4
soak: TEST_TIMEOUT = 60m
soak: ## the same as make test with the long forms of kills, reconnects, sockets and searches (TESTFLAGS)
	scripts/ensure-cc
	scripts/ensure-node
	SIGNALBOX_SOAK=1 $(TEST) $(TESTFLAGS) ./...

# The linters read every library too: a larger heap spares them a seventh of their time.
LINT := $(PLAIN) GOGC=400 scripts/each-module

lint: $(GOLANGCI) ## check format, imports, linters, types on Windows and macOS, go.mod, and the console's code
	scripts/check-format
	$(GOLANGCI) config verify
	$(LINT) $(TEST_MODULES) -- "$(CURDIR)/$(GOLANGCI)" run ./...
	$(PLAIN) go run ./cmd/crosscheck windows/amd64,darwin/arm64 $(TEST_MODULES)
	scripts/each-module $(MODULES) -- go mod tidy -diff
	scripts/with-node scripts/install-web
	scripts/with-node npm --prefix web run --silent check

lint-bench: $(GOLANGCI) ## check the code of the benchmarks as make lint checks the rest
	$(LINT) $(BENCH_MODULES) -- "$(CURDIR)/$(GOLANGCI)" run ./...

check-platforms: ## vet for Windows and build for macOS (minutes: each compiles the libraries anew; make lint checks types)
	scripts/each-module $(TEST_MODULES) -- env GOOS=windows go vet ./...
	scripts/each-module $(TEST_MODULES) -- env GOOS=darwin go build ./...

check-deploy: ## check deploy/ and a release by the tools that read them, which are built once (many minutes)
	scripts/check-deploy

check-guides: ## run the programs of docs/openfeature.md in Python, JavaScript, Java and .NET against a server
	scripts/check-guides

bench: build ## run the side-by-side benchmarks (BENCHFLAGS)
	scripts/with-postgres go -C bench run . $(BENCHFLAGS)

# The tests compare with what is recorded, and need none of these evaluators.
parity: ## record anew what the evaluators of other products answer for the exports that the tests import
	scripts/ensure-node
	scripts/with-node npm --prefix bench/parity/flipt ci --silent --no-audit --no-fund
	scripts/with-node go -C bench/parity run .

fuzz: ## run every fuzz target for FUZZTIME, one after the other
	FUZZTIME=$(FUZZTIME) scripts/with-postgres scripts/fuzz $(TEST_MODULES)

fmt: $(GOLANGCI) ## format the code and sort its imports
	scripts/each-module $(MODULES) -- "$(CURDIR)/$(GOLANGCI)" fmt ./...
	scripts/with-node scripts/install-web
	scripts/with-node npm --prefix web run --silent fix

clean: ## remove what the other commands built; data stays
	rm -rf bin coverage web/node_modules
	find internal/console/dist -mindepth 1 -not -name .gitkeep -delete

$(GOLANGCI):
	GOBIN="$(CURDIR)/bin/tools" $(PLAIN) go install -ldflags '-s -w' github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv bin/tools/golangci-lint $@
