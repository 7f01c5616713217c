// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCore

extension Inputs {
    /// The maximum number of images to use from a directory and its subdirectories.
    package static let directoryLimit = 100_000

    /// Returns the operands and the lines of the lists, with directories replaced by the images in them and in their
    /// subdirectories. `-` as a list means standard input. Empty lines and lines that begin with `#` are skipped. Blocks.
    ///
    /// - Throws: An ``ImageError`` if a list or a directory can't be read.
    package static func expanded(_ operands: [String], lists: [String] = []) throws(ImageError) -> [String] {
        var texts: [String] = []
        for input in InputList(operands, lists: lists, isRecursive: true, requiresImages: false).inputs {
            if let failure = input.failure { throw failure }
            texts.append(input.text)
        }
        return texts
    }

    /// Returns the paths of the images in a directory and in its subdirectories, or `input` itself if it isn't the path
    /// of a directory. Blocks.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` if a directory can't be read.
    package static func images(in input: String) throws(ImageError) -> [String] {
        try expanded([input])
    }

    /// Returns the path of the directory that `input` denotes, or `nil` if it isn't a directory.
    static func directory(_ input: String) -> String? {
        guard let path = filePath(input), Files.isDirectory(path) else { return nil }
        return path
    }

    /// Returns the paths of the images in a directory, relative to the directory, in the order of a file manager.
    /// Hidden files are omitted. Throws ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` if the directory
    /// can't be read.
    static func images(inDirectory path: String, isRecursive: Bool) throws(ImageError) -> [String] {
        guard let files = DirectoryContents(path, isRecursive: isRecursive, limit: directoryLimit) else {
            throw .request(.fileUnreadable(path: path, errno: errno))
        }
        let found = files.names
        // The file system returns files in an arbitrary order.
        return found.sorted { $0.localizedStandardCompare($1) == .orderedAscending }
    }

    /// Returns the path that `input` denotes, which may be a `file:` URL, or `nil` if it's another URL.
    private static func filePath(_ input: String) -> String? {
        if FileManager.default.fileExists(atPath: input) || !hasScheme(input) { return input }
        guard let url = URLText.url(input), url.isFileURL else { return nil }
        return url.path(percentEncoded: false)
    }

    private static let extensions: Set<String> = [
        "jpg", "jpeg", "jpe", "jfif", "png", "apng", "webp", "gif", "bmp", "dib", "qoi", "pbm", "pgm",
        "ppm", "pnm", "pam", "ico", "tif", "tiff", "avif", "heic", "heif", "jxl", "svg", "svgz", "pdf", "jp2", "j2k",
        "jpf", "icns", "cur", "arw", "cr2", "cr3", "dng",
        "nef", "orf", "pef", "raf", "rw2",
    ]

    static func hasImageExtension(_ name: String) -> Bool {
        name.lastIndex(of: ".").map { extensions.contains(name[name.index(after: $0)...].lowercased()) } ?? false
    }
}
