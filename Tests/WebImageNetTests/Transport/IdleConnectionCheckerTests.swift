// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Registry of libcurl's sockets", .timeLimit(.minutes(5)))
struct IdleConnectionCheckerTests {
    /// Two connected sockets.
    private struct Pair {
        let near: Int32
        let far: Int32

        init() {
            var ends: [Int32] = [-1, -1]
            _ = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends)
            (near, far) = (ends[0], ends[1])
        }

        /// A Boolean value that indicates whether the near end is open and not shut down.
        var isIntact: Bool {
            var byte: UInt8 = 0
            return recv(far, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) < 0 && errno == EAGAIN
        }

        func closeBoth() { for end in [near, far] { close(end) } }
    }

    /// libcurl 7.88 closes a socket that was never connected without calling `CURLOPT_CLOSESOCKETFUNCTION`.
    @Test("A socket that reuses a descriptor that libcurl closed silently isn't affected")
    func reusedDescriptor() {
        let registry = IdleConnectionChecker()
        let (first, foreign) = (Pair(), Pair())
        defer {
            first.closeBoth()
            foreign.closeBoth()
        }
        let connection = registry.open(first.near, group: "group", opener: 1)
        registry.keep(connection, isMultiplexed: false)
        #expect(dup2(foreign.near, first.near) == first.near)
        _ = send(foreign.far, "x", 1, 0)
        registry.sweep("group")
        registry.shutDown(connection)
        var byte: UInt8 = 0
        #expect(recv(foreign.near, &byte, 1, Int32(MSG_DONTWAIT)) == 1)
        #expect(foreign.isIntact)
        #expect(!connection.isOpen)
        #expect(!registry.isUsable(connection, user: 2, hasUnread: false))
        registry.removeClosed(openedFor: 1, group: "group")
        #expect(registry.count == 0)
    }

    @Test("When a transfer ends, only its own closed sockets are removed")
    func forgetting() {
        let registry = IdleConnectionChecker()
        let pairs = (0..<3).map { _ in Pair() }
        defer { for pair in pairs { pair.closeBoth() } }
        let connections = [(0, 1), (1, 1), (2, 2)].map { index, opener in
            registry.open(pairs[index].near, group: "group", opener: UInt64(opener))
        }
        for index in [0, 2] { #expect(dup2(pairs[1].far, pairs[index].near) == pairs[index].near) }
        registry.removeClosed(openedFor: 1, group: "group")
        #expect(connections.map(\.isOpen) == [false, true, true])
        #expect(registry.count == 2)
        registry.removeClosed(openedFor: 2, group: "group")
        #expect(registry.count == 1)
        registry.close(pairs[1].near)
        #expect(registry.count == 0)
    }

    /// The name resolves to ::1 and 127.0.0.1, and the server listens only on the second address. libcurl closes the
    /// socket of the failed attempt, and the next socket reuses its descriptor.
    @Test("Connections to the second address of a host don't affect other sockets of the process")
    func secondAddress() async throws {
        let server = try LoopbackServer { request in
            LoopbackServer.Response(body: Data("a".utf8)).with {
                $0.ending = request.index % 2 == 1 ? .close : .keepAlive
            }
        }
        let downloader = makeDownloader()
        let url = try #require(URL(string: "http://--1.127-0-0-1.at.test:\(server.port)/a"))
        for _ in 0..<4 {
            // The second response ends the connection.
            for _ in 0..<2 { #expect(try await downloader.load(url).body == Data("a".utf8)) }
            let pairs = (0..<32).map { _ in Pair() }
            for pair in pairs { #expect(send(pair.far, "x", 1, 0) == 1) }
            for _ in 0..<2 { #expect(try await downloader.load(url).body == Data("a".utf8)) }
            for pair in pairs {
                var byte: UInt8 = 0
                #expect(recv(pair.near, &byte, 1, Int32(MSG_DONTWAIT)) == 1)
                #expect(pair.isIntact)
                pair.closeBoth()
            }
        }
    }
}
