// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageTestBasics

@testable import WebImageCore

@Suite("Replacing files", .timeLimit(.minutes(1)))
struct FileReplacementTests {
    private let directory: TemporaryDirectory
    private let data = Data("new".utf8)

    init() throws { directory = try TemporaryDirectory() }

    private func url(_ name: String) -> URL { URL(filePath: directory.file(name), directoryHint: .notDirectory) }

    private func mode(_ name: String) -> mode_t? {
        var status = stat()
        return stat(directory.file(name), &status) == 0 ? status.st_mode & 0o777 : nil
    }

    /// Returns the names of the files in the directory, also those of temporary files.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    private func failure(_ name: String) -> Int32? {
        do throws(ImageError) {
            try ImageFile.write(data, to: url(name))
            return nil
        } catch {
            guard case .cache(.systemCallFailed("Writing", directory.file(name), let code)) = error else { return -1 }
            return code
        }
    }

    @Test("A failed write throws the error number of the operating system and leaves no file")
    func reasons() throws {
        try Data("text".utf8).write(to: url("file"))
        #expect(mkdir(directory.file("folder"), 0o700) == 0)
        #expect(symlink("loop", directory.file("loop")) == 0)
        #expect(failure("missing/a.png") == ENOENT)
        #expect(failure("folder") == EISDIR)
        #expect(failure("file/a.png") == ENOTDIR)
        #expect(failure("loop") == ELOOP)
        #expect(failure(String(repeating: "n", count: 300)) == ENAMETOOLONG)
        #expect(try names() == ["file", "folder", "loop"])
        #expect(symlink("/dev/full", directory.file("full")) == 0)
        #expect(failure("full") == ENOSPC)
    }

    @Test(
        "A directory without write access is a failure with its reason",
        .enabled(if: geteuid() != 0, "permissions don't apply to the superuser"))
    func permission() throws {
        #expect(mkdir(directory.file("locked"), 0o500) == 0)
        #expect(failure("locked/a.png") == EACCES)
    }

    @Test("A URL that isn't that of a file is rejected")
    func otherURL() throws {
        let url = try #require(URL(string: "https://example.org/a.png"))
        #expect(throws: ImageError.request(.unsupportedScheme("https"))) { try ImageFile.write(data, to: url) }
    }

    @Test("A file that is replaced keeps its mode", arguments: [0o600, 0o640, 0o444, 0o755] as [mode_t])
    func mode(_ mode: mode_t) throws {
        try Data("old".utf8).write(to: url("a.png"))
        #expect(chmod(directory.file("a.png"), mode) == 0)
        try ImageFile.write(data, to: url("a.png"))
        #expect(try self.mode("a.png") == mode && Data(contentsOf: url("a.png")) == data)
        #expect(try names() == ["a.png"])
    }

    @Test("A new file has the mode that the umask permits")
    func newMode() throws {
        let descriptor = open(directory.file("sample"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        close(descriptor)
        try ImageFile.write(data, to: url("a.png"))
        #expect(mode("a.png") == mode("sample"))
    }

    @Test(
        "A file that is replaced keeps its owner and its group",
        .enabled(if: geteuid() == 0, "only the superuser can change the owner"))
    func owner() throws {
        try Data("old".utf8).write(to: url("a.png"))
        #expect(chown(directory.file("a.png"), 1_234, 2_345) == 0)
        #expect(chmod(directory.file("a.png"), 0o660) == 0)
        try ImageFile.write(data, to: url("a.png"))
        var status = stat()
        #expect(stat(directory.file("a.png"), &status) == 0)
        #expect(status.st_uid == 1_234 && status.st_gid == 2_345 && status.st_mode & 0o777 == 0o660)
    }

    @Test("Symbolic links remain, and the files to which they lead are written, also if these don't exist")
    func links() throws {
        #expect(mkdir(directory.file("real"), 0o700) == 0)
        try Data("old".utf8).write(to: url("real/a.png"))
        #expect(chmod(directory.file("real/a.png"), 0o600) == 0)
        #expect(symlink("real/a.png", directory.file("first")) == 0)
        #expect(symlink(directory.file("first"), directory.file("second")) == 0)
        #expect(symlink("real/new.png", directory.file("dangling")) == 0)
        #expect(symlink("none/new.png", directory.file("lost")) == 0)
        for name in ["second", "dangling"] { try ImageFile.write(data, to: url(name)) }
        #expect(try Data(contentsOf: url("real/a.png")) == data && Data(contentsOf: url("real/new.png")) == data)
        #expect(mode("real/a.png") == 0o600)
        #expect(failure("lost") == ENOENT)
        #expect(try names() == ["dangling", "first", "lost", "real", "second"])
        for name in ["first", "second", "dangling"] {
            let kind = try FileManager.default.attributesOfItem(atPath: directory.file(name))[.type]
            #expect(kind as? FileAttributeType == .typeSymbolicLink, "\(name)")
        }
    }

    @Test("Without `overwrites`, an existing file or link target is preserved, and a new file is written")
    func existing() throws {
        try Data("old".utf8).write(to: url("a.png"))
        #expect(symlink("a.png", directory.file("link")) == 0)
        #expect(symlink("new.png", directory.file("dangling")) == 0)
        for name in ["a.png", "link"] {
            let path = Array(directory.file(name).utf8CString)
            #expect(throws: ImageError.cache(.systemCallFailed(operation: "Writing", path: name, errno: EEXIST))) {
                try FileReplacement.write([data], to: path, named: name, overwrites: false)
            }
        }
        let path = Array(directory.file("dangling").utf8CString)
        try FileReplacement.write([data], to: path, named: "dangling", overwrites: false)
        #expect(try Data(contentsOf: url("a.png")) == Data("old".utf8) && Data(contentsOf: url("new.png")) == data)
        #expect(try names() == ["a.png", "dangling", "link", "new.png"])
    }

    @Test("Pipes and devices are written directly")
    func pipe() throws {
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        let reader = open(directory.file("pipe"), O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        try ImageFile.write(data, to: url("pipe"))
        var bytes = [UInt8](repeating: 0, count: 8)
        #expect(read(reader, &bytes, bytes.count) == 3 && bytes.starts(with: data))
        #expect(try names() == ["pipe"])
    }
}
