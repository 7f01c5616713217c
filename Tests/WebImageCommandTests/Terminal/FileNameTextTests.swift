// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageTestSupport

@testable import WebImageCommand

@Suite("Names of files that aren't valid UTF-8")
struct FileNameTextTests {
    private func roundTrip(_ bytes: [UInt8]) -> Bool {
        FileNameText.cString(FileNameText.text(of: bytes)) == bytes.map { CChar(bitPattern: $0) } + [0]
    }

    @Test("Valid names don't change")
    func validNames() {
        for name in ["", "a.png", "ä/\u{1F600}.jpg", "e\u{301}", "\u{E000}", "\u{10FFFD}"] {
            #expect(FileNameText.text(of: Array(name.utf8)) == name && !FileNameText.hasEscapes(name))
            #expect(FileNameText.cString(name) == Array(name.utf8CString))
        }
    }

    @Test("Bytes that aren't valid UTF-8 become one character each, and the original bytes return")
    func invalidNames() {
        for (bytes, count) in [
            ([0xFF], 1), ([0x61, 0xE9, 0x2E, 0x70], 4), ([0xC3], 1), ([0xC0, 0x80], 2), ([0xED, 0xA0, 0x80], 3),
            ([0xF4, 0x90, 0x80, 0x80], 4), ([0xE2, 0x82, 0x2F, 0xE2, 0x82, 0xAC], 4), ([0xF0, 0x9F, 0x98], 3),
        ] as [([UInt8], Int)] {
            let text = FileNameText.text(of: bytes)
            #expect(text.unicodeScalars.count == count && FileNameText.hasEscapes(text), "\(bytes)")
            #expect(roundTrip(bytes), "\(bytes)")
            #expect(!DisplayText.safe(text).unicodeScalars.contains(where: FileNameText.isEscape), "\(bytes)")
            #expect(JSONValue.string(text).text.contains("\u{FFFD}"), "\(bytes)")
        }
        #expect(FileNameText.text(of: [0x61, 0xFF, 0x2F, 0x62]).split(separator: "/").last == "b")
    }

    @Test("A name that contains a character that escapes use keeps its bytes, too")
    func namesLikeEscapes() {
        let name = "\u{10FEFF}.png"
        #expect(roundTrip(Array(name.utf8)))
        #expect(FileNameText.text(of: Array(name.utf8)) != name)
    }

    @Test("Random names keep their bytes")
    func randomNames() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...12, using: &generator)
            let bytes = (0..<count).map { _ in
                UInt8.random(in: Bool.random(using: &generator) ? 0x80...0xFF : 0x20...0x7E, using: &generator)
            }
            #expect(roundTrip(bytes), "\(bytes)")
        }
    }

    @Test("Values that must be text are usage errors")
    func options() throws {
        let name = FileNameText.text(of: [0x61, 0xFF])
        for (words, command, message) in [
            (["a", "--cacert", name], Commands.fetch, "--cacert: the value isn’t valid UTF-8"),
            (["a", "-H", "X: \(name)"], Commands.info, "--header: the value isn’t valid UTF-8"),
            (["export", name], Commands.cache, "the argument “\(name)” isn’t valid UTF-8"),
        ] {
            #expect(throws: UsageError(message)) { try Arguments(words, for: command) }
        }
        #expect(try Arguments([name, "-o", name, "-i", name], for: Commands.convert).operands == [name])
    }
}
