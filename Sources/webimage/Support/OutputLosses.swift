// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore

/// A namespace for finding what files don't contain, although no option omits it.
enum OutputLosses {
    /// Returns a text for each loss: frames, and the lossless encoding that `--lossless` requests. `frameCount` is the
    /// number of frames that were selected for one file.
    static func notes(
        frameCount: Int, from source: ImageFormat?, in format: ImageFormat, isLossless: Bool
    ) -> [String] {
        let isDropping = frameCount > 1 && !format.canContainAnimations
        return (isDropping ? ["only the first of \(frameCount) frames is written in \(format.rawValue)"] : [])
            + losslessNotes(from: source, in: format, isLossless: isLossless)
    }

    /// Returns the same texts for a thumbnail, which never contains more than the first frame. `info` is the header of its
    /// source.
    static func notes(
        thumbnailOf info: ImageInfo?, from source: ImageFormat?, in format: ImageFormat, isLossless: Bool
    ) -> [String] {
        let note = firstFrameNote(info, "written in \(format.rawValue)")
        return (note.map { [$0] } ?? []) + losslessNotes(from: source, in: format, isLossless: isLossless)
    }

    /// Returns a text for an animation of which only the first frame is used, or `nil` for another image. `use` is a
    /// participle, such as `written`.
    static func firstFrameNote(_ info: ImageInfo?, _ use: String) -> String? {
        guard let info, info.format.canContainAnimations else { return nil }
        // The header of an animation in JPEG XL doesn't contain the number of frames.
        if info.format == .jxl, !info.frameCountIsExact { return "only the first frame is \(use)" }
        return info.frameCount > 1 ? "only the first of \(info.frameCount) frames is \(use)" : nil
    }

    /// Returns a text for the gamut and for the dynamic range of the source, if the files don't have them, although no
    /// option requests it. `data` is the encoded source, if it's available, `decoded` is its image, and `files` are the
    /// encoded outputs.
    static func colorNotes(
        of data: Data?, _ decoded: DecodedImage, as encoding: ImageEncoding, in files: [Data]
    ) -> [String] {
        let format = encoding.formatOrAutomatic
        var notes: [String] = []
        if let space = decoded.clippedColorSpace(as: encoding) {
            let name = space == .sRGB ? "sRGB" : "Display P3"
            notes.append("colors outside \(name) are clipped in \(format.rawValue)")
        }
        let isHDR =
            decoded.isHDR || decoded.metadata.sourceCodePoints?.isHDR ?? false
            || data.map(ImageInfo.hasHighDynamicRange) ?? false
        guard encoding.preservesDynamicRange, isHDR else { return notes }
        // A transformer, the format, or the color space can require other tones, so read the files.
        let isKept = files.allSatisfy(ImageInfo.hasHighDynamicRange)
        return notes + (isKept ? [] : ["the tones are mapped to the standard dynamic range in \(format.rawValue)"])
    }

    private static func losslessNotes(
        from source: ImageFormat?, in format: ImageFormat, isLossless: Bool
    ) -> [String] {
        var notes: [String] = []
        // A file in JPEG XL can contain a JPEG file that is restored exactly.
        if isLossless, format == .jpeg, source != .jxl {
            notes.append("jpeg can’t be lossless, so the quality is 100")
        }
        if isLossless, format == .gif { notes.append("gif can’t be lossless if a frame has more than 256 colors") }
        return notes
    }
}
