// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Functions that read and write whole files. Every function blocks.
package enum Files {
    /// Returns the contents of the file at `path`, or of standard input if `path` is `-`.
    ///
    /// - Throws: Error 1006 if the file doesn't exist, 1007 if it can't be read, or 6001 if it has more than `limit`
    ///   bytes.
    package static func read(_ path: String, limit: Int = ImageLimits.desktop.maxEncodedBytes) throws(ImageError)
        -> Data
    {
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

    /// Writes `data` to `path`. A regular file is replaced atomically. Data for devices and pipes is written directly.
    ///
    /// - Throws: Error 3003 if the file can't be written.
    package static func write(_ data: Data, to path: String) throws(ImageError) {
        var status = stat()
        let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        do {
            try data.write(to: URL(filePath: path), options: isSpecial ? [] : .atomic)
        } catch {
            throw failure("Writing", path, error)
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
    /// - Throws: Error 3003 if a directory can't be created.
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
