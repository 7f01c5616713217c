# SPDX-License-Identifier: MIT
# The README describes `make demo` and `make test`. Both commands install everything that they need, except Swift.

SHELL := /bin/bash
SWIFT ?= swift
# This limits the number of tests that run at the same time. Otherwise, tests that compute starve tests that wait, which
# then time out.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 12
# SwiftPM passes the traits to the compiler in the order of a set, which differs between processes. Each difference compiles
# everything again, unless the hash values are the same in each process.
export SWIFT_DETERMINISTIC_HASHING ?= 1
# The package traits, whose libraries Scripts/setup installs. `make test TRAITS=` builds without them.
TRAITS ?= AVIF,HEIF,JXL,SVG,PDF,TIFF,JPEG2000,GTK,Memcached,Server
WITH = $(if $(TRAITS),--traits $(TRAITS))
SANITIZED = --scratch-path .build-$(1) --sanitize=$(1)

.PHONY: demo serve load-test gallery rest programs install uninstall check-install deb check-deb dist consumers test test-gtk views examples compatibility screenshots test-minimal test-asan test-tsan fuzz soak mutants lint kernels structure docs snippets format fixtures build release man completions article benchmarks wall clean

## Creates a release build and runs the demo: loads the bundled album over loopback. With URLS="…", loads those URLs.
demo:
	@Scripts/setup build
	@$(SWIFT) build -c release --product webimage $(WITH)
	@$(SWIFT) build -c release --product webimage-decoder $(WITH)
	@$$($(SWIFT) build -c release --show-bin-path)/webimage $(if $(URLS),fetch $(URLS) --output-dir demo,demo --output-dir demo)

## Opens the gallery with the bundled album, or, for example, with ARGUMENTS="~/Pictures --color-scheme dark".
gallery: release
	@$$($(SWIFT) build -c release --show-bin-path)/webimage gallery $(ARGUMENTS)

## Starts the image server with nginx and memcached on loopback, prints the URL of an example, and stops on Control-C.
## PORT=8080 is the port of nginx.
PORT ?= 8080
serve:
	@Scripts/setup test
	@$(SWIFT) build -c release --product webimage-serve $(WITH)
	@$(SWIFT) build -c release --product webimage-decoder $(WITH)
	@Deployment/serve "$$($(SWIFT) build -c release --show-bin-path)/webimage-serve" $(PORT)

## Measures the image server under load, next to thumbor, and prints tables. DURATION=20 is the time of one measurement in
## seconds, so a short run is `make load-test DURATION=5 LOAD="--rounds 1 --photographs 4"`. See Benchmarks/README.md. The
## programs are built as in Deployment/Dockerfile, because further libraries make the start slower and need more memory.
DURATION ?= 20
SERVER = -c release --static-swift-stdlib --traits AVIF,Memcached,Server --scratch-path .build/serve
load-test:
	@Scripts/setup benchmarks
	@for product in webimage-serve webimage-decoder; do $(SWIFT) build $(SERVER) --product $$product || exit 1; done
	@/usr/bin/python3 Benchmarks/load/load_test.py .build/serve/release/webimage-serve \
		--seconds $(DURATION) $(LOAD)

## Measures the idle gallery: its processor time and wakeups during two seconds, after all cells are loaded.
rest: release
	@Scripts/setup test
	@WEBIMAGE_GALLERY_REST=2 Scripts/displayed $$($(SWIFT) build -c release --show-bin-path)/webimage gallery $(ARGUMENTS)

## Checks the formatting, the prose, the public API, and the documentation, builds, and runs all tests that this machine
## supports.
test:
	@Scripts/setup test
	@$(MAKE) --no-print-directory lint
	@SWIFT="$(SWIFT)" Scripts/kernels
	@$(SWIFT) build --build-tests $(WITH)
	@SWIFT="$(SWIFT)" Scripts/consumers --programs "$$($(SWIFT) build $(WITH) --show-bin-path)" $(TRAITS)
	@Scripts/check-install "$$($(SWIFT) build $(WITH) --show-bin-path)" $(TRAITS)
	@SWIFT="$(SWIFT)" Scripts/consumers none --product WebImageHTTP
	@SWIFT="$(SWIFT)" Scripts/api --check
	@$(if $(findstring GTK,$(TRAITS)),SWIFT="$(SWIFT)" Scripts/snippets && SWIFT="$(SWIFT)" Scripts/docs --strict)
	@Scripts/tests $(SWIFT) test --skip-build $(WITH)
	@WEBIMAGE_SIMULATION_SEEDS=300 Scripts/tests $(SWIFT) test --skip-build $(WITH) --disable-xctest --filter SimulationTests
	@$(if $(findstring GTK,$(TRAITS)),$(MAKE) --no-print-directory test-gtk)
	@$(MAKE) --no-print-directory examples

