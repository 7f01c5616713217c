// SPDX-License-Identifier: MIT

/// A walk over the marker segments of a JPEG file before its first scan (ITU-T T.81, annex B).
///
/// All parsers of JPEG headers use this type, so they agree on the segments of invalid files. Like libjpeg, it skips fill
/// bytes, stray bytes between segments, and markers without a segment.
struct JPEGSegments {
    /// A marker segment.
    struct Segment {
        /// The second byte of the marker, such as 0xE1 for APP1.
        let marker: UInt8
        /// The data after the length field. The available bytes of the file may end within it.
        let content: HeaderBytes

        var count: Int { content.declaredLength ?? 0 }
    }

    /// The parts that a walk has passed. All JPEG files that are embedded in one file share it.
    struct Work {
        private var segments = 0
        private var strayBytes = 0
        /// The maximum number of segments, or `nil` if only the size of the file limits it.
        private let maxSegments: Int?

        init(maxSegments: Int? = nil) { self.maxSegments = maxSegments }

        fileprivate mutating func passSegment() throws(HeaderParsingError) {
            segments += 1
            guard let maxSegments else { return }
            try HeaderParsingError.check(segments, limit: maxSegments, "segments of embedded JPEG files")
        }

        fileprivate mutating func passStrayBytes(_ count: Int) throws(HeaderParsingError) {
            strayBytes += count
            guard strayBytes < HeaderBounds.strayBytes else {
                throw .corrupt(.jpeg, "more than \(HeaderBounds.strayBytes) bytes between segments")
            }
        }
    }

    private let bytes: HeaderBytes
    /// The position after the last marker or segment.
    private var offset = 2
    private var scanOffset: Int?
    /// The parts that the walk has passed.
    private(set) var work: Work

    /// Creates a walk that begins after the start marker, which the caller has checked.
    init(_ bytes: HeaderBytes, work: Work = Work()) {
        self.bytes = bytes
        self.work = work
    }

    /// The file from the header of the first scan, if the walk has reached it.
    var scan: HeaderBytes? {
        get throws(HeaderParsingError) {
            guard let scanOffset else { return nil }
            return try bytes.rest(from: scanOffset)
        }
    }

    /// Returns the next segment, or `nil` at the first scan and at the end marker.
    mutating func next() throws(HeaderParsingError) -> Segment? {
        while true {
            let marker = try nextMarker()
            try work.passSegment()
            switch marker {
            case 0x01, 0xD0...0xD8:
                continue
            case 0xDA:
                scanOffset = offset
                return nil
            case 0xD9:
                return nil
            default:
                let length = try bytes.big16(at: offset)
                guard length >= 2 else { throw .corrupt(.jpeg, "invalid segment length") }
                let content = try bytes.part(at: offset + 2, length: length - 2)
                offset += length
                return Segment(marker: marker, content: content)
            }
        }
    }

    /// Returns the code of the next marker and moves `offset` past it.
    private mutating func nextMarker() throws(HeaderParsingError) -> UInt8 {
        while true {
            while try bytes.byte(at: offset) != 0xFF { try skip() }
            offset += 1
            while try bytes.byte(at: offset) == 0xFF { try skip() }
            let code = try bytes.byte(at: offset)
            offset += 1
            guard code == 0 else { return code }
            try work.passStrayBytes(2)
        }
    }

    private mutating func skip() throws(HeaderParsingError) {
        try work.passStrayBytes(1)
        offset += 1
    }
}
