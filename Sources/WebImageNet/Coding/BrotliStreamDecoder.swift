// SPDX-License-Identifier: MIT

import CContentCoding

/// A decoder for the content coding `br` (RFC 7932).
final class BrotliStreamDecoder: StreamDecoder {
    private let state: OpaquePointer
    private let piece: UnsafeMutableRawBufferPointer
    private(set) var isAtEnd = false

    /// Creates a decoder. Returns `nil` if memory is exhausted.
    init?() {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
        self.state = state
        piece = .allocate(byteCount: Self.pieceSize, alignment: 16)
    }

    deinit {
        BrotliDecoderDestroyInstance(state)
        piece.deallocate()
    }

    func decode(_ bytes: UnsafeRawBufferPointer, output: ContentDecoder.Output) throws(ContentDecoder.Failure) {
        guard !isAtEnd else { return }
        var left = bytes.count
        var next = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        while true {
            var room = piece.count
            var target = piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let result = BrotliDecoderDecompressStream(state, &left, &next, &room, &target, nil)
            if room < piece.count { try output(UnsafeRawBufferPointer(rebasing: piece[..<(piece.count - room)])) }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS:
                isAtEnd = true
                return
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return
            default:
                throw .broken("brotli error \(BrotliDecoderGetErrorCode(state).rawValue)")
            }
        }
    }
}
