// SPDX-License-Identifier: MIT

import WebImageHTTP

/// Removes the content codings of a body while it comes (RFC 9110 8.4), with limits, so that neither cut streams
/// pass for whole ones nor small bodies become huge. Not thread-safe.
final class ContentDecoder {
    /// Why a body cannot be decoded.
    enum Failure: Error, Equatable {
        /// The stream is not what the head says, or ends too early.
        case broken(String)
        /// More decoded bytes than allowed: so many, or what the ratio foretells.
        case tooLarge(Int)
    }

    /// Where decoded bytes go.
    typealias Output = (UnsafeRawBufferPointer) throws(Failure) -> Void

    /// Most codings one upon the other; as libcurl has it.
    static let mostCodings = 5
    /// Decoded bytes for each coded one that are believed above ``ratioThreshold``.
    static let mostRatio = 1_000
    /// Decoded bytes below which the ratio does not matter.
    static let ratioThreshold = 4 << 20

    /// The codings this decoder knows, for Accept-Encoding.
    static let accepted = "gzip, deflate, br, zstd"

    private let stages: [any StreamDecoder]
    private let limit: Int
    private var received = 0
    private var produced = 0

    /// nil where nothing is to be decoded: no coding, or one that is unknown and passed on as it is.
    init?(_ fields: HTTPFields, limit: Int) {
        let names = Self.names(fields)
        guard !names.isEmpty, names.count <= Self.mostCodings else { return nil }
        var stages: [any StreamDecoder] = []
        for name in names.reversed() {
            guard let stage = Self.stage(name) else { return nil }
            stages.append(stage)
        }
        guard !stages.isEmpty else { return nil }
        self.stages = stages
        self.limit = limit
    }

    /// Whether more codings are named than anybody needs, all of them known: an attack rather than a picture.
    static func hasTooManyCodings(_ fields: HTTPFields) -> Bool {
        let names = names(fields)
        return names.count > mostCodings && names.allSatisfy(known.contains)
    }

    private static let known: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    /// The codings in the order in which they were applied, without those that change nothing.
    private static func names(_ fields: HTTPFields) -> [String] {
        guard let text = fields.combined("Content-Encoding") else { return [] }
        return text.split(separator: ",").map {
            $0.filter { $0 != " " && $0 != "\t" }.lowercased()
        }.filter { !$0.isEmpty && $0 != "identity" }
    }

    private static func stage(_ name: String) -> (any StreamDecoder)? {
        switch name {
        case "gzip", "x-gzip": InflateDecoder(.gzip)
        case "deflate": InflateDecoder(.deflate)
        case "br": BrotliStreamDecoder()
        case "zstd": ZstdStreamDecoder()
        default: nil
        }
    }

    /// Decodes more of the body.
    func decode(_ bytes: UnsafeRawBufferPointer, output: Output) throws(Failure) {
        received += bytes.count
        try run(bytes, stage: 0, output: output)
    }

    /// The body is whole: the streams must have ended.
    func finish(output: Output) throws(Failure) {
        guard received > 0 else { return }
        for stage in stages where !stage.isAtEnd { throw .broken("the coded body ends too early") }
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
            // Between two codings nothing else counts.
            if passed > self.limit { throw .tooLarge(passed) }
            try self.run(part, stage: stage + 1, output: output)
        }
    }
}

/// Decodes one coding as its bytes come.
protocol StreamDecoder: AnyObject {
    /// Whether the stream may end here.
    var isAtEnd: Bool { get }
    /// Decodes `bytes` whole.
    func decode(_ bytes: UnsafeRawBufferPointer, output: ContentDecoder.Output) throws(ContentDecoder.Failure)
}

extension StreamDecoder {
    /// Bytes of decoded output given on at once.
    static var pieceSize: Int { 64 << 10 }
}
