// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageTestSupport
import WebImageTesting

@testable import WebImageNet

/// stunnel before tinyproxy before nginx: every one of them somebody else's program.
@Suite(
    "Proxies behind TLS", .timeLimit(.minutes(5)),
    .enabled(
        if: TLSFront.missing == nil && TestProxy.Kind.http.missing == nil && Nginx.missing == nil,
        "stunnel, tinyproxy or nginx is not installed"))
struct SecureProxyTests {
    private let body = patternBytes(50_000)

    private func downloader(
        _ front: TLSFront, _ tls: TLSConfiguration, user: String = "", host: String = "localhost"
    ) -> ImageDownloader {
        makeDownloader {
            $0.proxy = .url("https://\(user)\(host):\(front.port)")
            $0.tls = tls
            $0.retry = .standard
        }
    }

    @Test("They carry http and https; the authorities of the configuration count for them too")
    func carrying() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http)
        let front = try TLSFront(before: proxy.port, server.certificates)
        let trusted = TLSConfiguration.authorities(server.certificates.authority)
        var bytes = TLSConfiguration()
        bytes.authorityData = try Data(contentsOf: URL(filePath: server.certificates.authority))
        for tls in [trusted, bytes] {
            let downloader = downloader(front, tls)
            for _ in 0..<3 {
                let plain = try await downloader.load(server.url("/a"))
                #expect(plain.body == body && plain.head?.fields["Via"]?.contains("tinyproxy") == true)
                #expect(try await downloader.load(server.secureURL("/a")).body == body)
            }
        }
        // The fault is the server's, and not the proxy's; libcurl loses sight of it inside of two layers of TLS.
        let wrong = await downloader(front, trusted).failure(server.secureURL("/a", .expired))?.network
        #expect([.certificateExpired, .secureConnectionFailed].contains(wrong?.reason) && wrong?.attempt == 1)
        #expect(wrong?.detail.hasPrefix("proxy") == false, "\(String(describing: wrong))")
        let pinned = trusted.pinning("localhost", to: [try server.certificates.publicKeyPin()])
        #expect(try await downloader(front, pinned).load(server.url("/a")).body == body)
    }

    @Test("Their certificates' faults are told as such and as the proxy's, and not tried again")
    func certificates() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http)
        let trusted = TLSConfiguration.authorities(server.certificates.authority)
        let good = try TLSFront(before: proxy.port, server.certificates)
        let faults: [(TLSFront, TLSConfiguration, NetworkError.Reason)] = [
            (good, .system, .certificateUnknownRoot),
            (good, trusted.pinning("localhost", to: []), .certificateUntrusted),
            (try TLSFront(before: proxy.port, server.certificates, .wrongHost), trusted, .certificateUntrusted),
            (try TLSFront(before: proxy.port, server.certificates, .expired), trusted, .certificateExpired),
            (try TLSFront(before: proxy.port, server.certificates, .notYetValid), trusted, .certificateNotYetValid),
            (try TLSFront(before: proxy.port, server.certificates, .selfSigned), trusted, .certificateUntrusted),
        ]
        for (front, tls, reason) in faults {
            for url in [server.url("/a"), server.secureURL("/a")] {
                let error = await downloader(front, tls).failure(url)?.network
                #expect(
                    error?.reason == reason && error?.detail.hasPrefix("proxy: ") == true,
                    "\(String(describing: error))")
                #expect(error?.attempt == 1)
            }
        }
        let unchecked = TLSConfiguration.insecure(hosts: ["localhost"])
        for (front, _, _) in faults {
            #expect(try await downloader(front, unchecked).load(server.url("/a")).body == body)
        }
    }

    @Test("They get our certificate where they want one; users and passwords go inside of TLS")
    func identity() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http, user: "u", password: "secret")
        let front = try TLSFront(before: proxy.port, server.certificates, wantsCertificate: true)
        let trusted = TLSConfiguration.authorities(server.certificates.authority)
        let certificate = ClientCertificate.files(
            certificate: server.certificates.certificate(.good), key: server.certificates.key)
        let known = trusted.identifying(as: certificate, at: "localhost")
        for url in [server.url("/a"), server.secureURL("/a")] {
            #expect(try await downloader(front, known, user: "u:secret@").load(url).body == body)
            #expect(
                await downloader(front, known, user: "u:wrong@").failure(url)?.network?.reason
                    == .authenticationRequired)
            let missing = await downloader(front, trusted, user: "u:secret@").failure(url)?.network
            // TLS 1.3 says it behind the handshake: libcurl may see the connection's end first.
            let reasons: [NetworkError.Reason?] = [.clientCertificateRequired, .proxyFailed]
            #expect(reasons.contains(missing?.reason), "\(String(describing: missing))")
        }
    }

    @Test("A proxy that speaks no TLS, or is not there, is a proxy error")
    func notSecure() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http)
        let trusted = TLSConfiguration.authorities(server.certificates.authority)
        let front = try TLSFront(before: proxy.port, server.certificates)
        let lonely = try TLSFront(before: proxy.port, server.certificates)
        proxy.stop()
        front.stop()
        for url in [server.url("/a"), server.secureURL("/a")] {
            for port in [front.port, lonely.port] {
                let downloader = makeDownloader {
                    $0.proxy = .url("https://localhost:\(port)")
                    $0.tls = trusted
                }
                let error = await downloader.failure(url)?.network
                // A proxy that takes the request and then resets is a connection that was lost.
                let isLost = port == lonely.port && error?.reason == .connectionLost
                #expect(error?.reason == .proxyFailed || isLost, "\(String(describing: error))")
            }
            let plain = try LoopbackServer { _ in .status(400) }
            let downloader = makeDownloader { $0.proxy = .url("https://127.0.0.1:\(plain.port)") }
            #expect(await downloader.failure(url)?.network?.reason == .proxyFailed, "\(url)")
        }
    }
}
