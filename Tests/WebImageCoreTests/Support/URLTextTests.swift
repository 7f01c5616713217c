// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestBasics

@Suite("URLs in text form")
struct URLTextTests {
    /// Checks the URL that each text denotes.
    private func check(_ table: [(text: String, expected: String?)], relativeTo base: URL? = nil) {
        for (text, expected) in table {
            #expect(URLText.url(text, relativeTo: base)?.absoluteString == expected, "\(text.debugDescription)")
        }
    }

    @Test("Existing escapes in paths, queries, and fragments remain unchanged, and all other bytes are encoded once")
    func escapes() {
        check([
            ("http://host/a%20b c.png", "http://host/a%20b%20c.png"),
            ("http://host/q.png?u=%E2%82%AC&t=[1]", "http://host/q.png?u=%E2%82%AC&t=%5B1%5D"),
            ("http://host/x%2Fy z.png", "http://host/x%2Fy%20z.png"),
            ("http://host/\u{fc}/%C3%bc/\u{1f600}", "http://host/%C3%BC/%C3%bc/%F0%9F%98%80"),
            ("http://host/a\"<>`{}|^[]b", "http://host/a%22%3C%3E%60%7B%7D%7C%5E%5B%5Db"),
            ("http://host/a\u{0}\u{1}\u{7f}\u{80}b", "http://host/a%00%01%7F%C2%80b"),
            ("http://host/!$&'()*+,;=:@-._~", "http://host/!$&'()*+,;=:@-._~"),
            ("http://host/?a b=c'd\"e|f%26", "http://host/?a%20b=c%27d%22e%7Cf%26"),
            ("http://host/?a?b/c\\d", "http://host/?a?b/c%5Cd"), ("x://host/?a'b c", "x://host/?a'b%20c"),
            ("http://host/#a b#c`%20%", "http://host/#a%20b%23c%60%20%25"), ("http://host/?#", "http://host/?#"),
        ])
    }

    @Test("A percent sign that begins no escape is encoded, and the escapes next to it aren't")
    func percentSigns() {
        check([
            ("http://host/100%/a%20b", "http://host/100%25/a%20b"), ("http://host/%", "http://host/%25"),
            ("http://host/%4", "http://host/%254"), ("http://host/%%41", "http://host/%25%41"),
            ("http://host/%zz%0g", "http://host/%25zz%250g"), ("http://host/?%&%25", "http://host/?%25&%25"),
        ])
    }

    @Test("User names and passwords are encoded, and empty ones are dropped")
    func userInformation() {
        check([
            ("http://us er:p%40ss@host/", "http://us%20er:p%40ss@host/"),
            ("http://a@b:c@d@host/", "http://a%40b:c%40d@host/"),
            ("http://u:p:w;=@host/", "http://u:p%3Aw%3B%3D@host/"),
            ("http://\u{fc}:%zz[]@host/", "http://%C3%BC:%25zz%5B%5D@host/"), ("http://@host/", "http://host/"),
            ("http://:@host/", "http://host/"), ("http://user:@host/", "http://user@host/"),
            ("http://:pw@host/", "http://:pw@host/"), ("http://us/er@host/", "http://us/er@host/"),
            ("socks5h://us er@host:1080", "socks5h://us%20er@host:1080"),
        ])
    }

    @Test("Whitespace at the ends, tabs, and line breaks are ignored")
    func whitespace() {
        check([
            ("  http://host/a \n", "http://host/a"), ("\u{0}\u{1f}http://host/a\u{0}", "http://host/a"),
            ("ht\ttp://ho\nst/a\r\nb", "http://host/ab"), ("http://host/a%2\n0b", "http://host/a%20b"),
            ("http://host/a?b \tc ", "http://host/a?b%20c"),
        ])
        #expect(URLText.withoutIgnoredCharacters(" \u{1}a\t b\r\nc \u{0}") == "a bc")
        #expect(URLText.withoutIgnoredCharacters(" \n") == "")
    }

    @Test("Backslashes separate the parts of special URLs and are encoded in other ones")
    func backslashes() {
        check([
            ("http:\\\\host\\a\\b?c\\d#e\\f", "http://host/a/b?c%5Cd#e%5Cf"), ("http://host\\..\\a", "http://host/a"),
            ("http://good.example\\@evil.example/", "http://good.example/@evil.example/"),
            ("https:/host/a", "https://host/a"), ("https:host/a", "https://host/a"),
            ("https:/\\//host//a", "https://host//a"), ("file:\\\\\\tmp\\a", "file:///tmp/a"),
            ("x://host/a\\b", "x://host/a%5Cb"), ("x:\\a", "x:%5Ca"),
        ])
    }

