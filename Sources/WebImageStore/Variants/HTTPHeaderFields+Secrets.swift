// SPDX-License-Identifier: MIT

import WebImageHTTP

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

    private static func isSecret(_ line: Field) -> Bool {
        ["authorization", "cookie", "proxy-authorization"].contains(line.name.lowercased())
    }
}
