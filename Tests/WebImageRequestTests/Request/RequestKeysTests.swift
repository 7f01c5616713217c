// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageStore
import WebImageTestSupport

@testable import WebImage

@Suite("Request keys")
struct RequestKeysTests {
    private func keys(_ change: (inout ImageRequest) -> Void = { _ in }) throws -> RequestKeys {
        var request = ImageRequest(url: try #require(URL(string: "https://example.org/a.png")))
        change(&request)
        return RequestKeys(request, source: .init(text: "a"), identities: request.identities ?? [])
    }

    @Test("Every option that changes pixels changes the final key but not the data key")
    func decodeFields() throws {
        let plain = try keys()
        let others = try [
            keys { $0.size = .fit(width: 10, height: 10) },
            keys { $0.size = .fit(width: 10, height: 11) },
            keys { $0.size = .fill(width: 10, height: 10) },
            keys { $0.size = .fit(width: 10, height: 10, unit: .points) },
            keys { $0.size = .fitting(byteCount: 10) },
            keys { $0.scale = 2 },
            keys { $0.frames = .first },
            keys { $0.frames = .index(1) },
            keys { $0.decoding.preservesBitDepth = true },
            keys { $0.decoding.resampling = .box },
            keys { $0.decoding.resampling = .nearest },
            keys { $0.decoding.resampling = .lanczos3(light: .encoded) },
            keys { $0.transformers = [.resize(width: 3)] },
            keys { $0.transformers = [.resize(width: 3, filter: .lanczos3(light: .encoded))] },
            keys { $0.decoding.allowsPartialData = true },
            keys { $0.decoding.dynamicRange = .high },
            keys { $0.decoding.dynamicRange = .pq },
            keys { $0.decoding.formatHint = .svg },
            keys { $0.decoding.coderOptions = ["a": "b"] },
            keys { $0.transformers = [.roundedCorners(radius: 3)] },
            keys { $0.transformers = [.roundedCorners(radius: 4)] },
        ]
        let finals = [plain.final.canonical] + others.map(\.final.canonical)
        #expect(Set(finals).count == finals.count)
        #expect(Set(others.map(\.data)).union([plain.data]).count == 1)
    }

    @Test("The digest equals the digest of the final key")
    func digest() throws {
        for transformers in [[], [.grayscale], [.roundedCorners(radius: 3), .grayscale]] as [[any ImageTransformer]] {
            let made = try keys { request in
                request.size = .fit(width: 10.5, height: nil)
                request.transformers = transformers
            }
            #expect(made.digest == made.final.digest)
            #expect(made.steps.count == transformers.count + 1)
            #expect(CacheKey.components(ofKey: made.final.canonical).prefix(3) == ["data", "a", "decode"])
        }
    }

    @Test("The format of keys on disk is stable, because a change would hide every stored image")
    func form() throws {
        #expect(try keys().data.canonical == "4:data1:a")
        #expect(
            try keys {
                $0.size = .fit(width: 320, height: 0.5)
                $0.transformers = [.roundedCorners(radius: 3)]
            }.decoded.canonical
                == "4:data1:a6:decode3:fit3:3204:bits19:46026788191726469121:-6:pixels1:13:all1:815:lanczos3:linear")
    }

