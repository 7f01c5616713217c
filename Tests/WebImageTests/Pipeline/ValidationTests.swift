// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@Suite("Responses with status 304", .serialized, .timeLimit(.minutes(5)))
struct ValidationTests {
    /// The location of the stale data.
    enum Place: String, CaseIterable, Sendable {
        case memory, disk, diskAsData
    }

    /// The validators of a stored response and of the following 304 response.
    struct Validators: Sendable, CustomTestStringConvertible {
        let stored: String
        let answered: String
        var storedDate: String?
        var answeredDate: String?

        var testDescription: String { "\(stored) \(storedDate ?? "") → \(answered) \(answeredDate ?? "")" }
    }

    private static let monday = "Mon, 01 Jan 2024 00:00:00 GMT"
    private static let tuesday = "Tue, 02 Jan 2024 00:00:00 GMT"

    static let others = [
        Validators(stored: "\"a\"", answered: "\"b\""), Validators(stored: "\"a\"", answered: "W/\"b\""),
        Validators(stored: "W/\"a\"", answered: "W/\"b\""), Validators(stored: "\"a\"", answered: "\"A\""),
        Validators(stored: "\"a\"", answered: "\"b\"", storedDate: monday),
        Validators(stored: "\"a\"", answered: "\"b\"", answeredDate: monday),
        Validators(stored: "\"a\"", answered: "\"b\"", storedDate: monday, answeredDate: tuesday),
    ]

    static let same = [
        Validators(stored: "\"a\"", answered: "\"a\""), Validators(stored: "\"a\"", answered: "W/\"a\""),
        Validators(stored: "W/\"a\"", answered: "\"a\""),
        Validators(stored: "\"a\"", answered: "\"b\"", storedDate: monday, answeredDate: monday),
    ]

    /// Returns a server that responds with image 1, then with a 304 with `validators` for conditional requests, and
    /// otherwise with image 2.
    private func server(_ validators: Validators, cacheControl: String = "max-age=60") throws -> LoopbackServer {
        try LoopbackServer { request in
            var fields = HTTPFields()
            fields["Cache-Control"] = cacheControl
            fields["ETag"] = request.index == 0 ? validators.stored : validators.answered
            fields["Last-Modified"] = request.index == 0 ? validators.storedDate : validators.answeredDate
            let isConditional =
                request.fields["If-None-Match"] != nil || request.fields["If-Modified-Since"] != nil
            if isConditional { return ServerResponse(status: 304, fields: fields) }
            fields["Content-Type"] = "image/png"
            return ServerResponse(fields: fields, body: Numbered.data(request.index == 0 ? 1 : 2))
        }
    }

    /// Loads image 1, lets it become stale, and returns a fixture with the image at `place`.
    private func stale(_ server: LoopbackServer, at place: Place) async throws -> ManagerFixture {
        let fixture = try ManagerFixture()
        #expect(await fixture.manager.load(server.url("/a")).number == 1)
        fixture.pass(seconds: 61)
        return place == .memory ? fixture : try await fixture.restarted()
    }

    /// Returns the data of a request.
    private func data(_ fixture: ManagerFixture, _ url: URL, _ place: Place) async throws -> Data {
        var request = ImageRequest(url)
        if place == .diskAsData { return try await fixture.manager.data(for: request) }
        request.wantsData = true
        return try #require(try await fixture.manager.response(for: request).data)
    }

    @Test(
        "A 304 for another representation doesn't revalidate the image, and the new image is loaded",
        arguments: others, Place.allCases)
    func otherTag(validators: Validators, place: Place) async throws {
        let server = try server(validators)
        let fixture = try await stale(server, at: place)
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(2))
        let last = try #require(server.requests.last)
        #expect(last.fields["If-None-Match"] == nil && last.fields["If-Modified-Since"] == nil)
        #expect(server.counters.requests == 3)
        // The old image is no longer cached.
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(2))
        #expect(server.counters.requests == 3)
    }

    @Test("A 304 for the same representation revalidates the image", arguments: same, Place.allCases)
    func sameTag(validators: Validators, place: Place) async throws {
        let server = try server(validators)
        let fixture = try await stale(server, at: place)
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(1))
        #expect(server.counters.requests == 2)
    }

    @Test(
        "A background 304 for another representation loads the new image",
        arguments: [true, false])
    func background(isInMemory: Bool) async throws {
        let validators = Validators(stored: "\"a\"", answered: "\"b\"")
        let server = try server(validators, cacheControl: "max-age=60, stale-while-revalidate=600")
        let fixture = try await stale(server, at: isInMemory ? .memory : .disk)
        #expect(await fixture.manager.load(server.url("/a")).number == 1)
        await server.waitForRequests(count: 3)
        await fixture.manager.rest()
        let task = fixture.manager.load(server.url("/a"))
        #expect(await task.number == 2)
        #expect(try task.result?.get().origin == .memory)
    }

    @Test("If the server always responds with a 304 for another representation, the request fails")
    func onlyNotModified() async throws {
        let server = try LoopbackServer { request in
            let tag = "\"\(request.index)\""
            var fields = Numbered.head(1).fields
            fields["ETag"] = tag
            return request.index == 0
                ? ServerResponse(fields: fields, body: Numbered.data(1)) : ServerResponse(status: 304, fields: fields)
        }
        let fixture = try await stale(server, at: .disk)
        #expect(await fixture.manager.load(server.url("/a")).code != nil)
        #expect(server.counters.requests == 3)
    }

    @Test(
        "A data request for an image in memory returns the data although the server responds with 304",
        arguments: [true, false])
    func dataBesideMemory(isFresh: Bool) async throws {
        let resource = ServerResource(
            body: Numbered.data(1), type: "image/png", etag: "\"a\"", cacheControl: "max-age=60")
        let server = try LoopbackServer { resource.response(to: $0) }
        let fixture = try ManagerFixture()
        var request = ImageRequest(server.url("/a"))
        request.originalStores = []
        #expect(await fixture.manager.load(request).number == 1)
        await fixture.manager.rest()
        if !isFresh { fixture.pass(seconds: 61) }
        request.wantsData = true
        let response = try await fixture.manager.response(for: request)
        #expect(response.data == Numbered.data(1))
        #expect(Numbered.number(of: response.image) == 1)
    }
}
