// SPDX-License-Identifier: MIT

/// A parser for the headers of AVIF and HEIF files (ISO/IEC 23008-12; AV1 Image File Format 1.1). It reads the
/// properties of the primary item and the image track of sequences.
enum HEIFProbe {
    /// The brands of files whose main content is the track and not the primary item.
    private static let sequenceBrands: Set<FourCC> = ["avis", "msf1", "hevc", "hevx"]

    /// Reads the properties of an AVIF or HEIF file.
    static func read(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) -> ImageInfo {
        let isSequence = sequenceBrands.contains(try FourCC(bytes, at: 8))
        var list = BoxList(bytes)
        var probe: ImageInfo?
        var track: HEIFTrack?
        var seenMedia = false
        do {
            while probe == nil || (isSequence && track == nil) {
                guard let box = try list.next() else { break }
                switch box.name {
                case "meta": probe = try HEIFItems.read(box.content, format: format)
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
        result.frameCount = max(1, track.frames)
        result.frameCountIsExact = true
        result.loopCount = track.frames > 1 ? track.loops : 1
        result.hasAlpha = result.hasAlpha || track.hasAlpha
        return result
    }

    private static func unknownLength(_ probe: ImageInfo) -> ImageInfo {
        var probe = probe
        probe.frameCount = 1
        probe.frameCountIsExact = false
        probe.loopCount = 0
        return probe
    }
}
