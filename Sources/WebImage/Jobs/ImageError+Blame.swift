// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP
import WebImageStore

extension ImageError {
    /// True when other bytes could do better. False for what the same file would meet again: a missing coder, a limit,
    /// a transformer, a cancelled request.
    var blamesBytes: Bool {
        guard case .decode(let error) = self else { return false }
        return error.blamesBytes
    }

    /// This error with what the server said of the bytes.
    func told(by head: ResponseHead?) -> ImageError {
        guard case .decode(.notAnImage(let format, _, _)) = self, let head else { return self }
        return .decode(.notAnImage(format, status: head.status, contentType: head.fields["Content-Type"]))
    }
}