## Tests the views again with the GL renderer, and on a display with two pixels per point. `make test` runs this, too.
test-gtk:
	@GSK_RENDERER=gl $(MAKE) --no-print-directory views
	@GDK_SCALE=2 $(MAKE) --no-print-directory views VIEWS=WebImageGTKTests.ScaleTests

VIEWS ?= WebImageGTKTests
views:
	@G_DEBUG=fatal-criticals Scripts/tests $(SWIFT) test --skip-build $(WITH) --filter $(VIEWS) --disable-swift-testing

## Builds the examples, and runs those that check their own results. They're a separate package, so they see only public
## declarations. The package has its own scratch directory because SwiftPM passes the traits to the compiler in an order
## that differs with each build plan. In a shared directory, each package would recompile the library of the other.
EXAMPLES = --package-path Examples $(WITH)
examples:
	@Scripts/setup build
	@$(SWIFT) build $(EXAMPLES)
	@bin=$$($(SWIFT) build $(EXAMPLES) --show-bin-path) && \
		for example in own-coder own-loader testing; do $$bin/$$example || exit 1; done

## Builds the package Compatibility, and runs the programs that are written for other libraries and the adapters for other
## frameworks. Like Examples, the package has its own scratch directory, so it compiles the library again. That takes
## several minutes, so continuous integration runs it separately from `make test`. The programs and the adapters contain
## views, so without the trait GTK, this command builds only the modules.
COMPATIBILITY = --package-path Compatibility $(WITH)
COMPATIBLE = SDWebImageCompat NukeCompat KingfisherCompat
ifeq ($(findstring GTK,$(TRAITS)),)
compatibility:
	@Scripts/setup build
	@for module in $(COMPATIBLE); do $(SWIFT) build $(COMPATIBILITY) --target $$module || exit 1; done
	@echo "The modules $(COMPATIBLE) were built. Their programs, adapters, and tests need the trait GTK."
else
compatibility:
	@Scripts/setup test
	@$(SWIFT) build --build-tests $(COMPATIBILITY)
	@Scripts/displayed $(SWIFT) test --skip-build $(COMPATIBILITY) --disable-xctest
	@G_DEBUG=fatal-criticals Scripts/displayed $(SWIFT) test --skip-build $(COMPATIBILITY) --disable-swift-testing
endif

## Draws the images of the article "GTK" again. The tests compare the views with them.
screenshots:
	@Scripts/setup test
	@WEBIMAGE_SCREENSHOTS=$(CURDIR)/Documentation/WebImage.docc/Articles Scripts/tests $(SWIFT) test $(WITH) \
		--filter 'WebImageGTKTests.(Looks|MovingLooks|Indicator)Tests' --disable-swift-testing

## Tests the codecs without optional libraries.
test-minimal:
	@Scripts/setup test
	@$(SWIFT) test --scratch-path .build-minimal --filter WebImageCodecsTests

