// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "WebImageAdwaitaForSwift",
    products: [.library(name: "WebImageAdwaitaForSwift", targets: ["WebImageAdwaitaForSwift"])],
    dependencies: [
        .package(name: "WebImage", path: "../../..", traits: ["GTK"]),
        .package(url: "https://git.aparoksha.dev/aparoksha/adwaita-swift", branch: "main"),
    ],
    targets: [
        .target(
            name: "WebImageAdwaitaForSwift",
            dependencies: [
                .product(name: "WebImageGTK", package: "WebImage"),
                .product(name: "Adwaita", package: "adwaita-swift"),
            ],
            path: "Sources")
    ],
    swiftLanguageModes: [.v5]
)
