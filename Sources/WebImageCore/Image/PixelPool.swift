// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency

/// Keeps freed pixel memory for the next picture. Fresh memory costs a page fault every 4 KiB: a 12-megapixel
/// decode into a fresh block takes 1.6 times as long as into one that was used before.
///
/// A pool that is full gives up the blocks that have been idle longest, so that it holds the sizes that are used now.
///
/// Thread-safe; the lock is held for dictionary operations only, and memory is freed outside it.
public final class PixelPool: Sendable {
    /// The pool that every ``PixelBuffer`` of the process draws from. Keeps at most 128 MiB idle.
    public static let shared = PixelPool(idleLimit: 128 << 20)

    private struct Idle {
        let block: PixelBlock
        /// Counts up with every block that becomes idle.
        let since: UInt64
    }

    private struct State {
        /// Blocks by size, each list in the order in which they became idle.
        private var idle: [Int: [Idle]] = [:]
        private var count: UInt64 = 0
        private(set) var idleBytes = 0
        var bytesInUse = 0

        var idleSizes: [Int] { Array(idle.keys) }

        mutating func push(_ block: PixelBlock) {
            count += 1
            idle[block.capacity, default: []].append(Idle(block: block, since: count))
            idleBytes += block.capacity
        }

        /// The block of this size that became idle last: the caches of the processor may still have it.
        mutating func pop(_ size: Int) -> PixelBlock? {
            guard let last = idle[size]?.popLast() else { return nil }
            left(size)
            return last.block
        }

        /// The block that has been idle longest, of whatever size.
        mutating func popOldest() -> PixelBlock? {
            let oldest = idle.min { ($0.value.first?.since ?? .max) < ($1.value.first?.since ?? .max) }
            guard let size = oldest?.key, let first = idle[size]?.removeFirst() else { return nil }
            left(size)
            return first.block
        }

        private mutating func left(_ size: Int) {
            idleBytes -= size
            if idle[size]?.isEmpty == true { idle[size] = nil }
        }
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
            for size in state.idleSizes.sorted(by: >) {
                while state.idleBytes > bytes, let block = state.pop(size) { freed.append(block) }
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
            return state.pop(size)
        }
        if let kept { return kept }
        if let address = aligned_alloc(64, size) { return PixelBlock(address: address, capacity: size) }
        state.withLock { $0.bytesInUse -= size }
        return nil
    }

    /// Takes a block back. One that is larger than the pool may hold is freed, and takes no other's place.
    func give(_ block: PixelBlock) {
        let freed = state.withLock { state -> [PixelBlock] in
            state.bytesInUse -= block.capacity
            guard block.capacity >= Self.smallestPooled, block.capacity <= idleLimit else { return [block] }
            var freed: [PixelBlock] = []
            while state.idleBytes > idleLimit - block.capacity, let oldest = state.popOldest() { freed.append(oldest) }
            state.push(block)
            return freed
        }
        for block in freed { block.free() }
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
