// SPDX-License-Identifier: MIT

import WebImageHTTP

extension ImageDownloader.Configuration {
    /// Returns the header fields that are sent for a request with `fields`.
    ///
    /// The header fields of this configuration are added unless the request already has them. The result, which is
    /// compared for `Vary`, doesn't include cookies and credentials that are added later.
    package func sent(_ fields: HTTPHeaderFields) -> HTTPHeaderFields {
        var sent = fields
        for field in self.headers.lines where fields[field.name] == nil {
            sent.append(name: field.name, value: field.value)
        }
        let defaults = [("Accept", accept), ("User-Agent", userAgent), ("Accept-Encoding", ContentDecoder.accepted)]
        for (name, value) in defaults where sent[name] == nil { sent.append(name: name, value: value) }
        return sent
    }
}
