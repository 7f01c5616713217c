// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImageCommand

@Suite("JSON and file names")
struct OutputTests {
    @Test("JSON output is parsed back to the same values")
    func json() throws {
        let value: JSONValue = [
            "text": "a \"b\" \\ \n\t\u{1}\u{7F} é 日本 👩‍👧", "none": nil, "yes": true, "count": -7,
            "list": .array([1, "x"]), "time": .milliseconds(0.0012345), "odd": .double(.nan),
        ]
        #expect(value.text.allSatisfy { !$0.isNewline })
        let read = try #require(
            try JSONSerialization.jsonObject(with: Data(value.text.utf8)) as? [String: Any])
        #expect(read["text"] as? String == "a \"b\" \\ \n\t\u{1}\u{7F} é 日本 👩‍👧")
        #expect(read["count"] as? Int == -7)
        #expect(read["time"] as? Double == 1.235 || read["time"] as? Double == 1.234)
        #expect(read["none"] is NSNull && read["odd"] is NSNull)
        #expect(value.text.hasPrefix("{\"text\":"))
    }

    @Test(
        "Output files have safe names",
        arguments: [
            ("https://example.org/a/b/photo.jpg?size=1", "photo"),
            ("https://example.org/../../etc/passwd", "passwd"),
            ("https://example.org/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "passwd"),
            ("https://example.org/.hidden.png", "hidden"),
            ("https://example.org/-rf.png", "rf"),
            ("https://example.org/a%00b%0Ac%1B.png", "a_b_c_"),
            ("https://example.org/", "example.org"),
            ("https://example.org/Gr%C3%BC%C3%9Fe.webp", "Grüße"),
            ("https://example.org/...", "image"),
            ("data:image/png;base64,AAAA", "image"),
        ])
    func names(_ text: String, _ stem: String) throws {
        let url = try #require(URL(string: text))
        var names = OutputNames()
        let name = names.claim(for: url)
        #expect(name == stem)
        #expect(!name.contains("/") && !name.hasPrefix("."))
    }

    @Test("Names are unique regardless of case and have at most 120 bytes")
    func unique() throws {
        var names = OutputNames()
        let urls = ["https://a/x.png", "https://b/X.jpg", "https://c/x-2.png", "https://d/x.png"]
        let claimed = try urls.map { names.claim(for: try #require(URL(string: $0))) }
        #expect(claimed == ["x", "X-2", "x-2-2", "x-3"])
        let long = try #require(URL(string: "https://a/" + String(repeating: "%C3%A9", count: 400) + ".png"))
        #expect(names.claim(for: long).utf8.count <= 120)
    }
}

@Suite("Names of color profiles")
struct ICCDescriptionTests {
    private func profile(tag: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 128)
        bytes += [0, 0, 0, 1] + Array("desc".utf8) + [0, 0, 0, 144] + word(tag.count)
        return bytes + tag
    }

    private func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }

    private var version2: [UInt8] {
        profile(tag: Array("desc".utf8) + word(0) + word(5) + Array("sRGB\0".utf8))
    }

    private var version4: [UInt8] {
        let german = Array("Bild".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let english = Array("Display P3".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        var tag = Array("mluc".utf8) + word(0) + word(2) + word(12)
        tag += Array("deDE".utf8) + word(german.count) + word(40)
        tag += Array("enUS".utf8) + word(english.count) + word(40 + german.count)
        return profile(tag: tag + german + english)
    }

    @Test("Profiles of versions 2 and 4 return their names, with English preferred")
    func names() {
        #expect(ICCDescription.text(of: version2) == "sRGB")
        #expect(ICCDescription.text(of: version4) == "Display P3")
        #expect(ICCDescription.text(of: []) == nil)
    }

    @Test("Corrupt profiles return no name or a short name and never crash the parser")
    func fuzz() {
        var random = SeededGenerator(seed: 11)
        for round in 0..<4_000 {
            var bytes = round.isMultiple(of: 2) ? version2 : version4
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 128..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            bytes.removeLast(Int.random(in: 0...12, using: &random))
            #expect((ICCDescription.text(of: bytes)?.count ?? 0) <= 200)
        }
    }
}
