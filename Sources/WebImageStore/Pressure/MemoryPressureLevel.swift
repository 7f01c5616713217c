// SPDX-License-Identifier: MIT

/// The memory pressure of the machine or the control group.
public enum MemoryPressureLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// There is enough memory.
    case normal
    /// The kernel is reclaiming memory. Release data that can be recreated.
    case low
    /// Processes are waiting for memory. Retain almost no cached data.
    case medium
    /// The kernel is about to kill processes. Retain no cached data.
    case critical

    /// Orders the levels by increasing pressure.
    public static func < (left: MemoryPressureLevel, right: MemoryPressureLevel) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Creates the level for a warning of GMemoryMonitor.
    ///
    /// The values 50, 100, and 255 mean low, medium, and critical. Values between them belong to the next lower level.
    package init(monitorLevel: Int) {
        switch monitorLevel {
        case ..<50: self = .normal
        case ..<100: self = .low
        case ..<255: self = .medium
        default: self = .critical
        }
    }

    /// The fraction of the memory cache's cost limit that may remain in use, from 0 to 1, or `nil` if the level doesn't
    /// restrict it.
    package var cacheFraction: Double? {
        switch self {
        case .normal: nil
        case .low: 0.5
        case .medium: 0.1
        case .critical: 0
        }
    }

    /// Whether frames decoded in advance and prefetched images are dropped.
    package var dropsLookAhead: Bool { self >= .low }
    /// Whether prefetching is paused.
    package var pausesPrefetch: Bool { self >= .medium }
    /// The maximum number of images that are decoded at the same time, or `nil` to use all threads.
    package var decodeLimit: Int? { self >= .medium ? 1 : nil }
    /// The maximum number of bytes of pixel data per decode, at 4 bytes per pixel, or `nil` to use the configured
    /// limits.
    ///
    /// At ``critical``, the limit corresponds to 4 megapixels.
    package var decodedBytesLimit: Int? { self >= .critical ? 4 * 4_000_000 : nil }
    /// Whether freed memory is returned to the system.
    package var returnsMemory: Bool { self >= .critical }
}

/// A change of the level, or a repetition while a level persists.
package struct MemoryPressureEvent: Sendable, Hashable {
    /// The new level.
    package let level: MemoryPressureLevel
    /// Whether memory must be released.
    ///
    /// It's `true` whenever the level rises, and every ten seconds while it persists. It's `false` when the level
    /// falls.
    package let sheds: Bool
}
