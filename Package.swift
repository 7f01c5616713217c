// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

/// The optional system libraries. If a trait is off, the build neither needs nor searches for its library.
let traits: Set<Trait> = [
    .trait(name: "GTK", description: "GTK 4 views (libgtk-4-dev)"),
    .trait(name: "AVIF", description: "AVIF images (libavif-dev)"),
    .trait(name: "HEIF", description: "HEIC and HEIF images (libheif-dev)"),
    .trait(name: "JXL", description: "JPEG XL images (libjxl-dev)"),
    .trait(name: "SVG", description: "SVG images (librsvg2-dev)"),
    .trait(name: "PDF", description: "PDF pages (libpoppler-glib-dev)"),
    .trait(name: "TIFF", description: "TIFF images (libtiff-dev)"),
    .trait(name: "JPEG2000", description: "JPEG 2000 images (libopenjp2-7-dev)"),
    .trait(name: "Memcached", description: "A cache tier on memcached servers (libmemcached-dev)"),
    .trait(name: "Server", description: "The program webimage-serve (libmicrohttpd-dev)"),
]

/// Returns the C module of a system library: its headers, and shims for what Swift can’t call.
func cModule(
    _ name: String, _ dependencies: [Target.Dependency] = [], libraries: [String], flags: [CSetting] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Sources/C/\(name)",
        cSettings: flags,
        linkerSettings: libraries.map { .linkedLibrary($0) }
    )
}

/// Returns the C module of the library of a trait. Without the trait, its sources are empty and nothing is linked.
///
/// The module loads the library of the trait with its first use (see CDynamicLibrary), so the module is only linked to
/// the libraries that every program of this package needs anyway.
func traitModule(_ trait: String, libraries: [String] = []) -> Target {
    .target(
        name: "C" + trait,
        dependencies: [.target(name: "CDynamicLibrary", condition: .when(traits: [trait]))],
        path: "Sources/C/C" + trait,
        cSettings: [.define("WI_IS_ON", .when(traits: [trait]))],
        linkerSettings: libraries.map { .linkedLibrary($0, .when(traits: [trait])) }
    )
}

/// GTK itself, for targets that call it. Without the trait, the dependency has no effect.
let gtk: Target.Dependency = .target(name: "CGTK4", condition: .when(traits: ["GTK"]))

let imageTraits = ["AVIF", "HEIF", "JXL", "SVG", "PDF", "TIFF", "JPEG2000"]

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func module(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

/// Returns the target with the tests of a module. The tests use `WebImageTestBasics` if they must build without the
/// modules above theirs, and otherwise `WebImageTestSupport`, which contains the former.
func tests(_ name: String, _ dependencies: [Target.Dependency], support: Target.Dependency = "WebImageTestSupport")
    -> Target
{
    .testTarget(
        name: name + "Tests",
        dependencies: [.byName(name: name), "WebImageConcurrency", support] + dependencies,
        path: "Tests/\(name)Tests",
        swiftSettings: swiftSettings
    )
}

/// Returns a target with tests of the module WebImage.
func managerTests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name,
        dependencies: [
            "WebImageConcurrency", "WebImage", "WebImageTesting", "WebImageTestSupport", "WebImageManagerTestSupport",
        ] + dependencies,
        path: "Tests/\(name)",
        swiftSettings: swiftSettings
    )
}

/// The helper as a dependency of the library. SwiftPM then builds it for each program that uses the library, next to the
/// program. It isn't linked to the program. The fuzzers don't use it, and the flags of their build add a main function to each
/// program.
let helper: [Target.Dependency] = Context.environment["WEBIMAGE_FUZZ"] == nil ? ["webimage-decoder"] : []

