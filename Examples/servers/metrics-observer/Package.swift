// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "metrics-observer",
    dependencies: [
        .package(name: "WebImage", path: "../../.."),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
    ],
    targets: [
        .executableTarget(
            name: "metrics-observer",
            dependencies: [
                .product(name: "WebImageServer", package: "WebImage"),
                .product(name: "Metrics", package: "swift-metrics"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
