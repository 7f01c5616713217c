// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand

/// The validated options of `gallery`.
package struct GalleryOptions: Sendable {
    /// The URLs, files, and directories to show. If there are neither operands nor lists, the gallery shows the bundled
    /// album.
    package let operands: [String]
    /// The paths of lists of further images, where `-` means standard input.
    package let lists: [String]
    package var settings = GallerySettings()
    package let order: GalleryContents.Order
    package let filter: String
    /// The number of cells for the bundled album.
    package let cells: Int
    /// Whether the invalid images of the album are shown.
    package let includesCorrupt: Bool
    /// The directory of the disk cache. The default is `nil`, which means a temporary directory for the bundled album,
    /// and the default directory of the tool for other images.
    package let cache: String?
    package let network: NetworkSetup
    /// Whether every step of loading is logged.
    package let verbose: Bool

    /// Whether the gallery shows the bundled album.
    package var showsAlbum: Bool { operands.isEmpty && lists.isEmpty }

    package init(_ arguments: Arguments) throws(UsageError) {
        operands = arguments.operands
        lists = arguments.values["input-file"] ?? []
        if let side = try arguments.integer("thumbnail-size", in: GallerySettings.cellSizes) {
            settings.cellSize = side
        }
        settings.transition = try Self.choice("transition", arguments) ?? settings.transition
        settings.placeholder = try Self.choice("placeholder", arguments) ?? settings.placeholder
        settings.theme = try Self.choice("color-scheme", arguments) ?? settings.theme
        settings.policy = try Self.choice("cache-policy", arguments) ?? settings.policy
        order = try Self.choice("sort", arguments) ?? .original
        filter = arguments.last("search") ?? ""
        settings.network.delay = try arguments.seconds("delay") ?? 0
        guard settings.network.delay <= 60 else { throw UsageError("--delay: the maximum is 60s") }
        settings.network.failures = try arguments.integer("failure-rate", in: 0...100) ?? 0
        settings.network.bytesPerSecond = try arguments.bytes("limit-rate").map { max(1, $0) }
        network = try NetworkSetup(try NetworkArguments(arguments), operands: arguments.operands)
        settings.retries = network.arguments.retryCount != 0
        cells = try arguments.integer("count", in: 1...1_000_000) ?? 2_400
        includesCorrupt = arguments.has("include-damaged")
        cache = arguments.last("cache-dir")
        verbose = arguments.has("verbose")
        if !operands.isEmpty || !lists.isEmpty {
            for option in ["count", "include-damaged", "delay", "failure-rate", "limit-rate"]
            where arguments.has(option) {
                throw UsageError("--\(option) can only be used with the bundled album (omit the arguments)")
            }
        }
    }

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ option: String, _ arguments: Arguments
    ) throws(UsageError) -> Choice? where Choice.RawValue == String {
        try arguments.choice(option, of: Choice.allCases.map(\.rawValue)).flatMap(Choice.init(rawValue:))
    }
}
