// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "Benchmarks",
    dependencies: [.package(name: "WebImage", path: "..", traits: ["AVIF", "HEIF", "JXL"])],
    targets: [
        // The limits, which use the libraries and the kernel directly, in plain C.
        .target(
            name: "CLimits",
            linkerSettings: ["jpeg", "png", "deflate", "z", "webp", "gif", "curl", "m"].map { .linkedLibrary($0) }
        ),
        // The programs of the suite `start`, which are linked only to the libraries that they use.
        .executableTarget(name: "start-limit", linkerSettings: [.linkedLibrary("jpeg")]),
        .executableTarget(
            name: "start-probe", dependencies: [.product(name: "WebImage", package: "WebImage")],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "CLimits",
                .product(name: "WebImage", package: "WebImage"),
                .product(name: "WebImageTesting", package: "WebImage"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
