// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

/// The traits of WebImage, with the same names in this package: `swift run --traits GTK gtk-hello`.
let traits = ["GTK", "AVIF", "HEIF", "JXL", "SVG", "PDF", "TIFF", "JPEG2000", "Memcached", "Server"]

/// Returns an example with the products that it imports. The module CGTK4 is available through WebImageGTK, whose
/// public declarations use its types.
func example(_ name: String, _ products: [String], gtk: Bool = false) -> Target {
    .executableTarget(
        name: name,
        dependencies: products.map { .product(name: $0, package: "WebImage") },
        path: name,
        swiftSettings: [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
    )
}

let package = Package(
    name: "Examples",
    traits: Set(traits.map { .trait(name: $0) }),
    dependencies: [
        .package(
            name: "WebImage", path: "..",
            traits: Set(traits.map { .trait(name: $0, condition: .when(traits: [$0])) }))
    ],
    targets: [
        example("own-coder", ["WebImage"]),
        example("own-loader", ["WebImage"]),
        example("image-server", ["WebImage", "WebImageServer"]),
        example("testing", ["WebImage", "WebImageTesting"]),
        example("http-fetch", ["WebImageHTTPClient"]),
        example("gtk-hello", ["WebImage", "WebImageGTK"]),
        example("gtk-list", ["WebImage", "WebImageGTK", "WebImageTesting"]),
        example("gtk-avatars", ["WebImage", "WebImageGTK", "WebImageTesting"]),
        example("gtk-pointers", ["WebImage", "WebImageGTK"]),
    ],
    swiftLanguageModes: [.v6]
)
