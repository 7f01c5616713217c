// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// A namespace for the functions that read and write image files.
package enum ImageFile {
    /// Returns the content of a regular file. This function blocks.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - limit: The maximum size of the file in bytes.
    ///   - opened: A closure that this function calls before it reads the open file.
    /// - Throws: ``ImageError/RequestFailure/fileNotFound(path:)``,
    ///   ``ImageError/RequestFailure/fileUnreadable(path:errno:)`` with the number `EINVAL` for pipes and devices and
    ///   `ESTALE` if the size changes in the meantime, or an ``ImageError/LimitFailure`` of the kind
    ///   ``ImageError/LimitFailure/Kind/encodedSize`` if the file has more than `limit` bytes.
    package static func contents(
        of path: String, limit: Int, opened: () -> Void = {}
    ) throws(ImageError) -> Data {
        try contents(at: Array(path.utf8CString), named: path, limit: limit, opened: opened)
    }

    /// Returns the content of a regular file, whose name can consist of any bytes. This function blocks.
    ///
    /// - Parameters:
    ///   - cPath: The path of the file, which ends with a zero byte.
    ///   - path: The path for errors.
    ///   - limit: The maximum size of the file in bytes.
    ///   - opened: A closure that this function calls before it reads the open file.
    /// - Throws: An error of ``contents(of:limit:opened:)``.
    package static func contents(
        at cPath: [CChar], named path: String, limit: Int, opened: () -> Void = {}
    ) throws(ImageError) -> Data {
        let descriptor = open(cPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            throw .request(errno == ENOENT ? .fileNotFound(path: path) : .fileUnreadable(path: path, errno: errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .request(.fileUnreadable(path: path, errno: errno)) }
        // Reject pipes and devices, because they may never end.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .request(.fileUnreadable(path: path, errno: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL))
        }
        let size = Int(status.st_size)
        guard size <= limit else {
            throw .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: limit, actual: size, detail: path))
        }
        opened()
        // Another byte shows whether the file has grown.
        var data = Data(count: size + 1)
        var done = 0
        while done <= size {
            let count = data.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { read(descriptor, $0 + done, size + 1 - done) } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .request(.fileUnreadable(path: path, errno: errno)) }
            if count == 0 { break }
            done += count
        }
        // A part of one version of the file and a part of another aren't an image.
        guard done == size else { throw .request(.fileUnreadable(path: path, errno: ESTALE)) }
        data.removeLast()
        return data
    }

    /// Writes `data` to a file, which is replaced atomically. A symbolic link remains, and its target is written. This
    /// function blocks.
    ///
    /// - Throws: ``ImageError/RequestFailure/unsupportedScheme(_:)`` if the URL isn't that of a file, or
    ///   ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)``.
    package static func write(_ data: Data, to file: URL) throws(ImageError) {
        guard file.isFileURL else { throw .request(.unsupportedScheme(file.scheme ?? "")) }
        let path = file.absoluteURL.path(percentEncoded: false)
        try FileReplacement.write(CollectionOfOne(data), to: Array(path.utf8CString), named: path)
    }
}
