// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore
import WebImageHTTP

@testable import WebImageNet

/// The targets of cookies, transport security, authentication, addresses, and redirects.
enum Access {
    static let targets = [
        FuzzTarget(
            text: "set-cookie",
            seeds: [
                "a=b; Path=/b; Domain=a.example; Secure; HttpOnly; SameSite=Lax; Max-Age=5\n__Host-a=b; Secure; Path=/",
                "a=b; Expires=Wed, 09 Jun 2031 10:18:14 GMT",
            ],
            dictionary: [
                "Domain=", "Path=", "Max-Age=", "Expires=", "__Host-", "__Secure-", "Secure", "; ", "\t", "\u{85}",
                "\u{2028}", "FALSE", "TRUE",
            ], run: cookies),
        FuzzTarget(
            text: "cookie-file",
            seeds: ["# Netscape\n#HttpOnly_.a.example\tTRUE\t/\tFALSE\t1800000000\tname\tvalue\n"],
            dictionary: ["\tTRUE", "\tFALSE", "#HttpOnly_", "a.example", "\u{85}", "\r\n"], run: cookieFile),
        FuzzTarget(text: "cookie-date", maxLength: 64, seeds: ["Wed, 09 Jun 2021 10:18:14 GMT", "1 jan 1601 0:0:0"]) {
            guard let date = CookieDate.parse($0) else { return }
            require(HTTPDate.parse(HTTPDate.format(date), now: Sample.now) == date, "A cookie date is out of range.")
        },
        FuzzTarget(
            text: "hsts", maxLength: 256,
            seeds: [
                "max-age=31536000; includeSubDomains", ".a.example \"20330101 00:00:00\"\nb.example \"unlimited\"\n",
            ],
            dictionary: ["max-age=", "includeSubDomains", "\"unlimited\"", "a.example", "\n"], run: strictTransport),
        FuzzTarget(
            text: "challenges", maxLength: 512,
            seeds: [
                "Basic realm=\"a\", Digest realm=\"b\\\"\", nonce=\"c\", qop=\"auth\", algorithm=SHA-256-sess, opaque=d",
                "Digest nonce=a, stale=true",
            ],
            dictionary: [
                "Digest ", "Basic ", "realm=", "nonce=", "qop=", "auth", "algorithm=", "SHA-256", "MD5", "-sess",
            ],
            run: challenges),
        FuzzTarget(
            text: "address", maxLength: 128,
            seeds: ["127.0.0.1", "0x7f.1", "[::ffff:10.0.0.1%eth0]", "2001:db8::5efe:10.0.0.1", "8.8.8.8"], run: address
        ),
        FuzzTarget(
            text: "proxy", maxLength: 256,
            seeds: ["http://user:password@proxy.example:3128\na.example, .b.example, 10.0.0.0/8, *"],
            dictionary: ["socks5h://", "https://", "*", "/8", ",", "10.0.0.1"], run: proxy),
        FuzzTarget(
            text: "redirect", maxLength: 256,
            seeds: ["/a b?c#d", "//b.example/\u{E9}", "http://b.example:80", "https://user:password@a.example/"],
            dictionary: ["http://", "https://", "//", "@", "%", "[", "a.example", "ftp:", "javascript:"], run: redirect),
    ]

    private static func jar() -> CookieJar {
        CookieJar(clock: { Sample.now }, isPublicSuffix: { !$0.contains(".") })
    }

    private static func cookies(_ text: String) {
        let jar = jar()
        for line in text.split(separator: "\n") { jar.setCookie(String(line), for: Sample.page) }
        checkSending(jar)
        require(jar.cookies(for: Sample.otherPage) == nil, "A cookie reaches another host.")
        for cookie in jar.cookies {
            require(cookie.matches(host: "a.example"), "A host sets a cookie for another host.")
        }
        checkFile(jar)
    }

    private static func cookieFile(_ text: String) {
        let jar = jar()
        jar.add(netscapeText: text)
        checkSending(jar)
        checkFile(jar)
    }

