// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Host names")
struct HostNameTests {
    private static let normalForms: [String: [String]] = [
        "localhost": [
            "localhost", "LOCALHOST", "LocalHost", "localhost.", "local%68ost", "%6C%6f%63%61%6c%68%6f%73%74",
            "LOCAL%48OST%2E", "localhost%2e", "ｌｏｃａｌｈｏｓｔ", "local\u{ad}host",
        ],
        "example.org": [
            "example.org", "EXAMPLE.org", "example.ORG.", "example%2eorg", "example%2Eorg.", "ex%61mple.org",
            "example。org", "example．org", "example｡org", "%45xample.org",
        ],
        "xn--bcher-kva.example": [
            "bücher.example", "BÜCHER.example", "b%C3%BCcher.example", "B%C3%9CCHER.EXAMPLE.", "xn--bcher-kva.example",
            "XN--BCHER-KVA.example", "bu\u{308}cher.example",
        ],
        "127.0.0.1": [
            "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "0177.0.0.1", "0177.0.0.01", "0x7f.0.0.1", "0X7F.1",
            "0x7f000001", "2130706433", "017700000001", "0000000017700000001", "0x7f.0x0.0x0.0x1", "127.0x1",
            "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "１２７.０.０.１", "①②⑦.0.0.1", "127。0。0。1", "::ffff:127.0.0.1",
            "[::ffff:127.0.0.1]", "[::FFFF:7F00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::ffff:127.0.0.1%25lo]",
        ],
        "0.0.0.0": ["0", "0x", "0.0", "0x0.0", "00", "0.0.0.0"],
        "255.255.255.255": ["4294967295", "0xffffffff", "037777777777", "255.16777215", "255.255.65535"],
        "::1": ["::1", "[::1]", "[0:0:0:0:0:0:0:1]", "[0000::0001]", "[::0.0.0.1]", "[::1%25lo]", "::1%lo"],
        "fe80::1%lo": ["fe80::1%lo", "[fe80::1%25lo]", "[FE80:0::1%25lo]"],
        "fe80::1%LO": ["[fe80::1%25LO]"],
        "2001:db8::1": ["[2001:DB8::1]", "[2001:0db8:0:0:0:0:0:1]", "2001:db8:0::0:1"],
        "64:ff9b::7f00:1": ["[64:ff9b::127.0.0.1]", "[64:FF9B::7F00:1]"],
        "my_host": ["my_host", "MY_HOST."],
    ]

    @Test("Every spelling of a host has the same normal form")
    func spellings() {
        #expect(Self.normalForms.values.joined().count >= 60)
        for (form, spellings) in Self.normalForms {
            for spelling in spellings { #expect(HostName(spelling)?.text == form, "\(spelling)") }
            #expect(HostName(form)?.text == form)
        }
    }

    @Test("The host of a URL has the same normal form as its text, also after Foundation converted it")
    func urls() throws {
        for (form, spellings) in Self.normalForms {
            for spelling in spellings {
                let host = spelling.contains(":") && !spelling.hasPrefix("[") ? "[\(spelling)]" : spelling
                let url = try #require(URL(string: "http://u:p@\(host):81/a?b#c"), "\(host)")
                #expect(HostName(of: url)?.text == form, "\(host)")
                #expect(HostName(ofURL: url.absoluteString)?.text == form, "\(host)")
            }
        }
    }

    @Test(
        "A host with an empty label, an invalid character, or an invalid number has no normal form",
        arguments: [
            "", ".", "..", ".a", "a..b", "a b", "a%", "a%2", "a%zz", "a%00b", "a%2fb", "a%3a80", "a%40b", "%2568ost",
            "a/b", "a?b", "a#b", "a@b", "a\\b", "a!b", "a*b", "[", "[]", "[::1", "::g", "[127.0.0.1]", "[v1.a]",
            "1.2.3.4.5", "256.0.0.1", "127.0.0.256", "127.0.65536", "4294967296", "0x100000000", "08.1", "09",
            "1.2.3.0xg0.4", "a.1", "a.0x1", "fe80::1%", "fe80::1%25", "fe80::1%25a/b", "fe80::1%\u{0d}", "%ff%fe",
            "％41.org", "\u{2024}", "::1\0", "a\0b",
        ])
    func invalid(spelling: String) {
        #expect(HostName(spelling) == nil)
    }

    @Test("The form for URLs has brackets around IPv6 addresses and escapes the percent sign of a zone")
    func urlForms() {
        #expect(HostName("::1")?.urlText == "[::1]" && HostName("a.")?.urlText == "a")
        #expect(HostName("[fe80::1%25lo]")?.urlText == "[fe80::1%25lo]")
        #expect(HostName("::ffff:127.0.0.1")?.urlText == "127.0.0.1")
    }

    @Test("Ordinary URLs remain unchanged, and in other URLs only the host changes")
    func texts() {
        for url in [
            "http://example.org/", "https://example.org:8443/a%2Fb/?c=D#e", "http://127.0.0.1:80/A", "http://[::1]:1/",
            "https://u:p@example.org/@", "data:image/png;base64,AA", "memory:1", "",
        ] {
            #expect(HostName.keyText(ofURL: url) == url && HostName.normalizing(url: url) == url, "\(url)")
        }
        for (url, text) in [
            ("http://EXAMPLE.org./A?B", "http://example.org/A?B"),
            ("HTTPS://u:P@A.example:1", "HTTPS://u:P@a.example:1"),
            ("http://local%68ost?x", "http://localhost?x"), ("http://[::FFFF:1.2.3.4]:5/", "http://1.2.3.4:5/"),
        ] {
            #expect(HostName.keyText(ofURL: url) == text && HostName.normalizing(url: url) == text, "\(url)")
        }
        for url in ["album://ABC/1", "file:///A/b", "http:///A"] { #expect(HostName.keyText(ofURL: url) == url) }
        #expect(HostName.keyText(ofURL: "http://a..b/") == "http://a..b/")
        #expect(HostName.normalizing(url: "http://a..b/") == nil)
    }
}
