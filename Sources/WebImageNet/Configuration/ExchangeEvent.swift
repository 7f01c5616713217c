// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP

/// An event of an exchange with a server, for the logs of programs.
package enum ExchangeEvent: Sendable {
    /// A request is about to be sent. The header fields don't include those that libcurl adds, such as `Host`.
    case request(method: String, url: String, headers: HTTPHeaderFields)
    /// A response head was received. `protocolName` is `http/1.1` or `h2`.
    case response(HTTPResponseHead, url: String, protocolName: String)
    /// The next request follows a redirect.
    case redirect(url: String)
    /// The next attempt follows after a number of seconds because an attempt failed.
    case retry(ImageError.NetworkFailure, seconds: Double)

    /// The lines for a log, without the secrets of URLs and header fields.
    ///
    /// As in the logs of curl, the lines of requests begin with `>`, those of responses with `<`, and others with `*`.
    package var lines: [String] {
        switch self {
        case .request(let method, let url, let headers):
            Self.head("\(method) \(url)", headers, mark: ">")
        case .response(let head, let url, let protocolName):
            Self.head("\(protocolName.uppercased()) \(head.statusCode) \(url)", head.headers, mark: "<")
        case .redirect(let url): ["* redirect to \(Self.safe(url))"]
        case .retry(let failure, let seconds):
            ["* retry in \(Int(saturating: seconds * 1_000)) ms: \(Self.safe(failure.message))"]
        }
    }

    private static func head(_ first: String, _ headers: HTTPHeaderFields, mark: String) -> [String] {
        let fields = headers.lines.map { "\($0.name): \(value($0))" }
        return ([first] + fields).map { "\(mark) \(safe($0))" }
    }

    /// Returns the value of a header field, unless it's a secret.
    private static func value(_ field: HTTPHeaderFields.Field) -> String {
        if HTTPHeaderFields.identifiesUser(field.name) { return "<redacted>" }
        guard namesOfReferences.contains(field.name.lowercased()), let query = field.value.firstIndex(of: "?") else {
            return field.value
        }
        return "\(field.value[..<query])?…"
    }

    /// The names of header fields with references, which can be relative, so that they aren't recognized as URLs.
    private static let namesOfReferences: Set<String> = ["location", "content-location", "referer", "refresh", "link"]

    /// Returns a text without secrets of URLs and without control characters.
    private static func safe(_ text: String) -> String { PrintableText.text(Redaction.text(text)) }
}