let package = Package(
    name: "WebImage",
    products: [
        .library(name: "WebImage", targets: ["WebImage"]),
        .library(name: "WebImageCodecs", targets: ["WebImageCodecs"]),
        .library(name: "WebImageUI", targets: ["WebImageUI"]),
        .library(name: "WebImageHTTPClient", targets: ["WebImageHTTPClient"]),
        .library(name: "WebImageMemcached", targets: ["WebImageMemcached"]),
        .library(name: "WebImageServer", targets: ["WebImageServer"]),
        .library(name: "WebImageTesting", targets: ["WebImageTesting"]),
        .library(name: "WebImageGTK", targets: ["WebImageGTK"]),
        .executable(name: "webimage", targets: ["webimage"]),
        .executable(name: "webimage-gallery", targets: ["webimage-gallery"]),
        .executable(name: "webimage-decoder", targets: ["webimage-decoder"]),
        .executable(name: "webimage-serve", targets: ["webimage-serve"]),
    ],
    traits: traits,
    targets: [
        cModule("CPixelKernels", libraries: []),
        cModule("CInflate", libraries: ["z"]),
        // The module loads libbrotlidec with the first compressed box of a JPEG XL file.
        cModule("CBrotli", ["CDynamicLibrary"], libraries: []),
        cModule("CJPEG", ["CPixelKernels"], libraries: ["jpeg"]),
        cModule("CPNG", libraries: ["png", "z", "deflate"]),
        cModule("CGIF", libraries: []),
        cModule("CColor", libraries: ["lcms2", "m"]),
        cModule("CWebP", libraries: ["webp", "webpdemux", "webpmux"]),
        cModule("CDynamicLibrary", libraries: []),
        traitModule("AVIF"),
        traitModule("JXL"),
        traitModule("TIFF", libraries: ["m"]),
        traitModule("HEIF"),
        traitModule("SVG", libraries: ["z"]),
        traitModule("PDF", libraries: ["z"]),
        // OpenJPEG depends on no other library, and its headers need pkg-config.
        .systemLibrary(name: "COpenJPEG", path: "Sources/C/COpenJPEG", pkgConfig: "libopenjp2"),
        .target(
            name: "CJPEG2000",
            dependencies: [.target(name: "COpenJPEG", condition: .when(traits: ["JPEG2000"]))],
            path: "Sources/C/CJPEG2000",
            cSettings: [.define("WI_IS_ON", .when(traits: ["JPEG2000"]))],
            linkerSettings: [.linkedLibrary("openjp2", .when(traits: ["JPEG2000"]))]
        ),
        // The module loads libcurl and the libraries on which it depends with the first transfer.
        cModule("CCurl", ["CDynamicLibrary"], libraries: []),
        cModule("CContentCoding", libraries: ["z", "brotlidec", "zstd"]),
        cModule("CSQLite", libraries: ["sqlite3"]),
        cModule("CHash", libraries: ["xxhash", "crypto"]),
        cModule("CFiles", libraries: []),
        cModule("CSandbox", libraries: []),
        // The command-line tool alone needs libchafa and the comparison of images. No library product depends on these
        // three targets.
        .systemLibrary(name: "CChafa", path: "Sources/C/CChafa", pkgConfig: "chafa"),
        .target(name: "CTerminal", dependencies: ["CChafa"], path: "Sources/C/CTerminal"),
        cModule("CImageQuality", libraries: ["m"]),
        // Package-only tools for locks, threads, and waiting. Every target may import this module.
        module("WebImageConcurrency", []),
        module("WebImageCore", ["WebImageConcurrency", "CPixelKernels", "CInflate", "CBrotli"]),
        module(
            "WebImageCodecs",
            ["WebImageConcurrency", "WebImageCore", "CPixelKernels", "CJPEG", "CPNG", "CGIF", "CWebP", "CColor"]
                + imageTraits.map { .target(name: "C" + $0, condition: .when(traits: [$0])) }
        ),
        // Decoding in confined helper processes, and the helper itself. The module is package-only and has no product.
        module("WebImageIsolation", ["WebImageConcurrency", "WebImageCore", "CSandbox", "CHash"]),
        .executableTarget(
            name: "webimage-decoder",
            dependencies: ["WebImageConcurrency", "WebImageCore", "WebImageCodecs", "WebImageIsolation"],
            path: "Sources/webimage-decoder",
            swiftSettings: swiftSettings
        ),
        module("WebImageHTTP", ["WebImageConcurrency", "WebImageCore"]),
        module(
            "WebImageStore", ["WebImageConcurrency", "WebImageCore", "WebImageHTTP", "CSQLite", "CHash", "CFiles"]),
        module(
            "WebImageNet",
            [
                "WebImageConcurrency", "WebImageCore", "WebImageHTTP", "WebImageStore", "CCurl", "CContentCoding",
                "CHash", "CFiles",
            ]
        ),
        module(
            "WebImage",
            [
                "WebImageConcurrency", "WebImageCore", "WebImageCodecs", "WebImageIsolation", "WebImageHTTP",
                "WebImageStore", "WebImageNet",
            ] + helper
        ),
        module("WebImageUI", ["WebImageConcurrency", "WebImageCore", "WebImageStore", "WebImage"]),
        // The HTTP client is a library of its own. WebImage doesn't use it.
        module(
            "WebImageHTTPClient",
            ["WebImageConcurrency", "WebImageCore", "WebImageHTTP", "WebImageStore", "WebImageNet"]
        ),
        // The part of WebImageTesting that needs nothing above WebImageHTTP, for tests of the modules below WebImage.
        module("WebImageHTTPTesting", ["WebImageConcurrency", "WebImageCore", "WebImageHTTP"]),
        module("WebImageTesting", ["WebImageConcurrency", "WebImage", "WebImageHTTPTesting"]),
        // The cache tier on memcached servers. Without the trait, the module contains only the parts without the library.
        traitModule("Memcached", libraries: ["memcached"]),
        module(
            "WebImageMemcached",
            [
                "WebImageConcurrency", "WebImageCore", "WebImageHTTP", "WebImageStore", "CHash",
                .target(name: "CMemcached", condition: .when(traits: ["Memcached"])),
            ]
        ),
        // The image server is a handler without an HTTP server, so it needs no library.
        module("WebImageServer", ["WebImageConcurrency", "WebImage", "CHash"]),
        // The HTTP server of the handler. Without the trait, the program only reports that it isn't available.
        .systemLibrary(name: "CLibmicrohttpd", path: "Sources/C/CLibmicrohttpd", pkgConfig: "libmicrohttpd"),
        .target(
            name: "CMicrohttpd",
            dependencies: [.target(name: "CLibmicrohttpd", condition: .when(traits: ["Server"]))],
            path: "Sources/C/CMicrohttpd", cSettings: [.define("WI_IS_ON", .when(traits: ["Server"]))]
        ),
        .executableTarget(
            name: "webimage-serve",
            dependencies: [
                "WebImageConcurrency", "WebImageServer", "WebImageMemcached", "CMicrohttpd",
                .target(name: "CLibmicrohttpd", condition: .when(traits: ["Server"])),
            ],
            path: "Sources/webimage-serve",
            swiftSettings: swiftSettings
        ),
        .systemLibrary(name: "CGTK4", path: "Sources/C/CGTK4", pkgConfig: "gtk4"),
        .target(
            name: "CWebImageGTK", dependencies: [gtk], path: "Sources/C/CWebImageGTK",
            cSettings: [.define("WI_IS_ON", .when(traits: ["GTK"]))]
        ),
        module("WebImageGTK", ["WebImageConcurrency", "WebImage", "WebImageUI", "CWebImageGTK", gtk]),
        .executableTarget(
            name: "webimage-gallery",
            dependencies: [
                "WebImageConcurrency", "WebImage", "WebImageGTK", "WebImageCommand", "WebImagePrograms", gtk,
            ],
            path: "Sources/webimage-gallery",
            swiftSettings: swiftSettings
        ),
        // The part of the command-line tool that needs neither network nor files: options, tables, and contact sheets.
        module("WebImageCommand", ["WebImageConcurrency", "WebImageCore", "CTerminal", "CImageQuality"]),
        // The code that the command-line tool and the gallery share, and the gallery's model, which uses no toolkit.
        module(
            "WebImagePrograms",
            [
                "WebImageConcurrency", "WebImage", "WebImageUI", "WebImageTesting", "WebImageCommand",
                "WebImageIsolation", "WebImageServer", "WebImageStore", "CFiles",
            ]),
        .executableTarget(
            name: "webimage",
            dependencies: [
                "WebImageConcurrency", "WebImage", "WebImageTesting", "WebImageCommand", "WebImagePrograms",
            ],
            path: "Sources/webimage",
            resources: [.copy("Album")],
            swiftSettings: swiftSettings
        ),
        // For tests only: TLS servers, encoders of content codings, and a resolver that the tests control.
        .target(
            name: "CNetFaults",
            path: "Tests/CNetFaults",
            linkerSettings: ["ssl", "crypto", "z", "brotlienc", "zstd"].map { .linkedLibrary($0) }
        ),
        // The tools of tests that need nothing above WebImageCore.
        .target(
            name: "WebImageTestBasics",
            dependencies: ["WebImageConcurrency", "WebImageCore", "CNetFaults"],
            path: "Tests/WebImageTestBasics",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "WebImageTestSupport",
            dependencies: [
                "WebImageConcurrency", "WebImageCore", "WebImageHTTP", "WebImageStore", "WebImageNet",
                "WebImageHTTPTesting", "WebImageTestBasics", "CNetFaults",
            ],
            path: "Tests/WebImageTestSupport",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "WebImageConcurrencyTests",
            dependencies: ["WebImageConcurrency", "WebImageCore", "WebImageHTTPTesting", "WebImageTestSupport"],
            path: "Tests/WebImageConcurrencyTests",
            swiftSettings: swiftSettings
        ),
        // The definition of resampling without optimizations, with which tests and fuzzers compare the results.
        .target(
            name: "ResamplingReference",
            dependencies: ["WebImageCore"],
            path: "Tests/ResamplingReference",
            swiftSettings: swiftSettings
        ),
        tests("WebImageCore", ["ResamplingReference"], support: "WebImageTestBasics"),
        // Replaces the allocator of allocation-probe, so no other target may link it.
        .target(name: "CAllocationFaults", path: "Tests/CAllocationFaults"),
        // Runs the coders while allocations of the C libraries and shims fail.
        .executableTarget(
            name: "allocation-probe",
            dependencies: ["WebImageCore", "WebImageCodecs", "CAllocationFaults"],
            path: "Tests/AllocationProbe",
            swiftSettings: swiftSettings
        ),
        tests(
            "WebImageCodecs", ["WebImageCore", "CHash", "CDynamicLibrary", "allocation-probe"],
            support: "WebImageTestBasics"),
        .target(name: "CIsolationProbe", path: "Tests/CIsolationProbe"),
        // A helper that attacks its program.
        .executableTarget(name: "hostile-helper", path: "Tests/HostileHelper"),
        // A helper that attacks its confinement, and measurements.
        .executableTarget(
            name: "isolation-probe",
            dependencies: [
                "WebImageConcurrency", "WebImageCore", "WebImageCodecs", "WebImageIsolation", "WebImage",
                "WebImageTesting", "CSandbox", "CIsolationProbe",
            ],
            path: "Tests/IsolationProbe",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "WebImageIsolationTests",
            dependencies: [
                "WebImageConcurrency", "WebImageIsolation", "WebImageCodecs", "WebImageCore", "WebImage",
                "WebImageTesting", "WebImageTestSupport", "CSandbox", "webimage-decoder", "isolation-probe",
                "hostile-helper",
            ],
            path: "Tests/WebImageIsolationTests",
            swiftSettings: swiftSettings
        ),
        tests("WebImageHTTP", [], support: "WebImageTestBasics"),
        .executableTarget(
            name: "store-helper",
            dependencies: ["WebImageStore", "CHash"],
            path: "Tests/StoreHelper",
            swiftSettings: swiftSettings
        ),
        tests("WebImageStore", ["WebImageHTTPTesting", "store-helper"]),
        tests("WebImageNet", ["WebImageHTTPTesting", "CNetFaults"]),
        // The cases of the public cache test suite, which the client and the manager run.
        .target(
            name: "WebImageHTTPCases",
            dependencies: [
                "WebImageConcurrency", "WebImageHTTP", "WebImageNet", "WebImageHTTPClient", "WebImageTestBasics",
            ],
            path: "Tests/WebImageHTTPCases",
            swiftSettings: swiftSettings
        ),
        tests("WebImageHTTPClient", ["WebImageHTTPCases", "WebImageHTTPTesting"]),
        tests("WebImageMemcached", ["WebImage", "WebImageTesting", "WebImageManagerTestSupport"]),
        tests(
            "WebImageServer", ["WebImage", "WebImageTesting", "WebImageManagerTestSupport", "webimage-serve", "CHash"]),
        // The tests of the module WebImage are several targets, because the compiler builds them in parallel, and again only
        // the ones that changed. They share a target, which is a test target because it contains expectations.
        .testTarget(
            name: "WebImageManagerTestSupport",
            dependencies: ["WebImageConcurrency", "WebImage", "WebImageUI", "WebImageTesting", "WebImageTestSupport"],
            path: "Tests/WebImageManagerTestSupport",
            swiftSettings: swiftSettings
        ),
        managerTests("WebImagePipelineTests", ["WebImageHTTPCases"]),
        managerTests("WebImageManagerTests", []),
        managerTests("WebImageRequestTests", ["WebImageUI"]),
        managerTests("WebImageUITests", ["WebImageUI"]),
        tests(
            "WebImagePrograms",
            [
                "WebImage", "WebImageUI", "WebImageTesting", "WebImageCommand", "WebImageIsolation",
                "WebImageMemcached", "CSandbox",
            ]),
        // A program with a window, which the tests examine through AT-SPI.
        .executableTarget(
            name: "accessibility-probe",
            dependencies: ["WebImage", "WebImageGTK", gtk],
            path: "Tests/AccessibilityProbe",
            exclude: ["inspect.py"],
            swiftSettings: swiftSettings
        ),
        tests(
            "WebImageGTK",
            [
                "WebImage", "WebImageUI", "WebImageTesting", "WebImageManagerTestSupport", "WebImagePrograms",
                "CWebImageGTK", "webimage-gallery", "accessibility-probe", gtk,
            ]),
        // The tests run the executable as a process, so they depend on it.
        tests("WebImageCommand", ["WebImage", "WebImageTesting", "webimage"]),
    ],
    swiftLanguageModes: [.v6]
)

