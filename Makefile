# SPDX-License-Identifier: MIT
# The two commands of the README are `make demo` and `make test`; both do all their own set-up.

SHELL := /bin/bash
SWIFT ?= swift
# All tests at once would have those that wait for something starved by those that compute, until their time is over.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 12
# Formats whose libraries Scripts/setup installs; `make test TRAITS=` builds without them.
TRAITS ?= AVIF,HEIF,JXL,SVG,PDF,TIFF,GTK
WITH = $(if $(TRAITS),--traits $(TRAITS))
SANITIZED = --scratch-path .build-$(1) --sanitize=$(1)

.PHONY: demo gallery rest test test-gtk views screenshots test-minimal test-asan test-tsan soak lint structure format fixtures build release benchmarks clean

## Release build, then the whole path once: bundled album over loopback, or URLS="…" of your own.
demo:
	@Scripts/setup build
	@$(SWIFT) build -c release --product webimage $(WITH)
	@$$($(SWIFT) build -c release --show-bin-path)/webimage $(if $(URLS),load $(URLS) --output demo,demo --output demo)

## The gallery over the bundled album: ARGUMENTS="~/Pictures --theme dark" for pictures and settings of your own.
gallery: release
	@$$($(SWIFT) build -c release --show-bin-path)/webimage gallery $(ARGUMENTS)

## What the gallery costs while nothing happens: processor time and wake-ups of two seconds, after all cells are there.
rest: release
	@Scripts/setup test
	@WEBIMAGE_GALLERY_REST=2 Scripts/displayed $$($(SWIFT) build -c release --show-bin-path)/webimage gallery $(ARGUMENTS)

## Lint, build and every test that needs nothing but this machine.
test:
	@Scripts/setup test
	@$(MAKE) --no-print-directory lint
	@$(SWIFT) build --build-tests $(WITH)
	@SWIFT="$(SWIFT)" Scripts/tests $(WITH)
	@$(if $(findstring GTK,$(TRAITS)),$(MAKE) --no-print-directory test-gtk)
	@for example in own-coder own-loader testing-example; do \
		$$($(SWIFT) build $(WITH) --show-bin-path)/$$example || exit 1; done

## The views with the other renderer, and on a display with two pixels per point; `make test` does the rest.
test-gtk:
	@GSK_RENDERER=gl $(MAKE) --no-print-directory views
	@GDK_SCALE=2 $(MAKE) --no-print-directory views VIEWS=WebImageGTKTests.ScaleTests

VIEWS ?= WebImageGTKTests
views:
	@G_DEBUG=fatal-criticals Scripts/displayed $(SWIFT) test --skip-build $(WITH) --filter $(VIEWS) --disable-swift-testing

## Draws the pictures of the article "GTK" anew; the tests compare with them.
screenshots:
	@Scripts/setup test
	@WEBIMAGE_SCREENSHOTS=$(CURDIR)/Documentation/Images/GTK Scripts/displayed $(SWIFT) test $(WITH) \
		--filter 'WebImageGTKTests.(Looks|MovingLooks|Indicator)Tests' --disable-swift-testing

## The codecs without any optional library.
test-minimal:
	@Scripts/setup test
	@$(SWIFT) test --scratch-path .build-minimal --filter WebImageCodecsTests

lint:
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Sources

## Cycles between the folders of a target that ARCHITECTURE.md does not explain.
structure:
	@Scripts/structure

format:
	@$(SWIFT) format format --in-place --recursive --parallel Package.swift Sources Tests

## Under a sanitizer the tests run one after the other: what takes ten times as long would starve the rest. Leaks are
## not looked for this way: Swift keeps pointers with marks in their bits, and the leak checker does not see those.
test-asan:
	@Scripts/setup test
	@ASAN_OPTIONS=detect_leaks=0 Scripts/displayed $(SWIFT) test $(WITH) $(call SANITIZED,address) -Xswiftc -DADDRESS_SANITIZER --no-parallel

test-tsan:
	@Scripts/setup test
	@Scripts/displayed $(SWIFT) test $(WITH) $(call SANITIZED,thread) -Xswiftc -DTHREAD_SANITIZER --no-parallel

## 100,000 requests with faults, alone in the process so that descriptors and memory can be counted; 100,000 steps of the
## manager's model; 1,000 writers of the disk cache killed.
soak:
	@Scripts/setup test
	@WEBIMAGE_SOAK_REQUESTS=$${WEBIMAGE_SOAK_REQUESTS:-100000} $(SWIFT) test $(WITH) --filter WebImageNetTests.SoakTests
	@WEBIMAGE_SOAK_STEPS=$${WEBIMAGE_SOAK_STEPS:-100000} $(SWIFT) test $(WITH) --filter WebImageTests.ManagerModelTests
	@WEBIMAGE_SOAK_ROUNDS=$${WEBIMAGE_SOAK_ROUNDS:-1000} $(SWIFT) test $(WITH) --filter WebImageStoreTests.ProcessTests

build:
	@Scripts/setup build
	@$(SWIFT) build $(WITH)

release:
	@Scripts/setup build
	@$(SWIFT) build -c release $(WITH)

## Measures against the libraries by themselves: SUITES="memory disk" for some, ARGUMENTS="--json" and the like.
benchmarks:
	@Scripts/setup benchmarks
	@cd Benchmarks && $(SWIFT) build -c release --product benchmarks && .build/release/benchmarks $(SUITES) $(ARGUMENTS)

## Makes the pictures of Tests/Fixtures and of the demo's album again, with independent encoders.
fixtures:
	@Scripts/setup fixtures
	@Scripts/fixtures

clean:
	@rm -rf .build .build-minimal .build-address .build-thread Benchmarks/.build demo
