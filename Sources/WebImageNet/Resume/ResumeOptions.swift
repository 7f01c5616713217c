// SPDX-License-Identifier: MIT

import Foundation

/// The configuration for storing resume data of interrupted and canceled transfers.
public struct ResumeOptions: Sendable, Hashable {
    /// The maximum size of the resume data in memory, in bytes. The default is 32 MiB.
    public var memoryLimit = 32 << 20
    /// The maximum number of entries in memory. The default is 256.
    public var countLimit = 256
    /// The directory for entries larger than ``diskThreshold``, which survive a restart. It's created if necessary.
    ///
    /// The directory must belong to the user of the process, other users must not be able to write to it, and it must not
    /// be a symbolic link. Otherwise, resume data is stored only in memory. The default is `nil`, which means the same.
    public var directory: URL?
    /// The maximum size of the directory, in bytes. The default is 128 MiB.
    public var diskLimit = 128 << 20
    /// The size above which an entry is stored in the directory, in bytes. The default is 256 KiB.
    public var diskThreshold = 256 << 10
    /// The maximum age of an entry. The default is one day.
    public var maxAge = Duration.seconds(86_400)
    /// A closure that returns the current time for ``maxAge``. The default is the system clock.
    package var now: @Sendable () -> Date {
        get { clock.map(\.closure) ?? Self.systemClock }
        set { clock = IdentifiedClosure(newValue) }
    }
    /// The custom clock, or `nil` for the system's.
    private var clock: IdentifiedClosure<@Sendable () -> Date>?

    private static let systemClock: @Sendable () -> Date = { Date() }

    /// Creates a configuration with the default values and an optional directory.
    public init(directory: URL? = nil) { self.directory = directory }
}
