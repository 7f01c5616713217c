// SPDX-License-Identifier: MIT

import WebImageHTTP

extension DownloaderConfiguration {
    /// The fields that are sent where a request has `fields`: those of this configuration fill in what is not named.
    /// Vary compares what was sent. Cookies and credentials that are added on the way are not among them.
    public func sent(_ fields: HTTPFields) -> HTTPFields {
        var sent = fields
        for field in self.fields.lines where fields[field.name] == nil {
            sent.append(name: field.name, value: field.value)
        }
        let defaults = [("Accept", accept), ("User-Agent", userAgent), ("Accept-Encoding", ContentDecoder.accepted)]
        for (name, value) in defaults where sent[name] == nil { sent.append(name: name, value: value) }
        return sent
    }
}
