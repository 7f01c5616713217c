// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImagePrograms

@Suite("Lists of inputs")
struct InputListTests {
    /// Returns a directory with images in subdirectories.
    private func directory() throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "webimage-inputs-\(UUID().uuidString)")
        for name in ["b.png", "a10.png", "a9.png", "sub/c.JPG", ".hidden/d.png", "notes.txt", "we[ird].png"] {
            let file = path.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("x".utf8).write(to: file)
        }
        return path.path(percentEncoded: false)
    }

    private func names(_ list: InputList, in path: String) -> [String] {
        list.inputs.map { $0.text.replacing("\(path)/", with: "") }
    }

    @Test("A directory includes its images in natural order, and its subdirectories only on request")
    func directories() throws {
        let path = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(names(InputList([path]), in: path) == ["a9.png", "a10.png", "b.png", "we[ird].png"])
        let all = InputList([path + "/"], isRecursive: true)
        #expect(names(all, in: path) == ["a9.png", "a10.png", "b.png", "sub/c.JPG", "we[ird].png"])
        #expect(all.inputs.map(\.folder) == ["", "", "", "sub", ""] && all.inputs.allSatisfy(\.isFromDirectory))
        #expect(!all.isSingle)
    }

    @Test("Patterns match files, and a file whose name is a pattern is a file")
    func patterns() throws {
        let path = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(names(InputList(["\(path)/a*.png"]), in: path) == ["a10.png", "a9.png"])
        let odd = InputList(["\(path)/we[ird].png"])
        #expect(names(odd, in: path) == ["we[ird].png"] && odd.isSingle)
        let none = InputList(["\(path)/x*.png"])
        #expect(none.inputs.count == 1)
        #expect(throws: ImageError.self) { try none.inputs[0].url }
    }

    @Test("Lists contain one input per line, and a missing list is an input that fails")
    func lists() throws {
        let path = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("# comment\n\n  \(path)/b.png  \r\n@not-a-list\n".utf8).write(to: URL(filePath: "\(path)/list"))
        let list = InputList(["@\(path)/list"])
        #expect(names(list, in: path) == ["b.png", "@not-a-list"] && !list.isSingle)
        let missing = InputList(["@\(path)/none", "-"])
        #expect(missing.inputs.map(\.text) == ["\(path)/none", "-"])
        #expect(missing.inputs[0].failure == .request(.fileNotFound(path: "\(path)/none")))
    }

    @Test("Lines with URLs lose the whitespace that the parser ignores and keep their escapes")
    func urls() throws {
        let path = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let lines = "http://host/a%20b c.png \t\n\thttp://host/q?t=[%20]\ndata:,a%20b c\n"
        try Data(lines.utf8).write(to: URL(filePath: "\(path)/list"))
        let inputs = InputList(["@\(path)/list"]).inputs
        #expect(inputs.map(\.text) == ["http://host/a%20b c.png", "http://host/q?t=[%20]", "data:,a%20b c"])
        let urls = try inputs.map { try $0.url.absoluteString }
        #expect(urls == ["http://host/a%20b%20c.png", "http://host/q?t=%5B%20%5D", "data:,a%20b%20c"])
        let single = InputList([" http://host/a.png\n"])
        #expect(single.isSingle && single.inputs.map(\.text) == ["http://host/a.png"])
    }

    @Test("A text that begins with a host name becomes a URL with a note that contains no query")
    func notes() {
        let list = InputList(["nowhere.example/a.png?token=secret", "https://b.example/c.png"])
        #expect(list.inputs.map(\.text) == ["https://nowhere.example/a.png?token=secret", "https://b.example/c.png"])
        #expect(list.notes == ["the file “nowhere.example/a.png” doesn’t exist, so https:// is added"])
    }

    @Test("The labels, names, and directories of inputs contain no secrets and no unsafe parts")
    func names() {
        let url = ImageInput("https://u:p@a.example/x/photo.jpg?size=1&token=secret#f")
        #expect(url.label == "a.example/x/photo.jpg" && url.stem == "photo" && url.directory == ".")
        let file = ImageInput("dir/sub/my photo.v2.png")
        #expect(file.label == "dir/sub/my photo.v2.png" && file.directory == "dir/sub")
        #expect(ImageInput("-").label == "standard input" && ImageInput("-").stem == "stdin")
    }

    @Test("A file is replaced only if that's allowed, and keeps its mode")
    func writing() throws {
        let path = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = "\(path)/new"
        try Files.write(Data("1".utf8), to: file, overwrites: false)
        chmod(file, 0o640)
        #expect(throws: ImageError.cache(.systemCallFailed(operation: "Writing", path: file, errno: EEXIST))) {
            try Files.write(Data("2".utf8), to: file, overwrites: false)
        }
        symlink(file, "\(path)/link")
        try Files.write(Data("3".utf8), to: "\(path)/link")
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("3".utf8))
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(path)/link") == file)
        #expect(throws: ImageError.cache(.systemCallFailed(operation: "Writing", path: "\(path)/no/x", errno: ENOENT)))
        {
            try Files.write(Data(), to: "\(path)/no/x")
        }
        let leftovers = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasSuffix(".tmp") }
        #expect(leftovers.isEmpty)
    }

    @Test("Directories contain images, also in subdirectories on request, but no hidden files and linked directories")
    func directoryContents() throws {
        let path = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        for name in ["x/deep/deeper", "x/.hidden", "other"] { try Files.makeDirectory("\(path)/\(name)") }
        for name in [
            "x/a.png", "x/b.JPG", "x/.c.png", "x/d.txt", "x/deep/e.png", "x/deep/deeper/f.webp", "x/.hidden/g.png",
            "other/h.png",
        ] { try Data().write(to: URL(filePath: "\(path)/\(name)")) }
        #expect(symlink("\(path)/other", "\(path)/x/link") == 0 && symlink("a.png", "\(path)/x/i.png") == 0)
        func found(_ isRecursive: Bool) -> [String] {
            InputList(["\(path)/x"], isRecursive: isRecursive).inputs.map { String($0.text.dropFirst(path.count + 3)) }
        }
        #expect(found(false) == ["a.png", "b.JPG", "i.png"])
        #expect(found(true) == ["a.png", "b.JPG", "deep/deeper/f.webp", "deep/e.png", "i.png"])
        #expect(InputList(["\(path)/x/deep/"], isRecursive: true).inputs.map(\.folder) == ["deeper", ""])
    }

    @Test("A directory is created with its parents, and a file in its place is an error")
    func makeDirectory() throws {
        let path = try directory()
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Files.makeDirectory("\(path)/a/b/c/")
        try Files.makeDirectory("\(path)/a/b/c")
        #expect(Files.isDirectory("\(path)/a/b/c"))
        try Files.write(Data(), to: "\(path)/file")
        for name in ["file", "file/a", "file/a/b"] {
            let error = ImageError.cache(
                .systemCallFailed(operation: "Creating the directory", path: "\(path)/\(name)", errno: ENOTDIR))
            #expect(throws: error) { try Files.makeDirectory("\(path)/\(name)") }
        }
    }
}
