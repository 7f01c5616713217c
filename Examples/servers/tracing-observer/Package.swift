// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "tracing-observer",
    dependencies: [
        .package(name: "WebImage", path: "../../.."),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.2.0"),
    ],
    targets: [
        .executableTarget(
            name: "tracing-observer",
            dependencies: [
                .product(name: "WebImageServer", package: "WebImage"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
