// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImagePrograms

/// An album in a temporary directory, with four images of different widths and an invalid one.
final class SampleAlbum: Sendable {
    static let widths = [30, 40, 50, 60]
    let directory: URL
    let album: Album

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "webimage-album-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var entries: [String] = []
        for (index, width) in Self.widths.enumerated() {
            let canvas = try PixelCanvas(size: PixelSize(width: width, height: 20))
            let image = DecodedImage(pixels: canvas.finish(isOpaque: false))
            let data = try ImageCoderRegistry.standard.encode(image, as: .png, context: ImageProcessingContext())
            try data.write(to: directory.appending(path: "p\(index).png"))
            entries.append(#"{"file": "p\#(index).png", "title": "Image \#(index)", "kind": "picture"}"#)
        }
        try Data("plain text".utf8).write(to: directory.appending(path: "bad.jpg"))
        entries.append(#"{"file": "bad.jpg", "title": "Bad", "kind": "broken", "expect": "decode"}"#)
        try Data("[\(entries.joined(separator: ","))]".utf8).write(to: directory.appending(path: "album.json"))
        album = try Album.find(environment: ["WEBIMAGE_ALBUM": directory.path(percentEncoded: false)])
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}
