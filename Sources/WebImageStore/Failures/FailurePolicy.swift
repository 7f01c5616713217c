// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// A policy that decides for how long failures are remembered. Only network failures, decoding failures, and limits that
/// ended a download can be remembered.
package struct FailurePolicy: Sendable {
    /// A closure that returns how many seconds a failure is remembered, or `nil` if it isn't remembered.
    package var lifetime: @Sendable (ImageError) -> Double?

    /// Creates a custom policy.
    package init(lifetime: @escaping @Sendable (ImageError) -> Double?) { self.lifetime = lifetime }

    /// A policy that remembers no failures.
    package static let none = FailurePolicy { _ in nil }

    /// The default policy.
    ///
    /// It remembers 404 and 410 for 10 minutes, corrupt images for 1 hour, other client errors for 1 minute, and an
    /// unknown host for 10 seconds. The freshness that a response states takes precedence. It remembers a successful
    /// response that isn't an image for 1 minute, or for a shorter freshness lifetime of the response. A limit that
    /// ended a download is remembered for as long as the response is fresh. It doesn't remember failures that can pass
    /// on their own (timeouts, lost connections, no network, 408, 425, 429, 5xx), 401 and 407, canceled requests, and
    /// other limits. A manager doesn't remember 403 either if cookies or credentials are configured.
    package static let standard = FailurePolicy { error in
        switch error {
        case .network(let failure): seconds(after: failure)
        case .decoding(let failure): failure.blamesBytes ? seconds(after: failure) : nil
        case .limitExceeded(let failure): failure.freshFor
        case .cancelled, .request, .cache, .processing: nil
        }
    }

    private static func seconds(after failure: ImageError.NetworkFailure) -> Double? {
        switch failure.reason {
        case .cannotFindHost: 10
        case .unacceptableStatusCode: seconds(afterStatus: failure.statusCode ?? 0, retryAfter: failure.freshFor)
        default: nil
        }
    }

    /// The maximum lifetime of the failure of a successful response that isn't an image, in seconds.
    private static let longestForeign = 60.0

    private static func seconds(after failure: ImageError.DecodingFailure) -> Double {
        // Captive portals and proxies send their own pages with the status 200 until the user has signed in.
        guard failure.isForeignData, let head = failure.responseHead, (200...299).contains(head.statusCode) else {
            return 3_600
        }
        return min(Freshness.explicitLifetime(of: head, now: Date()) ?? longestForeign, longestForeign)
    }

    private static func seconds(afterStatus status: Int, retryAfter: Double?) -> Double? {
        switch status {
        case 401, 407, 408, 425, 429, 500...: nil
        case 404, 410: retryAfter ?? 600
        case 400...499: retryAfter ?? 60
        default: nil
        }
    }
}

extension ImageError.DecodingFailure {
    /// Whether other data could decode successfully.
    ///
    /// The value is `true` if the data is corrupt, truncated, or not an image, or if it crashes its decoder. It's `false` if other settings could
    /// decode the same data, for example if a coder, a feature, or memory is missing.
    package var blamesBytes: Bool {
        switch reason {
        case .noData, .unknownFormat, .notAnImage, .truncated, .corrupted, .contradictsHeader, .decoderCrashed: true
        case .noDecoder, .unsupportedFeature, .outOfMemory, .isolationUnavailable, .decoderSuspended: false
        case .allDecodersFailed(let errors): errors.contains(where: \.blamesBytes)
        }
    }
}
