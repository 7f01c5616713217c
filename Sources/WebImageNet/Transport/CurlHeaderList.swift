// SPDX-License-Identifier: MIT

import CCurl
import WebImageHTTP

/// The header fields of a request in the form of libcurl's list of lines. Only the network thread uses it.
final class CurlHeaderList {
    let list: UnsafeMutablePointer<curl_slist>?
    private let headers: HTTPHeaderFields
    private let hasBody: Bool

    init(_ request: TransferRequest) {
        headers = request.headers
        hasBody = Self.hasBody(request)
        var list: UnsafeMutablePointer<curl_slist>?
        for field in headers.lines {
            // libcurl requires a semicolon for a header field with an empty value.
            let line = field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value
            list = Self.append(line, to: list)
        }
        // Prevent libcurl from waiting for a 100 response before it sends a body.
        if headers["Expect"] == nil { list = Self.append("Expect:", to: list) }
        // By default, libcurl would declare each body as form data.
        if hasBody, headers["Content-Type"] == nil { list = Self.append("Content-Type:", to: list) }
        self.list = list
    }

    deinit { curl_slist_free_all(list) }

    /// Returns whether the lines are also those of `request`, which is common because most requests differ only in
    /// their URLs.
    func fit(_ request: TransferRequest) -> Bool {
        headers == request.headers && hasBody == Self.hasBody(request)
    }

    private static func hasBody(_ request: TransferRequest) -> Bool {
        request.method != "HEAD" && (request.method != "GET" || !request.body.isEmpty)
    }

    private static func append(
        _ line: String, to list: UnsafeMutablePointer<curl_slist>?
    ) -> UnsafeMutablePointer<curl_slist>? {
        guard line.utf8.contains(where: { $0 >= 128 }) else { return curl_slist_append(list, line) ?? list }
        // Values are Latin-1, so each scalar is one byte. Other scalars were rejected before.
        let bytes = line.unicodeScalars.map { CChar(bitPattern: UInt8(truncatingIfNeeded: $0.value)) } + [0]
        return curl_slist_append(list, bytes) ?? list
    }
}
