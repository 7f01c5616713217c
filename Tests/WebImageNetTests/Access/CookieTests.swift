// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageNet

private let start = Date(timeIntervalSince1970: 1_700_000_000)

private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

private func setCookie(_ values: String...) -> HTTPHeaderFields {
    HTTPHeaderFields(values.map { .init(name: "Set-Cookie", value: $0) })
}

/// Returns a jar in which `co.uk` and every name of one label are public suffixes.
private func makeJar(_ now: Shared<Date> = Shared(start)) -> CookieJar {
    CookieJar(clock: { now.value }, isPublicSuffix: { !$0.contains(".") || $0 == "co.uk" })
}

@Suite("Cookies")
struct CookieTests {
    @Test(
        "A cookie of a.b.example is sent only to the URLs that its attributes allow",
        arguments: [
            ("n=v", "https://a.b.example/", "n=v"), ("n=v", "https://b.example/", nil),
            ("n=v", "https://x.a.b.example/", nil), ("n=v; Domain=b.example", "https://x.b.example/", "n=v"),
            ("n=v; Domain=.B.Example", "https://b.example/", "n=v"),
            ("n=v; Domain=b.example", "https://bb.example/", nil),
            ("n=v; Domain=c.example", "https://c.example/", nil), ("n=v; domain=example", "https://a.b.example/", nil),
            ("n=v; Domain=x.a.b.example", "https://x.a.b.example/", nil),
            ("n=v; Domain=", "https://a.b.example/", "n=v"),
            ("n=v", "https://a.b.example/dir/x", "n=v"), ("n=v; Path=/p", "https://a.b.example/p", "n=v"),
            ("n=v; Path=/p", "https://a.b.example/p/q", "n=v"), ("n=v; Path=/p", "https://a.b.example/pq", nil),
            ("n=v; Path=/p/", "https://a.b.example/p/q", "n=v"), ("n=v; Path=p", "https://a.b.example/x", "n=v"),
            ("n=v; Secure", "https://a.b.example/", "n=v"), ("n=v; Secure", "http://a.b.example/", nil),
            ("n=v; HttpOnly", "http://a.b.example/", "n=v"), ("n", "https://a.b.example/", nil),
            ("=v", "https://a.b.example/", nil), ("n=", "https://a.b.example/", "n="),
            (" n = v w ", "https://a.b.example/", "n=v w"), ("n=\"v\"", "https://a.b.example/", "n=\"v\""),
            ("n=a=b", "https://a.b.example/", "n=a=b"), ("n=v\u{1}", "https://a.b.example/", nil),
            ("n=v; Max-Age=0", "https://a.b.example/", nil), ("n=v; Max-Age=-1", "https://a.b.example/", nil),
            ("n=v; Max-Age=x", "https://a.b.example/", "n=v"),
            (
                "n=v; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
                "https://a.b.example/", "n=v"
            ),
            ("n=v; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "https://a.b.example/", nil),
            ("n=v; Expires=nonsense", "https://a.b.example/", "n=v"), ("__Secure-n=v", "https://a.b.example/", nil),
            ("__Secure-n=v; Secure", "https://a.b.example/", "__Secure-n=v"),
            ("__Host-n=v; Secure; Path=/", "https://a.b.example/", "__Host-n=v"),
            ("__Host-n=v; Secure", "https://a.b.example/", nil), ("__host-n=v; Path=/", "https://a.b.example/", nil),
            ("__Host-n=v; Secure; Path=/; Domain=b.example", "https://a.b.example/", nil),
        ])
    func matching(field: String, asked: String, expected: String?) throws {
        let jar = makeJar()
        jar.receive(setCookie(field), from: try url("https://a.b.example/"))
        #expect(jar.cookies(for: try url(asked)) == expected)
    }

    @Test("No cookie is set for a public suffix, including those of the system's list")
    func publicSuffixes() throws {
        let jar = makeJar()
        jar.receive(setCookie("a=1; Domain=co.uk", "b=1; Domain=uk"), from: try url("https://x.co.uk/"))
        #expect(jar.cookies.isEmpty)
        #expect(PublicSuffix.contains("com") && !PublicSuffix.contains("example.com"))
        let system = CookieJar()
        system.receive(setCookie("n=v"), from: try url("http://localhost/"))
        #expect(system.cookies(for: try url("http://localhost:81/")) == "n=v")
    }

    @Test("Without a list of public suffixes, names that resemble one get no domain cookies")
    func suffixesWithoutList() throws {
        for name in [
            "com", "uk", "co.uk", "com.au", "ac.jp", "gov.in", "gouv.fr", "co.xn--p1ai", "github.io", "appspot.com",
            "bbc.uk", "localhost",
        ] {
            #expect(PublicSuffix.resemblesSuffix(name), "\(name)")
        }
        for name in ["example.com", "example.co.uk", "example.de", "me.github.io", "a.b.example", "example.xn--p1ai"] {
            #expect(!PublicSuffix.resemblesSuffix(name), "\(name)")
        }
        let jar = CookieJar(clock: { Date(timeIntervalSince1970: 0) }, isPublicSuffix: PublicSuffix.resemblesSuffix)
        jar.setCookie("a=1; Domain=co.uk", for: try url("https://x.co.uk/"))
        jar.setCookie("b=1; Domain=CO.UK.", for: try url("https://x.co.uk/"))
        jar.setCookie("c=1; Domain=c%6f.uk", for: try url("https://x.co.uk/"))
        #expect(jar.cookies.isEmpty)
        jar.setCookie("d=1; Domain=X.co.uk.", for: try url("https://x.co.uk/"))
        #expect(jar.cookies(for: try url("https://y.x.co.uk/")) == "d=1")
        // The server of a public suffix itself can set cookies for itself.
        jar.setCookie("e=1; Domain=co.uk", for: try url("https://co.uk/"))
        #expect(jar.cookies(for: try url("https://co.uk/")) == "e=1")
        #expect(jar.cookies(for: try url("https://z.co.uk/")) == nil)
    }

    @Test("A cookie can be set with the value of a header field, under the same rules as cookies of servers")
    func setting() throws {
        let jar = makeJar()
        jar.setCookie("n=v; Path=/p", for: try url("https://a.example/"))
        jar.setCookie("m=v; Domain=b.example", for: try url("https://a.example/"))
        #expect(jar.cookies(for: try url("https://a.example/p")) == "n=v")
        #expect(jar.cookies(for: try url("https://a.example/")) == nil)
        #expect(jar.cookies(for: try url("https://b.example/")) == nil)
    }

    @Test("The disabled jar stores no cookies")
    func disabled() throws {
        CookieJar.disabled.setCookie("n=v", for: try url("https://a.example/"))
        CookieJar.disabled.add(netscapeText: "a.example\tFALSE\t/\tFALSE\t0\tn\tv\n")
        #expect(CookieJar.disabled.cookies(for: try url("https://a.example/")) == nil)
        #expect(CookieJar.disabled.cookies.isEmpty && CookieJar.disabled.ifEnabled == nil)
    }

    @Test("A cookie of an IP address is sent only to the same address")
    func addresses() throws {
        let jar = makeJar()
        jar.receive(setCookie("a=1", "b=1; Domain=0.0.1"), from: try url("http://127.0.0.1/"))
        #expect(jar.cookies(for: try url("http://127.0.0.1:8080/")) == "a=1")
        jar.receive(setCookie("c=1; Domain=[::1]"), from: try url("http://[::1]/"))
        #expect(jar.cookies(for: try url("http://[::1]/")) == nil)
        jar.receive(setCookie("c=1"), from: try url("http://[::1]/"))
        #expect(jar.cookies(for: try url("http://[::1]/")) == "c=1")
    }

    @Test("Longer paths come first, then older cookies, and the default path is the directory of the URL")
    func order() throws {
        let jar = makeJar()
        let page = try url("http://a.example/x/y?q")
        jar.receive(setCookie("a=1; Path=/", "b=1", "c=1; Path=/", "a=2; Path=/"), from: page)
        #expect(jar.cookies(for: page) == "b=1; a=2; c=1")
        #expect(jar.cookies(for: try url("http://a.example/x")) == "b=1; a=2; c=1")
        #expect(jar.cookies(for: try url("http://a.example")) == "a=2; c=1")
    }

    @Test("Cookies expire at their time, and an expired cookie removes the one with the same name")
    func expiry() throws {
        let now = Shared(start)
        let jar = makeJar(now)
        let page = try url("http://a.example/")
        jar.receive(setCookie("a=1; Max-Age=10", "b=1; Max-Age=99999999999999999999", "c=1"), from: page)
        #expect(jar.cookies.map(\.expires) == [start + 10, start + CookieParser.longestLife, nil])
        now.value = start + 10
        #expect(jar.cookies(for: page) == "b=1; c=1")
        jar.receive(setCookie("c=; Max-Age=0"), from: page)
        #expect(jar.cookies(for: page) == "b=1")
    }

    @Test("Without TLS, a secure cookie is neither sent, set, nor shadowed")
    func secure() throws {
        let jar = makeJar()
        jar.receive(setCookie("a=1; Secure"), from: try url("https://a.example/"))
        jar.receive(setCookie("a=2", "b=1; Secure", "c=1"), from: try url("http://a.example/"))
        #expect(jar.cookies(for: try url("http://a.example/")) == "c=1")
        #expect(jar.cookies(for: try url("https://a.example/")) == "a=1; c=1")
    }

    @Test("Limits are 50 cookies per domain, 3,000 per jar, and 4,096 bytes, and the least used is removed")
    func limits() throws {
        let jar = makeJar()
        let page = try url("http://a.example/")
        for index in 0..<50 { jar.receive(setCookie("n\(index)=v; Path=/\(index)"), from: page) }
        #expect(jar.cookies(for: try url("http://a.example/0")) == "n0=v")
        jar.receive(setCookie("new=v"), from: page)
        #expect(jar.cookies.count == 50 && jar.cookies.contains { $0.name == "n0" })
        #expect(!jar.cookies.contains { $0.name == "n1" })
        for (length, isTaken) in [(4_093, true), (4_094, false)] {
            let host = try url("http://b\(length).example/")
            jar.receive(setCookie("big=" + String(repeating: "x", count: length)), from: host)
            #expect((jar.cookies(for: host) != nil) == isTaken)
        }
        for index in 0..<3100 { jar.receive(setCookie("n=v"), from: try url("http://h\(index).example/")) }
        #expect(jar.cookies.count == 3000)
        #expect(jar.cookies(for: try url("http://h3099.example/")) == "n=v" && jar.cookies(for: page) == nil)
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test("Dates of all formats are parsed, and invalid dates are rejected")
    func dates() {
        let expected = Date(timeIntervalSince1970: 784_111_777)
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "06-nov-1994 8:49:37", "1994 Nov 6th 08:49:37",
        ] {
            #expect(CookieDate.parse(text) == expected, "\(text)")
        }
        #expect(CookieDate.parse("01 Jan 70 00:00:00") == Date(timeIntervalSince1970: 0))
        #expect(CookieDate.parse("29 Feb 2024 23:59:59") == Date(timeIntervalSince1970: 1_709_251_199))
        for text in [
            "", "Nov 1994", "32 Nov 1994 08:49:37", "06 Nov 1994 24:00:00", "06 Nov 1600 08:49:37", "06 Foo 94",
        ] {
            #expect(CookieDate.parse(text) == nil, "\(text)")
        }
    }

    @Test("Random Set-Cookie fields never exceed the limits of the jar or inject line breaks")
    func fuzz() throws {
        var generator = SeededGenerator(seed: 6265)
        let jar = makeJar()
        let page = try url("https://a.b.example/x/y")
        let pieces = [
            "n", "=", ";", " ", "v", "Domain", "b.example", "Path", "/", "Max-Age", "-", "9", "Expires", "__Host-",
            "Secure", "\u{e9}", "\t", "\r", "\n", "\"", ",", "Jan", ":", "1994", "\u{0}",
        ]
        for _ in 0..<5000 {
            let text = (0..<Int.random(in: 0...12, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }.joined()
            jar.receive(setCookie(text), from: page)
        }
        #expect(jar.cookies.count <= 100)
        let field = jar.cookies(for: page) ?? ""
        #expect(field.unicodeScalars.allSatisfy { $0.value >= 32 || $0 == "\t" })
        let copy = makeJar()
        copy.add(netscapeText: jar.netscapeText)
        #expect(copy.cookies.count <= jar.cookies.count)
    }
}
