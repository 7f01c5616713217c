// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

@Suite("Proxies", .timeLimit(.minutes(5)))
struct ProxyTests {
    private let body = patternBytes(50_000)

    private func resolver(_ environment: [String: String]) -> ProxyResolver {
        ProxyResolver(ImageDownloader.Configuration(), environment: environment)
    }

    @Test("The environment defines proxies by scheme, and uppercase HTTP_PROXY is ignored")
    func environment() {
        let all = resolver(["http_proxy": "http://p:1", "HTTPS_PROXY": "http://p:2", "ALL_PROXY": "socks5h://p:3"])
        #expect(all.proxy(for: "http://a.example/") == "http://p:1")
        #expect(all.proxy(for: "https://a.example/") == "http://p:2")
        let rest = resolver(["HTTP_PROXY": "http://evil:1", "ALL_PROXY": "http://p:3", "https_proxy": ""])
        #expect(rest.proxy(for: "http://a.example/") == "http://p:3")
        #expect(rest.proxy(for: "https://a.example/") == "http://p:3")
        #expect(resolver(["HTTP_PROXY": "http://evil:1"]).proxy(for: "http://a.example/") == nil)
        #expect(resolver(["http_proxy": "http://p:1", "no_proxy": "a.example"]).proxy(for: "http://a.example/") == nil)
        var guarded = ImageDownloader.Configuration()
        guarded.addressPolicy = .publicOnly
        #expect(
            ProxyResolver(guarded, environment: ["http_proxy": "http://p:1"]).proxy(for: "http://a.example/") == nil)
        guarded.proxy = .at("http://own:1")
        #expect(ProxyResolver(guarded, environment: [:]).proxy(for: "https://a.example/") == "http://own:1")
    }

    @Test(
        "NO_PROXY accepts hosts with their subdomains, addresses, and networks",
        arguments: [
            ("a.example", "a.example", true), ("x.a.example", "a.example", true), ("xa.example", "a.example", false),
            ("x.a.example", ".a.example", true), ("A.Example", "b, a.example", true), ("a.example", "*", true),
            ("a.example", "", false), ("10.1.2.3", "10.0.0.0/8", true), ("11.1.2.3", "10.0.0.0/8", false),
            ("10.1.2.3", "10.1.2.3", true), ("110.1.2.3", "10.1.2.3", false), ("1.2.3.4", "3.4", false),
            ("[::1]", "::1", true), ("a.example", "10.0.0.0/8", false), ("10.0.0.1", "10.0.0.0/99", false),
            ("10.0.0.1", "0.0.0.0/0", true), ("a.example.", "a.example", true),
        ])
    func exceptions(host: String, list: String, expected: Bool) {
        #expect(ProxyResolver.isException(host, list) == expected)
    }

    @Test("A proxy that closes the connection causes a proxy error")
    func hangingUp() async throws {
        let proxy = try LoopbackServer { _ in .raw(Data()) }
        let downloader = makeDownloader { $0.proxy = .at("http://127.0.0.1:\(proxy.port)") }
        for scheme in ["http", "https"] {
            let url = try #require(URL(string: "\(scheme)://far.invalid/a"))
            #expect(await downloader.failure(url)?.network?.reason == .proxyFailed, "\(scheme)")
        }
        #expect(proxy.requests.map(\.method) == ["GET", "CONNECT"])
    }

    @Test(
        "The HTTP proxy tinyproxy forwards HTTP and, with CONNECT, HTTPS",
        .enabled(if: TestProxy.Kind.http.missing == nil && Nginx.missing == nil, "tinyproxy or nginx isn't installed"))
    func http() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http)
        let downloader = makeDownloader {
            $0.proxy = .at("http://127.0.0.1:\(proxy.port)")
            $0.tls = .authorities(server.certificates.authority)
        }
        let plain = try await downloader.load(server.url("/a"))
        #expect(plain.body == body && plain.httpResponse?.headers["Via"]?.contains("tinyproxy") == true)
        #expect(try await downloader.load(server.secureURL("/a")).body == body)
        let wrong = await downloader.failure(server.secureURL("/a", .wrongHost))?.network
        #expect(wrong?.reason == .certificateUntrusted)
        proxy.stop()
        for url in [server.url("/a"), server.secureURL("/b")] {
            let reason = await makeDownloader { $0.proxy = .at("http://127.0.0.1:\(proxy.port)") }.failure(url)?
                .network?
                .reason
            #expect(reason == .proxyFailed)
        }
    }

    @Test(
        "A proxy receives the credentials of its URL, and missing ones cause an authentication error",
        .enabled(if: TestProxy.Kind.http.missing == nil && Nginx.missing == nil, "tinyproxy or nginx isn't installed"))
    func credentials() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http, user: "u", password: "secret")
        func downloader(_ user: String) -> ImageDownloader {
            makeDownloader {
                $0.proxy = .at("http://\(user)127.0.0.1:\(proxy.port)")
                $0.tls = .authorities(server.certificates.authority)
            }
        }
        for url in [server.url("/a"), server.secureURL("/a")] {
            #expect(try await downloader("u:secret@").load(url).body == body)
            for user in ["", "u:wrong@"] {
                #expect(
                    await downloader(user).failure(url)?.network?.reason == .authenticationRequired, "\(user) \(url)")
            }
        }
    }

    @Test(
        "A SOCKS proxy resolves names and checks credentials, and its failures are proxy errors",
        .enabled(if: TestProxy.Kind.socks.missing == nil, Comment(rawValue: TestProxy.Kind.socks.missing ?? "")))
    func socks() async throws {
        let server = try LoopbackServer(routes: ["/a": .ok(body)])
        let proxy = try TestProxy(.socks, user: "u", password: "secret")
        func downloader(_ user: String) -> ImageDownloader {
            makeDownloader { $0.proxy = .at("socks5h://\(user)127.0.0.1:\(proxy.port)") }
        }
        let url = try #require(URL(string: "http://localhost:\(server.port)/a"))
        #expect(try await downloader("u:secret@").load(url).body == body)
        #expect(await downloader("").failure(url)?.network?.reason == .proxyFailed)
        #expect(await downloader("u:wrong@").failure(url)?.network?.reason == .proxyFailed)
        let unknown = try #require(URL(string: "http://nobody.invalid/a"))
        #expect(await downloader("u:secret@").failure(unknown)?.network?.reason == .proxyFailed)
        proxy.stop()
        #expect(await downloader("u:secret@").failure(url)?.network?.reason == .proxyFailed)
    }
}
