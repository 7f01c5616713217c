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
    /// The number of checked bytes of the magic number of the current frame.
    private var checkedCount = 0
    private var isSkippable = false

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
            try checkMagicNumber(bytes[input.pos...])
            var target = ZSTD_outBuffer(dst: chunk.baseAddress, size: chunk.count, pos: 0)
            let hint = ZSTD_decompressStream(stream, &target, &input)
            if target.pos > 0 { try output(UnsafeRawBufferPointer(rebasing: chunk[..<target.pos])) }
            guard ZSTD_isError(hint) == 0 else { throw .corrupt("zstd: \(String(cString: ZSTD_getErrorName(hint)))") }
            isAtEnd = hint == 0
            // The decoder stops at the end of each frame.
            if isAtEnd { checkedCount = 0 }
            isFull = target.pos == target.size && hint != 0
        }
    }

    /// libzstd also decodes formats from before version 0.8, which aren't part of the content coding (RFC 8878 3.1).
    private func checkMagicNumber(_ bytes: Slice<UnsafeRawBufferPointer>) throws(ContentDecoder.Failure) {
        for byte in bytes.prefix(4 - checkedCount) {
            if checkedCount == 0 { isSkippable = (0x50...0x5F).contains(byte) }
            let expected = isSkippable ? [byte, 0x2A, 0x4D, 0x18] : [0x28, 0xB5, 0x2F, 0xFD]
            guard byte == expected[checkedCount] else { throw .corrupt("zstd: unknown frame") }
            checkedCount += 1
        }
    }
}
