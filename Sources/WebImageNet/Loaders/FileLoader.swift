// SPDX-License-Identifier: MIT

import CFiles
import Foundation
import Glibc
import WebImageConcurrency
import WebImageCore

/// The loader for `file:` URLs. It reads only regular files, and never on Swift's cooperative pool. Thread-safe.
package final class FileLoader: ImageLoader {
    private let readQueue: FileReadQueue
    private let root: String?

    /// Creates a loader that reads up to `concurrentReads` files at the same time on dedicated threads. The default is
    /// 2. All files are in `root` unless it's `nil`. Symbolic links and `..` never lead out of it.
    package init(concurrentReads: Int = 2, root: URL? = nil) {
        readQueue = FileReadQueue(width: concurrentReads)
        self.root = root.map { root in
            var path = root.standardizedFileURL.path(percentEncoded: false)
            while path.count > 1, path.hasSuffix("/") { path.removeLast() }
            return path
        }
    }

    /// Returns `true` for `file:` URLs without a host or with the host `localhost`.
    package func canLoad(_ url: URL) -> Bool {
        guard url.scheme?.lowercased() == "file" else { return false }
        let host = url.host() ?? ""
        return host.isEmpty || HostName(host)?.text == "localhost"
    }

    /// Reads the file. The response has no head.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)``,
    ///   ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` if it isn't a regular file, can't be read, or changes
    ///   its size in the meantime (`ESTALE`),
    ///   ``ImageError/LimitFailure/Kind/encodedSize`` if it exceeds ``LoadRequest/maxByteCount``,
    ///   ``ImageError/NetworkFailure/Reason/emptyBody`` if it's empty, or ``ImageError/cancelled`` if the task is
    ///   canceled.
    package func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let queued = MonotonicTime.now
        return try await readQueue.run(context) { [root] (isCancelled) throws(ImageError) -> LoadResponse in
            let reading = FileReading(request: request, context: context, queued: queued, root: root)
            return try reading.read(isCancelled: isCancelled)
        }
    }
}

extension FileLoader {
    /// Returns the time of the last change of a regular file, or `nil` if the file can't be opened.
    package func modificationDate(of url: URL) async -> Date? {
        let context = LoadContext()
        do throws(ImageError) {
            return try await readQueue.run(context) { [root] (_) throws(ImageError) -> Date in
                let reading = FileReading(
                    request: LoadRequest(url: url), context: context, queued: MonotonicTime.now, root: root)
                return try reading.modificationDate()
            }
        } catch {
            return nil
        }
    }
}

/// A reader that reads one file in chunks.
private struct FileReading {
    /// The maximum size of a chunk, in bytes.
    static let chunkSize = 256 << 10

    let request: LoadRequest
    let context: LoadContext
    let queued: Int64
    let root: String?
    private let begun = Date()
    private let started = MonotonicTime.now

    init(request: LoadRequest, context: LoadContext, queued: Int64, root: String?) {
        self.root = root
        self.request = request
        self.context = context
        self.queued = queued
    }

    private var path: String { request.url.absoluteURL.path(percentEncoded: false) }

    /// Reads the file and calls `isCancelled` before each chunk.
    func read(isCancelled: () -> Bool) throws(ImageError) -> LoadResponse {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .request(.fileNotFound(path: path)) }
        let file = try openFile()
        defer { close(file) }
        let facts = try self.facts(of: file)
        let size = Int(facts.st_size)
        guard size <= request.maxByteCount else { throw tooLarge(size) }
        context.report(.started)
        context.report(.head(nil, expected: size))
        let body = try readAll(file, expected: size, isCancelled: isCancelled)
        guard !body.isEmpty else {
            throw .network(
                ImageError.NetworkFailure(.emptyBody, url: request.url, phase: .receivingBody))
        }
        var metrics = NetworkMetrics()
        metrics.queue = .nanoseconds(started - queued)
        metrics.total = .nanoseconds(MonotonicTime.now - started)
        metrics.receivedByteCount = body.count
        return LoadResponse(
            body: body, url: request.url, requestDate: begun, responseDate: begun, metrics: metrics)
    }

    func modificationDate() throws(ImageError) -> Date {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .request(.fileNotFound(path: path)) }
        let file = try openFile()
        defer { close(file) }
        let time = try self.facts(of: file).st_mtim
        return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    /// Throws if the file isn't a regular file.
    private func facts(of file: Int32) throws(ImageError) -> stat {
        var facts = stat()
        guard fstat(file, &facts) == 0 else { throw failure(errno) }
        guard facts.st_mode & S_IFMT == S_IFREG else {
            throw failure(facts.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL)
        }
        return facts
    }

    private func openFile() throws(ImageError) -> Int32 {
        guard let root else {
            // Without `O_NONBLOCK`, opening a pipe would wait for a writer.
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            guard file >= 0 else { throw failure(errno) }
            return file
        }
        let prefix = root == "/" ? root : root + "/"
        guard path.hasPrefix(prefix) else { throw .request(.fileNotFound(path: path)) }
        let file = wi_open_beneath_with_links(root, String(path.dropFirst(prefix.count)))
        guard file >= 0 else {
            // The error of a path that leaves the root must not reveal whether the file exists.
            throw failure(-file == EXDEV || -file == ELOOP ? ENOENT : -file)
        }
        return file
    }

    /// If the size changes in the meantime, the parts belong to different versions of the file.
    private func readAll(_ file: Int32, expected: Int, isCancelled: () -> Bool) throws(ImageError) -> Data {
        var body = ResponseBuffer(expected: expected)
        let piece = UnsafeMutableRawBufferPointer.allocate(
            byteCount: min(max(expected, 1), Self.chunkSize), alignment: 16)
        defer { piece.deallocate() }
        while true {
            if isCancelled() { throw .cancelled }
            let count = Glibc.read(file, piece.baseAddress, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(errno) }
            guard count > 0 else {
                guard body.count == expected else { throw failure(ESTALE) }
                return body.data
            }
            guard body.count + count <= expected else { throw failure(ESTALE) }
            body.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            if context.isObserved { context.report(.body(body.last(count))) }
        }
    }

    private func failure(_ code: Int32) -> ImageError {
        code == ENOENT || code == ENOTDIR
            ? .request(.fileNotFound(path: path)) : .request(.fileUnreadable(path: path, errno: code))
    }

    private func tooLarge(_ size: Int) -> ImageError {
        .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: request.maxByteCount, actual: size, detail: path))
    }
}
