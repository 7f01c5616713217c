// SPDX-License-Identifier: MIT

import CHash
import Foundation

/// A key and a salt that sign URLs with HMAC-SHA-256, in the way of imgproxy.
///
/// The signature of a path is the base64url form, without padding, of HMAC-SHA-256(key, salt + path). The path begins
/// with the slash after the signature.
public struct URLSigningKey: Sendable, Hashable {
    private let key: [UInt8]
    /// The bytes before the path.
    private let salt: [UInt8]

    /// Creates a key from two hexadecimal strings.
    ///
    /// The result is `nil` if a string isn't valid hexadecimal or is empty.
    public init?(key: String, salt: String) {
        guard let key = Self.bytes(hexadecimal: key), let salt = Self.bytes(hexadecimal: salt), !key.isEmpty,
            !salt.isEmpty
        else { return nil }
        self.key = key
        self.salt = salt
    }

    /// Returns the signature of a path, or `nil` if memory can't be allocated.
    ///
    /// - Parameters:
    ///   - path: The path after the signature, with its first slash.
    ///   - size: The number of bytes of the HMAC that the signature contains, from 1 to 32. The default is 32.
    public func signature(of path: String, size: Int = 32) -> String? {
        digest(of: path).map { Self.base64($0.prefix(max(1, min(size, 32)))) }
    }

    /// Returns whether a signature belongs to a path. The duration doesn't depend on the position of the first
    /// difference.
    func isValid(_ signature: [UInt8], of path: String, size: Int) -> Bool {
        let size = max(1, min(size, 32))
        guard let digest = digest(of: path), signature.count == size else { return false }
        return zip(digest.prefix(size), signature).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func digest(of path: String) -> [UInt8]? {
        let message = salt + Array(path.utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        return wi_hmac_sha256(key, key.count, message, message.count, &digest) ? digest : nil
    }

    private static func base64(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    private static func bytes(hexadecimal text: String) -> [UInt8]? {
        let digits = text.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
    }
}

/// The rules for the first part of a path.
package struct URLSignatures: Sendable, Hashable {
    /// The keys, of which one must have signed the path. If there are none, the first part isn't checked.
    package var keys: [URLSigningKey] = []
    /// The number of bytes of a signature. The default is 32.
    package var size = 32
    /// Words that are accepted instead of a signature.
    package var trusted: Set<String> = []

    /// Creates rules that accept every signature.
    package init() {}

    /// Throws a failure with the status code 403 if the signature isn't valid.
    func check(_ signature: String, of path: String) throws(ServerFailure) {
        guard !keys.isEmpty, !trusted.contains(signature) else { return }
        guard let bytes = Base64URL.decode(signature) else {
            throw ServerFailure(403, "The signature isn’t valid base64url.")
        }
        guard keys.contains(where: { $0.isValid(Array(bytes), of: path, size: size) }) else {
            throw ServerFailure(403, "The signature doesn’t belong to this URL.")
        }
    }
}

/// Base64 with the alphabet for URLs (RFC 4648, section 5).
enum Base64URL {
    /// Decodes text with or without padding. Returns `nil` if the text isn't valid.
    static func decode(_ text: String) -> Data? {
        var characters = Array(text.utf8)
        while characters.last == UInt8(ascii: "=") { characters.removeLast() }
        guard characters.allSatisfy(isAllowed), characters.count % 4 != 1 else { return nil }
        for index in characters.indices {
            switch characters[index] {
            case UInt8(ascii: "-"): characters[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): characters[index] = UInt8(ascii: "/")
            default: break
            }
        }
        characters += Array(repeating: UInt8(ascii: "="), count: (4 - characters.count % 4) % 4)
        return Data(base64Encoded: Data(characters))
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
