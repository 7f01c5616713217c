// SPDX-License-Identifier: MIT

/// The `pict` track of an image sequence (ISO/IEC 14496-12, sections 8.3 to 8.7; ISO/IEC 23008-12, section 7).
struct HEIFTrack {
    private(set) var size: PixelSize
    private(set) var frames = 0
    /// The number of times to play the animation, where 0 repeats indefinitely.
    private(set) var loops = 0
    /// The number of samples that can be decoded without other samples.
    private(set) var syncFrames = 0
    private(set) var isHEVC = false
    /// Whether another track contains alpha.
    private(set) var hasAlpha = false
    /// The largest size in the parameter sets of all tracks, or `nil` if there are none.
    private(set) var codedSize: PixelSize?

    static let hevc: Set<FourCC> = ["hvc1", "hev1"]

    /// Returns the `mdia` box of the first `pict` track of a `moov` box, or `nil` if there's none.
    static func media(_ moov: HeaderBytes) throws(HeaderParsingError) -> HeaderBytes? {
        var list = BoxList(moov)
        while let box = try list.next() {
            guard box.name == "trak", let mdia = try BoxList.first("mdia", in: box.content),
                let hdlr = try BoxList.first("hdlr", in: mdia), try FourCC(hdlr, at: 8) == "pict"
            else { continue }
            return mdia
        }
        return nil
    }

    /// Returns the first `pict` track of a `moov` box, or `nil` if there's none.
    static func read(_ moov: HeaderBytes) throws(HeaderParsingError) -> HEIFTrack? {
        var list = BoxList(moov)
        var result: HEIFTrack?
        var hasAlpha = false
        var codedSize: PixelSize?
        while let box = try list.next() {
            guard box.name == "trak", let mdia = try BoxList.first("mdia", in: box.content) else { continue }
            // libavif reads the tables of every track.
            codedSize = CodedSize.larger(codedSize, try HEIFTrackBounds.check(mdia))
            guard let hdlr = try BoxList.first("hdlr", in: mdia) else { continue }
            let handler = try FourCC(hdlr, at: 8)
            if handler == "auxv" { hasAlpha = true }
            if handler == "pict", result == nil { result = try HEIFTrack(track: box.content, media: mdia) }
        }
        result?.hasAlpha = hasAlpha
        result?.codedSize = codedSize
        return result
    }

    private init?(track: HeaderBytes, media: HeaderBytes) throws(HeaderParsingError) {
        guard let minf = try BoxList.first("minf", in: media), let stbl = try BoxList.first("stbl", in: minf),
            let stsd = try BoxList.first("stsd", in: stbl)
        else { return nil }
        // The first visual sample entry follows the version, the flags, and the count.
        size = PixelSize(width: try stsd.big16(at: 40), height: try stsd.big16(at: 42))
        guard !size.isEmpty else { return nil }
        let sizes = try BoxList.first("stsz", in: stbl)
        let compact = try BoxList.first("stz2", in: stbl)
        if let sizes = sizes ?? compact { frames = try sizes.big32(at: 8) }
        isHEVC = Self.hevc.contains(try FourCC(stsd, at: 12))
        syncFrames = frames
        if let stss = try BoxList.first("stss", in: stbl) { syncFrames = min(frames, try stss.big32(at: 4)) }
        loops = try Self.loops(track)
    }

    /// Returns the loop count. An edit list that doesn't repeat plays once.
    ///
    /// A repeating edit list plays until the end of the track duration. If all bits of this duration are set or
    /// there's no edit list, the animation repeats indefinitely.
    private static func loops(_ track: HeaderBytes) throws(HeaderParsingError) -> Int {
        guard let edts = try BoxList.first("edts", in: track), let elst = try BoxList.first("elst", in: edts),
            let tkhd = try BoxList.first("tkhd", in: track)
        else { return 0 }
        guard try elst.byte(at: 3) & 1 == 1 else { return 1 }
        let isLong = try tkhd.byte(at: 0) == 1
        let total = isLong ? try tkhd.number(at: 28, 8, .big) : try tkhd.big32(at: 20)
        let segment = try elst.byte(at: 0) == 1 ? try elst.number(at: 8, 8, .big) : try elst.big32(at: 8)
        guard segment > 0, total > 0, total != (isLong ? Int.max : 0xFFFF_FFFF) else { return 0 }
        return total / segment + (total % segment == 0 ? 0 : 1)
    }
}
