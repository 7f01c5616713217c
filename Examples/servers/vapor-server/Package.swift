// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

let package = Package(
    name: "vapor-server",
    dependencies: [
        .package(name: "WebImage", path: "../../.."),
        .package(url: "https://github.com/vapor/vapor.git", from: "4.110.0"),
    ],
    targets: [
        .executableTarget(
            name: "vapor-server",
            dependencies: [
                .product(name: "WebImageServer", package: "WebImage"),
                .product(name: "Vapor", package: "vapor"),
            ])
    ],
    swiftLanguageModes: [.v6]
)