    @Test("Two requests share a key if and only if their options are equal", arguments: 1...4 as ClosedRange<UInt64>)
    func property(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var known: [String: OptionCase] = [:]
        for _ in 0..<3_000 {
            let optionCase = OptionCase(&random)
            var request = ImageRequest(url: try #require(URL(string: "https://example.org/a.png")))
            optionCase.apply(to: &request)
            let key = RequestKeys(request, source: .init(text: optionCase.source), identities: request.identities ?? [])
            let text = key.final.canonical
            #expect(known[text, default: optionCase] == optionCase)
            #expect(key.digest == key.final.digest)
            known[text] = optionCase
        }
        #expect(known.count > 500)
    }

    @Test("The fragment of a URL and the case of its scheme don't change the source")
    func sources() throws {
        func source(_ text: String) throws -> SourceKind { SourceKind(try #require(URL(string: text))) }
        #expect(try source("https://a.org/x?y=1#z").text == "https://a.org/x?y=1")
        #expect(try source("FILE:///a").isFile)
        #expect(try source("Data:,x").isOnThisMachine)
        #expect(try !source("files:///a").isFile)
        #expect(try !source("https://a.org/file:").isOnThisMachine)
        var request = ImageRequest(url: try #require(URL(string: "https://a.org/x@2x.png")))
        #expect(request.scale == 2)
        request.url = try #require(URL(string: "https://a.org/y.png"))
        #expect(request.source.text == "https://a.org/y.png")
        #expect(ImageRequest(url: try #require(URL(string: "https://a.org/x%402x.png"))).scale == 2)
        #expect(ImageRequest(url: try #require(URL(string: "https://u@a.org/x.png"))).scale == 1)
    }

    @Test("Header fields that select a representation change the data key, others don't, and no key contains secrets")
    func fields() throws {
        let plain = try keys()
        let one = try keys { $0.headers["Authorization"] = "Bearer secret-one" }
        let two = try keys { $0.headers["authorization"] = "Bearer secret-two" }
        let apiKey = try keys { $0.headers["X-Api-Key"] = "secret-key" }
        let named = try keys {
            $0.headers["X-Trace"] = "1"
            $0.caching.keyHeaders = ["Authorization"]
        }
        let uncached = try keys { $0.headers["Cache-Control"] = "no-cache" }
        let person = try keys { $0.caching.partition = "secret-person" }
        #expect(Set([plain.data, one.data, two.data, person.data, apiKey.data]).count == 5)
        #expect(!person.data.canonical.contains("secret"))
        #expect(named.data == plain.data && uncached.data == plain.data)
        #expect(!apiKey.data.canonical.contains("secret"))
        #expect(!one.data.canonical.contains("secret"))
    }

    @Test("A method other than GET and a body change the data key, which contains only a hash of the body")
    func methods() throws {
        let plain = try keys()
        let post = try keys { $0.method = "POST" }
        let body = try keys { $0.body = Data("secret".utf8) }
        let both = try keys { request in
            request.method = "POST"
            request.body = Data("secret".utf8)
        }
        let other = try keys { request in
            request.method = "POST"
            request.body = Data("secrets".utf8)
        }
        let reset = try keys { request in
            request.method = "POST"
            request.body = Data("secret".utf8)
            request.method = "GET"
            request.body = Data()
        }
        #expect(Set([plain.data, post.data, body.data, both.data, other.data]).count == 5)
        #expect(post.data.canonical == "4:data1:a6:method4:POST4:body0:")
        #expect(both.digest == both.final.digest)
        #expect(!both.data.canonical.contains("secret"))
        #expect(reset.data == plain.data)
    }

    @Test("Length prefixes distinguish fields that look the same when joined")
    func lengthPrefixed() {
        #expect(CacheKey(["ab", "c"]) != CacheKey(["a", "bc"]))
        #expect(CacheKey(["a", ""]) != CacheKey(["a"]))
        #expect(CacheKey(["a"]).appending(["b"]) == CacheKey(["a", "b"]))
    }

    @Test(
        "File names determine the scale",
        arguments: [("a@2x.png", 2.0), ("a@3x", 3), ("a.png", 1), ("@x.png", 1), ("a@0x.png", 1)])
    func scale(name: String, scale: Double) {
        #expect(ImageScale.from(key: name) == scale)
    }
}

/// The options of a request, chosen from a few similar values so that ambiguous keys would collide.
private struct OptionCase: Equatable {
    let source: String
    let size: TargetSize?
    let scale: Double
    let frames: FrameSelection
    let depth: Bool
    let reduction: ResamplingFilter
    let color: Bool
    let isPartial: Bool
    let hint: String?
    let extras: [String: String]
    let identity: String?
    let header: String?
    let radii: [Double]

    init(_ random: inout SeededGenerator) {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        let lengths: [Double] = [1, 11, 1.5, -1, .infinity, 1e300]
        source = pick(["a", "a6:decode", "a8:identity", "decode", ""])
        size = pick([
            nil, .fit(width: pick(lengths), height: pick([nil, 1, 11])), .fill(width: pick(lengths), height: 1),
            .exact(width: 1, height: pick(lengths), unit: pick([.points, .pixels])),
            .scaled(width: pick([1, 11]), height: pick([1, 11])), .fitting(byteCount: pick([1, 11, .max])),
        ])
        scale = pick([1, 2, 1.5])
        frames = pick([.all, .first, .index(1), .index(11), .range(1..<11), .indices([1]), .indices([1, 1])])
        depth = pick([false, true])
        reduction = pick([.lanczos3, .box, .lanczos3(light: .encoded), .box(light: .encoded), .nearest])
        color = pick([true, false])
        isPartial = pick([true, false])
        hint = pick([nil, "extra", "hint"])
        extras = pick([[:], ["coder": "x"], ["extra": "coder"], ["coder": "x", "extra": "x"]])
        identity = pick([nil, "decode", "a"])
        header = pick([nil, "decode", "a"])
        radii = pick([[], [1], [1, 11], [11, 1]])
    }

    func apply(to request: inout ImageRequest) {
        request.size = size
        request.scale = scale
        request.frames = frames
        request.decoding.preservesBitDepth = depth
        request.decoding.resampling = reduction
        request.decoding.color = color ? .sRGB : .source
        request.decoding.allowsPartialData = isPartial
        request.decoding.formatHint = hint.flatMap { ImageFormat(rawValue: $0) }
        request.decoding.coderOptions = extras
        request.caching.partition = identity
        request.headers["Authorization"] = header
        request.transformers = radii.map { .roundedCorners(radius: $0) }
    }
}
