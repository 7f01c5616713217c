// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// A thread-safe cache of color conversions.
///
/// The keys contain the complete source of a conversion, so different sources never share an entry. The cache limits
/// the number of entries and the total size of the profiles in bytes. It evicts the least recently used entry first.
final class ColorCache: Sendable {
    /// The source of a conversion.
    indirect enum Key: Hashable, Sendable {
        case profile([UInt8])
        case codePoints(ColorCodePoints)
        case numbers(Chromaticities, TransferFunction)
        /// The source of a conversion to Display P3. The other cases are sources of conversions to sRGB.
        case displayP3(Key)

        fileprivate var byteCount: Int {
            switch self {
            case .profile(let bytes): bytes.count
            case .displayP3(let key): key.byteCount
            case .codePoints, .numbers: 0
            }
        }
    }

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

    var count: Int { state.withLock { $0.entries.count } }

    /// Returns the conversion for `key`, or `nil` if the pixels stay unchanged. The closure runs outside the lock, so
    /// two threads may create the same conversion, and the cache keeps one of them.
    func conversion(_ key: Key, make: () -> ColorConversion?) -> ColorConversion? {
        let known = state.withLock { state -> Entry? in
            state.uses += 1
            guard let index = state.entries.index(forKey: key) else { return nil }
            state.entries.values[index].lastUse = state.uses
            return state.entries.values[index]
        }
        if let known { return known.conversion }
        let made = make()
        state.discard { store(made, for: key, in: &$0) }
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
