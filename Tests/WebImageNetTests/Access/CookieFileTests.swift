// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageNet

@Suite("Cookie files")
struct CookieFileTests {
    private let text = """
        # Netscape HTTP Cookie File
        .b.example\tTRUE\t/p\tTRUE\t4102444800\tn\tv w
        #HttpOnly_c.example\tFALSE\t/\tFALSE\t0\tsession\t

        """

    @Test("A cookie jar is written as text and read back unchanged")
    func roundTrip() {
        let jar = CookieJar()
        jar.add(netscapeText: text)
        #expect(jar.netscapeText == text)
        #expect(jar.cookies.map(\.isHostOnly) == [false, true])
        #expect(jar.cookies.map(\.isHTTPOnly) == [false, true])
        #expect(jar.cookies.map(\.expires) == [Date(timeIntervalSince1970: 4_102_444_800), nil])
    }

    @Test("An expiration date beyond every calendar is written as a number")
    func absurdEnd() {
        let jar = CookieJar()
        jar.add(netscapeText: ".b.example\tTRUE\t/p\tTRUE\t1e30\tn\tv\n")
        #expect(jar.netscapeText.contains("\t1000000000000000\tn\tv"))
    }

    @Test("Invalid lines, expired cookies, and comments are skipped")
    func bad() {
        let jar = CookieJar()
        jar.add(
            netscapeText: "a\tb\n# c\n.x.example\tTRUE\t/\tFALSE\t1\tn\tv\n\tTRUE\t/\tFALSE\t0\tn\tv\n"
                + "x.example\tTRUE\tp\tFALSE\t0\tn\tv\nx.example\tTRUE\t/\tFALSE\tnan\tn\tv\r\n")
        #expect(jar.cookies.isEmpty)
    }

    @Test("A cookie file is private, replaced atomically, and throws if it's missing")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "webimage-cookies-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "jar").path()
        let jar = CookieJar()
        jar.add(netscapeText: text)
        try jar.save(to: URL(filePath: path))
        try jar.save(to: URL(filePath: path))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let copy = CookieJar()
        try copy.load(from: URL(filePath: path))
        #expect(copy.netscapeText == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path()) == ["jar"])
        let missing = URL(filePath: "/nowhere/jar")
        #expect(throws: ImageError.request(.fileNotFound(path: "/nowhere/jar"))) { try copy.load(from: missing) }
        #expect(throws: ImageError.self) { try copy.save(to: missing) }
    }
}
