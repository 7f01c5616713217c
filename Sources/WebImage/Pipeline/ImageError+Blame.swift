// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

extension ImageError {
    /// A Boolean value that indicates whether the data caused the error, so loading it again could help.
    ///
    /// The value is `false` for errors that the same file would cause again, such as a missing coder, an exceeded
    /// limit, a failed transformer, or a canceled request. It's also `false` for a failure from the negative cache.
    var blamesBytes: Bool {
        guard case .decoding(let failure) = self, rememberedUntil == nil else { return false }
        return failure.blamesBytes
    }

    /// Returns this error with the status and the content type of the response.
    func addingResponse(_ head: HTTPResponseHead?) -> ImageError {
        guard case .decoding(var failure) = self, failure.reason == .notAnImage, let head else { return self }
        failure.statusCode = head.statusCode
        failure.contentType = head.headers["Content-Type"]
        return .decoding(failure)
    }

    /// Returns this error with the network failures that preceded the data.
    func after(_ metrics: NetworkMetrics?) -> ImageError {
        guard case .decoding(var failure) = self, let metrics, !metrics.failures.isEmpty else { return self }
        failure.attempts = metrics.failures
        return .decoding(failure)
    }
}
