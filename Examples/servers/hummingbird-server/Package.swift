// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "hummingbird-server",
    dependencies: [
        .package(name: "WebImage", path: "../../.."),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.6.0"),
    ],
    targets: [
        .executableTarget(
            name: "hummingbird-server",
            dependencies: [
                .product(name: "WebImageServer", package: "WebImage"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