# The targets without unexplained cycles between their directories. WebImage has some.
ORDERED = $(filter-out C WebImage,$(notdir $(wildcard Sources/*)))

## Checks the formatting, the prose, and the references between the directories of all targets except WebImage.
lint:
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Compatibility Benchmarks/Package.swift Benchmarks/Sources
	@Scripts/prose-lint --self-test
	@Scripts/prose-lint
	@Scripts/structure $(ORDERED)
	@Scripts/mutants --check
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
## other warning of DocC fails the command. `make test` runs this, too.
docs: build
	@SWIFT="$(SWIFT)" Scripts/docs --strict

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
	@ASAN_OPTIONS=detect_leaks=0 Scripts/tests $(SWIFT) test $(WITH) $(call SANITIZED,address) -Xswiftc -DADDRESS_SANITIZER --no-parallel

## Runs the tests under the thread sanitizer.
test-tsan:
	@Scripts/setup test
	@Scripts/tests $(SWIFT) test $(WITH) $(call SANITIZED,thread) -Xswiftc -DTHREAD_SANITIZER --no-parallel

## Runs the long tests: 100,000 requests with faults, 100,000 steps of the model of the manager, 100,000 seeds of the
## simulations of shared jobs and of a manager, 1,000 kills of processes that write to the disk cache, 10,000 attacks of a
## hostile helper, 100,000 hostile inputs in and out of helper processes, and the files of Scripts/attacks with a release
## build. The requests and the inputs run in dedicated processes, because the tests count descriptors and measure memory.
## WEBIMAGE_SOAK_SEED selects the first seed. If the process of the hostile inputs crashes, their last seeds remain in
## $TMPDIR/webimage-soak-*.log.
soak:
	@Scripts/setup test
	@WEBIMAGE_SOAK_REQUESTS=$${WEBIMAGE_SOAK_REQUESTS:-100000} $(SWIFT) test $(WITH) --filter WebImageNetTests.SoakTests
	@WEBIMAGE_SOAK_STEPS=$${WEBIMAGE_SOAK_STEPS:-100000} $(SWIFT) test $(WITH) --filter WebImageTests.ManagerModelTests
	@SWIFT_DETERMINISTIC_HASHING=1 WEBIMAGE_SIMULATION_SEEDS=$${WEBIMAGE_SIMULATION_SEEDS:-100000} $(SWIFT) test $(WITH) --disable-xctest --filter SimulationTests
	@WEBIMAGE_SOAK_ROUNDS=$${WEBIMAGE_SOAK_ROUNDS:-1000} $(SWIFT) test $(WITH) --filter WebImageStoreTests.ProcessTests
	@WEBIMAGE_SOAK_ALLOCATIONS=$${WEBIMAGE_SOAK_ALLOCATIONS:-100000000} $(SWIFT) test $(WITH) --filter WebImageCodecsTests.AllocationFailureTests
	@WEBIMAGE_HOSTILE_RUNS=$${WEBIMAGE_HOSTILE_RUNS:-10000} $(SWIFT) test $(WITH) --filter WebImageIsolationTests.HostileHelperTests
	@WEBIMAGE_SOAK_INPUTS=$${WEBIMAGE_SOAK_INPUTS:-100000} $(SWIFT) test $(WITH) --filter WebImageIsolationTests.HostileInputSoakTests
	@$(SWIFT) build -c release --product webimage $(WITH)
	@$(SWIFT) build -c release --product webimage-decoder $(WITH)
	@Scripts/attacks "$$($(SWIFT) build -c release --show-bin-path)/webimage"

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
	@$(SWIFT) build $(WITH)

## Creates a release build.
release:
	@Scripts/setup build
	@$(SWIFT) build -c release $(WITH)

## Builds the programs for installation, with a statically linked Swift standard library, so that they run without Swift.
## The gallery is built only with the trait GTK. SETUP=no doesn't install the libraries.
STATIC = -c release --static-swift-stdlib --disable-local-rpath --scratch-path .build/static \
	$(foreach option,relro now,-Xlinker -z -Xlinker $(option))
PROGRAMS = webimage webimage-decoder $(if $(findstring GTK,$(TRAITS)),webimage-gallery)
programs:
	@[ "$(SETUP)" = no ] || Scripts/setup build
	@for program in $(PROGRAMS); do $(SWIFT) build $(STATIC) $(WITH) --product $$program || exit 1; done

## Installs the programs of `make programs`, the man pages, the completions, and the files for desktops below
## $(DESTDIR)$(PREFIX). The programs find each other relative to their own directory.
PREFIX ?= /usr/local
export PREFIX DESTDIR STRIP ZSH_COMPLETIONS FISH_COMPLETIONS
install:
	@[ -x .build/static/release/webimage ] || $(MAKE) --no-print-directory programs
	@Scripts/install .build/static/release

## Removes everything that `make install` installs.
uninstall:
	@Scripts/install --remove

## Installs the debug build in a temporary directory, runs the programs there, and removes them. `make test` runs this, too.
check-install: build
	@Scripts/check-install "$$($(SWIFT) build $(WITH) --show-bin-path)" $(TRAITS)

## Builds the Debian packages webimage and webimage-gallery in .build/deb, and checks them with lintian.
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
## This takes about an hour. `make test` builds only one of them.
consumers:
	@Scripts/setup build
	@SWIFT="$(SWIFT)" Scripts/consumers $(SETS)

## Writes the man pages of the tool to .build/man.
man: build
	@$$($(SWIFT) build --show-bin-path)/webimage --generate man .build/man

## Writes the completion scripts for bash, zsh, and fish to .build/completions.
completions: build
	@$$($(SWIFT) build --show-bin-path)/webimage --generate completions .build/completions

## Updates the tables of the article "Command line".
article: build
	@$$($(SWIFT) build --show-bin-path)/webimage --generate article Documentation/WebImage.docc/Articles/CommandLine.md

## Runs the benchmarks. SUITES="memory disk" selects suites, and ARGUMENTS="--json" passes options.
benchmarks:
	@Scripts/setup benchmarks
	@cd Benchmarks && $(SWIFT) build -c release && .build/release/benchmarks $(SUITES) $(ARGUMENTS)

## Compares the gallery with Chromium and Firefox on simulated networks. ARGUMENTS="--rounds 3 --profiles 10M" makes the
## run shorter. The report is written to Benchmarks/report.
wall:
	@Scripts/setup wall
	@$(SWIFT) build -c release --product webimage $(WITH)
	@$(SWIFT) build -c release --product webimage-gallery $(WITH)
	@$(SWIFT) build -c release --product webimage-decoder $(WITH)
	@/usr/bin/python3 Benchmarks/Wall/wall.py --bin "$$($(SWIFT) build -c release --show-bin-path)" $(ARGUMENTS)

## Generates Tests/Fixtures and the album of the demo again, with independent encoders.
fixtures:
	@Scripts/setup fixtures
	@Scripts/fixtures

## Deletes all build products and the output of the demo.
clean:
	@rm -rf .build .build-minimal .build-address .build-thread .build-fuzz Benchmarks/.build Examples/.build Compatibility/.build demo
