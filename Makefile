# Signalbox. `make` alone lists the commands.

VERSION      ?= $(or $(shell git describe --tags --match 'v[0-9]*' --always --dirty 2>/dev/null),dev)
FUZZTIME     ?= 60s
TEST_TIMEOUT ?= 25m
TESTFLAGS    ?=
BENCHFLAGS   ?=

# Every go.mod is its own module, and ./... does not enter other modules. The benchmarks are left out:
# they have no tests, and a new machine compiles their many libraries of peers for minutes.
MODULES       := $(sort $(patsubst %/go.mod,%,$(shell find . -name go.mod -not -path '*/node_modules/*' -not -path '*/testdata/*')))
TEST_MODULES  := $(filter-out ./bench ./bench/%,$(MODULES))
BENCH_MODULES := $(filter ./bench ./bench/%,$(MODULES))

# The name has the versions of the linter and of Go, so that a new version of either builds the linter
# again: it cannot read code for a newer Go than its own.
GOLANGCI_VERSION := v2.14.0
GOLANGCI         := bin/tools/golangci-lint-$(GOLANGCI_VERSION)-$(shell go env GOVERSION)

GOVULNCHECK_VERSION := v1.9.0
GOVULNCHECK         := bin/tools/govulncheck-$(GOVULNCHECK_VERSION)-$(shell go env GOVERSION)
# The database of known vulnerabilities; a folder is file:///….
VULNDB              ?= https://vuln.go.dev

# The build flags of everything without the race detector, linters included. The same flags for all
# mean that a new machine compiles the standard library and the dependencies only once.
PLAIN := CGO_ENABLED=0 GOFLAGS=-trimpath

.DEFAULT_GOAL := help
.PHONY: help run build demo screenshots test race test-go test-programs test-web test-clients test-python test-typescript bench-python bench-typescript test-fast test-fast-server test-fast-clients soak lint lint-bench check-platforms check-deploy check-flagd check-guides check-levels vulncheck bench parity api-calls fuzz fuzz-some fmt clean

help: ## list the commands
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## build, then serve on 127.0.0.1:8080 with ./data (SIGNALBOX_LISTEN, SIGNALBOX_DATA)
	@scripts/run

# The version is passed in, so Go does not ask version control: the build works from a tarball and in
# a checkout that belongs to another user.
build: ## build bin/signalbox, one static file; with Node.js, the console too
	scripts/build-console
	$(PLAIN) go build -buildvcs=false -ldflags "-s -w -X github.com/signalbox/signalbox/internal/app.version=$(VERSION)" -o bin/signalbox ./cmd/signalbox

demo: build ## serve three months of made-up data, with programs connected in Go, Python and Node.js (SIGNALBOX_LISTEN)
	$(PLAIN) go build -o bin/demo ./cmd/demo
	scripts/run-demo

screenshots: build ## take a picture of every screen of the console from the demo, into docs/screenshots
	scripts/ensure-chromium
	scripts/ensure-fonts
	$(PLAIN) go build -o bin/demo ./cmd/demo
	scripts/with-node node web/build/screenshots.mjs bin/demo docs/screenshots

# Wrappers named scripts/with-… provide what tests need besides Go, one thing each; they can be nested.
# Some tests mostly wait, hence one package more at once than there are processors, and four tests of
# each package.
ATONCE := -p $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) -parallel 4

# Test programs are linked without debug information, which takes a third of the time. Stack traces do not need it.
LINK := -ldflags=-w

# Fewer garbage collections save a sixth of the tests' processor time. Programs that tests build and start run with
# Go's default, and so does the race detector, which needs several times the memory.
HEAP := GOGC=400

# SIGNALBOX_TEST_ALL fails tests instead of skipping them. make lint runs go vet.
DATABASES := SIGNALBOX_TEST_ALL=1 scripts/with-postgres --in-memory scripts/with-node
GO_TEST    = go test $(LINK) -vet=off $(ATONCE) -timeout $(TEST_TIMEOUT)
TEST       = $(PLAIN) $(HEAP) $(DATABASES) scripts/each-module $(TEST_MODULES) -- $(GO_TEST)

test: ## run every test, on SQLite and PostgreSQL, and in Chromium (TESTFLAGS); RACE=1 with the race detector
	$(MAKE) --no-print-directory $(if $(RACE),race test-programs,test-go)
	$(MAKE) --no-print-directory test-web
	$(MAKE) --no-print-directory test-clients

