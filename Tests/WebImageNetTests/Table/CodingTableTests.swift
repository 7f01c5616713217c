// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageTestSupport
import WebImageTesting

@Suite("Rows 9–13: content codings", .timeLimit(.minutes(5)))
struct CodingTableTests {
    /// Half noise, half blanks: it shrinks, and not to nothing.
    let body = patternBytes(20_000) + Data(count: 20_000)

    private func answer(
        _ bytes: Data, coding: String, framing: ServerResponse.Framing = .length
    ) -> ServerResponse {
        .ok(bytes).with {
            $0.fields["Content-Encoding"] = coding
            $0.framing = framing
        }
    }

    @Test(
        "row 9: every coding is removed, told by length, chunks or the end",
        arguments: CodedBody.allCases, [ServerResponse.Framing.length, .chunked, .untilClose])
    func codings(_ coding: CodedBody, framing: ServerResponse.Framing) async throws {
        let coded = coding.encode(body)
        let outcome = try await outcome(
            answer(coded, coding: coding.name, framing: framing).with { $0.pieceSize = 1_000 })
        #expect(outcome.body == body && outcome.requests == 1)
        #expect(try outcome.result.get().metrics.bytesReceived == coded.count)
    }

    @Test("row 9: names in any case, x-gzip, identity, and several codings, in one line or in two")
    func names() async throws {
        let gzip = CodedBody.gzip.encode(body)
        for name in ["GZip", "X-GZIP", "identity, gzip", " gzip , identity", "gzip,"] {
            #expect(try await outcome(answer(gzip, coding: name)).body == body, "\(name)")
        }
        let both = CodedBody.brotli.encode(gzip)
        #expect(try await outcome(answer(both, coding: "gzip, br")).body == body)
        let lines = ServerResponse.ok(both).with {
            $0.fields.append(name: "Content-Encoding", value: "gzip")
            $0.fields.append(name: "Content-Encoding", value: "br")
        }
        #expect(try await outcome(lines).body == body)
    }

    @Test(
        "row 10: a coding that is a lie is asked for once more without any, and then is right",
        arguments: CodedBody.allCases)
    func lieThenRight(_ coding: CodedBody) async throws {
        let body = body
        let outcome = try await outcome { request in
            request.fields["Accept-Encoding"] == "identity"
                ? .ok(body) : .ok(body).with { $0.fields["Content-Encoding"] = coding.name }
        }
        #expect(outcome.body == body && outcome.requests == 2)
    }

    @Test(
        "row 10: a lie that stays one, and a damaged stream, are coding errors after two requests",
        arguments: CodedBody.allCases)
    func lies(_ coding: CodedBody) async throws {
        let lie = try await outcome(answer(patternBytes(5_000), coding: coding.name))
        #expect(lie.reason == .contentCodingFailed && lie.network?.code == 2018 && lie.network?.phase == .body)
        #expect(lie.requests == 2)
        // Deflate without a checksum cannot tell damage from other contents; what it gives is bounded either way.
        var damaged = coding.encode(body)
        for index in damaged.count / 2..<damaged.count / 2 + 64 { damaged[index] ^= 0xff }
        let broken = try await outcome(answer(damaged, coding: coding.name))
        #expect(broken.reason == .contentCodingFailed || (broken.body != nil && broken.body != body))
    }

    @Test(
        "row 10: an unknown coding is passed on as it is", arguments: ["rot13", "compress", "gzip, rot13", "b\u{e9}"])
    func unknown(_ name: String) async throws {
        let outcome = try await outcome(answer(body, coding: name))
        #expect(outcome.body == body && outcome.requests == 1)
    }

    @Test("row 10: more codings than anybody needs are a coding error, not bytes")
    func twenty() async throws {
        let names = Array(repeating: "gzip", count: 20).joined(separator: ", ")
        let outcome = try await outcome(answer(CodedBody.gzip.encode(body), coding: names))
        #expect(outcome.reason == .contentCodingFailed && outcome.requests == 2)
        let five = (0..<5).reduce(body) { coded, _ in CodedBody.gzip.encode(coded) }
        let most = try await self.outcome5(five)
        #expect(most == body)
    }

    private func outcome5(_ coded: Data) async throws -> Data? {
        try await outcome(answer(coded, coding: "gzip, gzip, gzip, gzip, gzip")).body
    }

    @Test(
        "row 11: a coded stream that ends early in a whole body is an error, wherever it is cut",
        arguments: CodedBody.allCases)
    func truncated(_ coding: CodedBody) async throws {
        let coded = coding.encode(body)
        for count in [1, 2, 5, coded.count / 2, coded.count - 1] {
            let outcome = try await outcome(answer(coded.prefix(count), coding: coding.name))
            #expect(outcome.reason == .contentCodingFailed, "\(count): \(String(describing: outcome.error))")
            #expect(outcome.requests == 2)
        }
    }

    @Test("row 12: gzip members are joined, and what follows the last is ignored")
    func members() async throws {
        let members = CodedBody.gzip.encode(body) + CodedBody.gzip.encode(Data("more".utf8))
        #expect(try await outcome(answer(members, coding: "gzip")).body == body + Data("more".utf8))
        for rest in [Data([0]), Data(count: 512), Data("trailing words".utf8)] {
            let outcome = try await outcome(answer(CodedBody.gzip.encode(body) + rest, coding: "gzip"))
            #expect(outcome.body == body && outcome.requests == 1)
        }
    }

    @Test(
        "row 13: a bomb is too large long before it is unpacked, and the connection is dropped",
        arguments: CodedBody.allCases)
    func bombs(_ coding: CodedBody) async throws {
        let coded = coding.encode(Data(count: 64 << 20))
        let server = try LoopbackServer { [response = answer(coded, coding: coding.name)] _ in response }
        let downloader = makeDownloader()
        let log = ReportLog()
        var caught: ImageError?
        do throws(ImageError) {
            let request = LoadRequest(url: server.url("/a"), maxBytes: 1 << 20)
            _ = try await downloader.load(request, context: log.context())
        } catch {
            caught = error
        }
        guard case .limit(let limit) = caught else {
            Issue.record("\(String(describing: caught))")
            return
        }
        #expect(limit.kind == .encodedBytes && limit.limit == 1 << 20 && limit.actual < (1 << 20) + (256 << 10))
        #expect(log.body.count <= 1 << 20)
        await server.waitForClosedConnections(count: 1)
        #expect(server.counters.requests == 1)
    }

    @Test("row 13: a bomb in a bomb, and a ratio that no picture has, are too large as well")
    func ratio() async throws {
        let inner = CodedBody.gzip.encode(Data(count: 64 << 20))
        let nested = try await outcome(answer(CodedBody.gzip.encode(inner), coding: "gzip, gzip"))
        #expect(nested.error?.code == 6001)
        let brotli = try await outcome(answer(CodedBody.brotli.encode(Data(count: 24 << 20)), coding: "br"))
        #expect(brotli.error?.code == 6001)
    }
}
