// SPDX-License-Identifier: MIT

import Foundation

/// Data that doesn't have the form that its reader expects.
package struct MalformedData: Error, Hashable, Sendable {
    /// The violated rule.
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// A value with a binary form.
package protocol BinaryCodable {
    init(from reader: inout BinaryReader) throws(MalformedData)
    func write(to writer: inout BinaryWriter)
}

/// A value whose binary form is a list of fields. The list exists only once, for both directions, so that readers and
/// writers can't have different orders of fields.
package protocol BinaryFields: BinaryCodable {
    /// A value whose fields are replaced by those that are read.
    static var blank: Self { get }
    /// Reads or writes the fields, in their order.
    mutating func code(with coder: inout some FieldCoder) throws(MalformedData)
    /// Checks the relations between fields that were read. The default implementation has no rules.
    func check() throws(MalformedData)
}

extension BinaryFields {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        self = Self.blank
        try code(with: &reader)
        try check()
    }

    package func write(to writer: inout BinaryWriter) {
        var copy = self
        // Only readers throw errors.
        try? copy.code(with: &writer)
    }

    package func check() throws(MalformedData) {}
}

/// A reader, which replaces values by fields, or a writer, which appends values as fields.
package protocol FieldCoder {
    mutating func code(_ value: inout some BinaryCodable) throws(MalformedData)
    mutating func code<Value: BinaryCodable>(_ value: inout Value?) throws(MalformedData)
    /// Codes a number. A reader throws an error if the number isn't in the range.
    mutating func code(_ number: inout Int, in range: ClosedRange<Int>) throws(MalformedData)
    mutating func code(_ number: inout Int?, in range: ClosedRange<Int>) throws(MalformedData)
    /// Codes the number of values and the values. A reader throws an error if there are more than `limit`.
    mutating func code(_ values: inout [some BinaryCodable], limit: Int) throws(MalformedData)
}

/// A writer of binary data.
///
/// Numbers are little-endian. Texts are UTF-8 and follow their 32-bit length, and so does data.
package struct BinaryWriter: FieldCoder {
    /// The bytes so far.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func put(_ value: some BinaryCodable) { value.write(to: &self) }

    package mutating func put<Value: BinaryCodable>(_ value: Value?) {
        put(value != nil)
        if let value { put(value) }
    }

    /// Appends bytes without their number.
    package mutating func put(raw more: some Collection<UInt8>) { bytes.append(contentsOf: more) }

    /// Appends bytes after their 32-bit number.
    fileprivate mutating func put(counted more: some Collection<UInt8>) {
        put(UInt32(clamping: more.count))
        put(raw: more)
    }

    package mutating func code(_ value: inout some BinaryCodable) { put(value) }

    package mutating func code<Value: BinaryCodable>(_ value: inout Value?) { put(value) }

    package mutating func code(_ number: inout Int, in range: ClosedRange<Int>) { put(number) }

    package mutating func code(_ number: inout Int?, in range: ClosedRange<Int>) { put(number) }

    package mutating func code(_ values: inout [some BinaryCodable], limit: Int) {
        put(values.count)
        for value in values { put(value) }
    }
}

