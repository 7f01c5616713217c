// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The keys of one request. They identify the original data, the decoded image, and the image after each transformer.
///
/// The initializer computes only the digest for the memory lookup. The keys themselves are created on demand because
/// only the other tiers need them. This class is thread-safe.
final class RequestKeys: Sendable {
    /// The values that the manager adds to a request to identify its data.
    struct Source {
        /// The application's key, the URL, or the URL and the version of a file.
        let text: String
        /// The hash of the network options that affect the sent request or the accepted response. `nil` means default
        /// options.
        var access: String?
        /// A Boolean value that indicates whether `text` contains a file version that was read earlier and can be
        /// outdated.
        var isUnverifiedFile = false
    }

    private struct Made {
        let data: CacheKey
        let steps: [CacheKey]
    }

    /// The digest of ``final``.
    let digest: CacheKey.Digest
    /// The ``Source/access`` of the source.
    let access: String?
    private let text: CacheKeyBuilder
    /// The end of the data key in the text.
    private let dataEnd: Int
    /// The end of the decoded image's key in the text.
    private let decodedEnd: Int
    private let identities: [String]
    private let made = Lock<Made?>(nil)

    init(_ request: ImageRequest, source: Source, identities: [String]) {
        (text, dataEnd, decodedEnd) = Self.text(request, source, identities)
        self.identities = identities
        access = source.access
        digest = text.digest(upTo: text.bytes.count)
    }

    /// Creates the keys of a request for the same data with other decoding options.
    init(_ other: RequestKeys, _ request: ImageRequest, identities: [String]) {
        var text = CacheKeyBuilder(other.text, upTo: other.dataEnd)
        text.append(decoding: request)
        dataEnd = other.dataEnd
        decodedEnd = text.bytes.count
        for identity in identities { text.append(named: "transform", identity) }
        self.text = text
        self.identities = identities
        access = other.access
        digest = text.digest(upTo: text.bytes.count)
    }

    /// Returns the digest of the final key without creating the keys.
    static func digest(_ request: ImageRequest, source: Source, identities: [String]) -> CacheKey.Digest {
        let text = text(request, source, identities).0
        return text.digest(upTo: text.bytes.count)
    }

    /// The key of the original data.
    var data: CacheKey { keys.data }
    /// The key of the decoded image: `data` and all options that affect the decoded pixels.
    var decoded: CacheKey { keys.steps[0] }
    /// The keys of all steps: `decoded` first, then one key after each transformer. The last one is the final key.
    var steps: [CacheKey] { keys.steps }
    /// The common prefix of the keys of all images that are decoded from this data.
    var allImages: CacheKey { data.appending([CacheKeyBuilder.decoding.description]) }
    /// The key of the image in the memory cache, which is the last step.
    var final: CacheKey { keys.steps[keys.steps.count - 1] }

    private var keys: Made {
        if let known = made.withLock({ $0 }) { return known }
        var steps = [text.key(upTo: decodedEnd)]
        for identity in identities { steps.append(steps[steps.count - 1].appending(["transform", identity])) }
        let fresh = Made(data: text.key(upTo: dataEnd), steps: steps)
        made.withLock { $0 = fresh }
        return fresh
    }

    private static func text(
        _ request: ImageRequest, _ source: Source, _ identities: [String]
    ) -> (CacheKeyBuilder, dataEnd: Int, decodedEnd: Int) {
        var text = CacheKeyBuilder(capacity: 96 + source.text.utf8.count + 64 * identities.count)
        text.append(source, request)
        let dataEnd = text.bytes.count
        text.append(decoding: request)
        let decodedEnd = text.bytes.count
        for identity in identities { text.append(named: "transform", identity) }
        return (text, dataEnd, decodedEnd)
    }
}

/// The canonical text of a key under construction.
///
/// The text is a list of fields, each with its length in bytes as a prefix. So two different lists never result in the
/// same text.
struct CacheKeyBuilder {
    private(set) var bytes: [UInt8] = []