    @Test("Dot segments are removed, also if their dots are percent-encoded")
    func dotSegments() {
        check([
            ("http://host/a/./b/../c", "http://host/a/c"), ("http://host/a/%2e%2E/b/%2e", "http://host/b/"),
            ("http://host/../..", "http://host/"), ("http://host/a/..", "http://host/"),
            ("http://host/.../.a/a./%2e%2e%2e", "http://host/.../.a/a./%2e%2e%2e"),
            ("http://host/.%2e/a", "http://host/a"), ("file:///a/../b", "file:///b"), ("x:/a/../b", "x:/b"),
            ("x:/.//a", "x:/.//a"), ("x:/..//a", "x:/.//a"), ("x:a/../b", "x:a/../b"),
        ])
    }

    @Test("The scheme becomes lowercase, and the host, the port, and an empty path keep their meaning")
    func hosts() {
        check([
            ("HTTP://Host:080/A", "http://Host:80/A"), ("http://host:/a", "http://host/a"),
            ("http://host:65535/", "http://host:65535/"), ("http://[::1]:8080/a b", "http://[::1]:8080/a%20b"),
            ("http://[fe80::1%25lo]/", "http://[fe80::1%25lo]/"), ("http://%61.example/", "http://%61.example/"),
            ("http://b\u{fc}cher.example/\u{fc}", "http://xn--bcher-kva.example/%C3%BC"),
            ("http://b\u{fc}cher.example:81/a%20b c", "http://xn--bcher-kva.example:81/a%20b%20c"),
            ("http://host", "http://host"), ("http://host?a b", "http://host?a%20b"),
            ("https://host#f", "https://host#f"),
        ])
        #expect(URLText.serialized("http://B\u{fc}cher.example/a b") == "http://B\u{fc}cher.example/a%20b")
    }

    @Test("URLs of data, files, and other schemes, and relative references, are encoded in the same way")
    func otherSchemes() {
        check([
            ("data:image/png;base64,AA EC/w==", "data:image/png;base64,AA%20EC/w=="),
            ("DATA:text/plain,a%20b c%", "data:text/plain,a%20b%20c%25"),
            ("data:image/svg+xml,<svg a='%23b'/>\n", "data:image/svg+xml,%3Csvg%20a='%23b'/%3E"),
            ("file:///tmp/a%20b c.png", "file:///tmp/a%20b%20c.png"), ("file:/tmp/a b", "file:///tmp/a%20b"),
            ("file://localhost/a", "file://localhost/a"), ("file:////x", "file:////x"),
            ("file:a b.png", "file:a%20b.png"), ("memory:a b%20c", "memory:a%20b%20c"),
            ("album://ABC/1 2", "album://ABC/1%202"), ("x.y:z", "x.y:z"), ("photo 1%20.png", "photo%201%20.png"),
            ("/a b?c d#e f", "/a%20b?c%20d#e%20f"), ("//host/a b", "//host/a%20b"),
        ])
    }

    @Test(
        "Text without a valid host or port isn't a URL",
        arguments: [
            "", " \n", "http:", "http://", "http:///", "http://?a", "http://@/x", "http://a b/", "http://a\u{0}b/",
            "http://a\u{7f}b/", "http://a<b/", "http://a^b/", "http://a|b/", "http://[::1/", "http://[::1]x/",
            "http://a[b]/", "http://a]/", "http://host:x/", "http://host:65536/", "http://host:99999999999999999999/",
            "http://:80/", "http://user@/", "http://user@:80/", "file://user@host/a", "file://host:80/a", "x://:80/",
            "x://u@/", "x://a b/",
        ])
    func invalid(text: String) {
        #expect(URLText.url(text) == nil)
    }

    @Test("Relative references are resolved by the rules for the scheme of the base")
    func references() throws {
        let base = try #require(URL(string: "http://u:p@a.example:81/x/y?q#f"))
        let origin = "http://u:p@a.example:81"
        check(
            [
                ("b c", "\(origin)/x/b%20c"), ("?n", "\(origin)/x/y?n"), ("#g h", "\(origin)/x/y?q#g%20h"),
                ("/", "\(origin)/"), ("\\b", "\(origin)/b"), ("../../../z", "\(origin)/z"), ("..\\z", "\(origin)/z"),
                ("..%2Fz", "\(origin)/x/..%2Fz"), (".", "\(origin)/x/"), ("1:b", "\(origin)/x/1:b"),
                ("http:b", "\(origin)/x/b"), ("http:/b", "\(origin)/b"), ("//b.example/c d", "http://b.example/c%20d"),
                ("\\\\b.example\\c", "http://b.example/c"), ("/\\b.example", "http://b.example"),
                ("///b.example/", "http://b.example/"), ("http:\\\\b.example/", "http://b.example/"),
                ("https:b.example/c", "https://b.example/c"), ("a:b", "a:b"), ("data:,x y", "data:,x%20y"), ("", nil),
                (" ", nil), ("//", nil),
            ], relativeTo: base)
        check([("b", "http://a.example/b"), ("?b", "http://a.example?b")], relativeTo: URL(string: "http://a.example"))
        check([("b", nil), ("http://c/", "http://c/")], relativeTo: URL(string: "data:,x"))
    }

