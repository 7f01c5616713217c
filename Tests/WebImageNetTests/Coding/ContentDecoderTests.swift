// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting

@testable import WebImageNet

@Suite("Content codings", .timeLimit(.minutes(5)))
struct ContentDecoderTests {
    /// The letter `a` 1,000 times, then `the end`, encoded by Python's gzip and zlib modules and the brotli and zstd
    /// tools.
    static let text = Data(String(repeating: "a", count: 1_000).utf8) + Data("the end".utf8)
    static let codings: [String: String] = [
        "gzip": "H4sIAAAAAAACA0tMHAWjYBQMd1CSkaqQmpcCAILMUK7vAwAA",
        "zlib": "eNpLTBwFo2AUDHdQkpGqkJqXAgBhYH2Q",
        "raw": "S0wcBaNgFAx3UJKRqpCalwIA",
        "gzip+zlib": "eNqT7+ZgAAEmZm8fGdbFCSI85QGTJq6aMGs6E0PTmYB175kZGACT7goo",
        "zstd": "KLUv/QBofQAAQGF0aGUgZW5kAQDkKyAE",
        "br": "G+4D+CXCSpjGCoGKhqbZAQ==",
        "bomb": "m///f/gnAOKxQCD3/g8=",
    ]

    private func decode(_ coding: String, _ coded: Data, limit: Int = 1 << 20, chunkSize: Int = .max) throws -> Data? {
        let fields = HTTPHeaderFields([.init(name: "Content-Encoding", value: coding)])
        guard let decoder = ContentDecoder(fields, limit: limit) else { return nil }
        var decoded = Data()
        var rest = coded[...]
        while !rest.isEmpty {
            let part = rest.prefix(chunkSize)
            rest = rest.dropFirst(part.count)
            let bytes = Array(part)
            try bytes.withUnsafeBytes { try decoder.decode($0) { decoded.append(contentsOf: $0) } }
        }
        try decoder.finish { decoded.append(contentsOf: $0) }
        return decoded
    }

    private func coded(_ name: String) throws -> Data {
        try #require(Self.codings[name].flatMap { Data(base64Encoded: $0) })
    }

    @Test(
        "Every coding is decoded in chunks of any size",
        arguments: [
            ("gzip", "gzip"), ("x-gzip", "gzip"), ("GZip", "gzip"), ("deflate", "zlib"), ("deflate", "raw"),
            ("br", "br"),
            ("zstd", "zstd"), ("identity, gzip", "gzip"),
        ])
    func codings(coding: String, vector: String) throws {
        let coded = try coded(vector)
        for piece in [1, 2, 3, 7, 100, Int.max] {
            #expect(try decode(coding, coded, chunkSize: piece) == Self.text, "\(piece)")
        }
    }

    @Test("Two codings are decoded from the last to the first")
    func two() throws {
        #expect(try decode("gzip, deflate", coded("gzip+zlib")) == Self.text)
        #expect(try decode("gzip,\tdeflate", coded("gzip+zlib"), chunkSize: 1) == Self.text)
    }

    @Test("Multiple gzip members are decoded, and data after the last member is ignored")
    func members() throws {
        let one = try coded("gzip")
        #expect(try decode("gzip", one + one) == Self.text + Self.text)
        #expect(try decode("gzip", one + one, chunkSize: 1) == Self.text + Self.text)
        for rest in ["x", "\u{1f}", "\u{1f}x", "stray bytes"] {
            #expect(try decode("gzip", one + Data(rest.utf8), chunkSize: 1) == Self.text)
        }
        #expect(try decode("zstd", coded("zstd") + coded("zstd")) == Self.text + Self.text)
    }

