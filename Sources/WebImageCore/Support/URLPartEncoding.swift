// SPDX-License-Identifier: MIT

/// The percent-encoding of one part of a URL.
///
/// It encodes the bytes that the URL Standard (WHATWG, section 1.3) encodes in this part, and the characters that RFC
/// 3986 doesn't allow there, such as `[` and `|` in a query. Because of one such character, Foundation would encode the
/// whole part again, including its escapes. For the same reason, a percent sign that begins no escape becomes `%25`.
/// Escapes never change.
struct URLPartEncoding: Sendable {
    static let userInfo = URLPartEncoding(unescaped: "!$&'()*+,")
    static let path = URLPartEncoding(unescaped: "!$&'()*+,;=:@/")
    /// The encoding of the queries of special schemes, such as `https`.
    static let specialQuery = URLPartEncoding(unescaped: "!$&()*+,;=:@/?")
    /// The encoding of the queries of other schemes.
    static let query = URLPartEncoding(unescaped: "!$&'()*+,;=:@/?")
    static let fragment = URLPartEncoding(unescaped: "!$&'()*+,;=:@/?")

    private static let hexadecimal = Array("0123456789ABCDEF".utf8)

    /// For each byte, whether it remains unescaped.
    private let isUnescaped: [Bool]

    /// Creates an encoding that leaves ASCII letters, digits, the unreserved marks of RFC 3986, and `marks` unescaped.
    private init(unescaped marks: String) {
        var table = [Bool](repeating: false, count: 256)
        for byte in UInt8(ascii: "a")...UInt8(ascii: "z") { table[Int(byte)] = true }
        for byte in UInt8(ascii: "A")...UInt8(ascii: "Z") { table[Int(byte)] = true }
        for byte in UInt8(ascii: "0")...UInt8(ascii: "9") { table[Int(byte)] = true }
        for byte in "-._~\(marks)".utf8 { table[Int(byte)] = true }
        isUnescaped = table
    }

    func encoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        for index in bytes.indices {
            let byte = bytes[index]
            if isUnescaped[Int(byte)] || Self.isEscape(bytes, at: index) {
                text.append(byte)
            } else {
                text.append(UInt8(ascii: "%"))
                text.append(Self.hexadecimal[Int(byte >> 4)])
                text.append(Self.hexadecimal[Int(byte & 15)])
            }
        }
        return text
    }

    private static func isEscape(_ bytes: ArraySlice<UInt8>, at index: Int) -> Bool {
        bytes[index] == UInt8(ascii: "%") && bytes.endIndex - index > 2 && isHexadecimal(bytes[index + 1])
            && isHexadecimal(bytes[index + 2])
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "a")...UInt8(ascii: "f"):
            true
        default: false
        }
    }
}
