// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Functions that read and write whole files. Every function blocks.
package enum Files {
    /// Returns the contents of the regular file at `path`, or of standard input if `path` is `-`. Pipes and devices are
    /// never opened in a way that waits for data.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)``,
    ///   ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` if the file can't be read, isn't a regular file, or
    ///   changes its size in the meantime, or ``ImageError/LimitFailure/Kind/encodedSize`` if it has more than `limit`
    ///   bytes.
    package static func read(_ path: String, limit: Int = ImageLimits.desktop.maxEncodedBytes) throws(ImageError)
        -> Data
    {
        path == "-" ? try readStream(path, limit: limit) : try ImageFile.contents(of: path, limit: limit)
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

    /// Writes `data` to `path`, or to standard output if `path` is `-`. A regular file is replaced atomically. Data for
    /// devices and pipes is written directly. If the reader of standard output closed the pipe, the process ends.
    ///
    /// - Throws: ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if the file can't be written.
    package static func write(_ data: Data, to path: String) throws(ImageError) {
        if path == "-" { return try writeToStandardOutput(data) }
        var status = stat()
        let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        do {
            try data.write(to: URL(filePath: path), options: isSpecial ? [] : .atomic)
        } catch {
            throw failure("Writing", path, error)
        }
    }

    private static func writeToStandardOutput(_ data: Data) throws(ImageError) {
        var offset = 0
        while offset < data.count {
            let count = data.withUnsafeBytes { bytes in
                Foundation.write(STDOUT_FILENO, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
            }
            if count > 0 {
                offset += count
            } else if errno == EPIPE {
                _exit(ExitStatus.closedPipe)
            } else if errno == EAGAIN {
                // Another process may have set the pipe to non-blocking mode.
                var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                _ = poll(&ready, 1, -1)
            } else if errno != EINTR {
                throw .cache(.systemCallFailed(operation: "Writing", path: "standard output", errno: errno))
            }
        }
    }

    /// Returns the decoded image in the file at `path`.
    ///
    /// - Throws: An ``ImageError`` if the file can't be read, as ``read(_:limit:)``, or if it can't be decoded.
    @Sendable package static func image(_ path: String) throws(ImageError) -> PixelBuffer {
        try ImageCoderRegistry.standard.decode(
            read(path), options: ImageDecodingOptions(),
            context: ImageProcessingContext()
        )
        .pixels
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
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        let number = (error as? POSIXError)?.code.rawValue ?? Int32(clamping: underlying?.code ?? Int(EIO))
        return .cache(.systemCallFailed(operation: operation, path: path, errno: number))
    }
}
