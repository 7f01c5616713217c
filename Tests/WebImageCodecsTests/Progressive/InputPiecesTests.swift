// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageCodecs

@Suite("Pieces of received data")
struct InputPiecesTests {
    @Test(
        "The pieces are consecutive, have at most the maximum size, and the last one is marked",
        arguments: [(0, []), (1, [1]), (4, [4]), (5, [4, 1]), (10, [4, 4, 2])] as [(Int, [Int])])
    func pieces(count: Int, expected: [Int]) {
        let data = (0..<count).map { UInt8($0) }
        data.withUnsafeBufferPointer { bytes in
            let pieces = Array(InputPieces(bytes, maxCount: 4, includesEmpty: false))
            #expect(pieces.map(\.count) == expected)
            let joined = pieces.flatMap { Array(UnsafeBufferPointer(start: $0.start, count: $0.count)) }
            #expect(joined == data)
            #expect(pieces.indices.allSatisfy { pieces[$0].isLast == ($0 == pieces.count - 1) })
        }
    }

    @Test("Empty data results in one empty piece only if it's requested")
    func empty() {
        let bytes = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        let pieces = Array(InputPieces(bytes, maxCount: 4, includesEmpty: true))
        #expect(pieces.map(\.count) == [0] && pieces.allSatisfy(\.isLast))
        #expect(Array(InputPieces(bytes, maxCount: 4, includesEmpty: false)).isEmpty)
    }
}
