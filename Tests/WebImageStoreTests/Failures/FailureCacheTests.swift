// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageStore

@Suite("Negative cache entries")
struct FailureCacheTests {
    private static func status(_ status: Int, freshFor: Double? = nil) -> ImageError {
        .network(
            ImageError.NetworkFailure(
                .unacceptableStatusCode, url: URL(filePath: "/a"), phase: .waitingForResponse, statusCode: status,
                curlCode: nil, freshFor: freshFor))
    }

    private static func reason(_ reason: ImageError.NetworkFailure.Reason) -> ImageError {
        .network(ImageError.NetworkFailure(reason, url: URL(filePath: "/a")))
    }

    /// Returns the failure of a response that isn't an image.
    private static func page(
        _ status: Int = 200, _ reason: ImageError.DecodingFailure.Reason = .notAnImage,
        _ headers: HTTPHeaderFields = [:]
    ) -> ImageError {
        .decoding(ImageError.DecodingFailure(reason).adding(HTTPResponseHead(statusCode: status, headers: headers)))
    }

    private static let pages: [(ImageError, Double?)] = [
        (page(), 60), (page(203), 60), (page(200, .unknownFormat), 60), (page(404), 3_600),
        (page(200, .corrupted("")), 3_600), (page(200, .notAnImage, ["Cache-Control": "no-store"]), 0),
        (page(200, .unknownFormat, ["Cache-Control": "private, No-Store, max-age=600"]), 0),
        (page(200, .notAnImage, ["Cache-Control": "no-cache"]), 0),
        (page(200, .notAnImage, ["Cache-Control": "max-age=20"]), 20),
        (page(200, .notAnImage, ["Cache-Control": "max-age=86400"]), 60),
        (page(200, .notAnImage, ["Expires": "Thu, 01 Jan 1970 00:00:00 GMT"]), 0),
    ]

    @Test("A successful response that isn't an image is remembered for at most a minute", arguments: pages.indices)
    func foreign(_ index: Int) {
        let (error, seconds) = Self.pages[index]
        #expect(FailurePolicy.standard.lifetime(error) == seconds, "\(error)")
    }

    private static let table: [(ImageError, Double?)] = [
        (status(404), 600), (status(410), 600), (status(404, freshFor: 5), 5), (status(404, freshFor: 0), 0),
        (status(400), 60), (status(403), 60), (status(451), 60), (status(403, freshFor: 7_200), 7_200),
        (status(401), nil), (status(407), nil), (status(408), nil), (status(425), nil), (status(429), nil),
        (status(429, freshFor: 60), nil), (status(500), nil), (status(503, freshFor: 60), nil), (status(302), nil),
        (reason(.offline), nil), (reason(.timedOut), nil), (reason(.connectionLost), nil),
        (reason(.cannotConnect), nil),
        (reason(.authenticationRequired), nil), (reason(.certificateExpired), nil), (reason(.cannotFindHost), 10),
        (.decoding(.notAnImage(.html)), 3_600), (.decoding(.corrupted(format: .png, reason: "")), 3_600),
        (.decoding(.noDecoder(.png)), nil), (.decoding(.outOfMemory(byteCount: 1)), nil),
        (.limitExceeded(ImageError.LimitFailure(.encodedSize, limit: 1, actual: 2)), nil), (.cancelled, nil),
        (.cache(.notInCache), nil),
    ]

    @Test("Each kind of failure has its own lifetime", arguments: table.indices)
    func standard(_ index: Int) {
        let (error, seconds) = Self.table[index]
        #expect(FailurePolicy.standard.lifetime(error) == seconds, "\(error)")
    }

    private let time = Shared(Date(timeIntervalSince1970: 1_800_000_000))
    private let key = CacheKey(["a"])

    private func memory(_ policy: FailurePolicy = .standard, limit: Int = 1_024) -> FailureCache {
        FailureCache(policy: policy, limit: limit) { [time] in time.value }
    }

    @Test("A negative cache entry is used until it expires, and it reports its cause and times")
    func expiry() throws {
        let memory = memory()
        memory.record(Self.status(404), for: key)
        time.value += 599
        let answer = try #require(memory.failure(for: key)?.rememberedError)
        #expect(answer.code == 2007 && answer.httpStatusCode == 404)
        #expect(answer.rememberedUntil == Date(timeIntervalSince1970: 1_800_000_600))
        #expect(answer.remembered(until: nil) == Self.status(404))
        #expect(answer.message.contains("404") && answer.message.contains("2027-01-15"))
        #expect(memory.count == 1)
        time.value += 1
        #expect(memory.failure(for: key) == nil)
        #expect(memory.count == 0)
    }

    @Test("A success, an explicit removal, or a clock that was set back removes a negative cache entry")
    func forgetting() {
        let memory = memory()
        memory.record(Self.status(404), for: key)
        memory.remove(key)
        #expect(memory.failure(for: key) == nil)
        memory.record(Self.status(404), for: key)
        memory.removeAll()
        #expect(memory.failure(for: key) == nil)
        memory.record(Self.status(404), for: key)
        time.value -= 3_600
        #expect(memory.failure(for: key) == nil)
    }

    @Test("A negative cache entry doesn't extend its own lifetime, and a custom policy decides")
    func policies() throws {
        let memory = memory()
        memory.record(Self.status(404), for: key)
        let answer = try #require(memory.failure(for: key)?.rememberedError)
        time.value += 300
        memory.record(answer, for: key)
        #expect(memory.failure(for: key)?.until == Date(timeIntervalSince1970: 1_800_000_600))
        let own = self.memory(FailurePolicy { _ in 5 })
        own.record(Self.status(503), for: key)
        #expect(own.failure(for: key) != nil)
        for error in [ImageError.cancelled, .cache(.notInCache), .request(.managerShutDown)] {
            own.record(error, for: CacheKey(["\(error.code)"]))
        }
        #expect(own.count == 1)
        let none = self.memory(.none)
        none.record(Self.status(404), for: key)
        #expect(none.failure(for: key) == nil)
    }

    @Test("Above the limit, the entries that expire first are removed")
    func limit() {
        let memory = memory(limit: 64)
        for number in 0..<1_000 {
            memory.record(Self.status(number % 2 == 0 ? 404 : 400), for: CacheKey(["\(number)"]))
            #expect(memory.count <= 64)
        }
        #expect(memory.failure(for: CacheKey(["998"])) != nil)
        #expect(memory.all.filter { $0.error == Self.status(404) }.count >= 32)
    }
}
