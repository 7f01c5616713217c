# SPDX-License-Identifier: MIT
# The README describes `make demo` and `make test`. Both commands install everything that they need, except Swift.

SHELL := /bin/bash
SWIFT ?= swift
# This limits the number of tests that run at the same time. Otherwise, tests that compute starve tests that wait, which
# then time out.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 12
# The package traits, whose libraries Scripts/setup installs. `make test TRAITS=` builds without them.
TRAITS ?= AVIF,HEIF,JXL,SVG,PDF,TIFF,JPEG2000,GTK
WITH = $(if $(TRAITS),--traits $(TRAITS))
SANITIZED = --scratch-path .build-$(1) --sanitize=$(1)

.PHONY: demo gallery rest test test-gtk views examples screenshots test-minimal test-asan test-tsan fuzz soak lint structure docs snippets format fixtures build release benchmarks clean

## Creates a release build and runs the demo: loads the bundled album over loopback. With URLS="…", loads those URLs.
demo:
	@Scripts/setup build
	@$(SWIFT) build -c release --product webimage $(WITH)
	@$(SWIFT) build -c release --product webimage-decoder $(WITH)
	@$$($(SWIFT) build -c release --show-bin-path)/webimage $(if $(URLS),fetch $(URLS) --output-dir demo,demo --output-dir demo)

## Opens the gallery with the bundled album, or, for example, with ARGUMENTS="~/Pictures --color-scheme dark".
gallery: release
	@$$($(SWIFT) build -c release --show-bin-path)/webimage gallery $(ARGUMENTS)

## Measures the idle gallery: its processor time and wakeups during two seconds, after all cells are loaded.
rest: release
	@Scripts/setup test
	@WEBIMAGE_GALLERY_REST=2 Scripts/displayed $$($(SWIFT) build -c release --show-bin-path)/webimage gallery $(ARGUMENTS)

## Checks the formatting, the prose, the public API, and the documentation, builds, and runs all tests that this machine
## supports.
test:
	@Scripts/setup test
	@$(MAKE) --no-print-directory lint
	@$(SWIFT) build --build-tests $(WITH)
	@SWIFT="$(SWIFT)" Scripts/api --check
	@$(if $(findstring GTK,$(TRAITS)),SWIFT="$(SWIFT)" Scripts/snippets && SWIFT="$(SWIFT)" Scripts/docs --strict)
	@Scripts/tests $(SWIFT) test --skip-build $(WITH)
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

## Draws the images of the article "GTK" again. The tests compare the views with them.
screenshots:
	@Scripts/setup test
	@WEBIMAGE_SCREENSHOTS=$(CURDIR)/Documentation/WebImage.docc/Articles Scripts/tests $(SWIFT) test $(WITH) \
		--filter 'WebImageGTKTests.(Looks|MovingLooks|Indicator)Tests' --disable-swift-testing

## Tests the codecs without optional libraries.
test-minimal:
	@Scripts/setup test
	@$(SWIFT) test --scratch-path .build-minimal --filter WebImageCodecsTests

## Checks the formatting and the prose.
lint:
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources
	@Scripts/prose-lint --self-test
	@Scripts/prose-lint

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
	@$(SWIFT) format format --in-place --recursive --parallel Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Sources

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

## Runs the long tests: 100,000 requests with faults, 100,000 steps of the model of the manager, and 1,000 kills of
## processes that write to the disk cache. The requests run in a dedicated process, because the test counts its
## descriptors and measures its memory.
soak:
	@Scripts/setup test
	@WEBIMAGE_SOAK_REQUESTS=$${WEBIMAGE_SOAK_REQUESTS:-100000} $(SWIFT) test $(WITH) --filter WebImageNetTests.SoakTests
	@WEBIMAGE_SOAK_STEPS=$${WEBIMAGE_SOAK_STEPS:-100000} $(SWIFT) test $(WITH) --filter WebImageTests.ManagerModelTests
	@WEBIMAGE_SOAK_ROUNDS=$${WEBIMAGE_SOAK_ROUNDS:-1000} $(SWIFT) test $(WITH) --filter WebImageStoreTests.ProcessTests

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

## Runs the benchmarks. SUITES="memory disk" selects suites, and ARGUMENTS="--json" passes options.
benchmarks:
	@Scripts/setup benchmarks
	@cd Benchmarks && $(SWIFT) build -c release --product benchmarks && .build/release/benchmarks $(SUITES) $(ARGUMENTS)

## Generates Tests/Fixtures and the album of the demo again, with independent encoders.
fixtures:
	@Scripts/setup fixtures
	@Scripts/fixtures

## Deletes all build products and the output of the demo.
clean:
	@rm -rf .build .build-minimal .build-address .build-thread .build-fuzz Benchmarks/.build Examples/.build demo
