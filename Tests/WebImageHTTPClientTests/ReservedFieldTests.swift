// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPClient
import WebImageHTTPTesting

@Suite("Reserved header fields and methods of the HTTP client", .timeLimit(.minutes(5)))
struct ReservedFieldTests {
    private func failure(_ server: LoopbackServer, _ change: (inout HTTPClient.Request) -> Void) async -> ImageError? {
        var request = HTTPClient.Request(url: server.url("/a"))
        change(&request)
        var configuration = HTTPClient.Configuration()
        configuration.network.proxy = .disabled
        do throws(ImageError) {
            _ = try await HTTPClient(configuration: configuration).fetch(request)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "A header field that only the transport may set is rejected before anything is sent",
        arguments: [
            "Transfer-Encoding", "Content-Length", "Connection", "upgrade", "HOST", "TE", "Trailer", "Keep-Alive",
            "Proxy-Authorization",
        ])
    func fields(name: String) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Data("a".utf8))])
        let error = await failure(server) { $0.headers.append(name: name, value: "1") }
        #expect(error == .request(.invalidOption(name: "header field \(name)", value: "reserved")))
        #expect(server.counters.connections == 0)
    }

    @Test("CONNECT is rejected, and other methods are sent")
    func connect() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Data("a".utf8))])
        let error = await failure(server) { $0.method = "CONNECT" }
        #expect(error == .request(.invalidOption(name: "method", value: "CONNECT")))
        #expect(server.counters.connections == 0)
        #expect(await failure(server) { $0.method = "OPTIONS" } == nil)
    }
}
