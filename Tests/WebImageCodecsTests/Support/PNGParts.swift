// SPDX-License-Identifier: MIT

import CPNG
import Foundation

/// The chunks of a PNG file, which tests remove, change, and reassemble. The CRCs are recalculated.
struct PNGParts {
    struct Chunk {
        var name: String
        var body: [UInt8]
    }

    var chunks: [Chunk] = []

    init(_ data: Data) {
        let bytes = [UInt8](data)
        var place = 8
        while place + 12 <= bytes.count {
            let count = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            guard place + 12 + count <= bytes.count else { return }
            let name = String(decoding: bytes[place + 4..<place + 8], as: UTF8.self)
            chunks.append(Chunk(name: name, body: Array(bytes[place + 8..<place + 8 + count])))
            place += 12 + count
        }
    }

    func without(_ name: String) -> PNGParts {
        var parts = self
        parts.chunks.removeAll { $0.name == name }
        return parts
    }

    /// Returns the indices of all chunks with a name.
    func offsets(of name: String) -> [Int] { chunks.indices.filter { chunks[$0].name == name } }

    var file: Data {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        for chunk in chunks {
            let named = Array(chunk.name.utf8) + chunk.body
            bytes += Self.big(UInt32(chunk.body.count)) + named + Self.big(Self.check(named))
        }
        return Data(bytes)
    }

    static func big(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }

    private static func check(_ bytes: [UInt8]) -> UInt32 { UInt32(wi_png_check(bytes, bytes.count)) }
}
