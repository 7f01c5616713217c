// SPDX-License-Identifier: MIT

import WebImageHTTP

/// A decoder that removes the content codings of a body while it's received (RFC 9110 8.4).
///
/// The decoder detects truncated streams and limits the decoded size and the compression ratio, which protects against
/// decompression bombs. It isn't thread-safe.
final class ContentDecoder {
    /// The reason why a body can't be decoded.
    enum Failure: Error, Equatable {
        case corrupt(String)
        /// The number is the decoded size so far, in bytes.
        case tooLarge(Int)
    }

    /// A closure that receives decoded bytes.
    typealias Output = (UnsafeRawBufferPointer) throws(Failure) -> Void

    /// The maximum number of nested codings. libcurl has the same limit.
    static let mostCodings = 5
    /// The maximum compression ratio if the decoded size exceeds ``ratioThreshold``.
    static let mostRatio = 1_000
    /// The decoded size, in bytes, up to which the compression ratio isn't limited.
    static let ratioThreshold = 4 << 20

    static let accepted = "gzip, deflate, br, zstd"

    private let stages: [any ContentCodingDecoder]
    private let limit: Int
    private var received = 0
    private var produced = 0

    /// Returns `nil` if the body has no coding, or an unknown one with which it's passed through.
    init?(_ fields: HTTPHeaderFields, limit: Int) {
        let names = Self.names(fields)
        guard !names.isEmpty, names.count <= Self.mostCodings else { return nil }
        var stages: [any ContentCodingDecoder] = []
        // The header field lists the codings in the order in which they were applied (RFC 9110 8.4).
        for name in names.reversed() {
            // Browsers also pass on bodies with unknown codings.
            guard let stage = Self.stage(name) else { return nil }
            stages.append(stage)
        }
        guard !stages.isEmpty else { return nil }
        self.stages = stages
        self.limit = limit
    }

    /// Returns whether there are more than ``mostCodings`` codings and all of them are supported, which indicates an
    /// attack.
    static func hasTooManyCodings(_ fields: HTTPHeaderFields) -> Bool {
        let names = names(fields)
        return names.count > mostCodings && names.allSatisfy(known.contains)
    }

    private static let known: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    /// Returns the codings in the order in which they were applied, without `identity`.
    private static func names(_ fields: HTTPHeaderFields) -> [String] {
        guard let text = fields.combined("Content-Encoding") else { return [] }
        return text.split(separator: ",").map {
            $0.filter { $0 != " " && $0 != "\t" }.lowercased()
        }.filter { !$0.isEmpty && $0 != "identity" }
    }

    private static func stage(_ name: String) -> (any ContentCodingDecoder)? {
        switch name {
        // Both names mean the same coding (RFC 9110 8.4.1.3).
        case "gzip", "x-gzip": InflateDecoder(.gzip)
        case "deflate": InflateDecoder(.deflate)
        case "br": BrotliStreamDecoder()
        case "zstd": ZstdStreamDecoder()
        default: nil
        }
    }

    func decode(_ bytes: UnsafeRawBufferPointer, output: Output) throws(Failure) {
        received += bytes.count
        try run(bytes, stage: 0, output: output)
    }

    /// Ends the body and checks that all streams are complete.
    func finish(output: Output) throws(Failure) {
        guard received > 0 else { return }
        for stage in stages where !stage.isAtEnd { throw .corrupt("the encoded body is truncated") }
    }

    private func run(_ bytes: UnsafeRawBufferPointer, stage: Int, output: Output) throws(Failure) {
        guard stage < stages.count else {
            produced += bytes.count
            if produced > limit { throw .tooLarge(produced) }
            if produced > Self.ratioThreshold, produced / Self.mostRatio > received { throw .tooLarge(produced) }
            return try output(bytes)
        }
        var passed = 0
        try stages[stage].decode(bytes) { part throws(Failure) in
            passed += part.count
            // The final stage checks the ratio and the total size. Limit the data between two codings, too.
            if passed > self.limit { throw .tooLarge(passed) }
            try self.run(part, stage: stage + 1, output: output)
        }
    }
}

/// A type that incrementally decodes one content coding.
protocol ContentCodingDecoder: AnyObject {
    var isAtEnd: Bool { get }
    func decode(_ bytes: UnsafeRawBufferPointer, output: ContentDecoder.Output) throws(ContentDecoder.Failure)
}

extension ContentCodingDecoder {
    /// The maximum number of decoded bytes per call of the output closure.
    static var chunkSize: Int { 64 << 10 }
}
