# SPDX-License-Identifier: MIT
# The README describes `make demo` and `make test`. Both commands install everything that they need, except Swift.

SHELL := /bin/bash
SWIFT ?= swift
# This limits the number of tests that run at the same time. Otherwise, tests that compute starve tests that wait, which
# then time out.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 12
# SwiftPM passes the traits to the compiler in the order of a set, which differs between processes. Each difference compiles
# everything again, unless the hash values are the same in each process. The variable applies to builds only, because
# tests must hold for each order of sets. For the same reason, tests never build (--skip-build).
BUILD = env SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
# Prints the name of a step and its seconds.
STEP = @Scripts/step
# The package traits, whose libraries Scripts/setup installs. `make test TRAITS=` builds without them.
TRAITS ?= AVIF,HEIF,JXL,SVG,PDF,TIFF,JPEG2000,GTK,Memcached,Server
WITH = $(if $(TRAITS),--traits $(TRAITS))
# Builds the programs and the tests. With the trait GTK, which most of them need, the build contains the targets of the packages
# Examples and Compatibility. See Scripts/consumer-targets.
TARGETS = $(if $(findstring GTK,$(TRAITS)),.build/consumer-targets)
BUILD_TESTS = $(if $(TARGETS),WEBIMAGE_CONSUMERS="$$(cat $(TARGETS))") $(BUILD) --build-tests $(WITH)
# Runs tests that were built before.
RUN = $(SWIFT) test --skip-build $(WITH)
SANITIZED = --scratch-path .build-$(1) --sanitize=$(1)

.PHONY: demo serve load-test gallery rest programs install uninstall check-install deb check-deb dist consumers test check tests durations simulation test-gtk views examples compatibility screenshots test-minimal test-asan test-tsan fuzz soak mutants lint kernels structure docs snippets format fixtures build rebuild release man completions article benchmarks wall clean

## Creates a release build and runs the demo: loads the bundled album over loopback. With URLS="…", loads those URLs.
demo:
	@Scripts/setup build
	@$(BUILD) -c release --product webimage $(WITH)
	@$(BUILD) -c release --product webimage-decoder $(WITH)
	@.build/release/webimage $(if $(URLS),fetch $(URLS) --output-dir demo,demo --output-dir demo)

## Opens the gallery with the bundled album, or, for example, with ARGUMENTS="~/Pictures --color-scheme dark".
gallery: release
	@.build/release/webimage gallery $(ARGUMENTS)

## Starts the image server with nginx and memcached on loopback, prints three URLs to try, and stops on Control-C.
## PORT=8080 is the port of nginx.
PORT ?= 8080
serve:
	@Scripts/setup test
	@$(BUILD) -c release --product webimage-serve $(WITH)
	@$(BUILD) -c release --product webimage-decoder $(WITH)
	@Deployment/serve ".build/release/webimage-serve" $(PORT)

## Measures the image server under load, next to thumbor, and prints tables. DURATION=20 is the time of one measurement in
## seconds, so a short run is `make load-test DURATION=5 LOAD="--rounds 1 --photographs 4"`. See Benchmarks/README.md. The
## programs are built as in Deployment/Dockerfile, because further libraries make the start slower and need more memory.
DURATION ?= 20
SERVER = -c release --static-swift-stdlib --traits AVIF,Memcached,Server --scratch-path .build/serve
load-test:
	@Scripts/setup benchmarks
	@for product in webimage-serve webimage-decoder; do $(BUILD) $(SERVER) --product $$product || exit 1; done
	@/usr/bin/python3 Benchmarks/load/load_test.py .build/serve/release/webimage-serve \
		--seconds $(DURATION) $(LOAD)

## Measures the idle gallery: its processor time and wakeups during two seconds, after all cells are loaded.
rest: release
	@Scripts/setup test
	@WEBIMAGE_GALLERY_REST=2 Scripts/displayed .build/release/webimage gallery $(ARGUMENTS)

