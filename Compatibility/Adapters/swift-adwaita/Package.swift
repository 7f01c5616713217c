// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "WebImageSwiftAdwaita",
    products: [.library(name: "WebImageSwiftAdwaita", targets: ["WebImageSwiftAdwaita"])],
    dependencies: [
        .package(name: "WebImage", path: "../../..", traits: ["GTK"]),
        .package(url: "https://github.com/makoni/swift-adwaita", branch: "main"),
    ],
    targets: [
        .target(
            name: "WebImageSwiftAdwaita",
            dependencies: [
                .product(name: "WebImageGTK", package: "WebImage"),
                .product(name: "Adwaita", package: "swift-adwaita"),
            ],
            path: "Sources")
    ],
    swiftLanguageModes: [.v6]
)
