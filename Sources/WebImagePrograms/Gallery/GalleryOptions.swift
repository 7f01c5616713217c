// SPDX-License-Identifier: MIT

import WebImage
import WebImageCommand

/// The validated options of `gallery`.
package struct GalleryOptions: Sendable {
    /// The URLs, files, directories, and lists to show. If it's empty, the gallery shows the bundled album.
    package let operands: [String]
    package var settings = GallerySettings()
    package let order: GalleryContents.Order
    package let filter: String
    /// The number of cells for the bundled album.
    package let cells: Int
    /// A Boolean value that indicates whether the invalid images of the album are shown.
    package let includesCorrupt: Bool
    /// The directory of the disk cache. The default is `nil`, which means a temporary directory for the bundled album,
    /// and the default directory of the tool for other images.
    package let cache: String?

    package init(_ arguments: Arguments) throws(UsageError) {
        operands = arguments.operands
        if let side = try arguments.integer("size", in: GallerySettings.cellSizes) { settings.cellSize = side }
        settings.transition = try Self.choice("transition", arguments) ?? settings.transition
        settings.placeholder = try Self.choice("placeholder", arguments) ?? settings.placeholder
        settings.theme = try Self.choice("theme", arguments) ?? settings.theme
        settings.policy = try Self.choice("policy", arguments) ?? settings.policy
        order = try Self.choice("sort", arguments) ?? .original
        filter = arguments.last("filter") ?? ""
        settings.network.delay = try arguments.seconds("delay") ?? 0
        guard settings.network.delay <= 60 else { throw UsageError("--delay: the maximum is 60s") }
        settings.network.failures = try arguments.integer("failures", in: 0...100) ?? 0
        settings.network.bytesPerSecond = try arguments.bytes("speed").map { max(1, $0) }
        settings.retries = !arguments.has("no-retry")
        cells = try arguments.integer("cells", in: 1...1_000_000) ?? 2_400
        includesCorrupt = arguments.has("broken")
        cache = arguments.last("cache")
        if !operands.isEmpty {
            for option in ["cells", "broken", "delay", "failures", "speed"] where arguments.has(option) {
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
