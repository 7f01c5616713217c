// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImagePrograms
import WebImageTestSupport

@Suite("Contents of the gallery")
struct GalleryContentsTests {
    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func sample() throws -> GalleryContents {
        var contents = GalleryContents()
        contents.add(
            try ["https://b.example/Zebra10.png", "https://a.example/zebra9.png", "https://b.example/apple.jpg"].map(
                url))
        return contents
    }

    @Test("Sorting is natural, and the filter requires every word in the title or source")
    func orderAndFilter() throws {
        var contents = try sample()
        contents.order = .name
        #expect(contents.visibleItems.map(\.title) == ["apple.jpg", "zebra9.png", "Zebra10.png"])
        contents.order = .source
        #expect(contents.visibleItems.map(\.detail) == ["a.example", "b.example", "b.example"])
        #expect(contents.visibleItems.map(\.number) == [1, 0, 2])
        contents.filter = "ZEBRA b.ex"
        #expect(contents.visibleItems.map(\.title) == ["Zebra10.png"])
        #expect(contents.summary == "1 of 3 Images")
        contents.filter = "  "
        contents.order = .original
        #expect(contents.visibleItems == contents.items)
        #expect(contents.summary == "3 Images")
        contents.add(try (0..<2_397).map { try url("https://c.example/\($0).png") })
        #expect(contents.summary == "2,400 Images")
    }

    @Test("New items are appended once and respect the filter")
    func adding() throws {
        var contents = try sample()
        contents.filter = "apple"
        let items = contents.add(try ["https://c.example/apple2.png", "https://a.example/zebra9.png"].map(url))
        #expect(items.map(\.number) == [3, 1])
        #expect(contents.items.count == 4)
        #expect(contents.visibleItems.map(\.title) == ["apple.jpg", "apple2.png"])
        #expect(contents.index(of: items[0]) == 1 && contents.index(of: items[1]) == nil)
    }

    @Test("Operands are URLs, files, directories, and lists, and missing files are reported")
    func operands() throws {
        let album = try SampleAlbum()
        let path = album.directory.path(percentEncoded: false)
        try FileManager.default.createDirectory(
            at: album.directory.appending(path: "sub"), withIntermediateDirectories: true)
        try Data().write(to: album.directory.appending(path: "sub/p10.JPG"))
        try Data().write(to: album.directory.appending(path: ".hidden.png"))
        try Data().write(to: album.directory.appending(path: "notes.txt"))
        try Data("# list\nhttps://a.example/x.png\n\n\(path)/p1.png\n".utf8).write(
            to: album.directory.appending(path: "list"))
        let (contents, failures) = GalleryContents.read(
            ["https://a.example/x.png", "\(path)/p1.png", path, "\(path)/missing.png"], lists: ["\(path)/list"])
        #expect(failures.count == 1)
        #expect(failures.first?.code == 1_006)
        #expect(
            contents.items.map(\.title)
                == ["x.png", "p1.png", "bad.jpg", "p0.png", "p2.png", "p3.png", "p10.JPG"])
        #expect(contents.items[0].detail == "a.example")
    }

    @Test("The album repeats with different URLs, and invalid images are included only on request")
    func album() throws {
        let album = try SampleAlbum()
        let server = try AlbumServer(album.album)
        defer { server.stop() }
        let contents = GalleryContents(album.album, on: server, count: 2_400)
        #expect(contents.items.count == 2_400 && Set(contents.items.map(\.url)).count == 2_400)
        #expect(!contents.items.contains { $0.detail == "bad.jpg" })
        let all = GalleryContents(album.album, on: server, count: 5, includingCorrupt: true)
        #expect(all.items.contains { $0.detail == "bad.jpg" })
        #expect(GalleryContents(album.album, on: server, count: -1).items.isEmpty)
    }
}
