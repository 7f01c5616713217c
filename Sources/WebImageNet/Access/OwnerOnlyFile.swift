// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// Files that only the current user may read.
enum OwnerOnlyFile {
    /// The `errno` value of a failed operation.
    struct Failure: Error {
        let code: Int32
    }

    /// Writes a temporary file with mode 0600 next to `path` and renames it, so a partial file is never visible.
    ///
    /// Temporary files end in `.new`. Files left over from killed processes cause no conflicts because their names are
    /// random.
    static func write(_ bytes: Data, to path: String) throws(Failure) {
        let temporary = "\(path).\(String(UInt64.random(in: .min ... .max), radix: 36)).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure(code: errno) }
        var code: Int32 = 0
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count, code == 0 {
                let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
                if count > 0 { offset += count } else if errno != EINTR { code = errno }
            }
        }
        if close(descriptor) != 0, code == 0 { code = errno }
        if code == 0, rename(temporary, path) != 0 { code = errno }
        guard code != 0 else { return }
        unlink(temporary)
        throw Failure(code: code)
    }
}
