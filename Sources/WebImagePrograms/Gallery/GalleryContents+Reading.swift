// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageConcurrency

extension GalleryContents {
    /// The maximum number of images to show from a directory and its subdirectories.
    package static let directoryLimit = 100_000

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

    /// Returns the images that the `operands` of a command line specify. Blocks.
    ///
    /// Operands are URLs, files, directories including their subdirectories, and lists (`@FILE` and `-`). An operand
    /// that doesn't exist is skipped and reported in `failures`.
    package static func read(_ operands: [String]) -> (contents: GalleryContents, failures: [ImageError]) {
        var contents = GalleryContents()
        var failures: [ImageError] = []
        var urls: [URL] = []
        for operand in operands {
            do throws(ImageError) {
                for input in try Inputs.expanded([operand]) { urls += try Self.urls(of: input) }
            } catch {
                failures.append(error)
            }
        }
        contents.add(urls)
        return (contents, failures)
    }

    /// Returns the URLs of the images that `input` specifies: the input itself, or the images in a directory.
    ///
    /// - Throws: Errors 1002 and 1006 as ``Inputs/url(_:)``, or 1007 if a directory can't be read.
    package static func urls(of input: String) throws(ImageError) -> [URL] {
        let url = try Inputs.url(input)
        guard url.isFileURL else { return [url] }
        let path = url.path(percentEncoded: false)
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            return [url]
        }
        return try imageFiles(in: url)
    }

    private static func imageFiles(in folder: URL) throws(ImageError) -> [URL] {
        let path = folder.path(percentEncoded: false)
        guard FileManager.default.isReadableFile(atPath: path),
            let files = FileManager.default.enumerator(
                at: folder, includingPropertiesForKeys: [.isDirectoryKey], options: [.skipsHiddenFiles])
        else { throw .request(.fileUnreadable(path: path, errno: EACCES)) }
        var found: [URL] = []
        for case let file as URL in files where isImage(file) {
            found.append(file.absoluteURL)
            if found.count == directoryLimit { break }
        }
        // The file system returns files in an arbitrary order.
        return found.sorted {
            $0.path(percentEncoded: false).localizedStandardCompare($1.path(percentEncoded: false)) == .orderedAscending
        }
    }

    private static let extensions: Set<String> = [
        "jpg", "jpeg", "jpe", "jfif", "png", "apng", "webp", "gif", "bmp", "dib", "qoi", "ico", "tif", "tiff", "avif",
        "heic", "heif", "jxl", "svg", "svgz", "pdf",
    ]

    private static func isImage(_ file: URL) -> Bool { extensions.contains(file.pathExtension.lowercased()) }
}
