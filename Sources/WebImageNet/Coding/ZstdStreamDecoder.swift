// SPDX-License-Identifier: MIT

import CContentCoding

/// A decoder for the content coding `zstd` (RFC 8878), with any number of frames and windows of at most 8 MiB (RFC
/// 9659).
final class ZstdStreamDecoder: ContentCodingDecoder {
    /// The binary logarithm of the maximum window size in bytes.
    static let windowLog: Int32 = 23

    private let stream: OpaquePointer
    private let chunk: UnsafeMutableRawBufferPointer
    private(set) var isAtEnd = false

    /// Creates a decoder. Returns `nil` if memory is exhausted.
    init?() {
        guard let stream = ZSTD_createDStream() else { return nil }
        self.stream = stream
        chunk = .allocate(byteCount: Self.chunkSize, alignment: 16)
        ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, Self.windowLog)
    }

    deinit {
        ZSTD_freeDStream(stream)
        chunk.deallocate()
    }

    func decode(_ bytes: UnsafeRawBufferPointer, output: ContentDecoder.Output) throws(ContentDecoder.Failure) {
        var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
        var isFull = false
        while input.pos < input.size || isFull {
            var target = ZSTD_outBuffer(dst: chunk.baseAddress, size: chunk.count, pos: 0)
            let hint = ZSTD_decompressStream(stream, &target, &input)
            if target.pos > 0 { try output(UnsafeRawBufferPointer(rebasing: chunk[..<target.pos])) }
            guard ZSTD_isError(hint) == 0 else { throw .corrupt("zstd: \(String(cString: ZSTD_getErrorName(hint)))") }
            isAtEnd = hint == 0
            isFull = target.pos == target.size && hint != 0
        }
    }
}
