// SPDX-License-Identifier: MIT

/// The host and the port of a server on which a cache tier stores images.
package struct ServerEndpoint: Sendable, Hashable {
    /// The host name or the numeric address.
    package let host: String
    /// The TCP port.
    package let port: UInt16

    /// Creates an endpoint from text of the form `host`, `host:port`, or `[address]:port`.
    ///
    /// The result is `nil` if the host is empty or the port isn't a number from 1 to 65,535.
    package init?(_ text: String, defaultPort: UInt16) {
        var host = text[...]
        var port = defaultPort
        if let colon = text.lastIndex(of: ":"), text.hasPrefix("[") ? text[..<colon].hasSuffix("]") : true {
            // An IPv6 address without brackets has more than one colon.
            if text.hasPrefix("[") || text.firstIndex(of: ":") == colon {
                guard let number = UInt16(text[text.index(after: colon)...]), number > 0 else { return nil }
                port = number
                host = text[..<colon]
            }
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        let isValid = !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"[]/".utf8.contains($0) }
        guard isValid else { return nil }
        self.host = String(host)
        self.port = port
    }
}
