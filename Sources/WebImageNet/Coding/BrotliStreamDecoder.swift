// SPDX-License-Identifier: MIT

import CContentCoding

/// A decoder for the content coding `br` (RFC 7932).
final class BrotliStreamDecoder: ContentCodingDecoder {
    private let state: OpaquePointer
    private let chunk: UnsafeMutableRawBufferPointer
    private(set) var isAtEnd = false

    /// Creates a decoder. Returns `nil` if memory is exhausted.
    init?() {
        guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { return nil }
        self.state = state
        chunk = .allocate(byteCount: Self.chunkSize, alignment: 16)
    }

    deinit {
        BrotliDecoderDestroyInstance(state)
        chunk.deallocate()
    }

    func decode(_ bytes: UnsafeRawBufferPointer, output: ContentDecoder.Output) throws(ContentDecoder.Failure) {
        // As with gzip, bytes after the end are ignored.
        guard !isAtEnd else { return }
        var left = bytes.count
        var next = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        while true {
            var room = chunk.count
            var target = chunk.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let result = BrotliDecoderDecompressStream(state, &left, &next, &room, &target, nil)
            if room < chunk.count { try output(UnsafeRawBufferPointer(rebasing: chunk[..<(chunk.count - room)])) }
            switch result {
            case BROTLI_DECODER_RESULT_SUCCESS:
                isAtEnd = true
                return
            case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: continue
            case BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: return
            default:
                throw .corrupt("brotli error \(BrotliDecoderGetErrorCode(state).rawValue)")
            }
        }
    }
}