test-go: ## run the tests of Go code, on SQLite and PostgreSQL (TESTFLAGS)
	scripts/ensure-node
	scripts/ensure-pgbouncer
	$(TEST) $(TESTFLAGS) ./...

# They are what make race leaves out.
test-programs: TEST_MODULES = .
test-programs:
	scripts/ensure-node
	scripts/ensure-pgbouncer
	$(TEST) $(TESTFLAGS) ./e2e

test-web: ## build, then run the tests of the console alone, in Chromium
	scripts/ensure-chromium
	scripts/build-console --required
	$(MAKE) --no-print-directory build
	scripts/with-node npm --prefix web run --silent test
	scripts/with-postgres --in-memory scripts/with-node npm --prefix web run --silent browser

# Both at once, because their tests wait more than they compute.
test-clients:
	@$(MAKE) --no-print-directory -j2 test-python test-typescript

test-python: build ## build, then test the Python client against the server, on SQLite and PostgreSQL
	scripts/with-postgres --in-memory scripts/with-python pytest --quiet clients/python

test-typescript: build ## build, then test the TypeScript client against the server, on SQLite and PostgreSQL, and in Chromium
	scripts/ensure-chromium
	scripts/with-node scripts/install-typescript
	scripts/with-node npm --prefix clients/typescript run --silent build
	scripts/with-postgres --in-memory scripts/with-node npm --prefix clients/typescript run --silent test

# The race detector skips SQLite, which is C translated to Go, and the hashing of passwords: with it
# they would run many times slower, and their races are not ours to find. A package may only be
# skipped if it uses no generic code of other packages: the linker keeps one copy of such code, and an
# uninstrumented copy would hide locks from the detector. JSON, for one, keeps its types in a sync.Map.
DETECT := -race $(patsubst %,-gcflags=%=-race=false,modernc.org/sqlite modernc.org/sqlite/lib modernc.org/libc modernc.org/memory golang.org/x/crypto/argon2 golang.org/x/crypto/blake2b)

# The race detector would wait for a second after each package in case goroutines still run; most
# packages check for that themselves. The tests of e2e are about programs that are built without it.
race: ## run the tests of Go code with the race detector, on SQLite and PostgreSQL (TESTFLAGS)
	scripts/ensure-cc
	scripts/ensure-node
	scripts/ensure-pgbouncer
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=50 $(DATABASES) scripts/each-module $(TEST_MODULES) -- \
		sh -c '$(GO_TEST) $(DETECT) $(TESTFLAGS) $$(go list ./... | grep -v /e2e$$)'

# Without e2e, which builds the program and runs it some hundred times.
FAST := -- sh -c '$(HEAP) env -u SIGNALBOX_TEST_POSTGRES -u SIGNALBOX_TEST_ALL go test $(LINK) -vet=off $(ATONCE) $(TESTFLAGS) $$(go list ./... | grep -v /e2e$$)'

test-fast: ## run what needs no PostgreSQL, no Node and no built program, without the race detector (TESTFLAGS)
	@$(MAKE) --no-print-directory -j2 test-fast-server test-fast-clients

# The clients' tests run at once because they wait more than they compute.
test-fast-server:
	scripts/each-module . $(FAST)
test-fast-clients:
	scripts/each-module $(filter-out .,$(TEST_MODULES)) $(FAST)

# The long forms check goals of time, so packages are tested one after the other.
soak: ATONCE = -p 1 -parallel 4
soak: TEST_TIMEOUT = 60m
soak: ## the same as make test with the long forms of kills, reconnects, sockets and searches (TESTFLAGS)
	scripts/ensure-node
	scripts/ensure-pgbouncer
	SIGNALBOX_SOAK=1 $(TEST) $(TESTFLAGS) ./...
	SIGNALBOX_SOAK=1 $(MAKE) --no-print-directory test-python
	SIGNALBOX_SOAK=1 $(MAKE) --no-print-directory test-typescript

# The linters read every library too: a larger heap saves a seventh of their time.
LINT := $(PLAIN) GOGC=400 scripts/each-module

