// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageTestSupport

@Suite(
    "Downloads from nginx", .timeLimit(.minutes(5)),
    .enabled(if: Nginx.missing == nil, Comment(rawValue: Nginx.missing ?? "")))
struct NginxTests {
    private static let count = 200

    private func makeServer() throws -> (Nginx, [String: Data]) {
        var files: [String: Data] = ["slow/a": patternBytes(200_000)]
        for index in 0..<Self.count { files["\(index)"] = patternBytes(2_000 + index * 37, seed: UInt64(index)) }
        return (try Nginx(files: files), files)
    }

    /// Loads all files concurrently, expects the contents of each, and returns the protocols.
    private func loadAll(
        _ downloader: ImageDownloader, _ files: [String: Data], _ url: @escaping (String) -> URL
    ) async throws -> Set<String> {
        try await withThrowingTaskGroup(of: (Bool, String).self) { group in
            for index in 0..<Self.count {
                let target = url("/\(index)")
                let expected = files["\(index)"]
                group.addTask {
                    let response = try await downloader.load(target)
                    return (response.body == expected, response.metrics.protocolName)
                }
            }
            var protocols: Set<String> = []
            for try await (isRight, name) in group {
                #expect(isRight)
                protocols.insert(name)
            }
            return protocols
        }
    }

    @Test("Over HTTP/1.1, 200 loads use at most six connections")
    func http1() async throws {
        let (server, files) = try makeServer()
        #expect(try await loadAll(makeDownloader(), files) { server.url($0) } == ["http/1.1"])
        server.stop()
        let log = try server.log()
        #expect(log.count == Self.count && Set(log.map(\.connection)).count <= 6)
    }

    @Test("Row 29: Over HTTP/2 and TLS, 200 loads use one connection")
    func http2() async throws {
        let (server, files) = try makeServer()
        let downloader = makeDownloader { $0.tls = .authorities(server.certificates.authority) }
        #expect(try await loadAll(downloader, files) { server.secureURL($0) } == ["h2"])
        server.stop()
        let log = try server.log()
        #expect(log.count == Self.count && Set(log.map(\.connection)).count == 1)
    }

    @Test("Without HTTP/2, loads over TLS use HTTP/1.1 and at most six connections")
    func http1OverTLS() async throws {
        let (server, files) = try makeServer()
        let downloader = makeDownloader {
            $0.tls = .authorities(server.certificates.authority)
            $0.allowsHTTP2 = false
        }
        #expect(try await loadAll(downloader, files) { server.secureURL($0) } == ["http/1.1"])
        server.stop()
        #expect(Set(try server.log().map(\.connection)).count <= 6)
    }

    @Test("Each certificate fault causes its own error, and hosts without checks cause none")
    func certificates() async throws {
        let (server, files) = try makeServer()
        let trusting = makeDownloader { $0.tls = .authorities(server.certificates.authority) }
        let expected: [(TestCertificates.Kind, ImageError.NetworkFailure.Reason)] = [
            (.wrongHost, .certificateUntrusted), (.expired, .certificateExpired),
            (.notYetValid, .certificateNotYetValid), (.selfSigned, .certificateUntrusted),
        ]
        for (kind, reason) in expected {
            let error = await trusting.failure(server.secureURL("/1", kind))?.network
            #expect(error?.reason == reason && error?.phase == .connecting, "\(kind): \(String(describing: error))")
        }
        let distrusting = makeDownloader()
        #expect(await distrusting.failure(server.secureURL("/1"))?.network?.reason == .certificateUnknownAuthority)
        let unchecked = makeDownloader { $0.tls = .insecure(hosts: ["localhost"]) }
        for kind in TestCertificates.Kind.allCases {
            #expect(try await unchecked.load(server.secureURL("/1", kind)).body == files["1"])
        }
        let missing = makeDownloader { $0.tls = .authorities("/nowhere.pem") }
        #expect(await missing.failure(server.secureURL("/1"))?.network?.reason == .secureConnectionFailed)
    }

    @Test("A server that stops during a body causes an interrupted connection", arguments: [false, true])
    func stopping(isSecure: Bool) async throws {
        let (server, _) = try makeServer()
        let downloader = makeDownloader { $0.tls = .authorities(server.certificates.authority) }
        let url = isSecure ? server.secureURL("/slow/a") : server.url("/slow/a")
        let log = ReportLog()
        let task = Task { try await downloader.load(LoadRequest(url: url), context: log.context()) }
        await log.waitForBody()
        server.stop()
        guard case .failure(let error as ImageError) = await task.result else {
            Issue.record("the load didn't fail")
            return
        }
        #expect(error.network?.reason == .connectionLost && error.network?.phase == .receivingBody)
        #expect(await downloader.failure(url)?.network?.reason == .cannotConnect)
    }

    @Test("Row 57: Canceling an HTTP/2 stream doesn't affect the other streams")
    func cancelledStream() async throws {
        let (server, files) = try makeServer()
        let downloader = makeDownloader { $0.tls = .authorities(server.certificates.authority) }
        let slow = server.secureURL("/slow/a")
        let log = ReportLog()
        let task = Task { try await downloader.load(LoadRequest(url: slow), context: log.context()) }
        await log.waitForBody()
        async let others = loadAll(downloader, files) { server.secureURL($0) }
        task.cancel()
        #expect(await task.result.isFailure)
        #expect(try await others == ["h2"])
        server.stop()
        #expect(Set(try server.log().map(\.connection)).count == 1)
    }
}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { return true }
        return false
    }
}