    /// The first field after those of the original data.
    static let decoding: StaticString = "decode"

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Creates a text from the first `count` bytes of another one, which must end after a field.
    init(_ other: CacheKeyBuilder, upTo count: Int) { bytes = Array(other.bytes[..<count]) }

    mutating func append(_ field: String) {
        let utf8 = field.utf8
        appendDigits(UInt64(utf8.count))
        bytes.append(UInt8(ascii: ":"))
        bytes.append(contentsOf: utf8)
    }

    mutating func append(_ field: StaticString) {
        field.withUTF8Buffer { utf8 in
            appendDigits(UInt64(utf8.count))
            bytes.append(UInt8(ascii: ":"))
            bytes.append(contentsOf: utf8)
        }
    }

    /// Appends an integer in decimal notation.
    mutating func append(_ value: Int) {
        let magnitude = UInt64(value.magnitude)
        appendDigits(UInt64(Self.digits(magnitude) + (value < 0 ? 1 : 0)))
        bytes.append(UInt8(ascii: ":"))
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        appendDigits(magnitude)
    }

    /// Appends an integral number in decimal notation and any other number as its bit pattern, which is unique.
    mutating func append(_ value: Double) {
        if let whole = Int(exactly: value) { return append(whole) }
        append("bits")
        append(Int(bitPattern: UInt(value.bitPattern)))
    }

    mutating func append(_ value: Double?) {
        if let value { append(value) } else { append("-") }
    }

