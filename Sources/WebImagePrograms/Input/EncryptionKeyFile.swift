// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand

/// A file with the encryption key of the programs' disk cache.
package enum EncryptionKeyFile {
    /// The maximum size of the file in bytes: 64 hexadecimal digits and a line break of two bytes.
    private static let limit = 66

    /// Returns the key in a file, which contains 32 bytes or 64 hexadecimal digits. This function blocks.
    ///
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)``,
    ///   ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` with the number `EINVAL` if the file isn't a regular
    ///   one, or ``ImageError/CacheFailure/invalidEncryptionKey(reason:)`` if other users can access the file or if it
    ///   doesn't contain a key.
    package static func key(at path: String) throws(ImageError) -> DiskCache.EncryptionKey {
        let descriptor = open(FileNameText.cString(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .request(errno == ENOENT ? .fileNotFound(path: path) : .fileUnreadable(path: path, errno: errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .request(.fileUnreadable(path: path, errno: errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .request(.fileUnreadable(path: path, errno: EINVAL)) }
        let mode = status.st_mode & 0o7777
        guard mode & 0o077 == 0 else {
            throw .cache(
                .invalidEncryptionKey(
                    reason: "other users can access \(path) (mode 0\(String(mode, radix: 8)), but 0600 is required)"))
        }
        let text = try contents(descriptor, path)
        guard let bytes = text.count == DiskCache.EncryptionKey.byteCount ? text : decoded(text) else {
            throw .cache(
                .invalidEncryptionKey(
                    reason: "\(path) has \(status.st_size) bytes, but 32 bytes or 64 hexadecimal digits are required"))
        }
        return try DiskCache.EncryptionKey(data: bytes)
    }

    /// Returns at most one byte more than the limit.
    private static func contents(_ descriptor: Int32, _ path: String) throws(ImageError) -> Data {
        var buffer = [UInt8](repeating: 0, count: limit + 1)
        var filled = 0
        while filled < buffer.count {
            let count = buffer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(descriptor, $0 + filled, bytes.count - filled) } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .request(.fileUnreadable(path: path, errno: errno)) }
            if count == 0 { break }
            filled += count
        }
        return Data(buffer[..<filled])
    }

    /// Returns the bytes that 64 hexadecimal digits and an optional line break represent, or `nil` for other data.
    private static func decoded(_ data: Data) -> Data? {
        var digits = data[...]
        if digits.last == UInt8(ascii: "\n") { digits.removeLast() }
        if digits.last == UInt8(ascii: "\r") { digits.removeLast() }
        guard digits.count == 2 * DiskCache.EncryptionKey.byteCount else { return nil }
        var bytes = Data()
        var high: UInt8?
        for digit in digits {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue else { return nil }
            if let upper = high {
                bytes.append(upper << 4 | UInt8(value))
                high = nil
            } else {
                high = UInt8(value)
            }
        }
        return bytes
    }
}
