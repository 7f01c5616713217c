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
]

/// Returns the C module of a system library: its headers, and shims for what Swift can’t call.
func cModule(_ name: String, libraries: [String], flags: [CSetting] = []) -> Target {
    .target(
        name: name,
        path: "Sources/C/\(name)",
        cSettings: flags,
        linkerSettings: libraries.map { .linkedLibrary($0) }
    )
}

/// Returns the C module of the library of a trait. Without the trait, its sources are empty and nothing is linked.
func traitModule(_ trait: String, libraries: [String], headers: [String] = []) -> Target {
    .target(
        name: "C" + trait,
        dependencies: headers.map { .target(name: $0, condition: .when(traits: [trait])) },
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

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: [.byName(name: name), "WebImageConcurrency", "WebImageTestSupport"] + dependencies,
        path: "Tests/\(name)Tests",
        swiftSettings: swiftSettings
    )
}

let package = Package(
    name: "WebImage",
    products: [
        .library(name: "WebImage", targets: ["WebImage"]),
        .library(name: "WebImageCore", targets: ["WebImageCore"]),
        .library(name: "WebImageCodecs", targets: ["WebImageCodecs"]),
        .library(name: "WebImageHTTP", targets: ["WebImageHTTP"]),
        .library(name: "WebImageStore", targets: ["WebImageStore"]),
        .library(name: "WebImageNet", targets: ["WebImageNet"]),
        .library(name: "WebImageUI", targets: ["WebImageUI"]),
        .library(name: "WebImageHTTPClient", targets: ["WebImageHTTPClient"]),
        .library(name: "WebImageTesting", targets: ["WebImageTesting"]),
        .library(name: "WebImageGTK", targets: ["WebImageGTK"]),
        .executable(name: "webimage", targets: ["webimage"]),
        .executable(name: "webimage-gallery", targets: ["webimage-gallery"]),
        .executable(name: "webimage-decoder", targets: ["webimage-decoder"]),
    ],
    traits: traits,
    targets: [
        cModule("CPixelKernels", libraries: []),
        cModule("CJPEG", libraries: ["jpeg"]),
        cModule("CPNG", libraries: ["png", "z", "deflate"]),
        cModule("CGIF", libraries: []),
        cModule("CColor", libraries: ["lcms2", "m"]),
        cModule("CWebP", libraries: ["webp", "webpdemux", "webpmux"]),
        traitModule("AVIF", libraries: ["avif"]),
        traitModule("JXL", libraries: ["jxl"]),
        traitModule("TIFF", libraries: ["tiff", "m"]),
        traitModule("HEIF", libraries: ["heif"]),
        .systemLibrary(name: "CLibrsvg", path: "Sources/C/CLibrsvg", pkgConfig: "librsvg-2.0"),
        traitModule("SVG", libraries: ["z"], headers: ["CLibrsvg"]),
        .systemLibrary(name: "CPoppler", path: "Sources/C/CPoppler", pkgConfig: "poppler-glib"),
        traitModule("PDF", libraries: [], headers: ["CPoppler"]),
        .systemLibrary(name: "COpenJPEG", path: "Sources/C/COpenJPEG", pkgConfig: "libopenjp2"),
        traitModule("JPEG2000", libraries: ["openjp2"], headers: ["COpenJPEG"]),
        cModule("CCurl", libraries: ["curl", "ssl", "crypto"]),
        cModule("CContentCoding", libraries: ["z", "brotlidec", "zstd"]),
        cModule("CSQLite", libraries: ["sqlite3"]),
        cModule("CHash", libraries: ["xxhash", "crypto"]),
        cModule("CFiles", libraries: []),
        cModule("CSandbox", libraries: []),
        // The command line tool alone needs libchafa. No library product depends on these two targets.
        .systemLibrary(name: "CChafa", path: "Sources/C/CChafa", pkgConfig: "chafa"),
        .target(name: "CTerminal", dependencies: ["CChafa"], path: "Sources/C/CTerminal"),
        // Package-only tools for locks, threads, and waiting. Every target may import this module.
        module("WebImageConcurrency", []),
        module("WebImageCore", ["WebImageConcurrency", "CPixelKernels"]),
        module(
            "WebImageCodecs",
            ["WebImageConcurrency", "WebImageCore", "CPixelKernels", "CJPEG", "CPNG", "CGIF", "CWebP", "CColor"]
                + imageTraits.map { .target(name: "C" + $0, condition: .when(traits: [$0])) }
        ),
        // Decoding in confined helper processes, and the helper itself. The module is package-only and has no product.
        module("WebImageIsolation", ["WebImageConcurrency", "WebImageCore", "CSandbox", "CHash"]),
        .executableTarget(
            name: "webimage-decoder",
            dependencies: ["WebImageCore", "WebImageCodecs", "WebImageIsolation"],
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
                "CHash",
            ]
        ),
        module(
            "WebImage",
            [
                "WebImageConcurrency", "WebImageCore", "WebImageCodecs", "WebImageIsolation", "WebImageHTTP",
                "WebImageStore", "WebImageNet",
            ]
        ),
        module("WebImageUI", ["WebImageConcurrency", "WebImageCore", "WebImageStore", "WebImage"]),
        // The HTTP client is a library of its own. WebImage doesn't use it.
        module(
            "WebImageHTTPClient",
            ["WebImageConcurrency", "WebImageCore", "WebImageHTTP", "WebImageStore", "WebImageNet"]
        ),
        module("WebImageTesting", ["WebImageConcurrency", "WebImage"]),
        .systemLibrary(name: "CGTK4", path: "Sources/C/CGTK4", pkgConfig: "gtk4"),
        .target(
            name: "CWebImageGTK", dependencies: [gtk], path: "Sources/C/CWebImageGTK",
            cSettings: [.define("WI_IS_ON", .when(traits: ["GTK"]))]
        ),
        module("WebImageGTK", ["WebImageConcurrency", "WebImage", "WebImageUI", "CWebImageGTK", gtk]),
        .executableTarget(
            name: "webimage-gallery",
            dependencies: ["WebImage", "WebImageGTK", "WebImageCommand", "WebImagePrograms", gtk],
            path: "Sources/webimage-gallery",
            swiftSettings: swiftSettings
        ),
        // The part of the command-line tool that needs neither network nor files: options, tables, and contact sheets.
        module("WebImageCommand", ["WebImageConcurrency", "WebImageCore", "CTerminal"]),
        // The code that the command-line tool and the gallery share, and the gallery's model, which uses no toolkit.
        module(
            "WebImagePrograms",
            [
                "WebImageConcurrency", "WebImage", "WebImageUI", "WebImageTesting", "WebImageCommand",
                "WebImageIsolation", "CFiles",
            ]),
        .executableTarget(
            name: "webimage",
            dependencies: [
                "WebImageConcurrency", "WebImage", "WebImageTesting", "WebImageCommand", "WebImagePrograms",
            ],
            path: "Sources/webimage",
            resources: [.copy("Album"), .copy("webimage.1")],
            swiftSettings: swiftSettings
        ),
        // For tests only: TLS servers, encoders of content codings, and a resolver that the tests control.
        .target(
            name: "CNetFaults",
            path: "Tests/CNetFaults",
            linkerSettings: ["ssl", "crypto", "z", "brotlienc", "zstd"].map { .linkedLibrary($0) }
        ),
        .target(
            name: "WebImageTestSupport",
            dependencies: [
                "WebImageConcurrency", "WebImage", "WebImageHTTPClient", "WebImageTesting", "CNetFaults",
            ],
            path: "Tests/WebImageTestSupport",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "WebImageConcurrencyTests",
            dependencies: ["WebImageConcurrency", "WebImageCore", "WebImageTesting", "WebImageTestSupport"],
            path: "Tests/WebImageConcurrencyTests",
            swiftSettings: swiftSettings
        ),
        tests("WebImageCore", []),
        tests("WebImageCodecs", ["WebImageCore", "CHash"]),
        .target(name: "CIsolationProbe", path: "Tests/CIsolationProbe"),
        // A helper that attacks its program, a helper that attacks its confinement, and measurements.
        .executableTarget(
            name: "isolation-probe",
            dependencies: ["WebImageCore", "WebImageCodecs", "WebImageIsolation", "CSandbox", "CIsolationProbe"],
            path: "Tests/IsolationProbe",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "WebImageIsolationTests",
            dependencies: [
                "WebImageConcurrency", "WebImageIsolation", "WebImageCodecs", "WebImageCore", "WebImage",
                "WebImageTesting", "webimage-decoder", "isolation-probe",
            ],
            path: "Tests/WebImageIsolationTests",
            swiftSettings: swiftSettings
        ),
        tests("WebImageHTTP", []),
        .executableTarget(
            name: "store-helper",
            dependencies: ["WebImageStore"],
            path: "Tests/StoreHelper",
            swiftSettings: swiftSettings
        ),
        tests("WebImageStore", ["store-helper"]),
        tests("WebImageNet", ["CNetFaults"]),
        tests("WebImageHTTPClient", []),
        // WebImageUI has no target of its own for tests, because its tests share the manager of the others.
        tests("WebImage", ["WebImageHTTPClient", "WebImageUI"]),
        tests(
            "WebImagePrograms",
            ["WebImage", "WebImageUI", "WebImageTesting", "WebImageCommand", "WebImageIsolation", "CSandbox"]),
        tests(
            "WebImageGTK",
            ["WebImage", "WebImageUI", "WebImageTesting", "WebImagePrograms", "CWebImageGTK", "webimage-gallery", gtk]),
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
        fuzzer("FuzzCore", ["WebImageCore"]),
        fuzzer("FuzzCodecs", ["WebImageCore", "WebImageCodecs"]),
        fuzzer("FuzzIsolation", ["WebImageCore", "WebImageIsolation"]),
        fuzzer("FuzzNetwork", ["WebImageCore", "WebImageHTTP", "WebImageStore", "WebImageNet", "WebImageTesting"]),
        fuzzer("FuzzStore", ["WebImageCore", "WebImageHTTP", "WebImageStore"]),
        fuzzer("FuzzPrograms", ["WebImageCore", "WebImageCommand", "WebImagePrograms"]),
    ]
}
