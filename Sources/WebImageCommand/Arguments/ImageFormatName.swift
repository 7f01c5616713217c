// SPDX-License-Identifier: MIT

import WebImageCore

/// The names of the formats that can be encoded, as used by `--format` and file name extensions.
package enum ImageFormatName {
    /// The names, in the order of the help text.
    package static let all = [
        "jpeg", "png", "apng", "webp", "gif", "bmp", "qoi", "ppm", "pgm", "pam", "ico", "tiff", "avif", "heic", "jxl",
    ]

    /// The names of the formats whose encoders write all frames of an animation.
    package static let animated = ["gif", "webp", "apng", "avif", "jxl"]
}

extension ImageFormat {
    /// Creates the format that `--format` names. Returns `nil` if the name is unknown.
    package init?(encodableName name: String) {
        switch name.lowercased() {
        case "jpg", "jpeg", "jpe", "jfif": self = .jpeg
        case "png": self = .png
        case "apng": self = .apng
        case "webp": self = .webp
        case "gif": self = .gif
        case "bmp", "dib": self = .bmp
        case "qoi": self = .qoi
        case "ppm", "pnm": self = .ppm
        case "pgm": self = .pgm
        case "pam": self = .pam
        case "ico": self = .ico
        case "tif", "tiff": self = .tiff
        case "avif": self = .avif
        case "heic", "heif": self = .heif
        case "jxl": self = .jxl
        default: return nil
        }
    }

    /// Whether the encoder of the format writes all frames of an animation.
    package var canContainAnimations: Bool {
        ImageFormatName.animated.contains { ImageFormat(encodableName: $0) == self }
    }

    /// Creates the format for the extension of a file name. Returns `nil` if the extension is unknown.
    package init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: "."), !fileName[dot...].contains("/") else { return nil }
        self.init(encodableName: String(fileName[fileName.index(after: dot)...]))
    }
}

extension Arguments {
    /// Returns the value of `--format`, or `nil` if the option wasn't specified.
    package func format() throws(UsageError) -> ImageFormat? {
        guard let text = last("format") else { return nil }
        guard let format = ImageFormat(encodableName: text) else {
            throw UsageError(
                "--format: “\(text)” isn’t valid (use one of \(ImageFormatName.all.joined(separator: ", ")))")
        }
        return format
    }
}
