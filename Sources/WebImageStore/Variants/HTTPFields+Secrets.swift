// SPDX-License-Identifier: MIT

import WebImageHTTP

extension HTTPFields {
    /// These fields as they select answers: credentials as hashes, so that no store holds them.
    public var withHashedSecrets: HTTPFields {
        guard lines.contains(where: Self.isSecret) else { return self }
        return HTTPFields(
            lines.map { line in
                guard Self.isSecret(line) else { return line }
                return Field(name: line.name, value: CacheKey([line.name.lowercased(), line.value]).fileName)
            })
    }

    private static func isSecret(_ line: Field) -> Bool {
        ["authorization", "cookie", "proxy-authorization"].contains(line.name.lowercased())
    }
}
