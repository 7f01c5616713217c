// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("The start of the network thread")
struct ThreadStartTests {
    @Test("A downloader that is shut down before its first load fails every load")
    func shutDownFirst() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Data([1, 2, 3]))])
        let downloader = ImageDownloader()
        downloader.shutdown()
        let request = LoadRequest(url: server.url("/a"))
        await #expect(throws: ImageError.request(.managerShutDown)) {
            try await downloader.load(request, context: LoadContext())
        }
        #expect(server.requests.isEmpty)
    }

    @Test("Settings that change before the first load apply to it")
    func settings() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Data([1, 2, 3]))])
        let downloader = ImageDownloader()
        downloader.isSuspended = true
        let request = LoadRequest(url: server.url("/a"))
        let load = Task { try await downloader.load(request, context: LoadContext()).body }
        while downloader.queuedCount == 0 { await Task.yield() }
        #expect(downloader.runningCount == 0 && server.requests.isEmpty)
        downloader.isSuspended = false
        #expect(try await load.value == Data([1, 2, 3]))
        downloader.shutdown()
    }

    @Test("Concurrent first loads share one thread and all succeed")
    func concurrent() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(Data([1, 2, 3]))])
        let downloader = ImageDownloader()
        let url = server.url("/a")
        let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
            for number in 0..<16 {
                let request = LoadRequest(url: url.appending(queryItems: [URLQueryItem(name: "n", value: "\(number)")]))
                group.addTask { try await downloader.load(request, context: LoadContext()).body }
            }
            var bodies: [Data] = []
            for try await body in group { bodies.append(body) }
            return bodies
        }
        #expect(bodies == Array(repeating: Data([1, 2, 3]), count: 16))
    }
}
