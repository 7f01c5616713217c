// SPDX-License-Identifier: MIT

import Foundation
import Testing
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

    @Test("Every option distinguishes requests")
    func different() throws {
        let changes: [@Sendable (inout ImageRequest) -> Void] = [
            { $0.size = .fit(width: 1) },
            { $0.scale = 2 },
            { $0.transformers = [] },
            { $0.transformsAnimations = false },
            { $0.priority = .high },
            { $0.previews = .progressive },
            { $0.cachePolicy = .reload },
            { $0.frames = .first },
            { $0.headers["Accept"] = "image/*" },
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
            { $0.limits = .server },
            { $0.network.timeout = .seconds(1) },
            { $0.network.retry = .never },
            { $0.network.alternativeURLs = [URL(filePath: "/a")] },
            { $0.loader = StubLoader() },
        ]
        for (index, change) in changes.enumerated() {
            var other = request
            change(&other)
            #expect(other != request, "change \(index)")
        }
    }

    @Test("The description contains no secrets")
    func description() throws {
        #expect("\(request)" == "ImageRequest(https://example.org/a.png?…)")
        #expect(ImageRequest(string: "") == nil)
        #expect(ImageRequest(url: request.url, priority: .high).priority == .high)
    }
}
