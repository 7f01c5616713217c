// SPDX-License-Identifier: MIT

import WebImageCore

/// For how long a failure is remembered.
public struct FailurePolicy: Sendable {
    /// Seconds for which nobody need ask again after this error; nil for not at all.
    public var lifetime: @Sendable (ImageError) -> Double?

    /// Creates a policy of an app's own.
    public init(lifetime: @escaping @Sendable (ImageError) -> Double?) { self.lifetime = lifetime }

    /// Nothing is remembered.
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
    /// True when other bytes could do better: the picture is damaged, cut, or none at all. False for what the same
    /// bytes would meet with other settings: a missing coder, a feature, memory.
    public var blamesBytes: Bool {
        switch self {
        case .empty, .unknownFormat, .notAnImage, .truncated, .corrupt, .inconsistent: true
        case .noCoder, .unsupported, .outOfMemory: false
        case .allCodersFailed(let errors): errors.contains(where: \.blamesBytes)
        }
    }
}
