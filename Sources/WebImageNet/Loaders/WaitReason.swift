// SPDX-License-Identifier: MIT

/// A reason why a load hasn't begun.
public enum WaitReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// All connections are in use (``ImageDownloader/Configuration/maxConnections``), or the downloader is suspended
    /// (``ImageDownloader/isSuspended``).
    case connectionLimit
    /// The start rate is limited by ``ImageDownloader/Configuration/maxStartsPerSecond``.
    case rateLimit
    /// All connections to the host are in use (``ImageDownloader/Configuration/maxConnectionsPerHost``).
    case hostLimit
}