    @Test("The bytes of header fields are encoded, also if they aren't valid UTF-8")
    func headerFields() throws {
        let base = try #require(URL(string: "http://a.example/x"))
        for (value, expected) in [
            ("/\u{fc}", "http://a.example/%FC"), ("/\u{c3}\u{bc}%20 b", "http://a.example/%C3%BC%20%20b"),
            ("/\u{65e5}", "http://a.example/%E6%97%A5"),
            ("//b\u{c3}\u{bc}cher.example/", "http://xn--bcher-kva.example/"),
        ] {
            #expect(URLText.url(field: value, relativeTo: base)?.absoluteString == expected, "\(value)")
        }
        #expect(URLText.url(field: "", relativeTo: base) == nil)
    }

    @Test("The end of a URL is encoded without the rules for dot segments")
    func ends() {
        #expect(URLText.encodedPath("//a b/../*?c'[d]#e f") == "//a%20b/../*?c%27%5Bd%5D#e%20f")
        #expect(URLText.encodedPath("") == "")
    }
}

@Suite("Random URLs in text form")
struct RandomURLTextTests {
    private static let pieces = [
        "http:", "https:", "HTTP:", "file:", "data:", "x:", "//", "/", "\\", "?", "#", "@", ":", "%", "%2", "%20",
        "%41",
        "%C3%BC", "%2e", "..", ".", " ", "\t", "\n", "a", "b.example", "[", "]", "[::1]", "80", "\u{fc}", "\u{65e5}",
        "'", "\"", "|", "^", "{", "<", "&", "=", "\u{0}", "\u{7f}",
    ]

    /// Returns a text of up to ten random pieces.
    private func randomText(_ pieces: [String], _ generator: inout SeededGenerator) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...10, using: &generator) {
            text += pieces[Int.random(in: 0..<pieces.count, using: &generator)]
        }
        return text
    }

    @Test("A parsed URL is ASCII, denotes itself, and has one host for Foundation and for the library")
    func denotesItself() {
        var generator = SeededGenerator(seed: 32)
        var count = 0
        for _ in 0..<20_000 {
            let start = ["", "http://", "https://b.example/", "file://", "x://"].randomElement(using: &generator) ?? ""
            let text = start + randomText(Self.pieces, &generator)
            if let plain = URLText.serialized(text), URLText.serialized(plain) != plain {
                Issue.record("\(text.debugDescription) becomes \(plain) and then another URL.")
            }
            guard let url = URLText.url(text) else { continue }
            count += 1
            let plain = url.absoluteString
            let isStable =
                plain.utf8.allSatisfy { (33...126).contains($0) } && URL(string: plain)?.absoluteString == plain
                && URLText.url(plain)?.absoluteString == plain
            // Foundation interprets hosts that are both internationalized and percent-encoded in its own way.
            let authority = plain.drop { $0 != "/" }.dropFirst(2).prefix { !"/?#".contains($0) }
            let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            let hasHost = ["http", "https"].contains(url.scheme) && !host.contains("%")
            if !isStable || hasHost && HostName(ofURL: plain) != HostName(of: url) {
                Issue.record("\(text.debugDescription) becomes \(plain.debugDescription).")
            }
        }
        #expect(count > 2_000)
    }

    @Test("Encoding doesn't change the bytes that a path denotes")
    func denotesSameBytes() throws {
        var generator = SeededGenerator(seed: 33)
        let pieces = Self.pieces.filter { !["/", "\\", "//", "?", "#", "\t", "\n", ".", "..", "%2e"].contains($0) }
        let prefix = "http://b.example/"
        for _ in 0..<5_000 {
            // Spaces at the end would be ignored, and dots could be a dot segment.
            let path = randomText(pieces, &generator) + "x"
            let plain = try #require(URLText.url(prefix + path)?.absoluteString)
            guard plain.hasPrefix(prefix), decoded(String(plain.dropFirst(prefix.count))) == decoded(path) else {
                Issue.record("\(path.debugDescription) becomes \(plain).")
                continue
            }
        }
    }

    /// Returns the bytes of a text without percent-encoding.
    private func decoded(_ text: String) -> [UInt8] {
        var rest = Array(text.utf8)[...]
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            let isHexadecimal = digits.allSatisfy { "0123456789abcdefABCDEF".utf8.contains($0) }
            if byte == UInt8(ascii: "%"), digits.count == 2, isHexadecimal,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