## Checks the formatting, the prose, the public API, and the documentation, builds, and runs all tests that this machine
## supports.
test: $(TARGETS)
	$(STEP) "setup" Scripts/setup test
	$(STEP) "lint" $(MAKE) --no-print-directory lint
	$(STEP) "kernels" env SWIFT="$(SWIFT)" Scripts/kernels
	$(STEP) "build" env $(BUILD_TESTS)
	$(STEP) "libraries of the programs" env SWIFT="$(SWIFT)" Scripts/consumers --programs .build/debug $(TRAITS)
	$(STEP) "installation" Scripts/check-install .build/debug $(TRAITS)
	$(STEP) "public API" env SWIFT="$(SWIFT)" Scripts/api --check
ifneq ($(findstring GTK,$(TRAITS)),)
	$(STEP) "snippets" env SWIFT="$(SWIFT)" Scripts/snippets
	$(STEP) "documentation" env SWIFT="$(SWIFT)" Scripts/docs --strict
endif
	$(STEP) "tests" $(MAKE) --no-print-directory tests
	$(STEP) "simulation" $(MAKE) --no-print-directory simulation
ifneq ($(findstring GTK,$(TRAITS)),)
	$(STEP) "views with other renderers" $(MAKE) --no-print-directory test-gtk
endif
	$(STEP) "examples" $(MAKE) --no-print-directory examples

## Builds, and runs the tests whose names match FILTER, a regular expression: make check FILTER=WebImageStoreTests.DamageTests
check: $(TARGETS)
	@$(BUILD_TESTS)
	@$(MAKE) --no-print-directory tests

## Runs the tests of the last build whose names match FILTER, or all tests except those of the package Compatibility.
## Scripts/repeat-tests calls this several times.
FILTER ?=
tests:
	@Scripts/tests $(RUN) $(if $(FILTER),--filter '$(FILTER)',--skip CompatibilityTests)

## Writes the seconds of each target and the 30 most expensive tests. The tests run one after another, so that the seconds
## of a test don't contain those of others.
durations: $(TARGETS)
	@Scripts/setup test
	@$(BUILD_TESTS)
	@Scripts/tests --limit 3600 --durations 30 $(RUN) --skip CompatibilityTests --no-parallel

## Runs the simulations of shared jobs and of a manager. They replace the executor of Swift tasks, so they need a
## dedicated process. `make test` runs this, too.
SEEDS ?= 300
simulation:
	@SWIFT_DETERMINISTIC_HASHING=1 WEBIMAGE_SIMULATION_SEEDS=$(SEEDS) Scripts/tests $(RUN) --disable-xctest --filter SimulationTests

## Tests what the views draw again with the GL renderer, and on a display with two pixels per point. `make test` runs this,
## too.
RENDERED = WebImageGTKTests.(Looks|MovingLooks|SlotRenderer|Scale|Texture|TextureColor)Tests
test-gtk:
	@GSK_RENDERER=gl $(MAKE) --no-print-directory views VIEWS='$(RENDERED)'
	@GDK_SCALE=2 $(MAKE) --no-print-directory views VIEWS=WebImageGTKTests.ScaleTests

VIEWS ?= WebImageGTKTests
views:
	@Scripts/tests $(RUN) --filter '$(VIEWS)' --disable-swift-testing

.build/consumer-targets: Examples/Package.swift Compatibility/Package.swift Scripts/consumer-targets
	@mkdir -p .build
	@SWIFT="$(SWIFT)" Scripts/consumer-targets > $@.new && mv $@.new $@

## Builds the examples, and runs those that check their own results. They're a separate package, so they see only public
## declarations.
CHECKED = own-coder own-loader image-server testing
ifeq ($(findstring GTK,$(TRAITS)),)
CONSUMERS = --scratch-path .build-consumers
examples:
	@Scripts/setup build
	@$(BUILD) --package-path Examples $(CONSUMERS) $(WITH)
	@for example in $(CHECKED); do .build-consumers/debug/$$example || exit 1; done
else
examples: $(TARGETS)
	@Scripts/setup test
	@$(BUILD_TESTS)
	@for example in $(CHECKED); do .build/debug/$$example || exit 1; done
endif

