// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageTestSupport

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

    @Test("A cookie value can't add another cookie when a saved jar is read")
    func lineBreaksInValues() throws {
        let url = try #require(URL(string: "https://evil.example/"))
        let injected = "bank.example\tTRUE\t/\tFALSE\t4102444800\tsession\tstolen"
        for lineBreak in ["\u{85}", "\u{2028}", "\u{2029}"] {
            let jar = CookieJar()
            jar.setCookie("a=b\(lineBreak)\(injected)", for: url)
            jar.setCookie("c=d\(lineBreak)", for: url)
            #expect(jar.cookies.count == 2)
            let copy = CookieJar()
            copy.add(netscapeText: jar.netscapeText)
            // The format can't represent the tabs of the first cookie.
            #expect(copy.cookies.map(\.domain) == ["evil.example"])
            #expect(copy.cookies.map(\.value) == ["d\(lineBreak)"])
        }
    }

    @Test("A cookie whose domain would be read as another one is neither read nor written")
    func unusableDomains() throws {
        let jar = CookieJar()
        for domain in ["..a.example", "#HttpOnly_..a.example", "#HttpOnly_.#a.example", "."] {
            jar.add(netscapeText: "\(domain)\tFALSE\t/\tFALSE\t0\tn\tv\n")
        }
        #expect(jar.cookies.isEmpty)
        jar.set(Cookie(name: "n", value: "v", domain: ".a.example"))
        let copy = CookieJar()
        copy.add(netscapeText: jar.netscapeText)
        #expect(copy.cookies.isEmpty)
    }

    @Test("A cookie with a control character is skipped, and CR LF ends a line")
    func controlCharacters() throws {
        let url = try #require(URL(string: "http://a.example/"))
        for scalar in ["\u{0}", "\u{3}", "\r", "\u{B}", "\u{7F}"] {
            let jar = CookieJar()
            jar.add(
                netscapeText: "a.example\tFALSE\t/\tFALSE\t0\tn\tx\(scalar)y\r\na.example\tFALSE\t/\tFALSE\t0\tm\tv\r\n"
            )
            #expect(jar.cookies(for: url) == "m=v")
        }
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

    @Test("Files that are too large or never end aren't loaded")
    func hugeFiles() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("jar")
        let file = URL(filePath: path)
        try Data("a.example\tFALSE\t/\tFALSE\t0\tn\tv\n".utf8).write(to: file)
        // The rest of the file is a hole, which occupies no space on disk.
        let size = 17 << 20
        #expect(truncate(path, size) == 0)
        let jar = CookieJar()
        let store = HSTSStore()
        let loads: [() throws -> Void] = [{ try jar.load(from: file) }, { try store.load(from: file) }]
        for load in loads {
            #expect {
                try load()
            } throws: {
                guard case .limitExceeded(let failure) = $0 as? ImageError else { return false }
                return failure.kind == .encodedSize && failure.actual == size
            }
        }
        #expect(jar.cookies.isEmpty && store.text == HSTSStore().text)
        let device = URL(filePath: "/dev/zero")
        let unreadable = ImageError.request(.fileUnreadable(path: "/dev/zero", errno: EINVAL))
        #expect(throws: unreadable) { try jar.load(from: device) }
        #expect(throws: unreadable) { try store.load(from: device) }
    }

    @Test("A cookie file is private, replaced atomically, and throws if it's missing")
    func files() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("jar")
        let jar = CookieJar()
        jar.add(netscapeText: text)
        try jar.save(to: URL(filePath: path))
        try jar.save(to: URL(filePath: path))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let copy = CookieJar()
        try copy.load(from: URL(filePath: path))
        #expect(copy.netscapeText == text)
        #expect(folder.files == ["jar"])
        let missing = URL(filePath: "/nowhere/jar")
        #expect(throws: ImageError.request(.fileNotFound(path: "/nowhere/jar"))) { try copy.load(from: missing) }
        #expect(throws: ImageError.self) { try copy.save(to: missing) }
    }

    @Test("A symbolic link to a cookie file remains, and the file becomes private")
    func links() throws {
        let folder = try TemporaryDirectory()
        let (path, link) = (folder.file("jar"), folder.file("link"))
        try Data().write(to: URL(filePath: path))
        #expect(chmod(path, 0o644) == 0 && symlink("jar", link) == 0)
        let jar = CookieJar()
        jar.add(netscapeText: text)
        try jar.save(to: URL(filePath: link))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        #expect(folder.files.sorted() == ["jar", "link"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "jar")
    }

    @Test("A relative file is resolved against its base URL")
    func relativeFiles() throws {
        let folder = try TemporaryDirectory()
        let base = URL(filePath: folder.path, directoryHint: .isDirectory)
        let file = URL(filePath: "jar", directoryHint: .notDirectory, relativeTo: base)
        let jar = CookieJar()
        jar.add(netscapeText: text)
        try jar.save(to: file)
        #expect(folder.files == ["jar"])
        let copy = CookieJar()
        try copy.load(from: file)
        #expect(copy.netscapeText == text)
        let store = HSTSStore()
        try store.save(to: file)
        #expect(try String(contentsOfFile: folder.file("jar"), encoding: .utf8) == store.text)
        try store.load(from: file)
    }
}