/// Returns a libFuzzer executable, which tests the parsers of its dependencies.
func fuzzer(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["FuzzSupport"] + dependencies,
        path: "Fuzz/\(name)",
        swiftSettings: swiftSettings,
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]
    )
}

// Only `Scripts/fuzz` sets this variable, so dependents never see the fuzzers or their unsafe flags. The fuzzers belong
// to this package because they test declarations that aren't public.
if Context.environment["WEBIMAGE_FUZZ"] != nil {
    package.targets += [
        .target(name: "CLibFuzzer", path: "Fuzz/CLibFuzzer"),
        .target(
            name: "FuzzSupport", dependencies: ["CLibFuzzer"], path: "Fuzz/FuzzSupport", swiftSettings: swiftSettings),
        fuzzer("FuzzCore", ["WebImageCore", "ResamplingReference"]),
        fuzzer("FuzzCodecs", ["WebImageCore", "WebImageCodecs"]),
        fuzzer("FuzzIsolation", ["WebImageCore", "WebImageIsolation"]),
        fuzzer("FuzzNetwork", ["WebImageCore", "WebImageHTTP", "WebImageStore", "WebImageNet", "WebImageHTTPTesting"]),
        fuzzer("FuzzStore", ["WebImageCore", "WebImageHTTP", "WebImageStore"]),
        fuzzer("FuzzPrograms", ["WebImageCore", "WebImageCommand", "WebImagePrograms"]),
        fuzzer("FuzzServer", ["WebImage", "WebImageMemcached", "WebImageServer"]),
    ]
}

