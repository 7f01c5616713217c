// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageCommand
import WebImageConcurrency
import WebImagePrograms

/// The images of the first pass, for the contact sheet. The class is thread-safe.
final class DemoGallery: Sendable {
    private let images = Lock<[String: DecodedImage]>([:])

    func add(_ url: String, _ image: DecodedImage) { images.withLock { $0[url] = image } }

    /// Returns a contact sheet with one tile for each entry.
    func sheet(_ album: Album, rows: [FetchRow]) -> ContactSheet {
        let pictures = images.withLock { $0 }
        let tiles = zip(album.entries, rows).map { entry, row in
            Self.tile(entry, row, pictures[row.input])
        }
        let broken = rows.filter { $0.error != nil }.count
        return ContactSheet(
            title: "WebImage",
            subtitle: "\(NumberFormatting.count(tiles.count, "image")) over loopback, \(tiles.count - broken) shown, "
                + "\(broken) rejected with a typed error",
            tiles: tiles)
    }

    private static func tile(_ entry: Album.Entry, _ row: FetchRow, _ image: DecodedImage?) -> ContactSheet.Tile {
        guard let image, row.error == nil else {
            return .init(
                name: entry.file, detail: row.error.map { "error \($0.code)" } ?? "",
                content: .failed(reason: row.error?.shortMessage ?? "Not loaded."))
        }
        let size = image.metadata.orientation.upright(image.metadata.storedSize)
        let format = (row.format ?? "?").uppercased()
        let bytes = row.bytes.map { " · \(NumberFormatting.bytes($0))" } ?? ""
        return .init(
            name: entry.file, detail: "\(size.width)×\(size.height) · \(format)\(bytes)",
            content: .image(image.pixels, frames: image.frameCount))
    }
}
