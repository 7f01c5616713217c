// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageNet

@Suite(
    "Trust and identity", .timeLimit(.minutes(5)),
    .enabled(if: Nginx.missing == nil, Comment(rawValue: Nginx.missing ?? "")))
struct TLSTests {
    private let body = patternBytes(5_000)

    @Test("The client certificate, from files or data, is sent only to its host")
    func clientCertificate() async throws {
        let server = try Nginx(
            files: ["a": body], secureSettings: "ssl_verify_client on; ssl_client_certificate ca.pem;")
        let trusted = TLSOptions.authorities(server.certificates.authority)
        let paths = (server.certificates.certificate(.good), server.certificates.key)
        let byFiles = TLSOptions.ClientCertificate.files(certificate: paths.0, privateKey: paths.1)
        let byBytes = TLSOptions.ClientCertificate.pem(
            certificate: try Data(contentsOf: URL(filePath: paths.0)),
            privateKey: try Data(contentsOf: URL(filePath: paths.1))
        )
        let downloader = makeDownloader { $0.tls = trusted }
        for certificate in [byFiles, byBytes] {
            let response = try await downloader.load(server.secureURL("/a")) {
                $0.network.tls = trusted.identifying(as: certificate, at: "localhost")
            }
            #expect(response.body == body)
        }
        // nginx reports a missing or untrusted certificate with a status instead of a TLS alert.
        let elsewhere = trusted.identifying(as: byFiles, at: "other.example")
        let unknown = TLSOptions.ClientCertificate.files(
            certificate: server.certificates.certificate(.selfSigned), privateKey: server.certificates.key)
        for tls in [trusted, elsewhere, trusted.identifying(as: unknown, at: "localhost")] {
            let error = await downloader.failure(server.secureURL("/a")) {
                $0.network.tls = tls
                $0.network.retry = .standard
            }
            #expect(error?.code == 2007 && error?.network?.statusCode == 400 && error?.network?.attempt == 1)
        }
        let unusable = TLSOptions.ClientCertificate.files(certificate: "/nowhere.pem", privateKey: "/nowhere.key")
        let error = await downloader.failure(server.secureURL("/a")) {
            $0.network.tls = trusted.identifying(as: unusable, at: "localhost")
        }
        #expect(error?.network?.reason == .clientCertificateRejected)
    }

    @Test("TLS alerts about client certificates cause specific errors", arguments: ["-tls1_3", "-tls1_2"])
    func alerts(version: String) async throws {
        let server = try TLSAlertServer([version, "-Verify", "1", "-verify_return_error"])
        let trusted = TLSOptions.authorities(server.certificates.authority)
        let missing = await makeDownloader { $0.tls = trusted }.failure(server.url)?.network
        #expect(missing?.reason == .clientCertificateRequired, "\(String(describing: missing))")
        let unknown = TLSOptions.ClientCertificate.files(
            certificate: server.certificates.certificate(.selfSigned), privateKey: server.certificates.key)
        let tls = trusted.identifying(as: unknown, at: "localhost")
        let rejected = await makeDownloader { $0.tls = tls }.failure(server.url)?.network
        #expect(rejected?.reason == .clientCertificateRejected, "\(String(describing: rejected))")
    }

    @Test("A pinned host requires the pinned key in every spelling of its name")
    func pinsOfOtherSpellings() async throws {
        let server = try Nginx(files: ["a": body])
        let trusted = TLSOptions.authorities(server.certificates.authority)
        let right = try server.certificates.publicKeyPin()
        let wrong = Data(repeating: 7, count: 32).base64EncodedString()
        let text = server.secureURL("/a").absoluteString
        for host in ["local%68ost", "LOCALHOST", "localhost.", "%6cocalhost%2E", "ｌｏｃａｌｈｏｓｔ", "localhost"] {
            let url = try #require(URL(string: text.replacing("localhost", with: host)))
            for pinned in ["localhost", "LOCALHOST.", "local%68ost"] {
                let failing = makeDownloader { $0.tls = trusted.pinning(pinned, to: [wrong]) }
                #expect(await failing.failure(url)?.network?.reason == .certificateUntrusted, "\(host) \(pinned)")
                let working = makeDownloader { $0.tls = trusted.pinning(pinned, to: [right]) }
                #expect(try await working.load(url).body == body, "\(host) \(pinned)")
            }
        }
    }

