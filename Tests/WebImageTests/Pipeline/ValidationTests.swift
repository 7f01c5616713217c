// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@Suite("Responses of status 304", .serialized, .timeLimit(.minutes(1)))
struct ValidationTests {
    /// Where the stale data is.
    enum Place: String, CaseIterable, Sendable {
        case memory, disk, diskAsData
    }

    /// The validators of a stored response and of the 304 that follows.
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

    /// A server that gives image 1, answers conditions with a 304 of `validators`, and gives image 2 after that.
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

    /// Loads image 1, lets it become stale, and gives the fixture in which it is at `place`.
    private func stale(_ server: LoopbackServer, at place: Place) async throws -> ManagerFixture {
        let fixture = try ManagerFixture()
        #expect(await fixture.manager.load(server.url("/a")).number == 1)
        fixture.pass(seconds: 61)
        return place == .memory ? fixture : try await fixture.restarted()
    }

    /// The data that a request gets.
    private func data(_ fixture: ManagerFixture, _ url: URL, _ place: Place) async throws -> Data {
        var request = ImageRequest(url)
        if place == .diskAsData { return try await fixture.manager.data(for: request) }
        request.wantsData = true
        return try #require(try await fixture.manager.response(for: request).data)
    }

    @Test(
        "A 304 about another image isn't taken for a confirmation, and the new image is loaded",
        arguments: others, Place.allCases)
    func otherTag(validators: Validators, place: Place) async throws {
        let server = try server(validators)
        let fixture = try await stale(server, at: place)
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(2))
        let last = try #require(server.requests.last)
        #expect(last.fields["If-None-Match"] == nil && last.fields["If-Modified-Since"] == nil)
        #expect(server.counters.requests == 3)
        // Nothing of the old image is left.
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(2))
        #expect(server.counters.requests == 3)
    }

    @Test("A 304 about the same image confirms it", arguments: same, Place.allCases)
    func sameTag(validators: Validators, place: Place) async throws {
        let server = try server(validators)
        let fixture = try await stale(server, at: place)
        #expect(try await data(fixture, server.url("/a"), place) == Numbered.data(1))
        #expect(server.counters.requests == 2)
    }

    @Test(
        "A 304 about another image in the background leads to the new image",
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

    @Test("A server that answers everything with a 304 about another image gets no image confirmed")
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
        "A request for the data of an image in memory gets the data although the server answers 304",
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
