// SPDX-License-Identifier: MIT

import Foundation

/// A parser for the headers of AVIF and HEIF files (ISO/IEC 23008-12; AV1 Image File Format 1.1). It reads the
/// properties of the primary item and the image track of sequences.
enum HEIFProbe {
    /// The brands of files whose main content is the track and not the primary item.
    private static let sequenceBrands: Set<FourCC> = ["avis", "msf1", "hevc", "hevx"]

    /// Returns whether the main content of a file is a track.
    static func isSequence(_ bytes: HeaderBytes) throws(HeaderParsingError) -> Bool {
        sequenceBrands.contains(try FourCC(bytes, at: 8))
    }

    static func read(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) -> ImageInfo {
        let isSequence = try isSequence(bytes)
        try requireOneItemList(bytes)
        var list = BoxList(bytes)
        var probe: ImageInfo?
        var track: HEIFTrack?
        var seenMedia = false
        do {
            while probe == nil || (isSequence && track == nil) {
                guard let box = try list.next() else { break }
                switch box.name {
                case "meta": probe = try HEIFItems.read(box.content, file: bytes, format: format)
                case "moov": track = try HEIFTrack.read(box.content)
                case "mdat": seenMedia = true
                default: break
                }
            }
        } catch {
            // Don't wait for a track that's invalid or located after all frames, because the still image is
            // sufficient.
            guard let found = probe, isSequence else { throw error }
            if case .needsMore = error, !seenMedia, !bytes.isComplete { throw error }
            return unknownLength(found)
        }
        guard var result = probe ?? track.map({ ImageInfo(format: format, storedSize: $0.size) }) else {
            throw .corrupt(format, "it contains no images")
        }
        guard isSequence || probe == nil else { return result }
        guard let track else { return unknownLength(result) }
        if format == .heif, !plays(track, result) {
            result.frameCount = 1
            return result
        }
        result.frameCount = max(1, format == .heif ? track.syncFrames : track.frames)
        result.frameCountIsExact = true
        result.loopCount = result.frameCount > 1 ? track.loops : 1
        result.hasAlpha = result.hasAlpha || track.hasAlpha
        result.addCodedSize(track.codedSize)
        return result
    }

    /// Returns whether the samples of a HEIC sequence show the same part of the image as its still image, in the same
    /// orientation. Otherwise, the file is shown as a still image.
    private static func plays(_ track: HEIFTrack, _ still: ImageInfo) -> Bool {
        track.isHEVC && track.size == still.storedSize && still.orientation == .up && still.cleanAperture == nil
            && !still.hasAlpha && !track.hasAlpha
    }

    /// Throws if the available part of the file has several lists of items. libheif uses the last list of a file, and
    /// libavif the first.
    private static func requireOneItemList(_ bytes: HeaderBytes) throws(HeaderParsingError) {
        var list = BoxList(bytes)
        var count = 0
        do throws(HeaderParsingError) {
            while let box = try list.next() {
                if box.name == "meta" { count += 1 }
                guard count < 2 else { throw .corrupt(.heif, "the item list occurs twice") }
            }
        } catch {
            // Either more data is necessary, or the rest of the file doesn't consist of boxes.
            if case .failed = error { throw error }
        }
    }

    private static func unknownLength(_ probe: ImageInfo) -> ImageInfo {
        var probe = probe
        probe.frameCount = 1
        probe.frameCountIsExact = false
        probe.loopCount = 0
        return probe
    }
}

extension ImageInfo {
    /// Returns whether the major brand of an AVIF or HEIF file declares that its main content is an image sequence.
    package static func isHEIFSequence(_ data: Data) -> Bool {
        data.withUnsafeBytes { (try? HEIFProbe.isSequence(HeaderBytes($0, isComplete: true))) ?? false }
    }
}
