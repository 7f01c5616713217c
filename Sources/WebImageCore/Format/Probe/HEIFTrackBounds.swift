// SPDX-License-Identifier: MIT

/// The checks of a track that precede opening a file (ISO/IEC 14496-12, sections 8.5 to 8.7).
///
/// libavif sums the durations of all earlier samples for every frame, and it searches all entries of a table for
/// each of them. So every table must be in proportion to the number of samples.
enum HEIFTrackBounds {
    private static let tables: [FourCC] = ["stsd", "stsz", "stz2", "stts", "stsc", "stco", "co64", "stss"]
    /// The size of the fields before the boxes of a visual sample entry, in bytes.
    private static let visualEntryBytes = 78

    /// Checks the sample tables in a `mdia` box. The result is the size in the parameter sets of the track, if it has
    /// any.
    static func check(_ media: HeaderBytes) throws(HeaderParsingError) -> PixelSize? {
        guard let minf = try BoxList.first("minf", in: media), let table = try BoxList.first("stbl", in: minf) else {
            return nil
        }
        var boxes: [FourCC: HeaderBytes] = [:]
        var list = BoxList(table)
        while let box = try list.next() {
            guard tables.contains(box.name) else { continue }
            guard boxes.updateValue(box.content, forKey: box.name) == nil else {
                throw .corrupt(.heif, "a sample table occurs twice")
            }
        }
        if let sizes = boxes["stsz"] ?? boxes["stz2"] {
            let samples = try sizes.big32(at: 8)
            try HeaderParsingError.check(samples, limit: HeaderBounds.sequenceSamples, "samples in an image sequence")
            if let times = boxes["stts"] { try checkTimes(times, samples: samples) }
            for name in ["stsc", "stco", "co64", "stss"] as [FourCC] {
                guard let box = boxes[name] else { continue }
                try HeaderParsingError.check(try box.big32(at: 4), limit: samples, "entries in a sample table")
            }
        }
        return try boxes["stsd"].flatMap { (box) throws(HeaderParsingError) in try codedSize(box) }
    }

    private static func checkTimes(_ times: HeaderBytes, samples: Int) throws(HeaderParsingError) {
        let entries = try times.big32(at: 4)
        try HeaderParsingError.check(entries, limit: samples, "durations of an image sequence")
        for entry in 0..<entries where try times.big32(at: 8 + entry * 8) == 0 {
            throw .corrupt(.heif, "a duration applies to no sample")
        }
    }

    private static func codedSize(_ descriptions: HeaderBytes) throws(HeaderParsingError) -> PixelSize? {
        var entries = BoxList(descriptions, from: 8)
        var largest: PixelSize?
        while let entry = try entries.next() {
            guard entry.content.declaredLength ?? 0 > visualEntryBytes else { continue }
            var boxes = BoxList(entry.content, from: visualEntryBytes)
            while let box = try boxes.next() {
                largest = CodedSize.larger(largest, try CodedSize.largest(in: box))
            }
        }
        return largest
    }
}
