// SPDX-License-Identifier: MIT

/// The tables that describe the positions and the times of samples (ISO/IEC 14496-12, sections 8.6 and 8.7).
struct HEIFSampleTable {
    private(set) var syncSamples: [HEIFSequence.Sample] = []
    private let table: HeaderBytes
    private let count: Int

    /// Reads the tables of a `stbl` box. The `mdia` box contains the time scale, and `available` is the number of bytes
    /// in the file.
    init(_ table: HeaderBytes, media: HeaderBytes, available: Int) throws(HeaderParsingError) {
        self.table = table
        guard let sizes = try BoxList.first("stsz", in: table) else {
            throw .unsupported(.heif, "an image sequence without sample sizes")
        }
        count = try sizes.big32(at: 8)
        try HeaderParsingError.check(count, limit: HeaderBounds.sequenceSamples, "samples in an image sequence")
        guard count > 0 else { throw .corrupt(.heif, "the image sequence is empty") }
        let common = try sizes.big32(at: 4)
        var lengths: [Int] = []
        for index in 0..<count { lengths.append(common > 0 ? common : try sizes.big32(at: 12 + index * 4)) }
        let offsets = try offsets(lengths)
        let durations = try Self.durations(table, media: media, count: count)
        let sync = try syncIndices()
        for (place, index) in sync.enumerated() {
            let end = place + 1 < sync.count ? sync[place + 1] : count
            let range = offsets[index]..<offsets[index] + lengths[index]
            guard !range.isEmpty, range.upperBound <= available else { throw .needsMore(range.upperBound) }
            let milliseconds = durations[index..<end].reduce(0, +)
            syncSamples.append(HEIFSequence.Sample(range: range, milliseconds: Int(min(milliseconds, 1e9).rounded())))
        }
    }

    /// Returns the offsets of all samples from the offsets of the chunks, which contain consecutive samples.
    private func offsets(_ lengths: [Int]) throws(HeaderParsingError) -> [Int] {
        guard let runs = try BoxList.first("stsc", in: table) else { throw .corrupt(.heif, "stsc is missing") }
        let short = try BoxList.first("stco", in: table)
        let long = try BoxList.first("co64", in: table)
        guard let chunks = short ?? long else {
            throw .corrupt(.heif, "the offsets of chunks are missing")
        }
        let width = short == nil ? 8 : 4
        let chunkCount = try chunks.big32(at: 4)
        let runCount = try runs.big32(at: 4)
        var offsets: [Int] = []
        var run = 0
        for chunk in 0..<chunkCount {
            guard offsets.count < lengths.count else { break }
            // A run applies from its first chunk on, which is counted from 1.
            while run + 1 < runCount, try runs.big32(at: 8 + (run + 1) * 12) <= chunk + 1 { run += 1 }
            let perChunk = try runs.big32(at: 8 + run * 12 + 4)
            guard perChunk > 0 else { throw .corrupt(.heif, "a chunk without samples") }
            var offset = try chunks.number(at: 8 + chunk * width, width, .big)
            for _ in 0..<min(perChunk, lengths.count - offsets.count) {
                offsets.append(offset)
                let (next, overflow) = offset.addingReportingOverflow(lengths[offsets.count - 1])
                guard !overflow else { throw .outside }
                offset = next
            }
        }
        guard offsets.count == lengths.count else { throw .corrupt(.heif, "the positions of samples are missing") }
        return offsets
    }

    /// Returns the durations of all samples in milliseconds, in one pass. Missing durations are 0.
    static func durations(
        _ table: HeaderBytes, media: HeaderBytes, count: Int
    ) throws(HeaderParsingError) -> [Double] {
        var durations = [Double](repeating: 0, count: count)
        guard let mdhd = try BoxList.first("mdhd", in: media), let times = try BoxList.first("stts", in: table) else {
            return durations
        }
        let scale = try mdhd.big32(at: try mdhd.byte(at: 0) == 1 ? 20 : 12)
        guard scale > 0 else { return durations }
        let runCount = try times.big32(at: 4)
        var index = 0
        for run in 0..<runCount {
            guard index < count else { break }
            let length = min(try times.big32(at: 8 + run * 8), count - index)
            let milliseconds = Double(try times.big32(at: 12 + run * 8)) * 1_000 / Double(scale)
            for place in index..<index + length { durations[place] = milliseconds }
            index += length
        }
        return durations
    }

    /// Returns the indices of the sync samples in ascending order.
    private func syncIndices() throws(HeaderParsingError) -> [Int] {
        guard let stss = try BoxList.first("stss", in: table) else { return Array(0..<count) }
        var indices: [Int] = []
        for place in 0..<min(try stss.big32(at: 4), count) {
            let index = try stss.big32(at: 8 + place * 4) - 1
            guard index < count, index > indices.last ?? -1 else { throw .corrupt(.heif, "invalid sync samples") }
            indices.append(index)
        }
        guard !indices.isEmpty else { throw .corrupt(.heif, "the image sequence has no sync sample") }
        return indices
    }
}
