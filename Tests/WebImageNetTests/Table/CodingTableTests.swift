// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Rows 9–13: Content codings", .timeLimit(.minutes(5)))
struct CodingTableTests {
    /// Random bytes followed by zeros, so the body is compressible but not to almost nothing.
    let body = patternBytes(20_000) + Data(count: 20_000)

    private func response(
        _ bytes: Data, coding: String, framing: LoopbackServer.Response.Framing = .contentLength
    ) -> LoopbackServer.Response {
        .ok(bytes).with {
            $0.headers["Content-Encoding"] = coding
            $0.framing = framing
        }
    }

    @Test(
        "Row 9: Every coding is decoded with a length, with chunks, and until the connection closes",
        arguments: CodedBody.allCases, [LoopbackServer.Response.Framing.contentLength, .chunked, .connectionClose])
    func codings(_ coding: CodedBody, framing: LoopbackServer.Response.Framing) async throws {
        let coded = coding.encode(body)
        let outcome = try await outcome(
            response(coded, coding: coding.name, framing: framing).with { $0.chunkSize = 1_000 })
        #expect(outcome.body == body && outcome.requests == 1)
        #expect(try outcome.result.get().metrics.receivedByteCount == coded.count)
    }

    @Test("Row 9: Coding names in any case, x-gzip, identity, and multiple codings are decoded")
    func names() async throws {
        let gzip = CodedBody.gzip.encode(body)
        for name in ["GZip", "X-GZIP", "identity, gzip", " gzip , identity", "gzip,"] {
            #expect(try await outcome(response(gzip, coding: name)).body == body, "\(name)")
        }
        let both = CodedBody.brotli.encode(gzip)
        #expect(try await outcome(response(both, coding: "gzip, br")).body == body)
        let lines = LoopbackServer.Response.ok(both).with {
            $0.headers.append(name: "Content-Encoding", value: "gzip")
            $0.headers.append(name: "Content-Encoding", value: "br")
        }
        #expect(try await outcome(lines).body == body)
    }

    @Test(
        "Row 10: After a false coding, the identity coding is requested once and succeeds",
        arguments: CodedBody.allCases)
    func lieThenRight(_ coding: CodedBody) async throws {
        let body = body
        let outcome = try await outcome { request in
            request.headers["Accept-Encoding"] == "identity"
                ? .ok(body) : .ok(body).with { $0.headers["Content-Encoding"] = coding.name }
        }
        #expect(outcome.body == body && outcome.requests == 2)
    }

    @Test(
        "Row 10: A repeated false coding and a corrupt stream cause coding errors after two requests",
        arguments: CodedBody.allCases)
    func lies(_ coding: CodedBody) async throws {
        let lie = try await outcome(response(patternBytes(5_000), coding: coding.name))
        #expect(
            lie.reason == .contentDecodingFailed && lie.network?.code == 2018 && lie.network?.phase == .receivingBody)
        #expect(lie.requests == 2)
        // Raw deflate has no checksum, so it can't detect all corruption. The output is bounded in any case.
        var damaged = coding.encode(body)
        for index in damaged.count / 2..<damaged.count / 2 + 64 { damaged[index] ^= 0xff }
        let broken = try await outcome(response(damaged, coding: coding.name))
        #expect(broken.reason == .contentDecodingFailed || (broken.body != nil && broken.body != body))
    }

    @Test(
        "Row 10: Unknown codings are passed on unchanged", arguments: ["rot13", "compress", "gzip, rot13", "b\u{e9}"])
    func unknown(_ name: String) async throws {
        let outcome = try await outcome(response(body, coding: name))
        #expect(outcome.body == body && outcome.requests == 1)
    }

    @Test("Row 10: More than five codings cause a coding error")
    func twenty() async throws {
        let names = Array(repeating: "gzip", count: 20).joined(separator: ", ")
        let outcome = try await outcome(response(CodedBody.gzip.encode(body), coding: names))
        #expect(outcome.reason == .contentDecodingFailed && outcome.requests == 2)
        let five = (0..<5).reduce(body) { coded, _ in CodedBody.gzip.encode(coded) }
        let most = try await self.outcome5(five)
        #expect(most == body)
    }

    private func outcome5(_ coded: Data) async throws -> Data? {
        try await outcome(response(coded, coding: "gzip, gzip, gzip, gzip, gzip")).body
    }

    @Test(
        "Row 11: A coded stream that is truncated in a complete body throws",
        arguments: CodedBody.allCases)
    func truncated(_ coding: CodedBody) async throws {
        let coded = coding.encode(body)
        for count in [1, 2, 5, coded.count / 2, coded.count - 1] {
            let outcome = try await outcome(response(coded.prefix(count), coding: coding.name))
            #expect(outcome.reason == .contentDecodingFailed, "\(count): \(String(describing: outcome.error))")
            #expect(outcome.requests == 2)
        }
    }

    @Test("Row 12: gzip members are concatenated, and data after the last one is ignored")
    func members() async throws {
        let members = CodedBody.gzip.encode(body) + CodedBody.gzip.encode(Data("more".utf8))
        #expect(try await outcome(response(members, coding: "gzip")).body == body + Data("more".utf8))
        for rest in [Data([0]), Data(count: 512), Data("trailing words".utf8)] {
            let outcome = try await outcome(response(CodedBody.gzip.encode(body) + rest, coding: "gzip"))
            #expect(outcome.body == body && outcome.requests == 1)
        }
    }

    @Test(
        "Row 13: A decompression bomb throws at the limit, and its connection is closed",
        arguments: CodedBody.allCases)
    func bombs(_ coding: CodedBody) async throws {
        let coded = coding.encode(Data(count: 64 << 20))
        let server = try LoopbackServer { [response = response(coded, coding: coding.name)] _ in response }
        let downloader = makeDownloader()
        let log = ReportLog()
        var caught: ImageError?
        do throws(ImageError) {
            let request = LoadRequest(url: server.url("/a"), maxByteCount: 1 << 20)
            _ = try await downloader.load(request, context: log.context())
        } catch {
            caught = error
        }
        guard case .limitExceeded(let limit) = caught else {
            Issue.record("\(String(describing: caught))")
            return
        }
        #expect(limit.kind == .encodedSize && limit.limit == 1 << 20 && limit.actual < (1 << 20) + (256 << 10))
        #expect(log.body.count <= 1 << 20)
        await server.waitForClosedConnections(count: 1)
        #expect(server.counters.requests == 1)
    }

    @Test("Row 13: A nested bomb and an excessive compression ratio throw at the limit")
    func ratio() async throws {
        let inner = CodedBody.gzip.encode(Data(count: 64 << 20))
        let nested = try await outcome(response(CodedBody.gzip.encode(inner), coding: "gzip, gzip"))
        #expect(nested.error?.code == 6001)
        let brotli = try await outcome(response(CodedBody.brotli.encode(Data(count: 24 << 20)), coding: "br"))
        #expect(brotli.error?.code == 6001)
    }
}
