// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

extension ImageError {
    /// True when other bytes could do better. False for what the same file would meet again: a missing coder, a limit,
    /// a transformer, a cancelled request.
    var blamesBytes: Bool {
        guard case .decode(let error, _) = self else { return false }
        return error.blamesBytes
    }

    /// This error with what the server said of the bytes.
    func told(by head: ResponseHead?) -> ImageError {
        guard case .decode(.notAnImage(let format, _, _), let attempts) = self, let head else { return self }
        return .decode(
            .notAnImage(format, status: head.status, contentType: head.fields["Content-Type"]), attempts: attempts)
    }

    /// This error with what failed on the network before the bytes came.
    func after(_ metrics: LoadMetrics?) -> ImageError {
        guard case .decode(let error, _) = self, let metrics, !metrics.failures.isEmpty else { return self }
        return .decode(error, attempts: metrics.failures)
    }
}
