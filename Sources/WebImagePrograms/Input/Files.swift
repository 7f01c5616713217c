// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Whole files in and out. Every function blocks.
package enum Files {
    /// All bytes of the file at `path`, or of standard input for `-`.
    ///
    /// - Throws: 1006, 1007, and 6001 for more than `limit` bytes.
    package static func read(_ path: String, limit: Int = Limits.desktop.maxEncodedBytes) throws(ImageError) -> Data {
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
                throw .limit(LimitError(.encodedBytes, limit: limit, actual: data.count, detail: path))
            }
        }
    }

    /// Puts `data` at `path`: a new file takes the place of an old one when it is whole; devices and pipes are
    /// written to.
    ///
    /// - Throws: 3003.
    package static func write(_ data: Data, to path: String) throws(ImageError) {
        var status = stat()
        let isSpecial = stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        do {
            try data.write(to: URL(filePath: path), options: isSpecial ? [] : .atomic)
        } catch {
            throw failure("Writing", path, error)
        }
    }

    /// The decoded picture in the file at `path`.
    ///
    /// - Throws: as ``read(_:limit:)``, and what decoding throws.
    @Sendable package static func picture(_ path: String) throws(ImageError) -> PixelBuffer {
        try CoderRegistry.standard.decode(read(path), options: DecodeOptions(), context: CodingContext()).pixels
    }

    /// Makes a folder and those above it.
    ///
    /// - Throws: 3003.
    package static func makeFolder(_ path: String) throws(ImageError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw failure("Creating the folder", path, error)
        }
    }

    private static func failure(_ operation: String, _ path: String, _ error: any Error) -> ImageError {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        let number = (error as? POSIXError)?.code.rawValue ?? Int32(clamping: underlying?.code ?? Int(EIO))
        return .cache(.system(operation: operation, path: path, errno: number))
    }
}
