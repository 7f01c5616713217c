// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand

extension Inputs {
    /// Returns the URL of an input like ``url(_:)``, also if the input is a path whose bytes aren't valid UTF-8. The
    /// loaders of the library can't open the URL of such a path. Throws an error of ``url(_:)``.
    package static func resolved(_ text: String) throws(ImageError) -> URL {
        guard FileNameText.hasEscapes(text) else { return try url(text) }
        guard Files.status(text) != nil else { throw .request(.fileNotFound(path: text)) }
        return URL(filePath: text).absoluteURL
    }

    /// Returns whether text is the path of an existing file other than a directory, and its bytes aren't valid UTF-8.
    static func isFileWithEscapes(_ text: String) -> Bool {
        FileNameText.hasEscapes(text) && Files.status(text) != nil && !Files.isDirectory(text)
    }

    /// Returns the paths that match a pattern of glob(7), sorted by name.
    static func matches(of pattern: String) -> [String] {
        var result = glob_t()
        defer { globfree(&result) }
        guard glob(FileNameText.cString(pattern), GLOB_TILDE, nil, &result) == 0 else { return [] }
        return (0..<Int(result.gl_pathc)).compactMap { index in
            result.gl_pathv[index].map { FileNameText.text(of: $0) }
        }
    }
}
