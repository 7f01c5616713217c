// SPDX-License-Identifier: MIT

import CInflate

/// A decompressor for the beginning of deflate data (RFC 1951), with an output of limited size.
enum Inflate {
    /// A reason for the end of decompression.
    enum End { case finished, full, short, corrupt }

    static func unpack(_ bytes: [UInt8], limit: Int) -> (output: [UInt8], end: End) {
        var end = WI_INFLATE_CORRUPT
        let output = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            end = wi_inflate(bytes, bytes.count, start, buffer.count, &count)
        }
        return switch end {
        case WI_INFLATE_FINISHED: (output, .finished)
        case WI_INFLATE_FULL: (output, .full)
        case WI_INFLATE_SHORT: (output, .short)
        default: (output, .corrupt)
        }
    }
}
