// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

/// Returns the libFuzzer executable of a parser. This is a separate package, so users of WebImage never build it.
func fuzzer(_ name: String, _ product: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["CLibFuzzer", .product(name: product, package: "WebImage")],
        swiftSettings: [.unsafeFlags(["-parse-as-library", "-sanitize=fuzzer"])],
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
    )
}

let package = Package(
    name: "Fuzz",
    dependencies: [.package(name: "WebImage", path: "..")],
    targets: [
        .target(name: "CLibFuzzer"),
        fuzzer("FuzzProbe", "WebImageCore"),
        fuzzer("FuzzExif", "WebImageCore"),
        fuzzer("FuzzEntry", "WebImageStore"),
    ],
    swiftLanguageModes: [.v6]
)