/// A reader of binary data that a ``BinaryWriter`` may have written. Every read checks the bounds, because the data may be
/// corrupt or come from an untrusted process.
package struct BinaryReader: FieldCoder {
    private var rest: UnsafeRawBufferPointer.SubSequence

    /// Creates a reader for bytes that outlive it.
    package init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

    package var isAtEnd: Bool { rest.isEmpty }
    /// The number of bytes that weren't read.
    package var remaining: Int { rest.count }

    private mutating func take(_ count: Int) throws(MalformedData) -> UnsafeRawBufferPointer.SubSequence {
        guard count >= 0, count <= rest.count else { throw MalformedData("the data is truncated") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    // One function for each type, because other modules can't specialize a generic one. Its calls made a hit of the disk
    // cache 5% slower.
    package mutating func number(_: UInt8.Type = UInt8.self) throws(MalformedData) -> UInt8 { try load() }
    package mutating func number(_: UInt16.Type = UInt16.self) throws(MalformedData) -> UInt16 { try load() }
    package mutating func number(_: UInt32.Type = UInt32.self) throws(MalformedData) -> UInt32 { try load() }
    package mutating func number(_: UInt64.Type = UInt64.self) throws(MalformedData) -> UInt64 { try load() }
    package mutating func number(_: Int64.Type = Int64.self) throws(MalformedData) -> Int64 { try load() }

    fileprivate mutating func load<Number: FixedWidthInteger>() throws(MalformedData) -> Number {
        let part = try take(MemoryLayout<Number>.size)
        return Number(littleEndian: part.base.loadUnaligned(fromByteOffset: part.startIndex, as: Number.self))
    }

    /// Reads a number in a range.
    package mutating func int(_ range: ClosedRange<Int> = Int.min...Int.max) throws(MalformedData) -> Int {
        let number: Int = try load()
        guard range.contains(number) else { throw MalformedData("\(number) isn't in \(range)") }
        return number
    }

    /// Reads bytes after their 32-bit number.
    fileprivate mutating func counted(_ limit: Int) throws(MalformedData) -> UnsafeRawBufferPointer.SubSequence {
        let count = Int(try number(UInt32.self))
        guard count <= limit else { throw MalformedData("a field has \(count) bytes, but the limit is \(limit)") }
        return try take(count)
    }

    /// Reads a text of up to `limit` bytes.
    package mutating func text(limit: Int = .max) throws(MalformedData) -> String {
        guard let text = String(validating: try counted(limit), as: UTF8.self) else {
            throw MalformedData("a text isn't UTF-8")
        }
        return text
    }

    package mutating func value<Value: BinaryCodable>(_: Value.Type = Value.self) throws(MalformedData) -> Value {
        try Value(from: &self)
    }

    package mutating func optional<Value: BinaryCodable>(_: Value.Type = Value.self) throws(MalformedData) -> Value? {
        try value(Bool.self) ? try value() : nil
    }

    /// Checks that all bytes were read.
    package func finish() throws(MalformedData) {
        guard isAtEnd else { throw MalformedData("the data is too long") }
    }

    package mutating func code<Value: BinaryCodable>(_ value: inout Value) throws(MalformedData) {
        value = try self.value()
    }

    package mutating func code<Value: BinaryCodable>(_ value: inout Value?) throws(MalformedData) {
        value = try optional()
    }

    package mutating func code(_ number: inout Int, in range: ClosedRange<Int>) throws(MalformedData) {
        number = try int(range)
    }

    package mutating func code(_ number: inout Int?, in range: ClosedRange<Int>) throws(MalformedData) {
        number = try value(Bool.self) ? try int(range) : nil
    }

    package mutating func code<Value: BinaryCodable>(_ values: inout [Value], limit: Int) throws(MalformedData) {
        values = []
        for _ in 0..<(try int(0...limit)) { values.append(try value()) }
    }
}

extension BinaryCodable where Self: FixedWidthInteger {
    package init(from reader: inout BinaryReader) throws(MalformedData) { self = try reader.load() }

    package func write(to writer: inout BinaryWriter) {
        withUnsafeBytes(of: littleEndian) { writer.put(raw: $0) }
    }
}

extension Int: BinaryCodable {}
extension UInt8: BinaryCodable {}
extension UInt16: BinaryCodable {}
extension UInt32: BinaryCodable {}
extension Int64: BinaryCodable {}
extension UInt64: BinaryCodable {}

extension Bool: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        switch try reader.number(UInt8.self) {
        case 0: self = false
        case 1: self = true
        default: throw MalformedData("a flag is neither 0 nor 1")
        }
    }

    package func write(to writer: inout BinaryWriter) { writer.put(UInt8(self ? 1 : 0)) }
}

/// A floating-point number, which may be infinite or NaN.
extension Double: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) { self.init(bitPattern: try reader.number()) }
    package func write(to writer: inout BinaryWriter) { writer.put(bitPattern) }
}

/// A text of up to 64 KiB. To read longer ones, use ``BinaryReader/text(limit:)``.
extension String: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) { self = try reader.text(limit: 65_536) }
    package func write(to writer: inout BinaryWriter) { writer.put(counted: utf8) }
}

/// Data of up to 32 MiB.
extension Data: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) { self.init(try reader.counted(32 << 20)) }
    package func write(to writer: inout BinaryWriter) { writer.put(counted: self) }
}

extension SIMD3: BinaryCodable where Scalar: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        self.init(try reader.value(), try reader.value(), try reader.value())
    }

    package func write(to writer: inout BinaryWriter) {
        for lane in indices { writer.put(self[lane]) }
    }
}

extension Duration: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        let seconds = try reader.number(Int64.self)
        let attoseconds = try reader.number(Int64.self)
        guard attoseconds.magnitude < 1_000_000_000_000_000_000 else { throw MalformedData("the duration is invalid") }
        self.init(secondsComponent: seconds, attosecondsComponent: attoseconds)
    }

    package func write(to writer: inout BinaryWriter) {
        writer.put(components.seconds)
        writer.put(components.attoseconds)
    }
}

/// The binary form of an enumeration is its raw value.
extension BinaryCodable where Self: RawRepresentable, RawValue: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        guard let value = Self(rawValue: try reader.value()) else {
            throw MalformedData("the \(Self.self) is unknown")
        }
        self = value
    }

    package func write(to writer: inout BinaryWriter) { writer.put(rawValue) }
}
