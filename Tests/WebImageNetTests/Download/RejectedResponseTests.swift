// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Errors with the rejected response", .timeLimit(.minutes(5)))
struct RejectedResponseTests {
    private let text = Data(String(repeating: "The quota is used up. ", count: 200).utf8)

    private func failure(
        _ response: LoopbackServer.Response, _ change: (inout LoadRequest) -> Void = { _ in }
    ) async throws -> ImageError.NetworkFailure {
        let server = try LoopbackServer { _ in response }
        let error = await makeDownloader().failure(server.url("/a"), change)
        return try #require(error?.network)
    }

    @Test(
        "A rejected status has the response head and at most 1 KiB of the body",
        arguments: [0, 1, 1_023, 1_024, 1_025, 4_000])
    func status(count: Int) async throws {
        let body = Data(text.prefix(count))
        let failure = try await failure(
            LoopbackServer.Response(statusCode: 429, headers: ["X-Reason": "quota"], body: body))
        #expect(failure.reason == .unacceptableStatusCode && failure.statusCode == 429)
        #expect(failure.responseHead?.statusCode == 429)
        #expect(failure.responseHead?.headers["X-Reason"] == "quota")
        #expect(failure.bodyPrefix == body.prefix(1_024))
    }

    @Test("The beginning of the body is complete regardless of its framing and its chunks")
    func framing() async throws {
        for framing in [LoopbackServer.Response.Framing.contentLength, .chunked, .connectionClose] {
            for count in [700, 4_000] {
                var response = LoopbackServer.Response(statusCode: 500, body: Data(text.prefix(count)))
                response.framing = framing
                if framing == .connectionClose { response.ending = .close }
                response.chunkSize = 100
                let failure = try await failure(response)
                #expect(failure.statusCode == 500 && failure.bodyPrefix == text.prefix(min(count, 1_024)))
            }
        }
    }

    @Test("The beginning of the body has no content coding", arguments: CodedBody.allCases)
    func coding(_ coding: CodedBody) async throws {
        let failure = try await failure(
            LoopbackServer.Response(
                statusCode: 404, headers: ["Content-Encoding": coding.name], body: coding.encode(text)))
        #expect(failure.statusCode == 404 && failure.bodyPrefix == text.prefix(1_024))
    }

    @Test("An invalid content coding of a rejected body doesn't hide the status")
    func invalidCoding() async throws {
        let failure = try await failure(
            LoopbackServer.Response(statusCode: 404, headers: ["Content-Encoding": "gzip"], body: text))
        #expect(failure.reason == .unacceptableStatusCode && failure.bodyPrefix.isEmpty)
    }

    @Test("A rejected body that stalls or is truncated doesn't hide the status, and the received part is in the error")
    func incomplete() async throws {
        let stalled = try await failure(
            LoopbackServer.Response(statusCode: 404, body: text).with { $0.stallsBodyAfter = 5 })
        #expect(stalled.reason == .unacceptableStatusCode && stalled.bodyPrefix == text.prefix(5))
        let truncated = try await failure(
            LoopbackServer.Response(statusCode: 404, body: text).with {
                $0.truncatesBodyAfter = 5
                $0.ending = .close
            })
        #expect(truncated.reason == .unacceptableStatusCode && truncated.bodyPrefix == text.prefix(5))
    }

    @Test("Rejected content types, empty bodies, and rejected redirects have the response head, too")
    func otherReasons() async throws {
        let type = try await failure(.ok(text, contentType: "text/plain")) {
            $0.network.acceptableContentTypes = ["image/*"]
        }
        #expect(type.reason == .unacceptableContentType && type.bodyPrefix == text.prefix(1_024))
        #expect(type.responseHead?.headers["Content-Type"] == "text/plain")
        let empty = try await failure(.ok(Data(), contentType: "image/png"))
        #expect(empty.reason == .emptyBody && empty.bodyPrefix.isEmpty)
        #expect(empty.responseHead?.headers["Content-Type"] == "image/png")
        let redirect = try await failure(.redirect(302, to: "ftp://example.org/"))
        #expect(redirect.reason == .redirectNotAllowed)
        #expect(redirect.responseHead?.headers["Location"] == "ftp://example.org/")
    }

    @Test("An error without a response has neither a head nor a body")
    func unreachable() async throws {
        let server = try LoopbackServer { _ in .silent }
        let url = server.url("/a")
        server.stop()
        let failure = try #require(await makeDownloader().failure(url)?.network)
        #expect(failure.responseHead == nil && failure.bodyPrefix.isEmpty)
    }

    @Test("Secrets of the response head are removed, and no message contains the body")
    func secrets() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(
                statusCode: 403,
                headers: ["Set-Cookie": "session=secret", "Link": "<https://ada:secret@example.org/>"],
                body: Data("secret".utf8))
        }
        let error = try #require(await makeDownloader().failure(server.url("/a")))
        let head = try #require(error.network?.responseHead)
        #expect(head.headers["Set-Cookie"] == "<redacted>")
        #expect(head.headers["Link"] == "<https://example.org/>")
        #expect(error.network?.bodyPrefix == Data("secret".utf8))
        #expect(!error.message.contains("secret") && !"\(error)".contains("secret"))
    }

    @Test("Failures are equal regardless of their responses")
    func equality() async throws {
        let server = try LoopbackServer { LoopbackServer.Response(statusCode: 404, body: Data("\($0.index)".utf8)) }
        let downloader = makeDownloader()
        let first = try #require(await downloader.failure(server.url("/a"))?.network)
        let second = try #require(await downloader.failure(server.url("/a"))?.network)
        #expect(first.bodyPrefix != second.bodyPrefix)
        #expect(first == second && first.hashValue == second.hashValue)
    }

    @Test("After a rejected response, the next request reuses the connection")
    func reuse() async throws {
        let server = try LoopbackServer { [text] _ in LoopbackServer.Response(statusCode: 404, body: text) }
        let downloader = makeDownloader { $0.maxConnectionsPerHost = 1 }
        for _ in 0..<3 { #expect(await downloader.failure(server.url("/a"))?.network?.bodyPrefix.count == 1_024) }
        #expect(server.connectionCount == 1)
    }
}
