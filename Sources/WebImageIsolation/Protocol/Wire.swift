// SPDX-License-Identifier: MIT

import Foundation

/// A message that violates the protocol between a program and its helper process.
package struct WireViolation: Error, Hashable, Sendable {
    /// The violated rule.
    package let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Writes the values of a message in little-endian byte order.
package struct WireWriter {
    /// The bytes so far.
    package private(set) var bytes: [UInt8] = []

    /// Creates an empty message.
    package init() {}

    /// Appends an integer of fixed size.
    package mutating func put<Number: FixedWidthInteger>(_ number: Number) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    /// Appends a Boolean value.
    package mutating func put(_ flag: Bool) { put(UInt8(flag ? 1 : 0)) }

    /// Appends a floating-point number.
    package mutating func put(_ number: Double) { put(number.bitPattern) }

    /// Appends the UTF-8 text of a string with its length.
    package mutating func put(_ text: String) {
        put(UInt32(clamping: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends data with its length.
    package mutating func put(_ data: Data) {
        put(UInt32(clamping: data.count))
        bytes.append(contentsOf: data)
    }

    /// Appends whether there is a value, and the value.
    package mutating func put<Value>(_ value: Value?, _ write: (inout WireWriter, Value) -> Void) {
        put(value != nil)
        if let value { write(&self, value) }
    }
}

/// Reads the values of a message. Every read checks the bounds and the range of the value.
package struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    /// Creates a reader for a message, of which it reads a private copy.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    private mutating func take(_ count: Int) throws(WireViolation) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - position else { throw WireViolation("the message is truncated") }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Reads an integer of fixed size.
    package mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(WireViolation)
        -> Number
    {
        let slice = try take(MemoryLayout<Number>.size)
        var number = Number.zero
        for byte in slice.reversed() { number = number << 8 | Number(truncatingIfNeeded: byte) }
        return number
    }

    /// Reads an integer in a range.
    package mutating func int(_ range: ClosedRange<Int> = Int.min...Int.max) throws(WireViolation) -> Int {
        let number = Int(try number(Int64.self))
        guard range.contains(number) else { throw WireViolation("\(number) isn't in \(range)") }
        return number
    }

    /// Reads a Boolean value.
    package mutating func flag() throws(WireViolation) -> Bool {
        switch try number(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw WireViolation("a flag is neither 0 nor 1")
        }
    }

    /// Reads a floating-point number, which may be infinite or NaN.
    package mutating func double() throws(WireViolation) -> Double { Double(bitPattern: try number()) }

    /// Reads text of up to `limit` bytes. Invalid UTF-8 is repaired.
    package mutating func text(_ limit: Int = 65_536) throws(WireViolation) -> String {
        String(decoding: try block(limit), as: UTF8.self)
    }

    /// Reads data of up to `limit` bytes.
    package mutating func data(_ limit: Int) throws(WireViolation) -> Data { Data(try block(limit)) }

    private mutating func block(_ limit: Int) throws(WireViolation) -> ArraySlice<UInt8> {
        let count = Int(try number(UInt32.self))
        guard count <= limit else { throw WireViolation("a field has \(count) bytes, but the limit is \(limit)") }
        return try take(count)
    }

    /// Reads an optional value.
    package mutating func optional<Value>(
        _ read: (inout WireReader) throws(WireViolation) -> Value
    ) throws(WireViolation) -> Value? {
        try flag() ? try read(&self) : nil
    }

    /// Checks that all bytes were read.
    package func finish() throws(WireViolation) {
        guard position == bytes.count else { throw WireViolation("the message is too long") }
    }
}

/// A value that messages contain.
package protocol WireValue {
    init(from reader: inout WireReader) throws(WireViolation)
    func write(to writer: inout WireWriter)
}

extension WireWriter {
    package mutating func put(_ value: some WireValue) { value.write(to: &self) }

    package mutating func put(_ value: (some WireValue)?) { put(value) { $0.put($1) } }
}

extension WireReader {
    package mutating func value<Value: WireValue>(_: Value.Type = Value.self) throws(WireViolation) -> Value {
        try Value(from: &self)
    }

    package mutating func optional<Value: WireValue>(_: Value.Type = Value.self) throws(WireViolation) -> Value? {
        try optional { (reader) throws(WireViolation) in try Value(from: &reader) }
    }
}
