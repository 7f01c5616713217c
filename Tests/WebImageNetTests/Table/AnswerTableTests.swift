// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageTestSupport
import WebImageTesting

@Suite("Rows 43, 44, 47, 55, 59 and 62: answers, sizes, addresses, descriptors", .timeLimit(.minutes(5)))
struct AnswerTableTests {
    let body = patternBytes(100_000)

    @Test("row 43: an empty body is an error that says so", arguments: [200, 203, 204, 205])
    func empty(_ status: Int) async throws {
        let answers = [
            ServerResponse(status: status),
            ServerResponse(status: status).with { $0.framing = status == 204 ? .length : .chunked },
        ]
        for answer in answers {
            let outcome = try await outcome(answer)
            #expect(outcome.reason == .noData && outcome.network?.code == 2021, "\(outcome.result)")
            #expect(outcome.network?.status == status && outcome.requests == 1)
        }
    }

    @Test(
        "row 44: an error status with a picture is a status error; an option takes it", arguments: [400, 404, 410, 451])
    func errorStatus(_ status: Int) async throws {
        let answer = ServerResponse.ok(body, type: "image/png").with { $0.status = status }
        let refused = try await outcome(answer)
        #expect(refused.reason == .status && refused.network?.status == status && refused.network?.code == 2007)
        #expect(refused.requests == 1)
        let accepted = try await outcome(answer, makeDownloader { $0.acceptedStatuses = .range(200...499) })
        #expect(accepted.body == body)
    }

    @Test("row 47: a told length over the limit is refused with the head: hardly anything is read")
    func toldSize() async throws {
        let server = try LoopbackServer { _ in .ok(Data(count: 20_000_000)) }
        let error = await makeDownloader().failure(server.url("/a")) { $0.maxBytes = 1_000_000 }
        #expect(
            error
                == .limit(
                    LimitError(
                        .encodedBytes, limit: 1_000_000, actual: 20_000_000, detail: server.url("/a").absoluteString)))
        await server.waitForClosedConnections(count: 1)
        #expect(server.counters.bytesSent < 20_000_000 && server.counters.requests == 1)
    }

    @Test(
        "row 47: a body without end is stopped at the limit, and its connection dropped",
        arguments: [
            ServerResponse.Framing.chunked, .untilClose,
        ])
    func endless(_ framing: ServerResponse.Framing) async throws {
        let server = try LoopbackServer { [body] _ in
            .ok(body).with {
                $0.framing = framing
                $0.isEndless = true
            }
        }
        let log = ReportLog()
        var caught: ImageError?
        do throws(ImageError) {
            let request = LoadRequest(url: server.url("/a"), maxBytes: 1_000_000)
            _ = try await makeDownloader().load(request, context: log.context())
        } catch {
            caught = error
        }
        guard case .limit(let limit) = caught else {
            Issue.record("\(String(describing: caught))")
            return
        }
        // One buffer of libcurl's at most lies between the limit and its being noticed.
        #expect(limit.limit == 1_000_000 && limit.actual > 1_000_000 && limit.actual <= 1_000_000 + (64 << 10))
        #expect(log.body.count <= 1_000_000)
        await server.waitForClosedConnections(count: 1)
    }

    @Test("row 59: while a consumer takes nothing, the server stands still; then all comes")
    func slowConsumer() async throws {
        let big = patternBytes(30_000_000)
        let server = try LoopbackServer { _ in .ok(big) }
        let gate = Gate()
        let first = Gate()
        let url = server.url("/a")
        let downloader = makeDownloader()
        let context = LoadContext { report in
            guard case .body = report else { return }
            first.open()
            gate.blockingWait()
        }
        let task = Task { try await downloader.load(LoadRequest(url: url), context: context) }
        await first.wait()
        // Time for the server to write, were anybody to read.
        let (other, others) = (try LoopbackServer(routes: ["/a": .ok(body)]), makeDownloader())
        for _ in 0..<200 { #expect(try await others.load(other.url("/a")).body == body) }
        // What it could write is what sockets hold.
        #expect(server.counters.bytesSent < big.count)
        gate.open()
        #expect(try await task.value.body == big)
    }

    @Test("row 62: no descriptor reaches a program that is started while connections stand")
    func descriptors() async throws {
        let server = try LoopbackServer { [body] request in
            request.path == "/a" ? .ok(body) : .ok(body).with { $0.bodyStall = 10 }
        }
        let downloader = makeDownloader()
        _ = try await downloader.load(server.url("/a"))
        let log = ReportLog()
        let url = server.url("/b")
        let task = Task { try await downloader.load(LoadRequest(url: url), context: log.context()) }
        await log.waitForBody()
        let folder = try TemporaryFolder()
        let own = OpenDescriptors.connections(toPort: server.port)
        #expect(!own.isEmpty)
        for descriptor in own { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0, "\(descriptor)") }
        let child = try ChildProcess(
            "/bin/ls", ["-l", "/proc/self/fd"], in: URL(filePath: folder.path), output: .file("list"), error: nil,
            inherits: true)
        #expect(child.wait() == 0)
        let list = try String(contentsOfFile: folder.file("list"), encoding: .utf8)
        // Other tests' servers and processes have sockets of their own; those of the downloader must not be there.
        #expect(!list.isEmpty)
        for line in list.split(separator: "\n") where line.contains("socket:") {
            let names = own.compactMap(OpenDescriptors.target)
            #expect(!names.contains { line.hasSuffix($0) }, "\(line)")
        }
        task.cancel()
        _ = await task.result
    }
}

@Suite("Row 55: odd URLs", .timeLimit(.minutes(5)))
struct URLTableTests {
    @Test(
        "row 55: unicode and blanks are encoded, %2F stays, fragments stay here",
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

    @Test("row 55: names with letters beyond ASCII are asked for in punycode")
    func internationalNames() async throws {
        let server = try LoopbackServer { _ in .ok(Data("x".utf8)) }
        let url = try #require(URL(string: "http://b\u{fc}cher.127-0-0-1.at.test:\(server.port)/a"))
        _ = try await makeDownloader().load(url)
        #expect(server.requests.first?.fields["Host"] == "xn--bcher-kva.127-0-0-1.at.test:\(server.port)")
    }

    @Test("row 55: what is no URL is refused before anything is opened")
    func refused() async throws {
        let downloader = makeDownloader()
        for text in ["http:///a", "http:a", "https://"] {
            guard let url = URL(string: text) else { continue }
            #expect(await downloader.failure(url)?.code == 1002, "\(text)")
        }
    }
}