lint: $(GOLANGCI) ## check format, imports, linters, types on Windows and macOS, go.mod, and the code of the console and the clients
	scripts/check-format
	$(GOLANGCI) config verify
	$(LINT) $(TEST_MODULES) -- "$(CURDIR)/$(GOLANGCI)" run ./...
	$(PLAIN) go run ./cmd/crosscheck windows/amd64,darwin/arm64 $(TEST_MODULES)
	scripts/each-module $(MODULES) -- go mod tidy -diff
	scripts/with-node scripts/install-web
	scripts/with-node npm --prefix web run --silent check
	scripts/with-python clients/python/check
	scripts/with-node scripts/install-typescript
	scripts/with-node npm --prefix clients/typescript run --silent check

lint-bench: $(GOLANGCI) ## check the code of the benchmarks as make lint checks the rest
	$(LINT) $(BENCH_MODULES) -- "$(CURDIR)/$(GOLANGCI)" run ./...

check-platforms: ## vet for Windows and build for macOS (minutes: each compiles the libraries again; make lint checks types)
	scripts/each-module $(TEST_MODULES) -- env GOOS=windows go vet ./...
	scripts/each-module $(TEST_MODULES) -- env GOOS=darwin go build ./...

check-deploy: ## check deploy/ and a release with the tools that read them, which are built once (many minutes)
	scripts/check-deploy

check-flagd: ## compare flagd's in-process providers in Go, Python, JavaScript and Java with the server
	scripts/check-flagd

check-guides: ## run the programs of docs/openfeature.md and docs/flagd.md in Python, JavaScript, Java, Rust and .NET against a server
	scripts/check-guides

check-levels: ## run the programs of docs/level-files.md in Java and Python against a server (minutes)
	scripts/check-levels

vulncheck: $(GOVULNCHECK) ## look for known vulnerabilities in what we call of libraries and of Go; needs the network (VULNDB)
	scripts/each-module $(TEST_MODULES) -- "$(CURDIR)/$(GOVULNCHECK)" -db "$(VULNDB)" ./...

bench: build ## run the side-by-side benchmarks, and keep the results with date, commit and machine in bench/results (BENCHFLAGS)
	scripts/with-postgres go -C bench run . $(BENCHFLAGS)

bench-python: build ## compare the Python client with LaunchDarkly's, Unleash's and flagd's, in one run
	bench/python/run

bench-typescript: build ## compare the TypeScript client with LaunchDarkly's, Unleash's and flagd's, in one run
	bench/typescript/run

# The tests compare with what is recorded, and need none of these evaluators.
api-calls: ## write the management calls of the Python and TypeScript clients anew, from openapi/openapi.yaml
	go run ./cmd/openapi | scripts/with-python python clients/python/generate_api.py
	go run ./cmd/openapi | scripts/with-node node clients/typescript/client/generate.mjs

parity: ## record anew what the evaluators of other products answer for the exports that the tests import
	scripts/ensure-node
	scripts/with-node npm --prefix bench/parity/flipt ci --silent --no-audit --no-fund
	scripts/with-node go -C bench/parity run .

fuzz: ## run every fuzz target for FUZZTIME, one after the other
	FUZZTIME=$(FUZZTIME) scripts/with-postgres scripts/fuzz $(TEST_MODULES)

fuzz-some: ## run three fuzz targets with 2000 inputs each, others every day (FUZZ_DAY)
	$(PLAIN) FUZZTIME=2000x FUZZ_PICK=3 scripts/fuzz $(TEST_MODULES)

fmt: $(GOLANGCI) ## format the code and sort its imports
	scripts/each-module $(MODULES) -- "$(CURDIR)/$(GOLANGCI)" fmt ./...
	scripts/with-node scripts/install-web
	scripts/with-node npm --prefix web run --silent fix

clean: ## remove what the other commands built; data stays
	rm -rf bin coverage web/node_modules clients/typescript/node_modules clients/typescript/*/dist bench/typescript/node_modules
	find internal/console/dist -mindepth 1 -not -name .gitkeep -delete

$(GOLANGCI):
	GOBIN="$(CURDIR)/bin/tools" $(PLAIN) go install -ldflags '-s -w' github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv bin/tools/golangci-lint $@

$(GOVULNCHECK):
	GOBIN="$(CURDIR)/bin/tools" $(PLAIN) go install -ldflags '-s -w' golang.org/x/vuln/cmd/govulncheck@$(GOVULNCHECK_VERSION)
	mv bin/tools/govulncheck $@