## Builds the package Compatibility, and runs the programs that are written for other libraries and the adapters for other
## frameworks. The programs and the adapters contain views, so without the trait GTK, this command builds only the modules.
## Continuous integration runs it after `make test`.
COMPATIBLE = SDWebImageCompat NukeCompat KingfisherCompat
ifeq ($(findstring GTK,$(TRAITS)),)
compatibility:
	@Scripts/setup build
	@for module in $(COMPATIBLE); do \
		$(BUILD) --package-path Compatibility $(CONSUMERS) $(WITH) --target $$module || exit 1; done
	@echo "The modules $(COMPATIBLE) were built. Their programs, adapters, and tests need the trait GTK."
else
compatibility: $(TARGETS)
	@Scripts/setup test
	$(STEP) "build of the compatibility modules" env $(BUILD_TESTS)
	$(STEP) "compatibility" Scripts/tests $(RUN) --filter CompatibilityTests
endif

## Draws the images of the article "GTK" again. The tests compare the views with them.
screenshots: $(TARGETS)
	@Scripts/setup test
	@$(BUILD_TESTS)
	@WEBIMAGE_SCREENSHOTS=$(CURDIR)/Documentation/WebImage.docc/Articles Scripts/tests $(RUN) \
		--filter 'WebImageGTKTests.(Looks|MovingLooks|Indicator)Tests' --disable-swift-testing

## Tests the codecs without optional libraries. The package then has only the targets that these tests need.
MINIMAL = --scratch-path .build-minimal
test-minimal:
	@Scripts/setup test
	$(STEP) "build without optional libraries" env WEBIMAGE_ONLY=codecs $(BUILD) --build-tests $(MINIMAL)
	$(STEP) "tests without optional libraries" env WEBIMAGE_ONLY=codecs Scripts/tests $(SWIFT) test --skip-build $(MINIMAL)

## Checks the formatting, the prose, the references between the directories of all targets, the names in the documents for
## contributors, and the lists of libraries.
lint:
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Compatibility Benchmarks/Package.swift Benchmarks/Sources
	@Scripts/prose-lint --self-test
	@Scripts/prose-lint
	@Scripts/structure
	@Scripts/architecture-names --self-test
	@Scripts/architecture-names
	@Scripts/mutants --check
	@Scripts/check-libraries
	@SWIFT="$(SWIFT)" Scripts/consumers --check
	@SWIFT="$(SWIFT)" Scripts/portable

## Compares the variants of the pixel kernels by instruction set, also for arm64 if the cross compiler and QEMU are installed.
## `make test` runs this, too.
kernels:
	@Scripts/setup test
	@SWIFT="$(SWIFT)" Scripts/kernels

## Finds cycles between the directories of a target that ARCHITECTURE.md doesn't explain.
structure:
	@Scripts/structure

## Builds the documentation of all modules as a static site in .build/docs. An undocumented symbol, a link without a target, or any
## other warning of DocC fails the command. `make test` runs this, too. With BASE_PATH=/PATH, the site is for a path of a web
## server instead of its root.
BASE_PATH ?=
docs: build
	@SWIFT="$(SWIFT)" Scripts/docs --strict $(if $(BASE_PATH),--base-path "$(BASE_PATH)")

## Type-checks the snippets of the articles and of the README. `make test` runs this, too.
snippets: build
	@SWIFT="$(SWIFT)" Scripts/snippets

## Fixes the formatting.
format:
	@$(SWIFT) format format --in-place --recursive --parallel Package.swift Sources Tests Examples Compatibility Benchmarks/Package.swift Benchmarks/Sources

## Runs the tests under the address sanitizer. Under a sanitizer, tests run one after another, because a test that takes
## ten times as long starves the others. Leaks aren't checked, because Swift stores flags in the bits of pointers, which
## hides them from the leak checker.
test-asan:
	@Scripts/setup test
	@$(BUILD) --build-tests $(WITH) $(call SANITIZED,address) -Xswiftc -DADDRESS_SANITIZER
	@ASAN_OPTIONS=detect_leaks=0 Scripts/tests --limit 7200 $(RUN) $(call SANITIZED,address) -Xswiftc -DADDRESS_SANITIZER --no-parallel

## Runs the tests under the thread sanitizer.
test-tsan:
	@Scripts/setup test
	@$(BUILD) --build-tests $(WITH) $(call SANITIZED,thread) -Xswiftc -DTHREAD_SANITIZER
	@Scripts/tests --limit 7200 $(RUN) $(call SANITIZED,thread) -Xswiftc -DTHREAD_SANITIZER --no-parallel

