// SPDX-License-Identifier: MIT

import Foundation
import WebImage

extension GalleryContents {
    /// Creates contents from the bundled album on `server`, repeated until there are `count` cells. Every cell has a
    /// different URL, so that the gallery has as many images as cells.
    package init(_ album: Album, on server: AlbumServer, count: Int, includingCorrupt: Bool = false) {
        let pictures = zip(album.entries, server.urls).filter { includingCorrupt || !$0.0.isCorrupt }
        self.init(
            (0..<(pictures.isEmpty ? 0 : max(0, count))).map { number in
                let (entry, url) = pictures[number % pictures.count]
                let round = number / pictures.count
                let address =
                    round == 0 ? url : url.appending(queryItems: [URLQueryItem(name: "copy", value: "\(round + 1)")])
                return GalleryItem(
                    number: number, url: address, title: entry.title, detail: entry.file, blurHash: entry.blurHash,
                    aspectRatio: entry.aspectRatio)
            })
    }

    /// Returns the images that the operands and lists of a command line specify. Blocks.
    ///
    /// Operands are URLs, files, directories including their subdirectories, and `-` for an image from standard input.
    /// An operand that doesn't exist is skipped and reported in `failures`.
    package static func read(
        _ operands: [String], lists: [String] = []
    ) -> (contents: GalleryContents, failures: [ImageError]) {
        var contents = GalleryContents()
        var failures: [ImageError] = []
        var urls: [URL] = []
        func add(_ operands: [String], lists: [String] = []) {
            do throws(ImageError) {
                for input in try Inputs.expanded(operands, lists: lists) {
                    do throws(ImageError) { urls.append(try Self.url(of: input)) } catch { failures.append(error) }
                }
            } catch {
                failures.append(error)
            }
        }
        for operand in operands { add([operand]) }
        for list in lists { add([], lists: [list]) }
        contents.add(urls)
        return (contents, failures)
    }

    /// Returns the URLs of the images that `input` specifies: the input itself, or the images in a directory.
    ///
    /// - Throws: An error of ``Inputs/url(_:)``, or ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` if a
    ///   directory can't be read.
    package static func urls(of input: String) throws(ImageError) -> [URL] {
        var urls: [URL] = []
        for image in try Inputs.images(in: input) { urls.append(try Inputs.url(image)) }
        return urls
    }

    /// Returns the URL of an input. An image from standard input becomes a data URL.
    private static func url(of input: String) throws(ImageError) -> URL {
        guard input == "-" else { return try Inputs.url(input) }
        let text = "data:application/octet-stream;base64,\(try Files.read("-").base64EncodedString())"
        guard let url = URL(string: text) else { throw .request(.invalidURL("-")) }
        return url
    }
}
