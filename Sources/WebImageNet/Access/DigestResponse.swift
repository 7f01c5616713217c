// SPDX-License-Identifier: MIT

import CHash

/// The response to a Digest challenge (RFC 7616 3.4).
///
/// It supports MD5 and SHA-256, with or without `-sess`, and the `qop` value `auth` or no `qop`.
struct DigestResponse {
    /// The hash functions, from the weakest to the strongest.
    enum Function: Int, Comparable {
        case md5
        case sha256

        static func < (left: Function, right: Function) -> Bool { left.rawValue < right.rawValue }
    }

    private let challenge: AuthenticationChallenge
    private let nonce: String
    private let isSession: Bool
    private let usesQuality: Bool
    let function: Function

    /// Creates the response to a challenge. Returns `nil` if the challenge requires an unsupported option.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.scheme == "digest", let nonce = challenge.parameters["nonce"] else { return nil }
        let algorithm = (challenge.parameters["algorithm"] ?? "MD5").lowercased()
        isSession = algorithm.hasSuffix("-sess")
        switch isSession ? String(algorithm.dropLast(5)) : algorithm {
        case "md5": function = .md5
        case "sha-256": function = .sha256
        default: return nil
        }
        let qualities = challenge.parameters["qop"]?.lowercased().split { $0 == "," || $0 == " " }
        guard qualities?.contains("auth") ?? true else { return nil }
        usesQuality = qualities != nil
        self.challenge = challenge
        self.nonce = nonce
    }

    func header(
        _ credential: Credential, method: String, target: String, count: UInt32, clientNonce: String
    ) -> String {
        let user = Self.latin1(credential.user)
        let uses = Self.padded(count)
        var secret = hash("\(user):\(challenge.realm):\(Self.latin1(credential.password))")
        // The session key depends on both nonces (RFC 7616 3.4.2).
        if isSession { secret = hash("\(secret):\(nonce):\(clientNonce)") }
        let request = hash("\(method):\(target)")
        // Without `qop`, the server expects the older form of RFC 2069.
        let middle = usesQuality ? "\(nonce):\(uses):\(clientNonce):auth" : nonce
        var parts = [
            "username=\(Self.quoted(user))", "realm=\(Self.quoted(challenge.realm))", "nonce=\(Self.quoted(nonce))",
            "uri=\(Self.quoted(target))", "response=\"\(hash("\(secret):\(middle):\(request)"))\"",
        ]
        if let algorithm = challenge.parameters["algorithm"] { parts.append("algorithm=\(algorithm)") }
        if let opaque = challenge.parameters["opaque"] { parts.append("opaque=\(Self.quoted(opaque))") }
        if usesQuality {
            parts += ["qop=auth", "nc=\(uses)", "cnonce=\(Self.quoted(clientNonce))"]
        } else if isSession {
            parts.append("cnonce=\(Self.quoted(clientNonce))")
        }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// Header fields contain Latin-1 text, in which each scalar is one byte.
    private func hash(_ text: String) -> String {
        let bytes = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: UInt32 = 0
        let kind = function == .md5 ? EVP_md5() : EVP_sha256()
        guard EVP_Digest(bytes, bytes.count, &digest, &count, kind, nil) == 1 else { return "" }
        return digest.prefix(Int(count)).map { Self.hexadecimal($0) }.joined()
    }

    /// Returns the UTF-8 bytes of a string as Latin-1 scalars.
    private static func latin1(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        scalars.append(contentsOf: text.utf8.lazy.map { Unicode.Scalar($0) })
        return String(scalars)
    }

    private static func quoted(_ text: String) -> String {
        var scalars: [Unicode.Scalar] = ["\""]
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { scalars.append("\\") }
            scalars.append(scalar)
        }
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars + ["\""])
        return String(view)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
    }

    private static func padded(_ count: UInt32) -> String {
        let digits = String(count, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}
