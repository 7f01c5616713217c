// swift-tools-version: 6.1
// SPDX-License-Identifier: MIT

import PackageDescription

/// One libFuzzer executable per parser. A package of its own, so that users never build it.
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
