// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Conversions that were made, by the whole of what they were made from, so that no two can be taken for each other.
/// Thread-safe. Bounded in number and in bytes of profiles; what was used longest ago leaves first.
final class ColorCache: Sendable {
    /// What a conversion is made from.
    enum Key: Hashable, Sendable {
        case profile([UInt8])
        case codePoints(ColorCodePoints)
        case numbers(Chromaticities, TransferFunction)

        fileprivate var byteCount: Int { if case .profile(let bytes) = self { bytes.count } else { 0 } }
    }

    /// The cache of the process.
    static let shared = ColorCache()

    private struct Entry {
        var conversion: ColorConversion?
        var lastUse: Int
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var uses = 0
        var bytes = 0
    }

    private let maxEntries: Int
    private let maxBytes: Int
    private let state = Lock(State())

    init(maxEntries: Int = 32, maxBytes: Int = 8 << 20) {
        self.maxEntries = maxEntries
        self.maxBytes = maxBytes
    }

    /// Number of conversions held.
    var count: Int { state.withLock { $0.entries.count } }

    /// The conversion for `key`; nil where pixels stay as they are. Made outside the lock: two threads may make the
    /// same, and one stays.
    func conversion(_ key: Key, make: () -> ColorConversion?) -> ColorConversion? {
        let known = state.withLock { state -> Entry? in
            state.uses += 1
            guard let index = state.entries.index(forKey: key) else { return nil }
            state.entries.values[index].lastUse = state.uses
            return state.entries.values[index]
        }
        if let known { return known.conversion }
        let made = make()
        let dropped = state.withLock { store(made, for: key, in: &$0) }
        // Freed here, outside the lock.
        withExtendedLifetime(dropped) {}
        return made
    }

    private func store(_ conversion: ColorConversion?, for key: Key, in state: inout State) -> [ColorConversion?] {
        var dropped: [ColorConversion?] = []
        guard key.byteCount <= maxBytes, state.entries[key] == nil else { return dropped }
        while state.entries.count >= maxEntries || state.bytes + key.byteCount > maxBytes {
            guard let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else { break }
            state.entries[oldest.key] = nil
            state.bytes -= oldest.key.byteCount
            dropped.append(oldest.value.conversion)
        }
        state.entries[key] = Entry(conversion: conversion, lastUse: state.uses)
        state.bytes += key.byteCount
        return dropped
    }
}