/// Returns a target of the package Examples or Compatibility from a line of `Scripts/consumer-targets`. The target sees only
/// public declarations, as in its own package.
func consumer(_ line: String) -> Target {
    let fields = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
    let (name, path) = (fields[1], fields[2])
    let dependencies = fields[3].split(separator: ",").map { Target.Dependency.byName(name: String($0)) }
    var settings = fields[4].split(separator: ",").map { SwiftSetting.enableUpcomingFeature(String($0)) }
    if !fields[5].isEmpty { settings.append(.swiftLanguageMode(fields[5] == "5" ? .v5 : .v6)) }
    if !fields[6].isEmpty { settings.append(.unsafeFlags(fields[6].split(separator: " ").map(String.init))) }
    return switch fields[0] {
    case "executable":
        .executableTarget(
            name: name, dependencies: dependencies, path: path, packageAccess: false, swiftSettings: settings)
    case "test":
        .testTarget(name: name, dependencies: dependencies, path: path, packageAccess: false, swiftSettings: settings)
    default: .target(name: name, dependencies: dependencies, path: path, packageAccess: false, swiftSettings: settings)
    }
}

// Only the Makefile sets this variable. The packages Examples and Compatibility depend on this package, so a build of their
// own would compile all modules again.
if let lines = Context.environment["WEBIMAGE_CONSUMERS"] {
    package.targets += lines.split(separator: ";").map { consumer(String($0)) }
}

/// Returns the names of targets and of all targets on which they depend.
func closure(of names: Set<String>, in targets: [Target]) -> Set<String> {
    var found: Set<String> = []
    var pending = names
    while let name = pending.popFirst() {
        found.insert(name)
        for dependency in targets.first(where: { $0.name == name })?.dependencies ?? [] {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): if !found.contains(name) { pending.insert(name) }
            default: break
            }
        }
    }
    return found
}

// `make test-minimal` sets this variable, because it builds and tests only the codecs.
if Context.environment["WEBIMAGE_ONLY"] == "codecs" {
    let kept = closure(of: ["WebImageCodecsTests"], in: package.targets)
    package.targets.removeAll { !kept.contains($0.name) }
    package.products = []
}
