// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageConcurrency
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Equality of requests")
struct RequestEqualityTests {
    private let request: ImageRequest

    init() throws {
        request = try #require(ImageRequest(string: "https://user:secret@example.org/a.png?token=secret"))
    }

    @Test("Requests with the same source and options are equal, regardless of their user info")
    func equal() throws {
        var other = ImageRequest(url: request.url)
        other.userInfo["row"] = 1
        #expect(other == request && Set([other, request]).count == 1)
        let transformed = [request, request].map { request in
            var copy = request
            copy.transformers = [.grayscale]
            return copy
        }
        #expect(transformed[0] == transformed[1] && transformed[0] != request)
    }

    /// A change of each option that requests are compared by.
    static let changes: [@Sendable (inout ImageRequest) -> Void] = [
        { $0.caching.cache = ImageCache(memory: nil) },
        { $0.caching.originalCache = ImageCache(memory: nil) },
        { $0.loader = StubLoader() },
        { $0.url = URL(filePath: "/b@2x.png") },
        { $0.decoding.color = .source }, { $0.decoding.dynamicRange = .high },
        { $0.decoding.dynamicRange = .pq },
        { $0.coder = UnusedCoder() },
        { $0.size = .fit(width: 1) },
        { $0.scale = 2 },
        { $0.usesDefaultTransformers = false },
        { $0.transformsAnimations = false },
        { $0.priority = .high },
        { $0.previews = .progressive },
        { $0.cachePolicy = .reload },
        { $0.frames = .first },
        { $0.headers["Accept"] = "image/*" },
        { $0.method = "POST" },
        { $0.body = Data("a".utf8) },
        { $0.caching.storesAnyMethod = true },
        { $0.caching.keyHeaders = [] },
        { $0.caching.key = "a" },
        { $0.caching.readFrom = .memory },
        { $0.caching.writeTo = .memory },
        { $0.caching.originalReadFrom = .memory },
        { $0.caching.originalWriteTo = .memory },
        { $0.caching.processedEncoding = .png },
        { $0.caching.allowsLargerImages = true },
        { $0.caching.bypassesFailureCache = true },
        { $0.caching.waitsUntilStored = true },
        { $0.caching.tags = ["a"] },
        { $0.caching.partition = "a" },
        { $0.includesOriginalData = true },
        { $0.continuesAfterCancellation = true },
        { $0.maxInFlightRequests = 1 },
        { $0.deadline = .seconds(1) },
        { $0.limits = .server },
        { $0.network.timeout = .seconds(1) },
        { $0.network.retry = .never },
        { $0.network.alternativeURLs = [URL(filePath: "/a")] },
        { $0.preliminary = ImageRequest(url: URL(filePath: "/a")) },
        { $0.lowerQuality.urls = [URL(filePath: "/a")] },
        { $0.lowerQuality.throughputRange = nil },
        { $0.lowerQuality.isUsedOnMeteredNetworks.toggle() },
        { $0.transformers = [.grayscale] },
        { $0.decoding.preservesBitDepth = true }, { $0.decoding.allowsPartialData = true },
        { $0.decoding.keepsGamut = true }, { $0.decoding.formatHint = .png },
        { $0.decoding.resampling = .mitchell(light: .encoded) }, { $0.decoding.coderOptions = ["a": "b"] },
        { $0.caching.timeToLive = .seconds(1) },
    ]

    @Test("Every option distinguishes requests")
    func different() throws {
        for (index, change) in Self.changes.enumerated() {
            var other = request
            change(&other)
            #expect(other != request && request != other, "change \(index)")
        }
    }

    @Test("The changes of this suite include each stored property of a request and of its groups of options")
    func everyProperty() {
        let base = Self.properties(of: request)
        var unchanged = Set(base.keys)
        for change in Self.changes {
            var other = request
            change(&other)
            let properties = Self.properties(of: other)
            unchanged = unchanged.filter { base[$0] == properties[$0] }
        }
        // Applications can't set the first three properties, and user info isn't compared.
        #expect(unchanged == ["decoding.coderIdentifier", "higherQualities", "maker", "userInfo"])
    }

    /// Returns the description of each stored property.
    private static func properties(of request: ImageRequest) -> [String: String] {
        var result: [String: String] = [:]
        func add(_ value: Any, _ path: String) {
            for child in Mirror(reflecting: value).children {
                let name = path + (child.label ?? "")
                switch child.value {
                case is ImageRequest.CachingOptions, is ImageRequest.LowerQuality, is ImageDecodingOptions,
                    is NetworkOptions:
                    add(child.value, name + ".")
                default: result[name] = "\(child.value)"
                }
            }
        }
        add(request.storage.value, "")
        return result
    }

    @Test("Requests that were changed in the same way are equal and have the same hash")
    func changedAlike() throws {
        // Skip the caches and the loader, because each change creates another object.
        for (index, change) in Self.changes.dropFirst(3).enumerated() {
            var (left, right) = (request, ImageRequest(url: request.url))
            change(&left)
            change(&right)
            #expect(left == right && left.hashValue == right.hashValue, "change \(index)")
        }
    }

    @Test("The description contains no secrets")
    func description() throws {
        #expect("\(request)" == "ImageRequest(https://example.org/a.png?…)")
        #expect("\(ImageRequest(url: URL(filePath: "/a/b.png")))" == "ImageRequest(file:///a/b.png)")
        #expect("\(ImageRequest(cacheKey: "chart", data: { Data() }))" == "ImageRequest(source:chart)")
        #expect(ImageRequest(string: "") == nil)
        #expect(ImageRequest(url: request.url, priority: .high).priority == .high)
    }
}