    /// Checks that no cookie ends the header field in which it's sent.
    private static func checkSending(_ jar: CookieJar) {
        guard let sent = jar.cookies(for: Sample.page) else { return }
        require(!Sample.breaksHeader(sent), "A cookie ends its header field.")
        require(sent.unicodeScalars.count <= CookieStorage.maxHeaderBytes, "The header field is too long.")
    }

    /// Checks that a saved jar contains the same cookies.
    private static func checkFile(_ jar: CookieJar) {
        let again = self.jar()
        again.add(netscapeText: jar.netscapeText)
        // The file has no tabs in values and no fractions of seconds.
        let names = jar.cookies.filter { !"\($0.name)\($0.value)\($0.path)\($0.domain)".contains("\t") }.map(identity)
        require(again.cookies.map(identity) == names, "A saved jar has other cookies.")
    }

    private static func identity(_ cookie: Cookie) -> [String] {
        ["\(cookie.isHostOnly) \(cookie.isSecure)", cookie.domain, cookie.path, cookie.name, cookie.value]
    }

    private static func strictTransport(_ text: String) {
        let store = HSTSStore(clock: { Sample.now })
        store.receive(["Strict-Transport-Security": text], from: Sample.page)
        store.add(text: text)
        require(store.upgraded(Sample.page) == Sample.page, "An HTTPS URL changes.")
        let again = HSTSStore(clock: { Sample.now })
        again.add(text: store.text)
        require(again.known.keys.sorted() == store.known.keys.sorted(), "A saved store has other hosts.")
    }

    private static func challenges(_ text: String) {
        for challenge in AuthenticationChallenge.parse(text) {
            guard let response = DigestResponse(challenge) else { continue }
            let header = response.header(
                Credential(user: "u\"", password: "p"), method: "GET", target: "/", count: 1, clientNonce: "c")
            // The challenge comes from a header field, so it has no line breaks of its own.
            require(Sample.breaksHeader(text) || !Sample.breaksHeader(header), "A response ends its header field.")
            guard let sent = AuthenticationChallenge.parse(header).first else {
                fatalError("A response isn't valid.")
            }
            require(sent.parameters["nonce"] == challenge.parameters["nonce"], "A response changes the nonce.")
            require(sent.realm == challenge.realm, "A response changes the realm.")
        }
    }

    private static func address(_ text: String) {
        guard let address = IPAddress(host: text) else { return }
        require(address.bytes.count == 4 || address.bytes.count == 16)
        let kind = AddressClass(address)
        guard address.bytes.count == 4 else { return }
        let prefix = [UInt8](repeating: 0, count: 10) + [255, 255]
        guard let mapped = IPAddress(bytes: prefix + address.bytes) else { fatalError() }
        require(
            (AddressClass(mapped) == .global) == (kind == .global), "An address has another class in its IPv6 form.")
    }

    private static func proxy(_ text: String) {
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        _ = ProxyAddress(lines[0])
        guard lines.count == 2 else { return }
        for host in ["a.example", "10.1.2.3", "[::1]", ""] { _ = ProxyResolver.isException(host, lines[1]) }
        require(ProxyResolver.isException("a.example", lines[1] + ",a.example"), "An exception has no effect.")
    }

    private static func redirect(_ text: String) {
        for allowsDowngrade in [false, true] {
            let head = HTTPResponseHead(statusCode: 302, headers: ["Location": text])
            guard
                let redirect = try? RedirectRules(
                    head, method: "POST", from: Sample.page, allowsDowngrade: allowsDowngrade)
            else { continue }
            let scheme = redirect.url.scheme?.lowercased()
            require(scheme == "https" || allowsDowngrade && scheme == "http", "A redirect leads to \(redirect.url).")
            require(redirect.url.host()?.isEmpty == false, "A redirect leads to no host.")
            require(redirect.isCrossOrigin == (Origin(redirect.url) != Origin(Sample.page)))
            require(!redirect.isCrossOrigin || redirect.url.userInfo == nil, "A redirect sends credentials.")
            if let sent = try? RequestChecks.asciiURL(redirect.url) {
                require(sent.utf8.allSatisfy { (33...126).contains($0) && $0 != UInt8(ascii: "#") })
            }
        }
    }
}
