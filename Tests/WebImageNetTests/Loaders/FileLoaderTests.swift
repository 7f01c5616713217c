// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCore
import WebImageHTTPTesting
import WebImageNet

@Suite("File loader", .timeLimit(.minutes(5)))
struct FileLoaderTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "webimage-file-\(UUID())")

    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    private func failure(_ url: URL, maxBytes: Int = 1 << 20) async -> ImageError? {
        do throws(ImageError) {
            _ = try await FileLoader().load(LoadRequest(url: url, maxByteCount: maxBytes), context: LoadContext())
            return nil
        } catch {
            return error
        }
    }

    @Test("Row 54: A file is loaded completely, in chunks, and without a head")
    func whole() async throws {
        try await withDirectory { folder in
            let bytes = patternBytes(1_000_000)
            let url = folder.appending(path: "a b%ü.png")
            try bytes.write(to: url)
            let log = ReportLog()
            let response = try await FileLoader().load(LoadRequest(url: url), context: log.context())
            #expect(response.body == bytes && log.body == bytes && log.expected == bytes.count)
            #expect(response.httpResponse == nil && response.url == url)
            #expect(response.metrics.receivedByteCount == bytes.count)
        }
    }

    @Test("A relative URL is resolved against its base URL")
    func relative() async throws {
        try await withDirectory { folder in
            try Data([1, 2, 3]).write(to: folder.appending(path: "a.png"))
            let base = URL(filePath: folder.path(percentEncoded: false), directoryHint: .isDirectory)
            let url = URL(filePath: "a.png", directoryHint: .notDirectory, relativeTo: base)
            let response = try await FileLoader().load(LoadRequest(url: url), context: LoadContext())
            #expect(response.body == Data([1, 2, 3]))
        }
    }

    @Test("Row 54: Missing, unreadable, empty, and too large files throw specific errors")
    func refusals() async throws {
        try await withDirectory { folder in
            let missing = folder.appending(path: "none")
            #expect(await failure(missing) == .request(.fileNotFound(path: missing.path())))
            #expect(await failure(missing.appending(path: "x"))?.code == 1006)
            let inside = URL(filePath: folder.path(), directoryHint: .notDirectory)
            #expect(await failure(inside) == .request(.fileUnreadable(path: inside.path(), errno: EISDIR)))
            let pipe = folder.appending(path: "pipe")
            #expect(mkfifo(pipe.path(), 0o600) == 0)
            #expect(await failure(pipe) == .request(.fileUnreadable(path: pipe.path(), errno: EINVAL)))
            let empty = folder.appending(path: "empty")
            try Data().write(to: empty)
            #expect(await failure(empty)?.network?.reason == .emptyBody)
            let large = folder.appending(path: "large")
            try Data(count: 101).write(to: large)
            #expect(await failure(large, maxBytes: 101) == nil)
            #expect(
                await failure(large, maxBytes: 100)
                    == .limitExceeded(
                        ImageError.LimitFailure(.encodedSize, limit: 100, actual: 101, detail: large.path())))
            #expect(await failure(URL(filePath: "/dev/zero"))?.code == 1007)
        }
    }

    @Test("A file that grows or is shortened while it's read throws an error", arguments: [100_000, 1_000_000])
    func changedSize(_ size: Int) async throws {
        try await withDirectory { folder in
            let url = folder.appending(path: "a.png")
            try patternBytes(600_000).write(to: url)
            let path = url.path(percentEncoded: false)
            let context = LoadContext(handler: { report in
                // The first chunk was read.
                if case .body = report { _ = truncate(path, off_t(size)) }
            })
            let request = LoadRequest(url: url)
            await #expect(throws: ImageError.request(.fileUnreadable(path: path, errno: ESTALE))) {
                _ = try await FileLoader().load(request, context: context)
            }
        }
    }

    @Test("The loader accepts only file URLs of this machine")
    func schemes() throws {
        let loader = FileLoader()
        #expect(loader.canLoad(URL(filePath: "/a")))
        #expect(loader.canLoad(try #require(URL(string: "FILE://localhost/a"))))
        #expect(!loader.canLoad(try #require(URL(string: "file://server/a"))))
        #expect(!loader.canLoad(try #require(URL(string: "http://localhost/a"))))
    }

    @Test("Many concurrent loads succeed, and canceled loads end as canceled")
    func many() async throws {
        try await withDirectory { folder in
            let url = folder.appending(path: "a")
            let bytes = patternBytes(100_000)
            try bytes.write(to: url)
            let loader = FileLoader()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for index in 0..<300 {
                    group.addTask {
                        let task = Task { try await loader.load(LoadRequest(url: url), context: LoadContext()).body }
                        guard index % 3 == 0 else { return try await task.value == bytes }
                        task.cancel()
                        switch await task.result {
                        case .success(let body): return body == bytes
                        case .failure(let error): return (error as? ImageError) == .cancelled
                        }
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }
}
