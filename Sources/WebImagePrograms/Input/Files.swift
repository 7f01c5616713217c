// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageCommand
import WebImageConcurrency
import WebImageCore

/// Functions that read and write whole files. Every function blocks.
package enum Files {
    /// Returns the contents of the regular file at `path`, or of standard input if `path` is `-`. Pipes and devices
    /// are never opened in a way that waits for data, unless the process already has them open.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)``,
    ///   ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` if the file can't be read, isn't a regular file, or
    ///   changes its size in the meantime, or ``ImageError/LimitFailure/Kind/encodedSize`` if it has more than `limit`
    ///   bytes.
    package static func read(_ path: String, limit: Int = ImageLimits.desktop.maxEncodedBytes) throws(ImageError)
        -> Data
    {
        let isStream = path == "-" || isOpenStream(path)
        if isStream { return try readStream(path, limit: limit) }
        return try ImageFile.contents(at: FileNameText.cString(path), named: path, limit: limit)
    }

    /// Returns whether a path denotes an open pipe or device of this process, such as `/dev/stdin` or the path that a
    /// shell passes for the output of a command.
    package static func isOpenStream(_ path: String) -> Bool {
        guard path == "/dev/stdin" || path.hasPrefix("/dev/fd/") else { return false }
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// Returns the contents of the file or pipe at `path`, or of standard input if `path` is `-`. Shells pass the output
    /// of a command as a pipe, so a list of inputs may be one.
    ///
    /// - Throws: The errors of ``read(_:limit:)``.
    package static func readStream(_ path: String, limit: Int) throws(ImageError) -> Data {
        let descriptor = path == "-" ? STDIN_FILENO : open(FileNameText.cString(path), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .request(errno == ENOENT ? .fileNotFound(path: path) : .fileUnreadable(path: path, errno: errno))
        }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = buffer.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return data }
            if count < 0 {
                if errno == EINTR { continue }
                throw .request(.fileUnreadable(path: path, errno: errno))
            }
            data.append(contentsOf: buffer[..<count])
            guard data.count <= limit else {
                throw .limitExceeded(
                    ImageError.LimitFailure(.encodedSize, limit: limit, actual: data.count, detail: path))
            }
        }
    }

    /// Writes `data` to `path`, or to standard output if `path` is `-`. A regular file appears or is replaced atomically.
    /// A file that is replaced keeps its mode, and a symbolic link remains. Data for devices and pipes is written
    /// directly. If the reader of standard output closed the pipe, the process ends.
    ///
    /// - Parameters:
    ///   - data: The data.
    ///   - path: The path.
    ///   - overwrites: Whether an existing regular file is replaced. The default is `true`. If the file is a symbolic
    ///     link, its target is replaced.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if the file can't be written, with
    ///   `EEXIST` if it exists and `overwrites` is `false`.
    package static func write(_ data: Data, to path: String, overwrites: Bool = true) throws(ImageError) {
        try write(parts: CollectionOfOne(data), to: path, overwrites: overwrites)
    }

    /// Writes data to `path` like ``write(_:to:overwrites:)``, in parts that needn't be in memory at the same time.
    package static func write(parts: some Sequence<Data>, to path: String, overwrites: Bool = true) throws(ImageError) {
        if path == "-" { return try writeToStandardOutput(parts) }
        try FileReplacement.write(
            parts, to: FileNameText.cString(path), named: path, overwrites: overwrites, records: PendingFiles.records)
    }

    private static func writeToStandardOutput(_ parts: some Sequence<Data>) throws(ImageError) {
        for part in parts {
            let code = DescriptorWriting.write(part, to: STDOUT_FILENO)
            if code == EPIPE { _exit(ExitStatus.closedPipe) }
            if code != 0 { throw failure("Writing", "standard output", code) }
        }
    }

    /// Returns the decoded image in the file at `path`. Throws an ``ImageError`` if the file can't be read, as
    /// ``read(_:limit:)``, or if it can't be decoded.
    @Sendable package static func image(_ path: String) throws(ImageError) -> PixelBuffer {
        try ProgramCoders.coders(for: path).decode(
            read(path), options: ImageDecodingOptions(),
            context: ImageProcessingContext()
        )
        .pixels
    }

    /// Returns whether `path` is that of an existing directory.
    @Sendable package static func isDirectory(_ path: String) -> Bool {
        status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// Returns whether `path` is that of an existing regular file.
    @Sendable package static func isFile(_ path: String) -> Bool {
        status(path).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
    }

    /// Returns whether `path` is that of a symbolic link.
    static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(FileNameText.cString(path), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Returns the status of an existing file after symbolic links, or `nil` if there's no such file.
    package static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(FileNameText.cString(path), &status) == 0 ? status : nil
    }

    /// Creates a directory and its parent directories if they don't exist. Throws
    /// ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if a directory can't be created, with
    /// `ENOTDIR` if the path is that of a file.
    package static func makeDirectory(_ path: String) throws(ImageError) {
        func make() -> Int32 {
            if mkdir(FileNameText.cString(path), 0o777) == 0 { return 0 }
            let code = errno
            return isDirectory(path) ? 0 : code == EEXIST ? ENOTDIR : code
        }
        var code = make()
        if code == ENOENT, let parent = parent(of: path) {
            try makeDirectory(parent)
            code = make()
        }
        if code != 0 { throw failure("Creating the directory", path, code) }
    }

    /// Returns the path of the parent directory, or `nil` if the path has a single component.
    private static func parent(of path: String) -> String? {
        var trimmed = path[...]
        while trimmed.last == "/" { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: "/"), slash > trimmed.startIndex else { return nil }
        return String(trimmed[..<slash])
    }

    private static func failure(_ operation: String, _ path: String, _ number: Int32) -> ImageError {
        .cache(.systemCallFailed(operation: operation, path: path, errno: number))
    }
}

/// The files that are being written. If the process ends early, it deletes them.
package enum PendingFiles {
    private static let paths = Lock<Set<[CChar]>>([])

    /// The functions that add a path before its file is created, and remove it afterward.
    static let records = FileReplacement.Records(
        insert: { path in paths.withLock { _ = $0.insert(path) } },
        remove: { path in paths.withLock { _ = $0.remove(path) } })

    /// Deletes all files. Call this function before ending the process.
    package static func removeAll() {
        paths.withLock { all in
            for path in all { unlink(path) }
            all = []
        }
    }
}
