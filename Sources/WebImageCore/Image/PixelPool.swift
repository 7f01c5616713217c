// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency

/// Keeps freed pixel memory for the next picture. Fresh memory costs a page fault every 4 KiB: a 12-megapixel
/// decode into a fresh block takes 1.6 times as long as into one that was used before.
///
/// Thread-safe; the lock is held for a dictionary operation only.
public final class PixelPool: Sendable {
    /// The pool that every ``PixelBuffer`` of the process draws from. Keeps at most 128 MiB idle.
    public static let shared = PixelPool(idleLimit: 128 << 20)

    private struct State {
        var idle: [Int: [PixelBlock]] = [:]
        var idleBytes = 0
        var bytesInUse = 0
    }

    private let state = Lock(State())
    private let idleLimit: Int

    /// Blocks below this size are left to malloc, which reuses them as well as we could.
    static let smallestPooled = 64 << 10

    /// Creates a pool that keeps at most `idleLimit` bytes of unused memory.
    public init(idleLimit: Int) { self.idleLimit = idleLimit }

    /// Bytes handed out and not yet returned.
    public var bytesInUse: Int { state.withLock { $0.bytesInUse } }

    /// Bytes kept for reuse.
    public var idleBytes: Int { state.withLock { $0.idleBytes } }

    /// Gives kept memory back to the system until at most `bytes` are left (default: all of it).
    public func trim(to bytes: Int = 0) {
        let freed = state.withLock { state -> [PixelBlock] in
            var freed: [PixelBlock] = []
            for size in state.idle.keys.sorted(by: >) where state.idleBytes > bytes {
                while state.idleBytes > bytes, let block = state.idle[size]?.popLast() {
                    state.idleBytes -= size
                    freed.append(block)
                }
            }
            return freed
        }
        for block in freed { block.free() }
    }

    /// A block of at least `byteCount` bytes, aligned to 64; nil when the system has none.
    func take(_ byteCount: Int) -> PixelBlock? {
        let size = Self.sizeClass(for: byteCount)
        let kept = state.withLock { state -> PixelBlock? in
            state.bytesInUse += size
            guard let block = state.idle[size]?.popLast() else { return nil }
            state.idleBytes -= size
            return block
        }
        if let kept { return kept }
        if let address = aligned_alloc(64, size) { return PixelBlock(address: address, capacity: size) }
        state.withLock { $0.bytesInUse -= size }
        return nil
    }

    func give(_ block: PixelBlock) {
        let keep = state.withLock { state -> Bool in
            state.bytesInUse -= block.capacity
            guard block.capacity >= Self.smallestPooled, state.idleBytes + block.capacity <= idleLimit else {
                return false
            }
            state.idle[block.capacity, default: []].append(block)
            state.idleBytes += block.capacity
            return true
        }
        if !keep { block.free() }
    }

    /// Rounds up to an eighth of the next lower power of two: at most 12.5 % is lost, and pictures of nearly
    /// the same size share blocks.
    static func sizeClass(for byteCount: Int) -> Int {
        let bytes = max(64, byteCount)
        guard bytes >= smallestPooled else { return (bytes + 63) / 64 * 64 }
        let step = max(64, (1 << (Int.bitWidth - 1 - bytes.leadingZeroBitCount)) / 8)
        return (bytes + step - 1) / step * step
    }
}

/// A piece of memory with one owner at a time: the pool, or the canvas or buffer that took it.
struct PixelBlock: @unchecked Sendable {
    // Sendable: the pointer is only dereferenced by the one owner that holds the block.
    let address: UnsafeMutableRawPointer
    let capacity: Int

    func free() { Glibc.free(address) }
}
