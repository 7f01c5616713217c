// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

/// The tests use the resolver of CNetFaults. Connections to the public address 11.22.33.44 lead to a local server.
@Suite("Address policy", .timeLimit(.minutes(5)))
struct AddressPolicyTests {
    private let body = patternBytes(1_000)
    private let publicHost = "11-22-33-44.at.test"

    private func url(_ host: String, _ port: UInt16, _ path: String = "/a") throws -> URL {
        try #require(URL(string: "http://\(host):\(port)\(path)"), "\(host)")
    }

    private func publicDownloader(
        _ change: (inout ImageDownloader.Configuration) -> Void = { _ in }
    ) -> ImageDownloader {
        makeDownloader {
            $0.addressPolicy = .publicOnly
            change(&$0)
        }
    }

    @Test("No spelling of a private address or of a local name leads to a connection")
    func spellings() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let downloader = publicDownloader()
        for host in AddressSpellings.special + AddressSpellings.localNames {
            let error = await downloader.failure(try url(host, server.port))?.network
            #expect(error?.reason == .addressNotAllowed && error?.phase == .connecting, "\(host)")
        }
        #expect(server.counters.connections == 0)
        #expect(try await downloader.load(try url(publicHost, server.port)).body == body)
    }

    @Test("A redirect to a private address in any spelling isn't followed")
    func redirects() async throws {
        let other = try LoopbackServer(routes: ["/a": .ok(body)])
        let spellings =
            AddressSpellings.notations(of: [127, 0, 0, 1]) + AddressSpellings.embedded([127, 0, 0, 1])
            + AddressSpellings.localNames
        let hosts = spellings.filter { $0.utf8.allSatisfy { $0 < 128 } }
        let port = other.port
        let server = try LoopbackServer { request in
            .redirect(to: "http://\(hosts[Int(request.path.dropFirst()) ?? 0]):\(port)/a")
        }
        let downloader = publicDownloader()
        for (index, host) in hosts.enumerated() {
            let error = await downloader.failure(try url(publicHost, server.port, "/\(index)"))?.network
            #expect(error?.reason == .addressNotAllowed, "\(host): \(String(describing: error))")
        }
        #expect(other.counters.connections == 0 && server.counters.requests == hosts.count)
    }

    @Test("A name that resolves to a private address at the second lookup isn't connected to again")
    func rebinding() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let name = try url("11-22-33-44.127-0-0-1.downloader.rebind.test", server.port)
        #expect(try await publicDownloader().load(name).body == body)
        // Another downloader has no cached result of the first lookup.
        for _ in 0..<2 {
            #expect(await publicDownloader().failure(name)?.network?.reason == .addressNotAllowed)
        }
        #expect(server.counters.connections == 1 && wi_public_connections(server.port) == 1)
    }

    @Test(
        "If a name has public and private addresses, only the public ones are connected to",
        arguments: [
            "11-22-33-44.127-0-0-1.at.test", "127-0-0-1.11-22-33-44.at.test", "--1.11-22-33-44.at.test",
            "--1.127-0-0-1.at.test", "10-0-0-1.127-0-0-1.at.test",
        ])
    func mixedAddresses(host: String) async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let error = await publicDownloader().failure(try url(host, server.port))?.network
        if host.hasPrefix("11-22-33-44") { #expect(error == nil) }
        if !host.contains("11-22-33-44") { #expect(error?.reason == .addressNotAllowed) }
        #expect(server.counters.connections == Int(wi_public_connections(server.port)))
    }

    @Test("Alternatives obey the address policy")
    func alternatives() async throws {
        let server = try LoopbackServer { $0.path == "/a" ? .ok(Data("private".utf8)) : .status(404) }
        let downloader = publicDownloader()
        for host in ["127.1", "localhost.", "[::ffff:7f00:1]", "0x7f000001"] {
            let target = try url(host, server.port)
            let error = await downloader.failure(try url(publicHost, server.port, "/none")) {
                $0.network.alternativeURLs = [target]
            }
            #expect(error != nil, "\(host)")
        }
        #expect(server.requests.allSatisfy { $0.path == "/none" })
    }

    // MARK: - Proxies

    @Test("With a proxy that isn't declared to enforce the policy, no request is sent", arguments: ["http", "socks5h"])
    func undeclaredProxy(scheme: String) async throws {
        let proxy = try LoopbackServer { _ in .ok(Data("reached".utf8)) }
        let address = try #require(URL(string: "\(scheme)://127.0.0.1:\(proxy.port)"))
        let downloader = publicDownloader { $0.proxy = .url(address) }
        for host in ["a.example", "127.0.0.1", "8.8.8.8", "localhost"] {
            let error = await downloader.failure(try url(host, 80))?.network
            #expect(error?.reason == .addressNotAllowed, "\(host)")
        }
        #expect(proxy.counters.connections == 0)
    }

    @Test("A declared proxy receives public names, but neither private addresses in any spelling nor local names")
    func declaredProxy() async throws {
        let proxy = try LoopbackServer { .ok(Data($0.target.utf8)) }
        let address = try #require(URL(string: "http://127.0.0.1:\(proxy.port)"))
        let downloader = publicDownloader { $0.proxy = .url(address, enforcesAddressPolicy: true) }
        #expect(try await downloader.load(try url("a.example", 81)).body == Data("http://a.example:81/a".utf8))
        #expect(try await downloader.load(try url("8.8.4.0x4", 81)).body == Data("http://8.8.4.4:81/a".utf8))
        for host in AddressSpellings.special + AddressSpellings.localNames {
            let error = await downloader.failure(try url(host, 80))?.network
            #expect(error?.reason == .addressNotAllowed, "\(host)")
        }
        #expect(proxy.counters.requests == 2)
    }

    @Test(
        "Through a SOCKS proxy, no private address and no local name is reached",
        .enabled(if: TestProxy.Kind.socks.missing == nil, Comment(rawValue: TestProxy.Kind.socks.missing ?? "")))
    func socksProxy() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let proxy = try TestProxy(.socks)
        let address = try #require(URL(string: "socks5h://127.0.0.1:\(proxy.port)"))
        for declared in [false, true] {
            let downloader = publicDownloader { $0.proxy = .url(address, enforcesAddressPolicy: declared) }
            for host in ["localhost.", "127.1", "0x7f.1", "017700000001", "a.localhost", "[::ffff:127.0.0.1]"] {
                let error = await downloader.failure(try url(host, server.port))?.network
                #expect(error?.reason == .addressNotAllowed, "\(host)")
            }
        }
        #expect(server.counters.connections == 0)
        // Without the policy, the same proxy reaches the server.
        let trusting = makeDownloader { $0.proxy = .url(address) }
        #expect(try await trusting.load(try url("127.1", server.port)).body == body)
    }

    @Test("A proxy's description contains no credentials")
    func proxyDescription() throws {
        let url = try #require(URL(string: "http://user:secret@proxy.example:1"))
        #expect("\(ImageDownloader.Configuration.Proxy.url(url))" == "http://proxy.example:1")
        #expect(ProxyAddress("user:secret@proxy.example:1").text == "http://user:secret@proxy.example:1")
        let encoded = ProxyAddress(" us er:p%40ss@proxy.example:1\n")
        #expect(encoded.text == "http://us%20er:p%40ss@proxy.example:1" && encoded.host == "proxy.example")
    }
}
