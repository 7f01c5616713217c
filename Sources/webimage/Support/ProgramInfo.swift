// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCodecs
import WebImageCommand
import WebImageCore
import WebImageNet

/// The output of `webimage --version` and `webimage help --man`.
enum ProgramInfo {
    /// The version of the tool.
    static let version = "0.1.0"

    /// The version of the tool, the formats, and the versions of the libraries.
    static var versionText: String {
        let coders = ImageCoderRegistry.standard
        let known: [ImageFormat] = [
            .jpeg, .png, .apng, .webp, .gif, .bmp, .qoi, .ico, .icns, .tiff, .avif, .heif, .jxl,
            .jpeg2000, .svg, .pdf, .arw, .cr2, .cr3, .dng, .nef, .orf, .pef, .rw2, .raw,
        ]
        let decoded = known.filter { coders.canDecode($0) }.map(\.rawValue).joined(separator: " ")
        let encoded = known.filter { coders.canEncode($0) }.map(\.rawValue).joined(separator: " ")
        return """
            webimage \(version)
            Decodes: \(decoded)
            Encodes: \(encoded)
            Libraries: \(CodecLibraries.versions.joined(separator: ", "))
            Network: \(TransportLibrary.version)
            """
    }

    /// The man page in roff, or `nil` if the file next to the executable is missing. Blocks.
    static var manualPage: String? {
        // Don't use `Bundle.module`, which terminates the process if the directory is missing.
        let executable = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let page = executable.deletingLastPathComponent().appending(path: "WebImage_webimage.resources/webimage.1")
        return (try? Data(contentsOf: page)).map { String(decoding: $0, as: UTF8.self) }
    }
}
