// SPDX-License-Identifier: MIT

import CCurl
import WebImageCore
import WebImageHTTP

/// The header fields of a request in the form of libcurl's list of lines. Only the network thread uses it.
final class CurlHeaderList {
    let list: UnsafeMutablePointer<curl_slist>?
    private let headers: HTTPHeaderFields
    private let hasBody: Bool
    private let isSigned: Bool

    init(_ request: TransferRequest, _ priority: RequestPriority) {
        headers = request.headers
        hasBody = Self.hasBody(request)
        var list: UnsafeMutablePointer<curl_slist>?
        for field in headers.lines {
            // libcurl requires a semicolon for a header field with an empty value.
            let line = field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value
            list = Self.append(line, to: list)
        }
        if let value = priority.fieldValue, headers["Priority"] == nil {
            list = Self.append("Priority: \(value)", to: list)
        }
        // Prevent libcurl from waiting for a 100 response before it sends a body. libcurl would sign this line, although it
        // doesn't send it.
        isSigned = request.awsSignature != nil
        if headers["Expect"] == nil, !isSigned { list = Self.append("Expect:", to: list) }
        // By default, libcurl would declare each body as form data.
        if hasBody, headers["Content-Type"] == nil, !isSigned { list = Self.append("Content-Type:", to: list) }
        self.list = list
    }

    deinit { wi_curl_list_free(list) }

    /// The lines are often the same because most requests differ only in their URLs.
    func fit(_ request: TransferRequest) -> Bool {
        headers == request.headers && hasBody == Self.hasBody(request) && isSigned == (request.awsSignature != nil)
    }

    private static func hasBody(_ request: TransferRequest) -> Bool {
        request.method != "HEAD" && (request.method != "GET" || !request.body.isEmpty)
    }

    private static func append(
        _ line: String, to list: UnsafeMutablePointer<curl_slist>?
    ) -> UnsafeMutablePointer<curl_slist>? {
        guard line.utf8.contains(where: { $0 >= 128 }) else { return wi_curl_list_append(list, line) ?? list }
        // Values are Latin-1, so each scalar is one byte. Other scalars were rejected before.
        let bytes = line.unicodeScalars.map { CChar(bitPattern: UInt8(truncatingIfNeeded: $0.value)) } + [0]
        return wi_curl_list_append(list, bytes) ?? list
    }
}
