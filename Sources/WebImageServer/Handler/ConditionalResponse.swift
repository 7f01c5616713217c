// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A complete result, from which the response to a conditional or partial request is made (RFC 9110, sections 13 and
/// 14).
struct ConditionalResponse {
    let data: Data
    /// The header fields of a response with the status code 200.
    let headers: HTTPHeaderFields

    func response(to request: ServerRequest) -> ServerResponse {
        let tag = tag
        var headers = headers
        headers.append(name: "ETag", value: tag.description)
        if isUnchanged(for: request, tag) {
            var response = ServerResponse(statusCode: 304, headers: headers)
            response.omittedByteCount = data.count
            return response
        }
        headers.append(name: "Accept-Ranges", value: "bytes")
        guard request.method == "GET", let text = request.headers["Range"], let range = ByteRange(text),
            isCurrent(request.headers["If-Range"], tag)
        else { return ServerResponse(statusCode: 200, headers: headers, body: data) }
        guard let bytes = range.resolved(in: data.count) else {
            return ServerResponse(statusCode: 416, headers: ["Content-Range": "bytes */\(data.count)"])
        }
        headers.append(
            name: "Content-Range", value: "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(data.count)")
        let start = data.startIndex
        return ServerResponse(
            statusCode: 206, headers: headers, body: data[(start + bytes.lowerBound)..<(start + bytes.upperBound)])
    }

    /// Returns whether the client already has the result. `If-None-Match` has precedence over `If-Modified-Since` (RFC
    /// 9110, section 13.2.2).
    private func isUnchanged(for request: ServerRequest, _ tag: EntityTag) -> Bool {
        let wanted = request.headers.values(for: "If-None-Match")
        guard wanted.isEmpty else { return wanted.contains { Self.matches($0, tag) } }
        guard let since = request.headers["If-Modified-Since"].flatMap({ HTTPDate.parse($0) }),
            let modified = headers["Last-Modified"].flatMap({ HTTPDate.parse($0) })
        else { return false }
        return modified <= since
    }

    /// The entity tag, which is equal for equal data on all machines.
    private var tag: EntityTag {
        let digest = ContentDigest(of: data)
        return EntityTag(opaque: String(digest.high, radix: 36) + String(digest.low, radix: 36))
    }

    /// Without a strong entity tag, a range could belong to another representation.
    private func isCurrent(_ text: String?, _ tag: EntityTag) -> Bool {
        guard let text else { return true }
        return EntityTag(text)?.isStronglyEqual(tag) ?? false
    }

    static func matches(_ text: String, _ tag: EntityTag) -> Bool {
        if text.trimmingCharacters(in: .whitespaces) == "*" { return true }
        // The tags of this server contain no commas, so a comma in a foreign tag changes nothing.
        return text.split(separator: ",").contains { member in
            EntityTag(member.trimmingCharacters(in: .whitespaces))?.isWeaklyEqual(tag) ?? false
        }
    }
}

/// The time for which clients and proxies may store a result.
struct ResultLifetime {
    let cacheControl: String

    /// `source` is `nil` if there's no response. `longest` is the time that the server and the URL allow. `usesSource`
    /// indicates whether the freshness of the source limits the time.
    init(_ source: EncodedImage.SourceResponse?, longest: Duration, usesSource: Bool) {
        let control = CacheControl(source?.head.headers ?? HTTPHeaderFields())
        guard !control.noStore else {
            cacheControl = "no-store"
            return
        }
        var lifetime = longest
        if usesSource, let source { lifetime = min(lifetime, source.remainingLifetime ?? .zero) }
        let seconds = Int(max(0, (lifetime / .seconds(1)).rounded(.down)))
        let isRevalidated = usesSource && control.noCache
        cacheControl =
            (control.isPrivate ? "private" : "public") + (isRevalidated ? ", no-cache" : ", max-age=\(seconds)")
    }
}

