// SPDX-License-Identifier: MIT

import Foundation
import Glibc

/// Files that nobody else is to read.
enum PrivateFile {
    /// errno of what failed.
    struct Failure: Error {
        let code: Int32
    }

    /// Writes beside `path` with mode 0600, then renames, so that no half file is ever seen. Names of what is being
    /// written end in `.new`; what a process that died left of them is in nobody's way.
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
