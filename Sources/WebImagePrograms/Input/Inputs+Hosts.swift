// SPDX-License-Identifier: MIT

import WebImageCore

extension Inputs {
    /// Returns the scheme that is added to text that begins with a host name or an address: `http` for this machine, whose
    /// servers are rarely reachable with TLS, and otherwise `https`.
    static func scheme(forHostOf text: String) -> String {
        guard let host = HostName(ofURL: "http://\(text)") else { return "https" }
        if let address = host.addressBytes { return isLoopback(address) ? "http" : "https" }
        // Names that end in localhost are those of this machine (RFC 6761, section 6.3).
        return host.text == "localhost" || host.text.hasSuffix(".localhost") ? "http" : "https"
    }

    /// Returns whether an address is in 127.0.0.0/8, or is ::1.
    private static func isLoopback(_ address: [UInt8]) -> Bool {
        address.count == 4 ? address[0] == 127 : address.last == 1 && address.dropLast().allSatisfy { $0 == 0 }
    }

    /// Returns whether `text` begins with an IPv6 address in brackets, as in `[::1]:8080/a.png`.
    static func beginsWithBracketedAddress(_ text: String) -> Bool {
        let authority = text.prefix { !"/?#".contains($0) }
        guard let end = authority.lastIndex(of: "]"), HostName(String(authority[...end])) != nil else { return false }
        let port = authority[authority.index(after: end)...]
        return port.isEmpty || port.first == ":" && port.dropFirst().allSatisfy { $0.isASCII && $0.isNumber }
    }
}
