// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "WebImageSwiftGtk",
    products: [.library(name: "WebImageSwiftGtk", targets: ["WebImageSwiftGtk"])],
    dependencies: [
        .package(name: "WebImage", path: "../../..", traits: ["GTK"]),
        .package(url: "https://github.com/rhx/SwiftGtk", branch: "gtk4"),
    ],
    targets: [
        .target(
            name: "WebImageSwiftGtk",
            dependencies: [
                .product(name: "WebImageGTK", package: "WebImage"),
                .product(name: "Gtk", package: "SwiftGtk"),
            ],
            path: "Sources")
    ],
    swiftLanguageModes: [.v5]
)