/// A coder for requests that are never loaded.
private struct UnusedCoder: ImageCoder {
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { false }

    func decode(
        _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage { throw .cancelled }
}

@Suite("Requests for the URL in a string")
struct RequestStringTests {
    @Test("Existing escapes remain unchanged next to characters that are encoded")
    func escapes() {
        for (text, expected) in [
            ("http://host/a%20b c.png", "http://host/a%20b%20c.png"),
            (" http://us er:p%40ss@host/?u=%E2%82%AC&t=[1]\n", "http://us%20er:p%40ss@host/?u=%E2%82%AC&t=%5B1%5D"),
            ("http:\\\\host\\x%2Fy z.png", "http://host/x%2Fy%20z.png"),
            ("file:///tmp/a%20b c.png", "file:///tmp/a%20b%20c.png"),
            ("data:text/plain,a%20b c", "data:text/plain,a%20b%20c"),
        ] {
            #expect(ImageRequest(string: text)?.url.absoluteString == expected, "\(text)")
        }
        for text in [" ", "http://", "http://a b/", "http://host:65536/"] {
            #expect(ImageRequest(string: text) == nil, "\(text)")
        }
    }
}

@Suite("Copies of requests")
struct RequestCopyTests {
    private let url: URL

    init() throws { url = try #require(URL(string: "https://example.org/a@3x.png")) }

    /// Compares everything that requests are compared by, and their custom data.
    private func same(_ left: ImageRequest, _ right: ImageRequest) -> Bool {
        left == right && left.userInfo.keys == right.userInfo.keys && left.source.text == right.source.text
            && left.identities == right.identities && left.loaderIdentity == right.loaderIdentity
    }

    @Test("Changing any property of a copy leaves the original unchanged, and the other way round")
    func independent() throws {
        let custom: @Sendable (inout ImageRequest) -> Void = { $0.userInfo["row"] = 1 }
        for (index, change) in (RequestEqualityTests.changes + [custom]).enumerated() {
            let original = ImageRequest(url: url)
            var copy = original
            change(&copy)
            #expect(same(original, ImageRequest(url: url)), "change \(index)")
            #expect(!same(copy, original), "change \(index)")

            var changed = ImageRequest(url: url)
            let kept = changed
            change(&changed)
            #expect(same(kept, ImageRequest(url: url)), "change \(index)")
            #expect(!same(changed, kept), "change \(index)")
        }
    }

    @Test("Copies share their storage until one of them changes, and a request without copies changes in place")
    func storage() throws {
        let original = ImageRequest(url: url)
        var copy = original
        #expect(copy.storage.identity == original.storage.identity)
        copy.priority = .high
        #expect(copy.storage.identity != original.storage.identity)
        #expect(original.priority == .normal && copy.priority == .high)
        let storage = copy.storage.identity
        copy.caching.tags = ["a"]
        copy.headers["Accept"] = "image/*"
        #expect(copy.storage.identity == storage)
        #expect(copy.caching.tags == ["a"] && copy.headers["Accept"] == "image/*")
    }

    @Test("The size, the scale, and the frames are those of the decoding options")
    func decoding() throws {
        var request = ImageRequest(url: url, size: .fit(width: 10))
        #expect(request.decoding.size == .fit(width: 10) && request.decoding.scale == 3 && request.scale == 3)
        request.size = .fit(width: 20)
        request.scale = 2
        request.frames = .first
        #expect(request.decoding.size == .fit(width: 20) && request.decoding.scale == 2)
        #expect(request.decoding.frames == .first)
        request.decoding = ImageDecodingOptions(size: .fit(width: 30), frames: .index(1))
        #expect(request.size == .fit(width: 30) && request.scale == 1 && request.frames == .index(1))
        #expect(request.decodeOptions == request.decoding)
    }

    @Test("Values that follow from the URL, the transformers, and the loader change with them")
    func derived() throws {
        var request = ImageRequest(url: url, transformers: [.grayscale])
        let identities = request.identities
        request.url = URL(filePath: "/b.png")
        request.transformers = [.grayscale, .pad(4)]
        request.loader = StubLoader()
        #expect(request.source.isFile && request.source.text == "file:///b.png")
        #expect(request.identities?.count == 2 && request.identities?.first == identities?.first)
        #expect(request.loaderIdentity != .registry)
        request.loader = nil
        request.transformers = []
        #expect(request.loaderIdentity == .registry && request.identities == nil)
    }

    @Test("A request with other data keeps its options, and the manager stores nothing of it")
    func otherData() throws {
        var request = ImageRequest(url: URL(filePath: "/a@2x.tga"), size: .fit(width: 10), priority: .high)
        request.headers["Accept"] = "image/*"
        request.caching.tags = ["a"]
        let other = request.replacingSource(with: Data([1, 2, 3]))
        #expect(other.source.text == ImageRequest(data: Data([1, 2, 3])).source.text)
        #expect(other.size == .fit(width: 10) && other.scale == 2 && other.priority == .high)
        #expect(other.headers == request.headers && other.caching.tags == ["a"])
        #expect(other.decoding.formatHint == ImageFormat(rawValue: "tga"))
        #expect(other.caching.writeTo.isEmpty && other.caching.readFrom.isEmpty && other.cachePolicy == .reload)
        #expect(request.source.isFile && request.caching.writeTo == .all)
    }
}
