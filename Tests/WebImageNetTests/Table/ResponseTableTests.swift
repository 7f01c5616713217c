// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

@Suite("Rows 43, 44, 47, 55, 59, and 62: Responses, sizes, URLs, and descriptors", .timeLimit(.minutes(5)))
struct ResponseTableTests {
    let body = patternBytes(100_000)

    @Test("Row 43: An empty body throws a specific error", arguments: [200, 203, 204, 205])
    func empty(_ status: Int) async throws {
        let answers = [
            LoopbackServer.Response(statusCode: status),
            LoopbackServer.Response(statusCode: status).with { $0.framing = status == 204 ? .contentLength : .chunked },
        ]
        for answer in answers {
            let outcome = try await outcome(answer)
            #expect(outcome.reason == .emptyBody && outcome.network?.code == 2021, "\(outcome.result)")
            #expect(outcome.network?.statusCode == status && outcome.requests == 1)
        }
    }

    @Test(
        "Row 44: An error status with an image throws unless it's accepted", arguments: [400, 404, 410, 451])
    func errorStatus(_ status: Int) async throws {
        let answer = LoopbackServer.Response.ok(body, contentType: "image/png").with { $0.statusCode = status }
        let refused = try await outcome(answer)
        #expect(
            refused.reason == .unacceptableStatusCode && refused.network?.statusCode == status
                && refused.network?.code == 2007)
        #expect(refused.requests == 1)
        let accepted = try await outcome(answer, makeDownloader { $0.acceptableStatusCodes = Set(200...499) })
        #expect(accepted.body == body)
    }

    @Test("Row 47: A declared length over the limit throws before the body is read")
    func toldSize() async throws {
        let server = try LoopbackServer { _ in .ok(Data(count: 20_000_000)) }
        let error = await makeDownloader().failure(server.url("/a")) { $0.maxByteCount = 1_000_000 }
        #expect(
            error
                == .limitExceeded(
                    ImageError.LimitFailure(
                        .encodedSize, limit: 1_000_000, actual: 20_000_000, detail: server.url("/a").absoluteString)))
        await server.waitForClosedConnections(count: 1)
        #expect(server.counters.bytesSent < 20_000_000 && server.counters.requests == 1)
    }

    @Test(
        "Row 47: An endless body is stopped at the limit, and its connection is closed",
        arguments: [
            LoopbackServer.Response.Framing.chunked, .connectionClose,
        ])
    func endless(_ framing: LoopbackServer.Response.Framing) async throws {
        let server = try LoopbackServer { [body] _ in
            .ok(body).with {
                $0.framing = framing
                $0.isEndless = true
            }
        }
        let log = ReportLog()
        var caught: ImageError?
        do throws(ImageError) {
            let request = LoadRequest(url: server.url("/a"), maxByteCount: 1_000_000)
            _ = try await makeDownloader().load(request, context: log.context())
        } catch {
            caught = error
        }
        guard case .limitExceeded(let limit) = caught else {
            Issue.record("\(String(describing: caught))")
            return
        }
        // libcurl delivers at most one buffer beyond the limit before the loader notices.
        #expect(limit.limit == 1_000_000 && limit.actual > 1_000_000 && limit.actual <= 1_000_000 + (64 << 10))
        #expect(log.body.count <= 1_000_000)
        await server.waitForClosedConnections(count: 1)
    }

    @Test("Row 59: While a consumer blocks, the server can't send, and then the whole body arrives")
    func slowConsumer() async throws {
        let big = patternBytes(30_000_000)
        let server = try LoopbackServer { _ in .ok(big) }
        let gate = TestGate()
        let first = TestGate()
        let url = server.url("/a")
        let downloader = makeDownloader()
        let context = LoadContext { report in
            guard case .body = report else { return }
            first.open()
            gate.blockingWait()
        }
        // The gate decides how long the load takes.
        var request = LoadRequest(url: url)
        request.network.idleTimeout = .seconds(Int64.max)
        request.network.timeout = .seconds(Int64.max)
        let task = Task { try await downloader.load(request, context: context) }
        await first.wait()
        // Give the server enough time to write the whole body if the client were reading.
        let (other, others) = (try LoopbackServer(routes: ["/a": .ok(body)]), makeDownloader())
        for _ in 0..<200 { #expect(try await others.load(other.url("/a")).body == body) }
        // The server could write only as much as the socket buffers hold.
        #expect(server.counters.bytesSent < big.count)
        gate.open()
        #expect(try await task.value.body == big)
    }

    @Test("Row 62: A child process inherits no descriptor of an open connection")
    func descriptors() async throws {
        let server = try LoopbackServer { [body] request in
            request.path == "/a" ? .ok(body) : .ok(body).with { $0.stallsBodyAfter = 10 }
        }
        let downloader = makeDownloader()
        _ = try await downloader.load(server.url("/a"))
        let log = ReportLog()
        let url = server.url("/b")
        let task = Task { try await downloader.load(LoadRequest(url: url), context: log.context()) }
        await log.waitForBody()
        let folder = try TemporaryDirectory()
        let own = OpenDescriptors.connections(toPort: server.port)
        #expect(!own.isEmpty)
        for descriptor in own { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(descriptor)") }
        let child = try ChildProcess(
            "/bin/ls", ["-l", "/proc/self/fd"], in: URL(filePath: folder.path), output: .file("list"), error: nil,
            inherits: true)
        #expect(child.wait() == 0)
        let list = try String(contentsOfFile: folder.file("list"), encoding: .utf8)
        // Servers and processes of other tests have their own sockets. The list must not contain those of the
        // downloader.
        #expect(!list.isEmpty)
        for line in list.split(separator: "\n") where line.contains("socket:") {
            let names = own.compactMap(OpenDescriptors.target)
            #expect(!names.contains { line.hasSuffix($0) }, "\(line)")
        }
        task.cancel()
        _ = await task.result
    }
}

@Suite("Row 55: Unusual URLs", .timeLimit(.minutes(5)))
struct URLTableTests {
    @Test(
        "Row 55: Unicode and spaces are encoded, %2F is kept, and fragments aren't sent",
        arguments: [
            ("/\u{fc}/\u{65e5}\u{672c}.png", "/%C3%BC/%E6%97%A5%E6%9C%AC.png"), ("/a b?q=c d", "/a%20b?q=c%20d"),
            ("/a%2Fb%2fc", "/a%2Fb%2fc"), ("/a#b?c", "/a"), ("/a?b=%26&c=%c3%9f#d", "/a?b=%26&c=%c3%9f"),
            ("/e\u{301}", "/e%CC%81"), ("/\u{1f600}", "/%F0%9F%98%80"), ("/a+b?c+d", "/a+b?c+d"), ("?q", "/?q"),
            ("", "/"),
            ("//double//slash", "//double//slash"), ("/a/../b", "/b"), ("/[x]|^", "/%5Bx%5D%7C%5E"),
        ])
    func paths(written: String, sent: String) async throws {
        let server = try LoopbackServer { _ in .ok(Data("x".utf8)) }
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(written)"))
        _ = try await makeDownloader().load(url)
        #expect(server.requests.map(\.target) == [sent])
    }

    @Test("Row 55: Host names with non-ASCII letters are converted to Punycode")
    func internationalNames() async throws {
        let server = try LoopbackServer { _ in .ok(Data("x".utf8)) }
        let url = try #require(URL(string: "http://b\u{fc}cher.127-0-0-1.at.test:\(server.port)/a"))
        _ = try await makeDownloader().load(url)
        #expect(server.requests.first?.headers["Host"] == "xn--bcher-kva.127-0-0-1.at.test:\(server.port)")
    }

    @Test("Row 55: An invalid URL throws before a connection is opened")
    func refused() async throws {
        let downloader = makeDownloader()
        for text in ["http:///a", "http:a", "https://"] {
            guard let url = URL(string: text) else { continue }
            #expect(await downloader.failure(url)?.code == 1002, "\(text)")
        }
    }
}