    @Test("A pinned host requires the pinned key in addition to the chain, and other hosts don't")
    func pins() async throws {
        let server = try Nginx(files: ["a": body])
        let trusted = TLSOptions.authorities(server.certificates.authority)
        let right = try server.certificates.publicKeyPin()
        let wrong = Data(repeating: 7, count: 32).base64EncodedString()
        for (host, keys, isRight) in [
            ("localhost", [right], true), ("localhost", [wrong, "sha256//\(right)"], true),
            ("localhost", [wrong], false), ("LOCALHOST", [wrong], false), ("localhost", [], false),
            ("other.example", [wrong], true),
        ] {
            let downloader = makeDownloader { $0.tls = trusted.pinning(host, to: keys) }
            let error = await downloader.failure(server.secureURL("/a"))?.network
            #expect(error?.reason == (isRight ? nil : .certificateUntrusted), "\(keys)")
            #expect(isRight || error?.details.contains("public key") == true)
        }
        let pinned = makeDownloader { $0.tls = TLSOptions().pinning("localhost", to: [right]) }
        #expect(await pinned.failure(server.secureURL("/a"))?.network?.reason == .certificateUnknownAuthority)
    }

    @Test("Old TLS versions are rejected, and authorities and trust can be set for each request")
    func versions() async throws {
        let old = try Nginx(
            files: ["a": body], secureSettings: "ssl_protocols TLSv1; ssl_ciphers DEFAULT@SECLEVEL=0;")
        let downloader = makeDownloader { $0.tls = .authorities(old.certificates.authority) }
        #expect(await downloader.failure(old.secureURL("/a"))?.network?.reason == .secureConnectionFailed)
        let middle = try Nginx(files: ["a": body], secureSettings: "ssl_protocols TLSv1.2;")
        var bytes = TLSOptions()
        bytes.trustRoots = .pem(try Data(contentsOf: URL(filePath: middle.certificates.authority)))
        let trusting = makeDownloader { [bytes] in $0.tls = bytes }
        #expect(try await trusting.load(middle.secureURL("/a")).body == body)
        var strict = bytes
        strict.minimumVersion = .tls13
        let error = await trusting.failure(middle.secureURL("/a")) { [strict] in $0.network.tls = strict }
        #expect(error?.network?.reason == .secureConnectionFailed)
        let insecure = try await trusting.load(middle.secureURL("/a", .selfSigned)) {
            $0.network.tls = .insecure(hosts: ["localhost"])
        }
        #expect(insecure.body == body)
        #expect(await trusting.failure(middle.secureURL("/a", .selfSigned))?.network?.reason == .certificateUntrusted)
    }

    @Test("The server receives the requested host name, but not an IP address, as the server name")
    func serverName() async throws {
        let server = try Nginx(files: ["a": body], secureSettings: "add_header X-Name \"$ssl_server_name\";")
        let downloader = makeDownloader { $0.tls = .authorities(server.certificates.authority) }
        #expect(try await downloader.load(server.secureURL("/a")).httpResponse?.headers["X-Name"] == "localhost")
        var parts = try #require(URLComponents(url: server.secureURL("/a"), resolvingAgainstBaseURL: false))
        parts.host = "127.0.0.1"
        let address = try #require(parts.url)
        #expect(try await downloader.load(address).httpResponse?.headers["X-Name"] == nil)
    }

    @Test("A server that closes connections after three requests causes no errors")
    func keepAliveLimit() async throws {
        let server = try Nginx(files: ["a": body], settings: "keepalive_requests 3;")
        let downloader = makeDownloader { $0.tls = .authorities(server.certificates.authority) }
        for url in [server.url("/a"), server.secureURL("/a")] {
            try await withThrowingTaskGroup(of: Data.self) { group in
                for _ in 0..<20 { group.addTask { try await downloader.load(url).body } }
                for try await received in group { #expect(received == body) }
            }
        }
        server.stop()
        #expect(try server.log().count == 40)
    }
}