/// The file name of a result (RFC 6266).
enum ContentDisposition {
    static func filename(_ name: String?, _ source: URL, _ format: ImageFormat?) -> String {
        var stem = name ?? source.deletingPathExtension().lastPathComponent
        // Controls and separators could divide the header field or name a directory.
        stem = String(stem.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F && $0 != "/" && $0 != "\\" })
        stem = String(stem.prefix(128))
        if stem.isEmpty { stem = "image" }
        let full = stem + (format.map { ".\($0.fileExtension)" } ?? "")
        let plain = String(full.unicodeScalars.map { $0.isASCII && $0 != "\"" ? Character($0) : "_" })
        guard plain != full, let encoded = full.addingPercentEncoding(withAllowedCharacters: attributeCharacters) else {
            return "filename=\"\(plain)\""
        }
        return "filename=\"\(plain)\"; filename*=UTF-8''\(encoded)"
    }

    /// The characters `attr-char` of RFC 8187.
    private static let attributeCharacters = CharacterSet(
        charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$&+-.^_`|~")
}

extension ServerFailure {
    /// Creates the failure of a request whose image can't be loaded or processed.
    init(_ error: ImageError) {
        self.init(Self.statusCode(of: error), Self.reason(of: error), retryAfter: Self.retryAfter(of: error))
    }

    /// Returns the delay that the other server requested before the next request, or the time until a suspended decoder works
    /// again, or `nil` if the delay is unknown.
    private static func retryAfter(of error: ImageError) -> Duration? {
        switch error {
        case .network(let failure): return failure.retryAfter
        case .decoding(let failure):
            guard case .decoderSuspended(_, let seconds) = failure.reason else { return nil }
            return .seconds(seconds)
        default: return nil
        }
    }

    /// Messages of errors can contain the source URL or the path of a local file, so only limits are described.
    private static func reason(of error: ImageError) -> String {
        switch error {
        // The details of this kind name the data, if they don't describe the result.
        case .limitExceeded(let failure) where failure.kind == .encodedSize && !failure.concernsEncoding:
            ImageError.LimitFailure(.encodedSize, limit: failure.limit, actual: failure.actual).message
        case .limitExceeded, .processing: error.message
        case .decoding(let failure) where failure.statusCode != 422:
            "The image can’t be processed (error \(error.code))."
        case .network(let failure) where failure.reason == .emptyBody: "The source is empty (error \(error.code))."
        case .network: "The source can’t be loaded (error \(error.code))."
        case .decoding: "The source isn’t a valid image (error \(error.code))."
        default: "The image can’t be processed (error \(error.code))."
        }
    }

    private static func statusCode(of error: ImageError) -> Int {
        switch error {
        case .cancelled, .request(.managerShutDown): 503
        case .request(.fileNotFound), .request(.rejected): 404
        case .request: 404
        case .network(let failure):
            switch failure.reason {
            case .addressNotAllowed, .redirectNotAllowed: 404
            case .emptyBody: 422
            case .timedOut: 504
            case .unacceptableStatusCode where failure.statusCode == 404 || failure.statusCode == 410: 404
            // The other server is overloaded, too, and has requested a delay.
            case .unacceptableStatusCode where failure.retryAfter != nil: 503
            default: 502
            }
        case .cache(.writesSuspended): 503
        case .cache: 500
        case .decoding(let failure): failure.statusCode
        case .processing(.invalidParameter), .processing(.regionOutsideImage): 404
        case .processing: 500
        case .limitExceeded(let failure):
            [.overloaded, .decodingTime, .encodingTime, .unresponsiveThreadCount, .animationDecoderCount].contains(
                failure.kind) ? 503 : 422
        }
    }
}

extension ImageError.DecodingFailure {
    fileprivate var statusCode: Int {
        switch reason {
        case .outOfMemory, .decoderSuspended: 503
        // The server lacks its helper program, so it isn't the fault of the source.
        case .isolationUnavailable: 500
        default: 422
        }
    }
}
