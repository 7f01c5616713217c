// SPDX-License-Identifier: MIT

/// The pieces of received data that a stream decoder processes between two checks of the deadline and the cancellation
/// flag.
struct InputPieces: Sequence, IteratorProtocol {
    /// A piece of the data. The pointer is valid as long as the data.
    struct Piece {
        /// The address of the first byte, or `nil` if the data is empty and has no address.
        let start: UnsafePointer<UInt8>?
        let count: Int
        let isLast: Bool
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    private let maxCount: Int
    private var offset = 0
    private var isFinished: Bool

    /// Creates the pieces of data that must stay valid while they're used. `maxCount` is the maximum number of bytes in
    /// a piece, which is positive. If `includesEmpty` is `true`, empty data results in one empty piece, for decoders
    /// that must be notified of the end of a file.
    init(_ bytes: UnsafeBufferPointer<UInt8>, maxCount: Int, includesEmpty: Bool) {
        self.bytes = bytes
        self.maxCount = maxCount
        isFinished = bytes.isEmpty && !includesEmpty
    }

    mutating func next() -> Piece? {
        guard !isFinished else { return nil }
        let place = offset
        let count = Swift.min(maxCount, bytes.count - place)
        offset += count
        isFinished = offset == bytes.count
        return Piece(start: bytes.baseAddress.map { $0 + place }, count: count, isLast: isFinished)
    }
}
