// SPDX-License-Identifier: MIT

import CBrotli

/// A decompressor for the beginning of brotli data (RFC 7932), with an output of limited size.
enum Brotli {
    /// A reason for the end of decompression.
    enum End { case finished, full, short, corrupt }

    static func unpack(_ bytes: UnsafeRawBufferPointer, limit: Int) -> (output: [UInt8], end: End) {
        var end = WI_BROTLI_CORRUPT
        let output = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            let input = bytes.assumingMemoryBound(to: UInt8.self)
            guard let start = buffer.baseAddress, let first = input.baseAddress else { return }
            end = wi_brotli_unpack(first, input.count, start, buffer.count, &count)
        }
        return switch end {
        case WI_BROTLI_FINISHED: (output, .finished)
        case WI_BROTLI_FULL: (output, .full)
        case WI_BROTLI_SHORT: (output, .short)
        default: (output, .corrupt)
        }
    }
}