    @Test("A zstd stream may contain skippable frames, but no frame of a format from before version 0.8")
    func zstdFrames() throws {
        let skippable = Data([0x53, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
        #expect(try decode("zstd", skippable + coded("zstd") + skippable) == Self.text)
        for step in 1...5 {
            #expect(try decode("zstd", skippable + coded("zstd") + skippable, chunkSize: step) == Self.text)
        }
        let old = Data([0x25, 0xB5, 0x2F, 0xFD, 4, 0, 0, 0, 0, 0, 3, 0])
        #expect(throws: ContentDecoder.Failure.corrupt("zstd: unknown frame")) { try decode("zstd", old) }
        #expect(throws: ContentDecoder.Failure.corrupt("zstd: unknown frame")) {
            try decode("zstd", coded("zstd") + old)
        }
    }

    @Test("A stream that is truncated at any byte throws", arguments: ["gzip", "zlib", "raw", "br", "zstd"])
    func cut(_ vector: String) throws {
        let coding = ["zlib": "deflate", "raw": "deflate"][vector] ?? vector
        let whole = try coded(vector)
        for length in 1..<whole.count {
            #expect(throws: ContentDecoder.Failure.self, "\(length)") { try decode(coding, whole.prefix(length)) }
        }
    }

    @Test("Data that isn't in the declared coding throws", arguments: ["gzip", "deflate", "br", "zstd"])
    func lies(_ coding: String) {
        #expect(throws: ContentDecoder.Failure.self) { try decode(coding, Data("\u{89}PNG plain bytes".utf8)) }
    }

    @Test("Corrupt streams produce data within the limit or throw", arguments: ["gzip", "zlib", "raw", "br", "zstd"])
    func damage(_ vector: String) throws {
        let coding = ["zlib": "deflate", "raw": "deflate"][vector] ?? vector
        let whole = try coded(vector)
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<2_000 {
            var damaged = whole
            for _ in 0..<Int.random(in: 1...3, using: &generator) {
                let index = Int.random(in: 0..<damaged.count, using: &generator)
                damaged[index] = UInt8.random(in: 0...255, using: &generator)
            }
            if let decoded = try? decode(coding, damaged, limit: 10_000) { #expect(decoded.count <= 10_000) }
        }
    }

    @Test("The limit applies to decoded bytes", arguments: [("gzip", "gzip"), ("br", "br"), ("zstd", "zstd")])
    func limit(coding: String, vector: String) throws {
        #expect(try decode(coding, coded(vector), limit: Self.text.count) == Self.text)
        #expect(throws: ContentDecoder.Failure.self) { try decode(coding, coded(vector), limit: Self.text.count - 1) }
    }

    @Test("A decompression bomb throws early")
    func bomb() throws {
        // The bomb encodes 8 MiB of zeros in 14 bytes.
        #expect(throws: ContentDecoder.Failure.self) { try decode("br", coded("bomb"), limit: .max) }
    }

    @Test("Bodies with unknown codings or no coding aren't decoded")
    func unknown() throws {
        for coding in ["", "identity", "rot13", "gzip, rot13", "br, br, br, br, br, br"] {
            #expect(
                ContentDecoder(HTTPHeaderFields([.init(name: "Content-Encoding", value: coding)]), limit: 10) == nil)
        }
        #expect(ContentDecoder(HTTPHeaderFields(), limit: 10) == nil)
    }

    @Test("An empty body needs no coded stream")
    func empty() throws {
        #expect(try decode("gzip", Data()) == Data())
    }

    @Test("A download is decoded, and a false coding causes a second request for the identity coding")
    func download() async throws {
        let gzip = try coded("gzip")
        let text = Self.text
        let server = try LoopbackServer { request in
            let identity = request.headers["Accept-Encoding"] == "identity"
            return switch (request.path, identity) {
            case ("/gzip", _): .ok(gzip).with { $0.headers["Content-Encoding"] = "gzip" }
            case ("/lie", false): .ok(text).with { $0.headers["Content-Encoding"] = "gzip" }
            case ("/lie", true): .ok(text)
            case ("/cut", _): .ok(gzip.prefix(20)).with { $0.headers["Content-Encoding"] = "gzip" }
            default: .ok(text).with { $0.headers["Content-Encoding"] = "rot13" }
            }
        }
        let downloader = makeDownloader()
        let log = ReportLog()
        let response = try await downloader.load(LoadRequest(url: server.url("/gzip")), context: log.context())
        #expect(response.body == text && log.body == text && log.expected == nil)
        #expect(response.metrics.receivedByteCount == gzip.count)
        let again = ReportLog()
        let lie = try await downloader.load(LoadRequest(url: server.url("/lie")), context: again.context())
        #expect(lie.body == text && again.started == 1)
        #expect(try await downloader.load(server.url("/unknown")).body == text)
        #expect(await downloader.failure(server.url("/cut"))?.network?.reason == .contentDecodingFailed)
        #expect(await downloader.failure(server.url("/gzip")) { $0.maxByteCount = 500 }?.code == 6001)
    }
}
