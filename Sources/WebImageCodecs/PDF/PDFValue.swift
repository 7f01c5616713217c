// SPDX-License-Identifier: MIT

#if PDF
    /// A value of a PDF document.
    enum PDFValue: Sendable, Equatable {
        case null
        case bool(Bool)
        case number(Double)
        case string([UInt8])
        /// A name, whose characters are the bytes of the file.
        case name(String)
        case array([PDFValue])
        case dictionary([String: PDFValue])
        /// A reference to an object by its number.
        case reference(Int)

        var number: Double? { if case .number(let number) = self { number } else { nil } }
        var name: String? { if case .name(let name) = self { name } else { nil } }
        var integer: Int? {
            guard let number, abs(number) < 1e15 else { return nil }
            return Int(number)
        }

        func write(to output: inout [UInt8]) {
            switch self {
            case .null: output += "null".utf8
            case .bool(let value): output += (value ? "true" : "false").utf8
            case .number(let number): Self.write(number, to: &output)
            case .string(let bytes):
                output.append(0x3C)
                for byte in bytes { Self.writeHex(byte, to: &output) }
                output.append(0x3E)
            case .name(let name): Self.write(name: name, to: &output)
            case .array(let values):
                output.append(0x5B)
                for value in values {
                    value.write(to: &output)
                    output.append(0x20)
                }
                output.append(0x5D)
            case .dictionary(let entries):
                output += "<<".utf8
                for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                    Self.write(name: key, to: &output)
                    output.append(0x20)
                    value.write(to: &output)
                    output.append(0x0A)
                }
                output += ">>".utf8
            case .reference(let number): output += "\(number) 0 R".utf8
            }
        }

        private static func writeHex(_ byte: UInt8, to output: inout [UInt8]) {
            for digit in [byte >> 4, byte & 15] { output.append(digit < 10 ? 0x30 + digit : 0x37 + digit) }
        }

        private static func write(name: String, to output: inout [UInt8]) {
            output.append(0x2F)
            for scalar in name.unicodeScalars {
                let byte = UInt8(truncatingIfNeeded: scalar.value)
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x5F: output.append(byte)
                default:
                    output.append(0x23)
                    writeHex(byte, to: &output)
                }
            }
        }

        private static func write(_ number: Double, to output: inout [UInt8]) {
            if number == number.rounded(), abs(number) < 1e15 {
                output += String(Int(number)).utf8
                return
            }
            let text = number.description
            guard text.utf8.contains(0x65) else {
                output += text.utf8
                return
            }
            // PDF has no exponents.
            let clamped = max(-1e9, min(1e9, number))
            let whole = clamped.rounded(.towardZero)
            let fraction = String(Int((abs(clamped - whole) * 1e12).rounded(.down)))
            output += "\(clamped < 0 ? "-" : "")\(Int(abs(whole)))".utf8
            output += ".\(String(repeating: "0", count: max(0, 12 - fraction.count)))\(fraction)".utf8
        }
    }

    /// A value, and the bytes of its stream if it has one.
    struct PDFObject: Sendable {
        var value: PDFValue
        var stream: ArraySlice<UInt8>?

        var dictionary: [String: PDFValue] {
            if case .dictionary(let entries) = value { entries } else { [:] }
        }
    }
#endif
