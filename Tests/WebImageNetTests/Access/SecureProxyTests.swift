// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageTestSupport

@testable import WebImageNet

/// Tests with stunnel, tinyproxy, and nginx, which are all third-party programs.
@Suite(
    "Proxies over TLS", .timeLimit(.minutes(5)),
    .enabled(
        if: TLSFront.missing == nil && TestProxy.Kind.http.missing == nil && Nginx.missing == nil,
        "stunnel, tinyproxy or nginx is not installed"))
struct SecureProxyTests {
    private let body = patternBytes(50_000)

    private func downloader(
        _ front: TLSFront, _ tls: TLSOptions, user: String = "", host: String = "localhost"
    ) -> ImageDownloader {
        makeDownloader {
            $0.proxy = .at("https://\(user)\(host):\(front.port)")
            $0.tls = tls
            $0.retry = .standard
        }
    }

    @Test("Proxies over TLS forward HTTP and HTTPS, and use the configured authorities")
    func carrying() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http)
        let front = try TLSFront(before: proxy.port, server.certificates)
        let trusted = TLSOptions.authorities(server.certificates.authority)
        var bytes = TLSOptions()
        bytes.trustRoots = .pem(try Data(contentsOf: URL(filePath: server.certificates.authority)))
        for tls in [trusted, bytes] {
            let downloader = downloader(front, tls)
            for _ in 0..<3 {
                let plain = try await downloader.load(server.url("/a"))
                #expect(plain.body == body && plain.httpResponse?.headers["Via"]?.contains("tinyproxy") == true)
                #expect(try await downloader.load(server.secureURL("/a")).body == body)
            }
        }
        // The fault is in the server's certificate, not the proxy's. With two layers of TLS, libcurl may not report the
        // cause.
        let wrong = await downloader(front, trusted).failure(server.secureURL("/a", .expired))?.network
        #expect([.certificateExpired, .secureConnectionFailed].contains(wrong?.reason) && wrong?.attempt == 1)
        #expect(wrong?.details.hasPrefix("proxy") == false, "\(String(describing: wrong))")
        let pinned = trusted.pinning("localhost", to: [try server.certificates.publicKeyPin()])
        #expect(try await downloader(front, pinned).load(server.url("/a")).body == body)
    }

    @Test("Invalid certificates of proxies are reported as proxy errors and aren't retried")
    func certificates() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http)
        let trusted = TLSOptions.authorities(server.certificates.authority)
        let good = try TLSFront(before: proxy.port, server.certificates)
        let faults: [(TLSFront, TLSOptions, ImageError.NetworkFailure.Reason)] = [
            (good, TLSOptions(), .certificateUnknownAuthority),
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
                    error?.reason == reason && error?.details.hasPrefix("proxy: ") == true,
                    "\(String(describing: error))")
                #expect(error?.attempt == 1)
            }
        }
        let unchecked = TLSOptions.insecure(hosts: ["localhost"])
        for (front, _, _) in faults {
            #expect(try await downloader(front, unchecked).load(server.url("/a")).body == body)
        }
    }

    @Test("Proxies receive the client certificate on request, and credentials are sent inside TLS")
    func identity() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http, user: "u", password: "secret")
        let front = try TLSFront(before: proxy.port, server.certificates, requiresClientCertificate: true)
        let trusted = TLSOptions.authorities(server.certificates.authority)
        let certificate = TLSOptions.ClientCertificate.files(
            certificate: server.certificates.certificate(.good), privateKey: server.certificates.key)
        let known = trusted.identifying(as: certificate, at: "localhost")
        for url in [server.url("/a"), server.secureURL("/a")] {
            #expect(try await downloader(front, known, user: "u:secret@").load(url).body == body)
            #expect(
                await downloader(front, known, user: "u:wrong@").failure(url)?.network?.reason
                    == .authenticationRequired)
            let missing = await downloader(front, trusted, user: "u:secret@").failure(url)?.network
            // TLS 1.3 reports the missing certificate after the handshake, so libcurl may see the end of the connection
            // first.
            let reasons: [ImageError.NetworkFailure.Reason?] = [.clientCertificateRequired, .proxyFailed]
            #expect(reasons.contains(missing?.reason), "\(String(describing: missing))")
        }
    }

    @Test("A proxy without TLS or without a listener causes a proxy error")
    func notSecure() async throws {
        let server = try Nginx(files: ["a": body])
        let proxy = try TestProxy(.http)
        let trusted = TLSOptions.authorities(server.certificates.authority)
        let front = try TLSFront(before: proxy.port, server.certificates)
        let lonely = try TLSFront(before: proxy.port, server.certificates)
        proxy.stop()
        front.stop()
        for url in [server.url("/a"), server.secureURL("/a")] {
            for port in [front.port, lonely.port] {
                let downloader = makeDownloader {
                    $0.proxy = .at("https://localhost:\(port)")
                    $0.tls = trusted
                }
                let error = await downloader.failure(url)?.network
                // If a proxy accepts the request and then resets the connection, the error is an interrupted
                // connection.
                let isLost = port == lonely.port && error?.reason == .connectionLost
                #expect(error?.reason == .proxyFailed || isLost, "\(String(describing: error))")
            }
            let plain = try LoopbackServer { _ in .status(400) }
            let downloader = makeDownloader { $0.proxy = .at("https://127.0.0.1:\(plain.port)") }
            #expect(await downloader.failure(url)?.network?.reason == .proxyFailed, "\(url)")
        }
    }
}
