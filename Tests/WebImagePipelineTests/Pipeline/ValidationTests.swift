// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@Suite("Responses with status 304", .serialized, .timeLimit(.minutes(5)))
struct ValidationTests {
    /// The location of the stale data.
    enum Location: String, CaseIterable, Sendable {
        case memory, disk, diskAsData
    }

    /// The validators of a stored response and of the following 304 response.
    struct Validators: Sendable, CustomTestStringConvertible {
        let stored: String
        let returned: String
        var storedDate: String?
        var returnedDate: String?

        var testDescription: String { "\(stored) \(storedDate ?? "") → \(returned) \(returnedDate ?? "")" }
    }

    private static let monday = "Mon, 01 Jan 2024 00:00:00 GMT"
    private static let tuesday = "Tue, 02 Jan 2024 00:00:00 GMT"

    static let others = [
        Validators(stored: "\"a\"", returned: "\"b\""), Validators(stored: "\"a\"", returned: "W/\"b\""),
        Validators(stored: "W/\"a\"", returned: "W/\"b\""), Validators(stored: "\"a\"", returned: "\"A\""),
        Validators(stored: "\"a\"", returned: "\"b\"", storedDate: monday),
        Validators(stored: "\"a\"", returned: "\"b\"", returnedDate: monday),
        Validators(stored: "\"a\"", returned: "\"b\"", storedDate: monday, returnedDate: tuesday),
    ]

    static let same = [
        Validators(stored: "\"a\"", returned: "\"a\""), Validators(stored: "\"a\"", returned: "W/\"a\""),
        Validators(stored: "W/\"a\"", returned: "\"a\""),
        Validators(stored: "\"a\"", returned: "\"b\"", storedDate: monday, returnedDate: monday),
    ]

    /// Returns a server that responds with image 1, then with a 304 with `validators` for conditional requests, and
    /// otherwise with image 2.
    private func server(_ validators: Validators, cacheControl: String = "max-age=60") throws -> LoopbackServer {
        try LoopbackServer { request in
            var fields = HTTPHeaderFields()
            fields["Cache-Control"] = cacheControl
            fields["ETag"] = request.index == 0 ? validators.stored : validators.returned
            fields["Last-Modified"] = request.index == 0 ? validators.storedDate : validators.returnedDate
            let isConditional =
                request.headers["If-None-Match"] != nil || request.headers["If-Modified-Since"] != nil
            if isConditional { return LoopbackServer.Response(statusCode: 304, headers: fields) }
            fields["Content-Type"] = "image/png"
            return LoopbackServer.Response(headers: fields, body: Numbered.data(request.index == 0 ? 1 : 2))
        }
    }

    /// Loads image 1, lets it become stale, and returns a fixture with the image at `place`.
    private func stale(_ server: LoopbackServer, at place: Location) async throws -> ManagerFixture {
        let fixture = try ManagerFixture()
        #expect(await fixture.manager.load(server.url("/a")).number == 1)
        fixture.pass(seconds: 61)
        return place == .memory ? fixture : try await fixture.restarted()
    }

    /// Returns the data of a request.
    private func data(_ fixture: ManagerFixture, _ url: URL, _ place: Location) async throws -> Data {
        var request = ImageRequest(url: url)
        if place == .diskAsData { return try await fixture.manager.data(for: request) }
        request.includesOriginalData = true
        return try #require(try await fixture.manager.response(for: request).originalData)
    }

    @Test(
        "A 304 for another representation doesn't revalidate the image, and the new image is loaded",
        arguments: others, Location.allCases)
    func otherTag(validators: Validators, place: Location) async throws {
        let server = try server(validators)
        let fixture = try await stale(server, at: place)
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(2))
        let last = try #require(server.requests.last)
        #expect(last.headers["If-None-Match"] == nil && last.headers["If-Modified-Since"] == nil)
        #expect(server.counters.requests == 3)
        // The old image is no longer cached.
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(2))
        #expect(server.counters.requests == 3)
    }

    @Test("A 304 for the same representation revalidates the image", arguments: same, Location.allCases)
    func sameTag(validators: Validators, place: Location) async throws {
        let server = try server(validators)
        let fixture = try await stale(server, at: place)
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(1))
        #expect(server.counters.requests == 2)
    }

    @Test(
        "A background 304 for another representation loads the new image",
        arguments: [true, false])
    func background(isInMemory: Bool) async throws {
        let validators = Validators(stored: "\"a\"", returned: "\"b\"")
        let server = try server(validators, cacheControl: "max-age=60, stale-while-revalidate=600")
        let fixture = try await stale(server, at: isInMemory ? .memory : .disk)
        #expect(await fixture.manager.load(server.url("/a")).number == 1)
        await server.waitForRequests(count: 3)
        await fixture.manager.rest()
        let task = fixture.manager.load(server.url("/a"))
        #expect(await task.number == 2)
        #expect(try task.result?.get().source == .memoryCache)
    }

    @Test("If the server always responds with a 304 for another representation, the request fails")
    func onlyNotModified() async throws {
        let server = try LoopbackServer { request in
            let tag = "\"\(request.index)\""
            var fields = Numbered.head(1).headers
            fields["ETag"] = tag
            return request.index == 0
                ? LoopbackServer.Response(headers: fields, body: Numbered.data(1))
                : LoopbackServer.Response(statusCode: 304, headers: fields)
        }
        let fixture = try await stale(server, at: .disk)
        #expect(await fixture.manager.load(server.url("/a")).code != nil)
        #expect(server.counters.requests == 3)
    }

    @Test(
        "S-13: A data request for an image in memory returns the data although the server responds with 304",
        arguments: [true, false])
    func dataBesideMemory(isFresh: Bool) async throws {
        let resource = ServerResource(
            body: Numbered.data(1), type: "image/png", etag: "\"a\"", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture()
        var request = ImageRequest(url: server.url("/a"))
        request.caching.originalWriteTo = []
        #expect(await fixture.manager.load(request).number == 1)
        await fixture.manager.rest()
        if !isFresh { fixture.pass(seconds: 61) }
        request.includesOriginalData = true
        let response = try await fixture.manager.response(for: request)
        #expect(response.originalData == Numbered.data(1))
        #expect(Numbered.number(of: response.image) == 1)
    }
}
