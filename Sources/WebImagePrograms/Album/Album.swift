// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The images of the demo: a directory that contains the image files and `album.json`.
package struct Album: Sendable {
    /// An image of the album.
    package struct Entry: Sendable, Decodable {
        /// The name of the file in the directory.
        package let file: String
        /// The title of the image.
        package let title: String
        /// The kind of the image: `picture`, `animated`, or `broken`.
        package let kind: String
        /// The family of the error that an invalid image causes, such as `decode` or `limit`.
        package let expect: String?
        /// The BlurHash of the image, or `nil` for an invalid image.
        package let blurHash: String?
        /// The width divided by the height.
        package let aspectRatio: Double?

        package var isCorrupt: Bool { kind == "broken" }

        /// Returns whether `error` is the expected result of loading this image.
        package func expects(_ error: ImageError?) -> Bool {
            guard let error else { return !isCorrupt }
            let families = ["request", "network", "cache", "decode", "transform", "limit"]
            let family = error.code / 1_000 - 1
            return isCorrupt && families.indices.contains(family) && families[family] == expect
        }
    }

    package let directory: URL
    package let entries: [Entry]

    /// The reason that the album can't be read.
    package struct Missing: Error {
        package let message: String
    }

    /// Returns the album in the directory `WEBIMAGE_ALBUM`. If that variable isn't set, returns the installed album, or the
    /// album that the build copied next to the executable. Blocks.
    package static func find(environment: [String: String]) throws(Missing) -> Album {
        if let path = environment["WEBIMAGE_ALBUM"], !path.isEmpty { return try Album(URL(filePath: path)) }
        let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return try Album(defaultDirectory(program: executable))
    }

    static func defaultDirectory(program: URL) -> URL {
        let directory = program.deletingLastPathComponent()
        // Don't use `Bundle.module`, which terminates the process if the directory is missing.
        let built = directory.appending(path: "WebImage_webimage.resources/Album")
        let installed = directory.deletingLastPathComponent().appending(path: "share/webimage/album")
        let list = installed.appending(path: "album.json").path(percentEncoded: false)
        return FileManager.default.fileExists(atPath: list) ? installed : built
    }

    private init(_ folder: URL) throws(Missing) {
        let list = folder.appending(path: "album.json")
        do {
            entries = try JSONDecoder().decode([Entry].self, from: Data(contentsOf: list))
        } catch {
            throw Missing(
                message: "no album at \(folder.path(percentEncoded: false)): \(error.localizedDescription) "
                    + "(set WEBIMAGE_ALBUM to the directory of an album)")
        }
        self.directory = folder
    }

    /// Returns the data of an image, or `nil` if the file can't be read. Blocks.
    package func data(_ entry: Entry) -> Data? {
        // The list is untrusted input, so don't let its file names leave the directory.
        guard !entry.file.contains("/"), entry.file != ".." else { return nil }
        return try? Data(contentsOf: directory.appending(path: entry.file))
    }
}
