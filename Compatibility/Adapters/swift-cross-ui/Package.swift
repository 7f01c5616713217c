// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "WebImageSwiftCrossUI",
    products: [.library(name: "WebImageSwiftCrossUI", targets: ["WebImageSwiftCrossUI"])],
    dependencies: [
        .package(name: "WebImage", path: "../../.."),
        .package(url: "https://github.com/moreSwift/swift-cross-ui", branch: "main"),
    ],
    targets: [
        .target(
            name: "WebImageSwiftCrossUI",
            dependencies: [
                .product(name: "WebImageUI", package: "WebImage"),
                .product(name: "SwiftCrossUI", package: "swift-cross-ui"),
            ],
            path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