## Runs the long tests: 100,000 requests with faults, 100,000 steps of the model of the manager, 100,000 seeds of the
## simulations of shared jobs and of a manager, 1,000 kills of processes that write to the disk cache, all failing
## allocations of the codecs, the long variants of the codec tests, 10,000 attacks of a hostile helper, 100,000 hostile
## inputs in and out of helper processes, and the files of Scripts/attacks with a release build. The requests and the
## inputs run in dedicated processes, because the tests count descriptors and measure memory. WEBIMAGE_SOAK_SEED selects
## the first seed. If the process of the hostile inputs crashes, their last seeds remain in $TMPDIR/webimage-soak-*.log.
soak:
	@Scripts/setup test
	@$(BUILD) --build-tests $(WITH)
	@WEBIMAGE_SOAK_REQUESTS=$${WEBIMAGE_SOAK_REQUESTS:-100000} $(RUN) --filter WebImageNetTests.SoakTests
	@WEBIMAGE_SOAK_STEPS=$${WEBIMAGE_SOAK_STEPS:-100000} $(RUN) --filter WebImageManagerTests.ManagerModelTests
	@SWIFT_DETERMINISTIC_HASHING=1 WEBIMAGE_SIMULATION_SEEDS=$${WEBIMAGE_SIMULATION_SEEDS:-100000} $(RUN) --disable-xctest --filter SimulationTests
	@WEBIMAGE_SOAK_ROUNDS=$${WEBIMAGE_SOAK_ROUNDS:-1000} $(RUN) --filter WebImageStoreTests.ProcessTests
	@WEBIMAGE_SOAK_ALLOCATIONS=$${WEBIMAGE_SOAK_ALLOCATIONS:-100000000} $(RUN) --filter WebImageCodecsTests.AllocationFailureTests
	@WEBIMAGE_SOAK_CODECS=1 $(RUN) --filter WebImageCodecsTests
	@WEBIMAGE_HOSTILE_RUNS=$${WEBIMAGE_HOSTILE_RUNS:-10000} $(RUN) --filter WebImageIsolationTests.HostileHelperTests
	@WEBIMAGE_SOAK_INPUTS=$${WEBIMAGE_SOAK_INPUTS:-100000} $(RUN) --filter WebImageIsolationTests.HostileInputSoakTests
	@$(BUILD) -c release --product webimage $(WITH)
	@$(BUILD) -c release --product webimage-decoder $(WITH)
	@Scripts/attacks ".build/release/webimage"

## Plants faults of other libraries in a copy of the sources and checks that the simulation finds each of them.
mutants:
	@WEBIMAGE_MUTANT_OPTIONS="$(WITH)" SWIFT="$(SWIFT)" Scripts/mutants

## Runs every fuzzer for SECONDS=60 seconds. TARGETS="probe exif" selects targets. See Fuzz/README.md.
SECONDS ?= 60
fuzz:
	@Scripts/setup build
	@SWIFT="$(SWIFT)" TRAITS="$(TRAITS)" Scripts/fuzz $(SECONDS) $(TARGETS)

## Creates a debug build.
build:
	@Scripts/setup build
	@$(BUILD) $(WITH)

## Creates a release build.
release:
	@Scripts/setup build
	@$(BUILD) -c release $(WITH)

## Builds the programs for installation, with a statically linked Swift standard library, so that they run without Swift.
## The gallery is built only with the trait GTK, and the image server only with the trait Server. SETUP=no doesn't install
## the libraries.
STATIC = -c release --static-swift-stdlib --disable-local-rpath --scratch-path .build/static \
	$(foreach option,relro now,-Xlinker -z -Xlinker $(option))
PROGRAMS = webimage webimage-decoder $(if $(findstring GTK,$(TRAITS)),webimage-gallery) \
	$(if $(findstring Server,$(TRAITS)),webimage-serve)
