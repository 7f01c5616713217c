// SPDX-License-Identifier: MIT

import WebImageCore

/// A reader of decimal samples (`P1` to `P3`), which whitespace and comments separate. The samples of `P1` are single
/// digits, between which no whitespace is necessary.
struct PNMTextReader {
    private let format: ImageFormat
    private let width: Int
    private let samplesPerRow: Int
    private let maximum: Int
    private var isInComment = false
    /// The digits before the end of the last bytes, or `nil` if they ended outside a number.
    private var number: Int?
    /// The number of samples of the current row.
    private var count = 0

    private static let commentMark: UInt8 = 0x23

    init(_ header: PNMHeader) {
        format = header.format
        width = header.size.width
        samplesPerRow = header.size.width * header.channels
        maximum = header.maximum
    }

    /// Appends samples to a row in the binary layout until it's complete, and advances the offset. Returns `false` if the
    /// bytes end before the row does. A number at the end of the file is complete if `isLast` is `true`.
    mutating func append(
        to row: inout [UInt8], from bytes: UnsafeBufferPointer<UInt8>, at offset: inout Int, isLast: Bool
    ) throws(ImageError) -> Bool {
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if isInComment {
                isInComment = byte != 0x0A && byte != 0x0D
            } else if (0x30...0x39).contains(byte) {
                try add(Int(byte) - 0x30, to: &row)
            } else if byte == Self.commentMark || byte == 0x20 || (0x09...0x0D).contains(byte) {
                isInComment = byte == Self.commentMark
                finishNumber(&row)
            } else {
                throw .decoding(.corrupted(format: format, reason: "the byte \(byte) isn’t part of a number"))
            }
            if count == samplesPerRow { return finishRow() }
        }
        if isLast { finishNumber(&row) }
        return count == samplesPerRow && finishRow()
    }

    private mutating func finishRow() -> Bool {
        count = 0
        return true
    }

    private mutating func add(_ digit: Int, to row: inout [UInt8]) throws(ImageError) {
        guard format == .pbm else {
            // Samples above the maximum count as the maximum, so longer numbers don't overflow.
            number = min((number ?? 0) * 10 + digit, 65_535)
            return
        }
        guard digit < 2 else {
            throw .decoding(.corrupted(format: format, reason: "the digit \(digit) isn’t 0 or 1"))
        }
        if count % 8 == 0 { row.append(0) }
        row[row.count - 1] |= UInt8(digit) << UInt8(7 - count % 8)
        count += 1
    }

    private mutating func finishNumber(_ row: inout [UInt8]) {
        guard let value = number else { return }
        number = nil
        if maximum > 255 { row.append(UInt8(value >> 8)) }
        row.append(UInt8(truncatingIfNeeded: maximum > 255 ? value : min(value, 255)))
        count += 1
    }
}
