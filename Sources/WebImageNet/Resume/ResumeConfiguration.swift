// SPDX-License-Identifier: MIT

import Foundation

/// How parts of bodies are kept after a lost or cancelled transfer. A value.
public struct ResumeConfiguration: Sendable {
    /// Most bytes in memory. Default 32 MiB.
    public var memoryLimit = 32 << 20
    /// Most parts in memory. Default 256.
    public var entryLimit = 256
    /// Folder for parts above ``diskThreshold``, which then survive a restart; made where it is missing. Default
    /// nil: memory only.
    public var directory: String?
    /// Most bytes in the folder. Default 128 MiB.
    public var diskLimit = 128 << 20
    /// Parts with more bytes go to the folder. Default 256 KiB.
    public var diskThreshold = 256 << 10
    /// Seconds after which a part is forgotten. Default one day.
    public var maxAge = 86_400.0
    /// The clock of ``maxAge``. Default the system's.
    public var now: @Sendable () -> Date = { Date() }

    /// Defaults throughout; `directory` as told.
    public init(directory: String? = nil) { self.directory = directory }
}
