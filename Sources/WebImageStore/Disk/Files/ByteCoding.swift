// SPDX-License-Identifier: MIT

import Foundation

/// A writer for the sections of an entry file.
///
/// Numbers are little-endian. Strings are UTF-8 and follow their 32-bit length.
struct ByteWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func put(_ text: String) {
        put(UInt32(clamping: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    mutating func put(_ time: Date) { put(time.timeIntervalSinceReferenceDate.bitPattern) }

    mutating func put(raw text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func put(raw more: some Collection<UInt8>) { bytes.append(contentsOf: more) }
}

/// A reader for the output of ``ByteWriter``. Every read checks the bounds because the data may be corrupt.
struct ByteReader {
    private var rest: UnsafeRawBufferPointer.SubSequence

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }
    var remaining: Int { rest.count }

    mutating func number<Number: FixedWidthInteger>(_ type: Number.Type) -> Number? {
        let size = MemoryLayout<Number>.size
        guard rest.count >= size else { return nil }
        let value = rest.base.loadUnaligned(fromByteOffset: rest.startIndex, as: Number.self)
        rest = rest.dropFirst(size)
        return Number(littleEndian: value)
    }

    mutating func text() -> String? {
        guard let count = number(UInt32.self), rest.count >= Int(count) else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return String(validating: rest.prefix(Int(count)), as: UTF8.self)
    }

    /// Reads a date. Returns `nil` if the value isn't a finite number of seconds within 100,000 years.
    mutating func time() -> Date? {
        guard let bits = number(UInt64.self) else { return nil }
        let seconds = Double(bitPattern: bits)
        guard seconds.magnitude < 3e12 else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }
}
