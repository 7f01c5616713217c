// SPDX-License-Identifier: MIT

import Foundation

/// The segments of a JPEG file before its first scan, which tests remove, change, and reassemble.
struct JPEGParts {
    struct Segment {
        var marker: UInt8
        var body: [UInt8]
    }

    var segments: [Segment] = []
    /// The data from the header of the first scan to the end.
    var scans: [UInt8] = []

    init(_ data: Data) {
        let bytes = [UInt8](data)
        var place = 2
        while place + 4 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] != 0xDA {
            let count = Int(bytes[place + 2]) << 8 | Int(bytes[place + 3])
            guard count >= 2, place + 2 + count <= bytes.count else { return }
            segments.append(Segment(marker: bytes[place + 1], body: Array(bytes[place + 4..<place + 2 + count])))
            place += 2 + count
        }
        scans = Array(bytes[place...])
    }

    /// The index of the frame header.
    var frameIndex: Int? { segments.firstIndex { $0.marker == 0xC0 || $0.marker == 0xC1 || $0.marker == 0xC2 } }

    /// Returns the file without the segments with a marker.
    func without(_ marker: UInt8) -> JPEGParts {
        var parts = self
        parts.segments.removeAll { $0.marker == marker }
        return parts
    }

    /// Returns the file with segments before all others.
    func beginning(with added: [Segment]) -> JPEGParts {
        var parts = self
        parts.segments.insert(contentsOf: added, at: 0)
        return parts
    }

    /// Returns the file with segments after the frame header.
    func appending(_ added: [Segment]) -> JPEGParts {
        var parts = self
        parts.segments += added
        return parts
    }

    var file: Data {
        var bytes: [UInt8] = [0xFF, 0xD8]
        for segment in segments {
            let count = segment.body.count + 2
            bytes += [0xFF, segment.marker, UInt8(count >> 8), UInt8(count & 255)] + segment.body
        }
        return Data(bytes + scans)
    }

    /// Returns the segments of a color profile in a number of parts (ICC.1, annex B.4).
    static func profile(_ profile: [UInt8], parts count: Int) -> [Segment] {
        let size = (profile.count + count - 1) / count
        return (0..<count).map { index in
            let part = profile.dropFirst(index * size).prefix(size)
            let head = Array("ICC_PROFILE\0".utf8) + [UInt8(index + 1), UInt8(count)]
            return Segment(marker: 0xE2, body: head + part)
        }
    }
}