    /// Returns the digest of the first `count` bytes.
    func digest(upTo count: Int) -> CacheKey.Digest {
        bytes.withUnsafeBytes { CacheKey.Digest(ofCanonical: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// Returns the key that consists of the first `count` bytes.
    func key(upTo count: Int) -> CacheKey {
        CacheKey(canonical: String(decoding: bytes[..<count], as: UTF8.self))
    }

    private static func digits(_ value: UInt64) -> Int {
        var (rest, count) = (value, 1)
        while rest >= 10 {
            rest /= 10
            count += 1
        }
        return count
    }

    private mutating func appendDigits(_ value: UInt64) {
        guard value >= 10 else { return bytes.append(48 + UInt8(value)) }
        appendDigits(value / 10)
        bytes.append(48 + UInt8(value % 10))
    }
}

extension CacheKeyBuilder {
    /// Appends the fields that identify the original data.
    mutating func append(_ source: RequestKeys.Source, _ request: ImageRequest) {
        append("data")
        append(source: source.text)
        if !request.headers.lines.isEmpty {
            for name in request.keyHeaderNames {
                // Keys are written to disk, so they must not contain credentials. A hash distinguishes the values as
                // well.
                guard let value = request.headers.combined(name) else { continue }
                append("vary")
                append(name)
                append(CacheKey([value]).fileName)
            }
        }
        if let access = source.access { append(named: "network", access) }
        if !request.isPlainGet {
            append(named: "method", request.method)
            append(named: "body", request.bodyHash)
        }
        guard let identity = request.caching.partition else { return }
        append("identity")
        append(CacheKey([identity]).fileName)
    }

    /// Appends the fields for all options that affect the decoded pixels.
    mutating func append(decoding request: ImageRequest) {
        let options = request.decoding
        append(Self.decoding)
        append(request.size)
        append(request.scale)
        switch options.frames {
        case .all: append("all")
        case .first: append("first")
        case .index(let index):
            append("single")
            append(index)
        case .range(let range):
            append("range")
            append(range.lowerBound)
            append(range.upperBound)
        case .indices(let indices):
            append("indices")
            append(indices.count)
            for index in indices { append(index) }
        }
        append(options.preservesBitDepth ? "depth" : "8")
        append(options.resampling.identity)
        // Append the remaining options only if they differ from their defaults. Each one has a name.
        switch options.color {
        case .sRGB: break
        case .displayP3: append("display-p3")
        case .source: append("color")
        }
        if options.keepsGamut { append("gamut") }
        if options.dynamicRange == .high { append("hdr") }
        if options.allowsPartialData { append("partial") }
        if let hint = options.formatHint { append(named: "hint", hint.rawValue) }
        if let coder = request.coder { append(named: "coder", coder.identifier) }
        guard !options.coderOptions.isEmpty else { return }
        for (name, value) in options.coderOptions.sorted(by: { $0.key < $1.key }) {
            append(named: "extra", name)
            append(value)
        }
    }

    /// Appends the source in the form that ``CacheKey/data(of:)`` uses.
    private mutating func append(source: String) {
        guard let (url, credentials) = URLCredentials.split(source) else { return append(source) }
        append(url)
        append(named: "userinfo", CacheKey.hash(ofCredentials: credentials))
    }

    mutating func append(named name: StaticString, _ value: String) {
        append(name)
        append(value)
    }

    private mutating func append(_ size: TargetSize?) {
        guard let size else { return append("original") }
        switch size.mode {
        case .fit: append("fit")
        case .fill: append("fill")
        case .stretch: append("stretch")
        case .exactly: append("exactly")
        case .bytes: append("bytes")
        }
        append(size.width)
        append(size.height)
        if let limit = size.byteLimit { append(limit) } else { append("-") }
        switch size.unit {
        case .pixels: append("pixels")
        case .points: append("points")
        }
    }
}

/// The properties of a source that follow from its URL.
struct SourceKind: Sendable {
    /// The text of the URL without its fragment, with the host in its normal form. It identifies the data unless the
    /// source is a file.
    let text: String
    /// A Boolean value that indicates whether the source is a file, whose content can change.
    let isFile: Bool
    /// A Boolean value that indicates whether the data is already on this machine (files, data URLs, and data in
    /// memory), so that storing it on disk would only duplicate it.
    let isOnThisMachine: Bool
    /// A Boolean value that indicates whether the file name can end with a scale suffix such as `@2x`.
    let mayHaveScaleSuffix: Bool

    init(_ url: URL) {
        var whole = HostName.keyText(ofURL: url.absoluteString)
        var fragment: Int?
        var mayTellScale = false
        whole.withUTF8 { bytes in
            for (index, byte) in bytes.enumerated() {
                if byte == UInt8(ascii: "#") {
                    fragment = index
                    break
                }
                // The sign can be percent-encoded.
                if byte == UInt8(ascii: "@") || byte == UInt8(ascii: "%") { mayTellScale = true }
            }
        }
        self.mayHaveScaleSuffix = mayTellScale
        isFile = Self.has("file:", whole)
        isOnThisMachine = isFile || Self.has("data:", whole) || Self.has("memory:", whole)
        text = fragment.map { String(decoding: whole.utf8.prefix($0), as: UTF8.self) } ?? whole
    }

    /// Returns whether `text` begins with `scheme`. Schemes are case-insensitive (RFC 3986 3.1).
    private static func has(_ scheme: StaticString, _ text: String) -> Bool {
        scheme.withUTF8Buffer { scheme in
            text.utf8.count >= scheme.count && zip(text.utf8, scheme).allSatisfy { $0 | 0x20 == $1 | 0x20 }
        }
    }

    /// Returns the current identity of the data. For a file, it includes the size and the modification time, so an
    /// edited file is a different source.
    func identity(of url: URL) -> String {
        guard isFile else { return text }
        var status = stat()
        guard stat(url.path, &status) == 0 else { return text }
        return "\(text)|\(status.st_size)|\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
    }
}

/// The identity of the data at a URL.
package enum SourceKey {
    /// Returns the URL without its fragment. For a file, the result includes the size and the modification time, so an
    /// edited file is a different source.
    package static func of(_ url: URL) -> String { SourceKind(url).identity(of: url) }
}

/// The scale that a file name specifies, in pixels per point.
package enum ImageScale {
    /// Returns 2 for `name@2x.png`, 3 for `name@3x.png`, and 1 for names without a suffix. Valid factors are 1 to 9.
    package static func from(key: String) -> Double {
        let bytes = Array(key.utf8)
        let end = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        guard end >= 3, bytes[end - 3] == UInt8(ascii: "@"), bytes[end - 1] == UInt8(ascii: "x"),
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(bytes[end - 2])
        else { return 1 }
        return Double(bytes[end - 2] - UInt8(ascii: "0"))
    }
}
