// SPDX-License-Identifier: MIT

/// A parser that finds the codestream header of a JPEG XL file with or without a container (ISO/IEC 18181-2).
enum JXLProbe {
    static func read(_ bytes: HeaderBytes) throws(HeaderParsingError) -> ImageInfo {
        var codestream: [UInt8] = []
        let more = try collect(bytes, &codestream)
        let header: JXLHeader
        do throws(BitReader.End) {
            header = try JXLHeader(codestream)
        } catch {
            try HeaderParsingError.check(
                codestream.count + 1, limit: HeaderBounds.jxlHeaderBytes, "bytes of JPEG XL header data")
            throw more ?? .outside
        }
        try HeaderParsingError.check(
            header.extraChannels, limit: JXLHeader.maxExtraChannels, "extra channels of a JPEG XL file")
        return ImageInfo(
            format: .jxl, storedSize: header.size, orientation: header.orientation, bitDepth: header.depth,
            hasAlpha: header.hasAlpha, frameCountIsExact: !header.isAnimated,
            loopCount: header.isAnimated ? header.loops : 1, hasICCProfile: header.hasICCProfile,
            codePoints: header.codePoints)
    }

    /// Assembles the beginning of the codestream. The result is the reason why more data isn't available yet, or `nil`
    /// if the whole file or a sufficient part was read.
    private static func collect(_ bytes: HeaderBytes, _ codestream: inout [UInt8]) throws(HeaderParsingError)
        -> HeaderParsingError?
    {
        if try bytes.has([0xFF, 0x0A]) { return try append(bytes, to: &codestream) }
        var list = BoxList(bytes)
        do throws(HeaderParsingError) {
            while let box = try list.next(), codestream.count < HeaderBounds.jxlHeaderBytes {
                let piece: HeaderBytes
                switch box.name {
                case "jxlc": piece = box.content
                // A partial codestream begins with its sequence number.
                case "jxlp": piece = try box.content.rest(from: 4)
                default: continue
                }
                if let stop = try append(piece, to: &codestream) { return stop }
            }
        } catch {
            if case .needsMore = error { return error }
            throw error
        }
        return nil
    }

    private static func append(_ piece: HeaderBytes, to codestream: inout [UInt8]) throws(HeaderParsingError)
        -> HeaderParsingError?
    {
        let room = HeaderBounds.jxlHeaderBytes - codestream.count
        let wanted = min(room, piece.declaredLength ?? room)
        let count = min(wanted, piece.available)
        try piece.withBytes(count, at: 0) { codestream.append(contentsOf: $0) }
        guard count < wanted else { return nil }
        do throws(HeaderParsingError) {
            try piece.require(count + 1, at: 0)
            return nil
        } catch {
            return error
        }
    }
}
