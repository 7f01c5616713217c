// SPDX-License-Identifier: MIT

import CHash
import WebImageHTTP

/// A type that replaces the values of request header fields, which select stored responses, with keyed digests.
///
/// A cache directory therefore doesn't show what a user sent, and a guess can't be verified without the key. The values
/// of content negotiation remain readable.
package struct SelectorDigests: Sendable {
    private let key: [UInt8]

    /// Creates digests with a key of 32 bytes.
    package init(key: [UInt8]) { self.key = key }

    /// Returns a copy of header fields with one digest for each field that isn't content negotiation.
    ///
    /// Values that select the same responses have equal digests. Empty values remain because they represent absent
    /// fields.
    package func digesting(_ fields: HTTPHeaderFields) -> HTTPHeaderFields {
        guard fields.lines.contains(where: Self.isPrivate) else { return fields }
        var digested = HTTPHeaderFields()
        for line in fields.lines {
            guard Self.isPrivate(line) else {
                digested.append(name: line.name, value: line.value)
                continue
            }
            guard digested[line.name] == nil else { continue }
            digested.append(name: line.name, value: digest(line.name.lowercased(), fields.combined(line.name) ?? ""))
        }
        return digested
    }

    /// Replaces the digests in the head of a selected response with the values of the request that selected it.
    package func restore(_ head: inout StoredResponseHead, from request: HTTPHeaderFields) {
        guard head.varyHeaders.lines.contains(where: Self.isPrivate) else { return }
        head.varyHeaders = HTTPHeaderFields(
            head.varyHeaders.lines.map { line in
                guard Self.isPrivate(line), let value = request.combined(line.name) else { return line }
                return HTTPHeaderFields.Field(name: line.name, value: value)
            })
    }

    private func digest(_ name: String, _ value: String) -> String {
        let text = "\(name)\n\(StoredResponseHead.normalized(name, value) ?? "")"
        return KeyedHash.hexadecimal(key: key, Array(text.utf8))
    }

    private static func isPrivate(_ line: HTTPHeaderFields.Field) -> Bool {
        guard !line.value.isEmpty else { return false }
        let name = line.name.lowercased()
        return !plainNames.contains(name) && !name.hasPrefix("accept") && !name.hasPrefix("sec-ch-")
    }

    /// The header fields of content negotiation, and the range of a stored part.
    private static let plainNames: Set<String> = [
        "dpr", "width", "viewport-width", "viewport-height", "save-data", "device-memory", "downlink", "ect", "rtt",
        "range", "*",
    ]
}
