// SPDX-License-Identifier: MIT

import Foundation
import WebImage

extension Inputs {
    /// The maximum number of images to use from a directory and its subdirectories.
    package static let directoryLimit = 100_000

    /// Returns the operands and the lines of the lists, with directories replaced by the images in them. `-` as a list
    /// means standard input. Empty lines and lines that begin with `#` are skipped. Blocks.
    ///
    /// - Throws: An ``ImageError`` if a list or a directory can't be read.
    package static func expanded(_ operands: [String], lists: [String] = []) throws(ImageError) -> [String] {
        var inputs: [String] = []
        for operand in operands { inputs += try images(in: operand) }
        for list in lists {
            let text = String(decoding: try Files.readStream(list, limit: 64 << 20), as: UTF8.self)
            let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            for line in lines where !line.isEmpty && !line.hasPrefix("#") { inputs += try images(in: line) }
        }
        return inputs
    }

    /// Returns the paths of the images in a directory and in its subdirectories, or `input` itself if it isn't the path
    /// of a directory. Blocks.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` if a directory can't be read.
    package static func images(in input: String) throws(ImageError) -> [String] {
        var isFolder: ObjCBool = false
        guard let path = filePath(input), FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
            isFolder.boolValue
        else { return [input] }
        guard FileManager.default.isReadableFile(atPath: path),
            let names = FileManager.default.enumerator(
                at: URL(filePath: path), includingPropertiesForKeys: [.isDirectoryKey], options: [.skipsHiddenFiles])
        else { throw .request(.fileUnreadable(path: path, errno: EACCES)) }
        var found: [String] = []
        for case let file as URL in names where hasImageExtension(file.lastPathComponent) {
            found.append(file.absoluteURL.path(percentEncoded: false))
            if found.count == directoryLimit { break }
        }
        // The file system returns files in an arbitrary order.
        return found.sorted { $0.localizedStandardCompare($1) == .orderedAscending }
    }

    /// Returns the path that `input` denotes, which may be a `file:` URL, or `nil` if it's another URL.
    private static func filePath(_ input: String) -> String? {
        if FileManager.default.fileExists(atPath: input) || !hasScheme(input) { return input }
        guard let url = URL(string: input), url.isFileURL else { return nil }
        return url.path(percentEncoded: false)
    }

    private static let extensions: Set<String> = [
        "jpg", "jpeg", "jpe", "jfif", "png", "apng", "webp", "gif", "bmp", "dib", "qoi", "ico", "tif", "tiff", "avif",
        "heic", "heif", "jxl", "svg", "svgz", "pdf",
    ]

    /// Returns a Boolean value that indicates whether a file name has the extension of an image format.
    static func hasImageExtension(_ name: String) -> Bool {
        name.lastIndex(of: ".").map { extensions.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }
}
