// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageStore

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

    func digest(upTo count: Int) -> CacheKey.Digest {
        bytes.withUnsafeBytes { CacheKey.Digest(ofCanonical: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

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
        switch options.dynamicRange {
        case .standard: break
        case .high: append("hdr")
        case .pq: append("pq")
        }
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
        case .scaled: append("scaled")
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
