// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Binary coding")
struct BinaryCodingTests {
    private struct Sample: BinaryFields, Equatable {
        static let blank = Sample()
        var number: UInt16 = 0
        var count = 0
        var index: Int?
        var name = ""
        var data: Data?
        var sizes: [Int] = []
        var isValid = true

        mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
            try coder.code(&number)
            try coder.code(&count, in: 0...9)
            try coder.code(&index, in: 0...9)
            try coder.code(&name)
            try coder.code(&data)
            try coder.code(&sizes, limit: 3)
            try coder.code(&isValid)
        }

        func check() throws(MalformedData) {
            if !isValid { throw MalformedData("the sample isn't valid") }
        }
    }

    private func bytes(_ sample: Sample) -> [UInt8] {
        var writer = BinaryWriter()
        writer.put(sample)
        return writer.bytes
    }

    private func sample(_ bytes: [UInt8]) throws -> Sample {
        try bytes.withUnsafeBytes { bytes in
            var reader = BinaryReader(bytes)
            let sample = try reader.value(Sample.self)
            try reader.finish()
            return sample
        }
    }

    @Test("A list of fields has the same form in both directions")
    func form() throws {
        let value = Sample(number: 0x0102, count: 3, index: nil, name: "é", data: Data([7]), sizes: [-1], isValid: true)
        let form: [UInt8] =
            [2, 1] + [3, 0, 0, 0, 0, 0, 0, 0] + [0] + [2, 0, 0, 0, 0xC3, 0xA9] + [1, 1, 0, 0, 0, 7]
            + [1, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 255, count: 8) + [1]
        #expect(bytes(value) == form)
        #expect(try sample(form) == value)
    }

    @Test("Each incomplete form is rejected, and so is a longer one")
    func truncation() {
        let form = bytes(Sample(number: 1, count: 3, index: 4, name: "name", data: Data([7]), sizes: [1, 2, 3]))
        for count in form.indices {
            #expect(throws: MalformedData.self, "\(count) bytes") { try sample(Array(form.prefix(count))) }
        }
        #expect(throws: MalformedData("the data is too long")) { try sample(form + [0]) }
    }

    @Test("Values outside of their ranges are rejected")
    func ranges() {
        for (value, reason) in [
            (Sample(count: 10), "10 isn't in 0...9"), (Sample(index: -1), "-1 isn't in 0...9"),
            (Sample(sizes: [1, 2, 3, 4]), "4 isn't in 0...3"), (Sample(isValid: false), "the sample isn't valid"),
            (
                Sample(name: String(repeating: "x", count: 65_537)),
                "a field has 65537 bytes, but the limit is 65536"
            ),
        ] {
            #expect(throws: MalformedData(reason)) { try sample(bytes(value)) }
        }
    }

    @Test("A text that isn't UTF-8 and a flag that's neither 0 nor 1 are rejected")
    func invalidBytes() {
        var form = bytes(Sample(name: "é"))
        form[15] = 0xFF
        #expect(throws: MalformedData("a text isn't UTF-8")) { try sample(form) }
        form = bytes(Sample())
        form[form.count - 1] = 2
        #expect(throws: MalformedData("a flag is neither 0 nor 1")) { try sample(form) }
    }
}
