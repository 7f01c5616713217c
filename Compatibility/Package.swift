// swift-tools-version: 6.3
// SPDX-License-Identifier: MIT

import PackageDescription

/// The traits of WebImage, with the same names in this package: `swift build --package-path Compatibility --traits GTK`.
let traits = ["GTK", "AVIF", "HEIF", "JXL", "SVG", "PDF", "TIFF", "JPEG2000", "Memcached", "Server"]

let swiftSettings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

let webImage: [Target.Dependency] = [
    .product(name: "WebImage", package: "WebImage"),
    .product(name: "WebImageUI", package: "WebImage"),
    .product(name: "WebImageGTK", package: "WebImage"),
]

/// Returns a module with the names of another library.
func compatible(_ name: String) -> Target {
    .target(name: name, dependencies: ["AppleNames"] + webImage, swiftSettings: swiftSettings)
}

/// Returns a program that is written for another library. Only its `import` line differs.
func program(_ name: String, _ module: Target.Dependency) -> Target {
    .target(name: name, dependencies: [module], path: "Programs/\(name)", swiftSettings: swiftSettings)
}

/// Returns a module that stands in for a framework, which isn't a dependency. See Adapters/StandIns/README.md.
func standIn(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Adapters/StandIns/\(name)", swiftSettings: swiftSettings)
}

/// Returns an adapter for a framework, compiled with the module that stands in for it. Two frameworks have the module
/// name Adwaita, so their stand-ins have other names.
func adapter(_ directory: String, _ name: String, _ standIn: String, alias: String? = nil, mode: SwiftLanguageMode)
    -> Target
{
    let aliases: [SwiftSetting] = alias.map { [.unsafeFlags(["-module-alias", "\($0)=\(standIn)"])] } ?? []
    return .target(
        name: name, dependencies: [.byName(name: standIn)] + webImage, path: "Adapters/\(directory)/Sources",
        swiftSettings: [.swiftLanguageMode(mode)] + aliases)
}

let package = Package(
    name: "Compatibility",
    products: [
        .library(name: "SDWebImageCompat", targets: ["SDWebImageCompat"]),
        .library(name: "NukeCompat", targets: ["NukeCompat"]),
        .library(name: "KingfisherCompat", targets: ["KingfisherCompat"]),
    ],
    traits: Set(traits.map { .trait(name: $0) }),
    dependencies: [
        .package(
            name: "WebImage", path: "..",
            traits: Set(traits.map { .trait(name: $0, condition: .when(traits: [$0])) }))
    ],
    targets: [
        // The names of UIKit and Foundation that the public interfaces of the other libraries contain.
        .target(name: "AppleNames", dependencies: webImage, swiftSettings: swiftSettings),
        compatible("SDWebImageCompat"),
        compatible("NukeCompat"),
        compatible("KingfisherCompat"),
        program("SDWebImageProgram", "SDWebImageCompat"),
        program("NukeProgram", "NukeCompat"),
        program("KingfisherProgram", "KingfisherCompat"),
        standIn("ImageFormats"),
        standIn("SwiftCrossUI", ["ImageFormats"]),
        standIn("AdwaitaForSwift", webImage),
        standIn("SwiftAdwaita", webImage),
        standIn("Gtk", webImage),
        adapter("swift-cross-ui", "WebImageSwiftCrossUI", "SwiftCrossUI", mode: .v6),
        adapter("adwaita-for-swift", "WebImageAdwaitaForSwift", "AdwaitaForSwift", alias: "Adwaita", mode: .v5),
        adapter("swift-adwaita", "WebImageSwiftAdwaita", "SwiftAdwaita", alias: "Adwaita", mode: .v6),
        adapter("swift-gtk", "WebImageSwiftGtk", "Gtk", mode: .v5),
        .testTarget(
            name: "CompatibilityTests",
            dependencies: [
                "SDWebImageProgram", "NukeProgram", "KingfisherProgram", "WebImageSwiftCrossUI",
                "WebImageAdwaitaForSwift", "WebImageSwiftAdwaita", "WebImageSwiftGtk",
                .product(name: "WebImageTesting", package: "WebImage"),
            ] + webImage,
            path: "Tests/CompatibilityTests", swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
