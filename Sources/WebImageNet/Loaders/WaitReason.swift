// SPDX-License-Identifier: MIT

/// A reason why a load hasn't begun.
public enum WaitReason: String, Sendable, Hashable, Codable {
    /// All connections are in use (``DownloaderConfiguration/totalConnections``), or the downloader is suspended
    /// (``ImageDownloader/suspend()``).
    case queue
    /// The start rate is limited by ``DownloaderConfiguration/startRate``.
    case rate
    /// All connections to the host are in use (``DownloaderConfiguration/connectionsPerHost``).
    case hostLimit = "host-limit"
}
