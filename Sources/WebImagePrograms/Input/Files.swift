// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageConcurrency

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
        return isStream ? try readStream(path, limit: limit) : try ImageFile.contents(of: path, limit: limit)
    }

    /// Returns a Boolean value that indicates whether a path denotes an open pipe or device of this process, such as
    /// `/dev/stdin` or the path that a shell passes for the output of a command.
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
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
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
    /// Data for devices and pipes is written directly. If the reader of standard output closed the pipe, the process
    /// ends.
    ///
    /// - Parameters:
    ///   - data: The data.
    ///   - path: The path.
    ///   - overwrites: A Boolean value that indicates whether an existing regular file is replaced. The default is
    ///     `true`. If the file is a symbolic link, its target is replaced.
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if the file can't be written, with
    ///   `EEXIST` if it exists and `overwrites` is `false`.
    package static func write(_ data: Data, to path: String, overwrites: Bool = true) throws(ImageError) {
        try write(parts: CollectionOfOne(data), to: path, overwrites: overwrites)
    }

    /// Writes data to `path` like ``write(_:to:overwrites:)``, in parts that needn't be in memory at the same time.
    package static func write(parts: some Sequence<Data>, to path: String, overwrites: Bool = true) throws(ImageError) {
        if path == "-" { return try write(parts, to: STDOUT_FILENO, named: "standard output") }
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT != S_IFREG {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw failure("Writing", path, errno) }
            defer { close(descriptor) }
            return try write(parts, to: descriptor, named: path)
        }
        if exists, !overwrites { throw failure("Writing", path, EEXIST) }
        let target = exists ? URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false) : path
        let temporary = try writeTemporaryFile(parts, for: target, mode: exists ? status.st_mode & 0o777 : nil)
        defer { PendingFiles.remove(temporary) }
        // A link fails if another process created the file in the meantime. Some file systems have no links.
        if !exists, !overwrites, link(temporary, target) != 0, ![EPERM, EOPNOTSUPP, ENOSYS].contains(errno) {
            throw failure("Writing", path, errno)
        }
        if access(temporary, F_OK) == 0, overwrites || access(target, F_OK) != 0, rename(temporary, target) != 0 {
            throw failure("Writing", path, errno)
        }
    }

    /// Writes data to a new file in the directory of `path`, and returns the path of the new file.
    private static func writeTemporaryFile(
        _ parts: some Sequence<Data>, for path: String, mode: mode_t?
    ) throws(ImageError) -> String {
        let url = URL(filePath: path)
        let directory = path.contains("/") ? url.deletingLastPathComponent().path(percentEncoded: false) : "."
        let temporary = "\(directory)/.webimage-\(getpid())-\(UInt64.random(in: 0 ... .max)).tmp"
        PendingFiles.insert(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ?? 0o666)
        guard descriptor >= 0 else {
            let code = errno
            PendingFiles.remove(temporary)
            throw failure("Writing", path, code)
        }
        var result: ImageError?
        do throws(ImageError) { try write(parts, to: descriptor, named: path) } catch { result = error }
        // The umask doesn't apply to the mode of a file that is replaced.
        if let mode { fchmod(descriptor, mode) }
        // Some file systems report a full disk only here.
        if close(descriptor) != 0, result == nil { result = failure("Writing", path, errno) }
        guard let result else { return temporary }
        PendingFiles.remove(temporary)
        throw result
    }

    private static func write(
        _ parts: some Sequence<Data>, to descriptor: Int32, named path: String
    ) throws(ImageError) {
        for part in parts { try write(part, to: descriptor, named: path) }
    }

    private static func write(_ data: Data, to descriptor: Int32, named path: String) throws(ImageError) {
        var offset = 0
        while offset < data.count {
            let count = data.withUnsafeBytes { bytes in
                Foundation.write(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if count > 0 {
                offset += count
            } else if errno == EPIPE, descriptor == STDOUT_FILENO {
                _exit(ExitStatus.closedPipe)
            } else if errno == EAGAIN {
                // Another process may have set the pipe to non-blocking mode.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if errno != EINTR {
                throw failure("Writing", path, errno)
            }
        }
    }

    /// Returns the decoded image in the file at `path`.
    ///
    /// - Throws: An ``ImageError`` if the file can't be read, as ``read(_:limit:)``, or if it can't be decoded.
    @Sendable package static func image(_ path: String) throws(ImageError) -> PixelBuffer {
        try ProgramCoders.coders(for: path).decode(
            read(path), options: ImageDecodingOptions(),
            context: ImageProcessingContext()
        )
        .pixels
    }

    /// Returns a Boolean value that indicates whether `path` is that of an existing directory.
    @Sendable package static func isDirectory(_ path: String) -> Bool {
        var isDirectory: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
    }

    /// Creates a directory and its parent directories.
    ///
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if a directory can't be created.
    package static func makeDirectory(_ path: String) throws(ImageError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw failure("Creating the directory", path, error)
        }
    }

    private static func failure(_ operation: String, _ path: String, _ error: any Error) -> ImageError {
        failure(operation, path, errorNumber(error) ?? EIO)
    }

    /// Returns the error number in an error of Foundation, which can be nested.
    private static func errorNumber(_ error: any Error) -> Int32? {
        if let error = error as? POSIXError { return error.code.rawValue }
        let error = error as NSError
        if error.domain == NSPOSIXErrorDomain { return Int32(clamping: error.code) }
        if let underlying = error.userInfo[NSUnderlyingErrorKey] as? any Error { return errorNumber(underlying) }
        switch CocoaError.Code(rawValue: error.code) {
        case .fileNoSuchFile, .fileReadNoSuchFile: return ENOENT
        case .fileWriteNoPermission, .fileReadNoPermission: return EACCES
        case .fileWriteFileExists: return EEXIST
        case .fileWriteOutOfSpace: return ENOSPC
        case .fileWriteVolumeReadOnly: return EROFS
        default: return nil
        }
    }

    private static func failure(_ operation: String, _ path: String, _ number: Int32) -> ImageError {
        .cache(.systemCallFailed(operation: operation, path: path, errno: number))
    }
}

/// The files that are being written. If the process ends early, it deletes them.
package enum PendingFiles {
    private static let paths = Lock<Set<String>>([])

    /// Adds a file before it's created.
    package static func insert(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    /// Deletes a file.
    package static func remove(_ path: String) {
        unlink(path)
        paths.withLock { _ = $0.remove(path) }
    }

    /// Deletes all files. Call this function before ending the process.
    package static func removeAll() {
        paths.withLock { all in
            for path in all { unlink(path) }
            all = []
        }
    }
}
