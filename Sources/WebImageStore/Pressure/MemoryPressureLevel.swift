// SPDX-License-Identifier: MIT

/// How short of memory the machine or the control group is.
public enum MemoryPressureLevel: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// Enough.
    case normal
    /// The kernel is reclaiming: give up what can be made again.
    case low
    /// Processes wait for memory: hold next to nothing.
    case medium
    /// Processes are about to be killed: hold nothing.
    case critical

    /// Orders by shortage.
    public static func < (left: MemoryPressureLevel, right: MemoryPressureLevel) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The level that GMemoryMonitor's warnings mean: 50 low, 100 medium, 255 critical, taken as ranges.
    public init(monitorLevel: Int) {
        switch monitorLevel {
        case ..<50: self = .normal
        case ..<100: self = .low
        case ..<255: self = .medium
        default: self = .critical
        }
    }

    /// The part of the memory cache's cost limit that may stay, 0 to 1; nil for all of it.
    public var cacheFraction: Double? {
        switch self {
        case .normal: nil
        case .low: 0.5
        case .medium: 0.1
        case .critical: 0
        }
    }

    /// Whether frames decoded ahead of their time and pictures that were prefetched are dropped.
    public var dropsLookAhead: Bool { self >= .low }
    /// Whether nothing is prefetched.
    public var pausesPrefetch: Bool { self >= .medium }
    /// Pictures that may be decoded at the same time; nil for as many as there are threads.
    public var decodeLimit: Int? { self >= .medium ? 1 : nil }
    /// Bytes of pixels that one decode may hold, 4 bytes each; nil for what the limits say. At ``critical`` as many as 4
    /// megapixels have.
    public var decodedBytesLimit: Int? { self >= .critical ? 4 * 4_000_000 : nil }
    /// Whether free memory is given back to the system.
    public var returnsMemory: Bool { self >= .critical }
}

/// A change of level, or a level that lasts.
public struct MemoryPressureEvent: Sendable, Hashable {
    /// The level from now on.
    public let level: MemoryPressureLevel
    /// Whether memory is to be given up now: on every rise, and every ten seconds while the level lasts. False when the
    /// level falls.
    public let sheds: Bool
}