# The date of this file is that of the beginning of the last build, because a source can change during a build.
BUILT = .build/static/built
programs:
	@[ "$(SETUP)" = no ] || Scripts/setup build
	@mkdir -p $(dir $(BUILT)) && touch $(BUILT).new
	@for program in $(PROGRAMS); do $(BUILD) $(STATIC) $(WITH) --product $$program || exit 1; done
	@mv $(BUILT).new $(BUILT)

# Directories are newer if a file in them was added or removed. Root must not write to the build of another user.
$(BUILT): Makefile Package.swift $(shell find Sources)
	@[ "$$(id -u)" != 0 ] || [ -O Makefile ] || { \
		echo "The programs are older than the sources. Run “make programs” without sudo first." >&2; exit 1; }
	@$(MAKE) --no-print-directory programs

## Installs the programs of `make programs`, the man pages, the completions, and the files for desktops below
## $(DESTDIR)$(PREFIX). If the programs are older than the sources, builds them again. The programs find each other relative
## to their own directory.
PREFIX ?= /usr/local
export PREFIX DESTDIR STRIP ZSH_COMPLETIONS FISH_COMPLETIONS
install: $(BUILT)
	@Scripts/install .build/static/release

## Removes everything that `make install` installs.
uninstall:
	@Scripts/install --remove

## Installs the debug build in a temporary directory, runs the programs there, and removes them. `make test` runs this, too.
check-install: build
	@Scripts/check-install .build/debug $(TRAITS)

## Builds the Debian packages webimage, webimage-gallery, and webimage-server in .build/deb, and checks them with lintian.
deb:
	@Scripts/setup package
	@Scripts/deb

## Installs the packages of `make deb` in a new Debian 12 without Swift, and tries them there. Requires root.
check-deb:
	@Scripts/setup package
	@Scripts/check-deb

## Creates the archives of a release in .build/dist twice, and compares their bytes.
dist: programs
	@Scripts/setup package
	@SWIFT="$(SWIFT)" Scripts/dist --check .build/static/release

## Builds packages outside of the repository that depend on each product with no trait, with each trait, and with all
## traits, and compares the libraries of their programs with the lists of Scripts/setup. SETS="none AVIF" selects sets.
## This takes about an hour.
consumers:
	@Scripts/setup build
	@SWIFT="$(SWIFT)" Scripts/consumers $(SETS)

## Writes the man pages of the tool to .build/man.
man: build
	@.build/debug/webimage --generate man .build/man

## Writes the completion scripts for bash, zsh, and fish to .build/completions.
completions: build
	@.build/debug/webimage --generate completions .build/completions

## Updates the tables of the article "Command line".
article: build
	@.build/debug/webimage --generate article Documentation/WebImage.docc/Articles/CommandLine.md

## Runs the benchmarks. SUITES="memory disk" selects suites, and ARGUMENTS="--json" passes options.
benchmarks:
	@Scripts/setup benchmarks
	@cd Benchmarks && $(BUILD) -c release && .build/release/benchmarks $(SUITES) $(ARGUMENTS)

## Compares the gallery with Chromium and Firefox on simulated networks. ARGUMENTS="--rounds 3 --profiles 10M" makes the
## run shorter. The report is written to Benchmarks/report.
wall:
	@Scripts/setup wall
	@$(BUILD) -c release --product webimage $(WITH)
	@$(BUILD) -c release --product webimage-gallery $(WITH)
	@$(BUILD) -c release --product webimage-decoder $(WITH)
	@/usr/bin/python3 Benchmarks/Wall/wall.py --bin ".build/release" $(ARGUMENTS)

## Generates Tests/Fixtures and the album of the demo again, with independent encoders.
fixtures:
	@Scripts/setup fixtures
	@Scripts/fixtures

## Compiles all Swift targets of the debug build again, which is necessary if incremental builds are wrong. See
## CONTRIBUTING.md. Targets in C aren't compiled again.
rebuild: $(TARGETS)
	@find .build/*/debug -maxdepth 1 -name '*.build' ! -name 'C[A-Z]*.build' -exec rm -rf {} + 2>/dev/null || true
	@$(BUILD_TESTS)

## Deletes all build products and the output of the demo.
clean:
	@rm -rf .build .build-minimal .build-consumers .build-address .build-thread .build-fuzz Benchmarks/.build demo
