// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The loader for `data:` URLs (RFC 2397).
///
/// It accepts the URLs that the data URL processor of the Fetch standard accepts. Long URLs are decoded on dedicated
/// threads, never on Swift's cooperative pool. The loader is thread-safe.
package struct DataURLLoader: ImageLoader {
    /// The maximum length, in bytes, of URLs that are decoded inline. Decoding them takes tens of microseconds, which
    /// is less than a thread switch.
    static let longestInline = 16 << 10

    /// The default maximum size of the decoded data, in bytes.
    package static let defaultLimit = 1 << 20

    private let readQueue: FileReadQueue
    private let limit: Int

    /// Creates a loader. `limit` is the maximum size of the decoded data, in bytes. The default is 1 MiB.
    package init(limit: Int = DataURLLoader.defaultLimit) {
        self.init(readQueue: FileReadQueue(width: 2), limit: limit)
    }

    init(readQueue: FileReadQueue, limit: Int = DataURLLoader.defaultLimit) {
        self.readQueue = readQueue
        self.limit = limit
    }

    /// Returns `true` for `data:` URLs.
    package func canLoad(_ url: URL) -> Bool { url.scheme?.lowercased() == "data" }

    /// Decodes the URL. The head has status 200 and the content type of the URL.
    ///
    /// - Throws: ``ImageError/RequestFailure/invalidDataURL(_:)``, ``ImageError/LimitFailure/Kind/encodedSize`` if the
    ///   data exceeds the limit of the loader or ``LoadRequest/maxByteCount``, ``ImageError/NetworkFailure/Reason/emptyBody`` if the data is
    ///   empty, or ``ImageError/cancelled`` if the task is canceled.
    package func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        if Task.isCancelled { throw .cancelled }
        let queued = MonotonicTime.now
        guard request.url.absoluteString.utf8.count > Self.longestInline else {
            return try Self.decode(request, limit, context, queued: queued)
        }
        return try await readQueue.run(context) { [limit] (_) throws(ImageError) in
            try Self.decode(request, limit, context, queued: queued)
        }
    }

    private static func decode(
        _ request: LoadRequest, _ limit: Int, _ context: LoadContext, queued: Int64
    ) throws(ImageError) -> LoadResponse {
        let now = Date()
        let started = MonotonicTime.now
        let data = try DataURL(request.url.absoluteString, maxBytes: min(limit, request.maxByteCount))
        guard !data.body.isEmpty else {
            let url = URL(string: "data:") ?? request.url
            throw .network(ImageError.NetworkFailure(.emptyBody, url: url, phase: .receivingBody))
        }
        let head = HTTPResponseHead(
            statusCode: 200, headers: HTTPHeaderFields([.init(name: "Content-Type", value: data.type)]))
        context.report(.started)
        context.report(.head(head, expected: data.body.count))
        context.report(.body(data.body))
        var metrics = NetworkMetrics()
        metrics.queue = .nanoseconds(started - queued)
        metrics.total = .nanoseconds(MonotonicTime.now - started)
        metrics.receivedByteCount = data.body.count
        return LoadResponse(
            httpResponse: head, body: data.body, url: request.url, requestDate: now, responseDate: now, metrics: metrics
        )
    }
}

/// The parts of a `data:` URL.
struct DataURL {
    /// The text before the comma, without `;base64`. If it's empty, the type is `text/plain;charset=US-ASCII`.
    let type: String
    let body: Data

    init(_ text: String, maxBytes: Int) throws(ImageError) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            String(decoding: bytes[..<colon], as: UTF8.self).lowercased() == "data"
        else { throw Self.failure("it doesn't begin with data:") }
        guard let comma = bytes[colon...].firstIndex(of: UInt8(ascii: ",")) else {
            throw Self.failure("the comma is missing")
        }
        var description = String(decoding: bytes[(colon + 1)..<comma], as: UTF8.self)
            .trimmingCharacters(in: .whitespaces)
        let isBase64 = Self.removeBase64Mark(&description)
        let payload = bytes[(comma + 1)...].prefix { $0 != UInt8(ascii: "#") }
        // The decoded size is at least this number of bytes, so reject overlong URLs without decoding. Base64 data may
        // consist of whitespace only.
        let least = isBase64 ? 0 : payload.count / 3
        guard least <= maxBytes else { throw Self.tooLarge(least, maxBytes) }
        let plain = try Self.percentDecoded(payload)
        body = isBase64 ? try Self.base64Decoded(plain) : Data(plain)
        guard body.count <= maxBytes else { throw Self.tooLarge(body.count, maxBytes) }
        if description.hasPrefix(";") { description = "text/plain" + description }
        type = description.isEmpty ? "text/plain;charset=US-ASCII" : description
    }

    private static func failure(_ reason: String) -> ImageError { .request(.invalidDataURL(reason)) }

    private static func tooLarge(_ size: Int, _ limit: Int) -> ImageError {
        .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: limit, actual: size, detail: "data URL"))
    }

    /// Removes `;base64` from the end, regardless of case and surrounding whitespace. Returns whether it was present.
    private static func removeBase64Mark(_ description: inout String) -> Bool {
        guard let semicolon = description.lastIndex(of: ";") else { return false }
        let mark = description[description.index(after: semicolon)...]
            .replacing("%20", with: " ").trimmingCharacters(in: .whitespaces)
        guard mark.lowercased() == "base64" else { return false }
        description = description[..<semicolon].trimmingCharacters(in: .whitespaces)
        return true
    }

    /// Decodes percent escapes. As in browsers, a percent sign without two hexadecimal digits is left unchanged.
    private static func percentDecoded(_ bytes: ArraySlice<UInt8>) throws(ImageError) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex, let high = hexDigit(bytes[index + 1]),
                let low = hexDigit(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(byte)
                index += 1
            }
        }
        return decoded
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 48...57: byte - 48
        case 65...70: byte - 55
        case 97...102: byte - 87
        default: nil
        }
    }

    /// Decodes forgiving base64 (Infra 7): whitespace is skipped, and padding is optional. The URL-safe alphabet is
    /// also accepted.
    private static func base64Decoded(_ bytes: [UInt8]) throws(ImageError) -> Data {
        var decoded = Data()
        decoded.reserveCapacity(bytes.count / 4 * 3 + 3)
        var bits: UInt32 = 0
        var digits = 0
        var padding = 0
        for byte in bytes where !(byte == 32 || (9...13).contains(byte) && byte != 11) {
            if byte == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let digit = base64Digit(byte) else {
                throw failure("the base64 data contains an invalid character")
            }
            bits = bits << 6 | UInt32(digit)
            digits += 1
            if digits % 4 == 0 {
                decoded.append(contentsOf: [
                    UInt8(truncatingIfNeeded: bits >> 16), UInt8(truncatingIfNeeded: bits >> 8),
                    UInt8(truncatingIfNeeded: bits),
                ])
            }
        }
        guard padding == 0 || padding <= 2 && (digits + padding) % 4 == 0 else {
            throw failure("the base64 padding is invalid")
        }
        switch digits % 4 {
        case 1: throw failure("the base64 data is truncated")
        case 2: decoded.append(UInt8(truncatingIfNeeded: bits >> 4))
        case 3:
            decoded.append(contentsOf: [
                UInt8(truncatingIfNeeded: bits >> 10), UInt8(truncatingIfNeeded: bits >> 2),
            ])
        default: break
        }
        return decoded
    }

    private static func base64Digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 65...90: byte - 65
        case 97...122: byte - 71
        case 48...57: byte + 4
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
