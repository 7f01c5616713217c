// SPDX-License-Identifier: MIT

import WebImageHTTP

extension StoredResponseHead {
    /// Removes the header fields that caches don't store.
    package mutating func removeSecrets() { head.headers = head.headers.withoutSecrets }

    /// Removes the fields for authentication, but not `Set-Cookie`.
    package mutating func removeAuthentication() { head.headers = head.headers.withoutAuthentication }
}

extension HTTPHeaderFields {
    /// A copy of the header fields for selecting variants, in which hashes replace the credentials.
    ///
    /// Stores use this copy so that they never contain credentials.
    package var withHashedSecrets: HTTPHeaderFields {
        guard lines.contains(where: Self.isSecret) else { return self }
        return HTTPHeaderFields(
            lines.map { line in
                guard Self.isSecret(line) else { return line }
                return Field(name: line.name, value: CacheKey([line.name.lowercased(), line.value]).fileName)
            })
    }

    /// A copy of response header fields without cookies and fields for authentication.
    ///
    /// Caches neither store nor export these fields, because they concern the exchange that received them.
    package var withoutSecrets: HTTPHeaderFields { without(Self.isResponseSecret) }

    /// A copy of response header fields without fields for authentication. It contains `Set-Cookie`, which a response in the
    /// memory of the client that received it may repeat.
    package var withoutAuthentication: HTTPHeaderFields {
        without { Self.isResponseSecret($0) && !["set-cookie", "set-cookie2"].contains($0.name.lowercased()) }
    }

    private func without(_ isRemoved: (Field) -> Bool) -> HTTPHeaderFields {
        lines.contains(where: isRemoved) ? HTTPHeaderFields(lines.filter { !isRemoved($0) }) : self
    }

    private static func isResponseSecret(_ line: Field) -> Bool {
        let name = line.name.lowercased()
        return responseSecrets.contains(name) || name.hasPrefix("proxy-")
    }

    private static let responseSecrets: Set<String> = [
        "set-cookie", "set-cookie2", "www-authenticate", "authentication-info", "authorization", "cookie",
    ]

    private static func isSecret(_ line: Field) -> Bool {
        ["authorization", "cookie", "proxy-authorization"].contains(line.name.lowercased())
    }
}
