// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCodecs
import WebImageCommand
import WebImageCore
import WebImageNet

/// The version of the tool, and the output of `webimage --version`.
enum ProgramInfo {
    static let version = ProductVersion.current

    /// The version of the tool, the formats, and the versions of the libraries.
    static var versionText: String {
        let coders = ImageCoderRegistry.standard
        let known: [ImageFormat] = [
            .jpeg, .png, .apng, .webp, .gif, .bmp, .qoi, .pbm, .pgm, .ppm, .pam, .ico, .icns, .tiff, .avif, .heif, .jxl,
            .jpeg2000, .svg, .pdf, .arw, .cr2, .cr3, .dng, .nef, .orf, .pef, .raf, .rw2, .raw,
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
}
