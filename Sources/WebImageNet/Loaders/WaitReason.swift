// SPDX-License-Identifier: MIT

/// A reason why a load has not begun.
public enum WaitReason: String, Sendable, Hashable, Codable {
    /// All connections there may be are in use (``DownloaderConfiguration/totalConnections``), or no load is started now
    /// (``ImageDownloader/suspend()``).
    case queue
    /// Loads are started no faster than ``DownloaderConfiguration/startRate`` allows.
    case rate
    /// All connections to its host are in use (``DownloaderConfiguration/connectionsPerHost``).
    case hostLimit = "host-limit"
}
