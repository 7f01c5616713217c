// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The pictures of the demo: a folder, and album.json in it.
package struct Album: Sendable {
    /// One picture.
    package struct Entry: Sendable, Decodable {
        /// Name in the folder.
        package let file: String
        /// What it shows.
        package let title: String
        /// `picture`, `animated` or `broken`.
        package let kind: String
        /// For broken ones the family of the error it must give: `decode`, `limit`, …
        package let expect: String?
        /// Its BlurHash; nil for broken ones.
        package let blurHash: String?
        /// Width ÷ height.
        package let aspectRatio: Double?

        package var isBroken: Bool { kind == "broken" }

        /// Whether `error` is what the album says of this picture.
        package func expects(_ error: ImageError?) -> Bool {
            guard let error else { return !isBroken }
            let families = ["request", "network", "cache", "decode", "transform", "limit"]
            // What is remembered counts as what it was.
            let family = (error.remembered ?? error).code / 1_000 - 1
            return isBroken && families.indices.contains(family) && families[family] == expect
        }
    }

    package let folder: URL
    package let entries: [Entry]

    /// Why there is no album.
    package struct Missing: Error {
        package let message: String
    }

    /// The album of `WEBIMAGE_ALBUM`, else the one beside the executable. Blocks.
    package static func find(environment: [String: String]) throws(Missing) -> Album {
        if let path = environment["WEBIMAGE_ALBUM"], !path.isEmpty { return try Album(URL(filePath: path)) }
        // Not Bundle.module: it ends the process where the folder is missing.
        let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        return try Album(
            executable.deletingLastPathComponent().appending(path: "WebImage_webimage.resources/Album"))
    }

    private init(_ folder: URL) throws(Missing) {
        let list = folder.appending(path: "album.json")
        do {
            entries = try JSONDecoder().decode([Entry].self, from: Data(contentsOf: list))
        } catch {
            throw Missing(
                message: "no album at \(folder.path(percentEncoded: false)): \(error.localizedDescription); "
                    + "set WEBIMAGE_ALBUM to its folder")
        }
        self.folder = folder
    }

    /// The bytes of a picture; nil where it cannot be read. Blocks.
    package func data(_ entry: Entry) -> Data? {
        // The list is a file like any other: its names stay within the folder.
        guard !entry.file.contains("/"), entry.file != ".." else { return nil }
        return try? Data(contentsOf: folder.appending(path: entry.file))
    }
}
