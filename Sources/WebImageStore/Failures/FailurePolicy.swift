// SPDX-License-Identifier: MIT

import WebImageCore

/// A policy that decides for how long failures are remembered.
public struct FailurePolicy: Sendable {
    /// A closure that returns how many seconds a failure is remembered, or `nil` if it isn't remembered.
    public var lifetime: @Sendable (ImageError) -> Double?

    /// Creates a custom policy.
    public init(lifetime: @escaping @Sendable (ImageError) -> Double?) { self.lifetime = lifetime }

    /// A policy that remembers no failures.
    public static let none = FailurePolicy { _ in nil }

    /// The default policy.
    ///
    /// It remembers 404 and 410 for 10 minutes, data that isn't an image for 1 hour, other client errors for 1 minute,
    /// and an unknown host for 10 seconds. The freshness that a response states takes precedence. It doesn't remember
    /// failures that can pass on their own (timeouts, lost connections, no network, 408, 425, 429, 5xx), 401 and 407,
    /// canceled requests, and limits. A manager doesn't remember 403 either if cookies or credentials are configured.
    public static let standard = FailurePolicy { error in
        switch error {
        case .network(let failure): seconds(after: failure)
        case .decode(let failure, _): failure.blamesBytes ? 3_600 : nil
        case .request, .cache, .transform, .limit: nil
        }
    }

    private static func seconds(after failure: NetworkError) -> Double? {
        switch failure.reason {
        case .cannotFindHost: 10
        case .status: seconds(afterStatus: failure.status ?? 0, told: failure.freshFor)
        default: nil
        }
    }

    private static func seconds(afterStatus status: Int, told: Double?) -> Double? {
        switch status {
        case 401, 407, 408, 425, 429, 500...: nil
        case 404, 410: told ?? 600
        case 400...499: told ?? 60
        default: nil
        }
    }
}

extension DecodeError {
    /// A Boolean value that indicates whether other data could decode successfully.
    ///
    /// The value is `true` if the data is corrupt, truncated, or not an image. It's `false` if other settings could
    /// decode the same data, for example if a coder, a feature, or memory is missing.
    public var blamesBytes: Bool {
        switch self {
        case .empty, .unknownFormat, .notAnImage, .truncated, .corrupt, .inconsistent: true
        case .noCoder, .unsupported, .outOfMemory: false
        case .allCodersFailed(let errors): errors.contains(where: \.blamesBytes)
        }
    }
}
