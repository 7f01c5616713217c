// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageNet

@Suite("Rules for hosts in other spellings")
struct HostRulesTests {
    private static let spellings = [
        "a.example", "A.Example", "a.example.", "a%2eexample", "%61.example", "A%2EEXAMPLE%2E", "ａ．example",
        "a。example",
    ]
    private static let others = ["b.example", "aa.example", "a.example.b", "a-example", "127.0.0.1", "x.a.example"]

    private func url(_ scheme: String, _ host: String) throws -> URL {
        try #require(URL(string: "\(scheme)://\(host)/d/x"), "\(host)")
    }

    @Test("A host that requires HTTPS is upgraded in every spelling, regardless of the spelling that set the policy")
    func strictTransport() throws {
        for known in Self.spellings {
            let store = HSTSStore { Date(timeIntervalSince1970: 1_000) }
            store.receive(
                HTTPHeaderFields([.init(name: "Strict-Transport-Security", value: "max-age=100")]),
                from: try url("https", known))
            for host in Self.spellings {
                #expect(store.upgraded(try url("http", host)).scheme == "https", "\(known) \(host)")
            }
            for host in Self.others { #expect(store.upgraded(try url("http", host)).scheme == "http", "\(host)") }
        }
        let file = HSTSStore { Date(timeIntervalSince1970: 1_000) }
        file.add(text: "A.EXAMPLE. \"unlimited\"\n0x7f.1 \"unlimited\"\na..b \"unlimited\"")
        #expect(file.known.keys.sorted() == ["a.example"])
    }

    @Test("A host without certificate checks, with pins, or with a client certificate is found in every spelling")
    func trust() throws {
        for named in Self.spellings {
            var tls = TLSOptions.insecure(hosts: [named])
            tls.pinnedPublicKeys = [named: ["key"]]
            tls.clientCertificates = [named: .pem(certificate: Data(), privateKey: Data())]
            for spelling in Self.spellings {
                let host = try #require(HostName(of: try url("https", spelling))).text
                #expect(!tls.verifies(host) && tls.pinText(host) == "sha256//key" && tls.certificate(for: host) != nil)
            }
            for other in Self.others {
                #expect(tls.verifies(other) && tls.pinText(other) == nil && tls.certificate(for: other) == nil)
            }
        }
    }

    @Test("Cookies and credentials of a host are sent to it in every spelling, and to no other host")
    func secrets() throws {
        for known in Self.spellings {
            let jar = CookieJar(clock: { Date(timeIntervalSince1970: 0) })
            jar.setCookie("n=v; Path=/", for: try url("https", known))
            let store = CredentialStore()
            store.setCredentials(user: "u", password: "p", for: try url("https", known))
            for host in Self.spellings {
                #expect(jar.cookies(for: try url("https", host)) == "n=v", "\(known) \(host)")
                #expect(!store.secrets(for: try url("https", host)).isEmpty, "\(known) \(host)")
            }
            for host in Self.others {
                #expect(jar.cookies(for: try url("https", host)) == nil, "\(known) \(host)")
                #expect(store.secrets(for: try url("https", host)).isEmpty, "\(known) \(host)")
            }
        }
    }

    @Test("All spellings of a host have one origin, one address, and one entry in NO_PROXY")
    func origins() throws {
        for host in Self.spellings {
            #expect(Origin(try url("http", host)).description == "http://a.example:80")
            #expect(ProxyResolver.isException(host, "a.example") && ProxyResolver.isException("a.example", host))
            #expect(try RequestChecks.asciiURL(try url("http", host)) == "http://a.example/d/x")
        }
        for host in ["127.0.0.1", "127.1", "0x7f000001", "[::ffff:127.0.0.1]", "127.0.0.1."] {
            #expect(Origin(try url("http", host)).description == "http://127.0.0.1:80")
            #expect(try RequestChecks.asciiURL(try url("http", host)) == "http://127.0.0.1/d/x")
            #expect(ProxyResolver.isException(host, "127.0.0.0/8"))
        }
        #expect(try RequestChecks.asciiURL(try url("http", "[FE80::1%25lo]")) == "http://[fe80::1%25lo]/d/x")
        #expect(Origin(try url("http", "a%00b")) != Origin(try url("http", "a%01b")))
    }

    @Test(
        "A URL whose host has no normal form isn't sent, and its user name and password aren't part of the error",
        arguments: ["a%00b", "a%2fb", "1.2.3.4.5", "127.0.0.256", "a..b", "%2568ost", "a!b"])
    func invalid(host: String) async throws {
        let address = try #require(URL(string: "http://user:secret@\(host)/"))
        let error = await makeDownloader().failure(address)
        #expect(error == .request(.invalidURL("http://\(host)/")))
        let redirect = HTTPResponseHead(
            statusCode: 302, headers: HTTPHeaderFields([.init(name: "Location", value: "http://\(host)/")]))
        #expect(throws: RedirectRules.Refusal.refused("the target is http://\(host)/")) {
            try RedirectRules(redirect, method: "GET", from: try url("http", "a.example"), allowsDowngrade: true)
        }
    }

    @Test("The value of a secret header field isn't part of the error about it")
    func secretHeaders() throws {
        for (name, isSecret) in [("X-Api-Key", true), ("Authorization", true), ("X-Other", false)] {
            let fields = HTTPHeaderFields([.init(name: name, value: "value\r\nX: y")])
            let shown = isSecret ? "<redacted>" : "value\r\nX: y"
            #expect(throws: ImageError.request(.invalidOption(name: "header field \(name)", value: shown))) {
                try RequestChecks.check(fields)
            }
        }
    }
}
