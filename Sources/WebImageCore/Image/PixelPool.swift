// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import WebImageConcurrency

/// A pool that reuses the memory of released pixel buffers.
///
/// New memory costs a page fault for every 4 KiB. Decoding a 12-megapixel image into a new block takes 1.6 times as
/// long as into a reused block. A full pool frees the blocks that have been idle longest, so it retains the sizes that
/// are in current use.
///
/// The pool is thread-safe. It holds its lock only for dictionary operations and frees memory after unlocking.
package final class PixelPool: Sendable {
    /// The maximum size of the idle memory of ``shared``, in bytes.
    package static let mostIdleBytes = 128 << 20

    /// The pool for every ``PixelBuffer`` of the process. It retains at most ``mostIdleBytes`` of idle memory.
    package static let shared = PixelPool(idleLimit: mostIdleBytes)

    private struct Idle {
        let block: PixelBlock
        /// The sequence number of the block, which increases with every block that becomes idle.
        let since: UInt64
    }

    private struct State {
        /// The idle blocks by size. Each array is in the order in which the blocks became idle.
        private var idle: [Int: [Idle]] = [:]
        private var count: UInt64 = 0
        private(set) var idleBytes = 0
        var idleLimit: Int
        /// Whether ``PixelPool/allowIdle(_:)`` has replaced the first limit.
        var isLimitChosen = false
        var bytesInUse = 0
        var arena: PixelArena?

        init(idleLimit: Int) { self.idleLimit = idleLimit }

        var idleSizes: [Int] { Array(idle.keys) }

        mutating func push(_ block: PixelBlock) {
            count += 1
            idle[block.capacity, default: []].append(Idle(block: block, since: count))
            idleBytes += block.capacity
        }

        /// Removes the block of this size that became idle last, because the processor caches may still contain it.
        mutating func pop(_ size: Int) -> PixelBlock? {
            guard let last = idle[size]?.popLast() else { return nil }
            countReleased(size)
            return last.block
        }

        /// Removes the block that has been idle longest, regardless of its size.
        mutating func popOldest() -> PixelBlock? {
            let oldest = idle.min { ($0.value.first?.since ?? .max) < ($1.value.first?.since ?? .max) }
            guard let size = oldest?.key, let first = idle[size]?.removeFirst() else { return nil }
            countReleased(size)
            return first.block
        }

        private mutating func countReleased(_ size: Int) {
            idleBytes -= size
            if idle[size]?.isEmpty == true { idle[size] = nil }
        }
    }

    private let state: Lock<State>

    /// The minimum size of pooled blocks, in bytes. For smaller blocks, `malloc` is just as efficient.
    static let smallestPooled = 64 << 10

    /// Creates a pool that retains at most `idleLimit` bytes of unused memory.
    package init(idleLimit: Int) { state = Lock(State(idleLimit: idleLimit)) }

    /// Sets the maximum size of the idle memory to `bytes`, or to the highest value of several calls.
    ///
    /// Users of the pool with a small budget for decodes thus don't retain much more memory than they may use.
    package func allowIdle(_ bytes: Int) {
        let limit = state.withLock { state in
            state.idleLimit = state.isLimitChosen ? max(state.idleLimit, bytes) : bytes
            state.isLimitChosen = true
            return state.idleLimit
        }
        trim(to: limit)
    }

    /// The size of all blocks in use, in bytes.
    package var bytesInUse: Int { state.withLock { $0.bytesInUse } }

    /// The size of all idle blocks, in bytes.
    package var idleBytes: Int { state.withLock { $0.idleBytes } }

    /// Frees idle memory until at most `bytes` bytes remain. By default, this method frees all idle memory.
    package func trim(to bytes: Int = 0) {
        let freed = state.withLock { state -> [PixelBlock] in
            var freed: [PixelBlock] = []
            for size in state.idleSizes.sorted(by: >) {
                while state.idleBytes > bytes, let block = state.pop(size) { freed.append(block) }
            }
            return freed
        }
        for block in freed { block.free() }
    }

    /// The memory in which the pool places its next large block, or `nil`. The default is `nil`.
    ///
    /// A helper process sets an arena in shared memory, so that its decoders write the pixels directly into it.
    package var arena: PixelArena? {
        get { state.withLock { $0.arena } }
        set { state.withLock { $0.arena = newValue } }
    }

    /// Returns a block of at least `byteCount` bytes that's aligned to 64 bytes, or `nil` if the allocation fails.
    func makeBlock(_ byteCount: Int) -> PixelBlock? {
        let size = Self.sizeClass(for: byteCount)
        if byteCount >= Self.smallestPooled, let arena, let address = arena.take(byteCount) {
            return PixelBlock(address: address, capacity: byteCount, arena: arena)
        }
        let kept = state.withLock { state -> PixelBlock? in
            state.bytesInUse += size
            return state.pop(size)
        }
        if let kept { return kept }
        if let address = aligned_alloc(64, size) { return PixelBlock(address: address, capacity: size) }
        state.withLock { $0.bytesInUse -= size }
        return nil
    }

    /// Returns a block to the pool. If the block exceeds the limit of the pool, it's freed and displaces no other
    /// block.
    func recycle(_ block: PixelBlock) {
        if let arena = block.arena { return arena.release() }
        let freed = state.withLock { state -> [PixelBlock] in
            state.bytesInUse -= block.capacity
            guard block.capacity >= Self.smallestPooled, block.capacity <= state.idleLimit else { return [block] }
            var freed: [PixelBlock] = []
            while state.idleBytes > state.idleLimit - block.capacity, let oldest = state.popOldest() {
                freed.append(oldest)
            }
            state.push(block)
            return freed
        }
        for block in freed { block.free() }
    }

    /// Rounds a size up to a multiple of one eighth of the next lower power of two. At most 12.5% is wasted, and
    /// images of nearly the same size can share blocks.
    static func sizeClass(for byteCount: Int) -> Int {
        let bytes = max(64, byteCount)
        guard bytes >= smallestPooled else { return (bytes + 63) / 64 * 64 }
        let step = max(64, (1 << (Int.bitWidth - 1 - bytes.leadingZeroBitCount)) / 8)
        return (bytes + step - 1) / step * step
    }
}

/// A block of memory with one owner at a time: the pool, a canvas, or a buffer.
struct PixelBlock: @unchecked Sendable {
    // Safe: only the current owner of the block dereferences the pointer.
    let address: UnsafeMutableRawPointer
    let capacity: Int
    /// The owner of the memory, or `nil` if `malloc` allocated it.
    var arena: PixelArena?

    func free() { Glibc.free(address) }
}

/// Memory that isn't part of the heap, with room for one block at a time.
///
/// The code that maps the memory must keep it mapped until ``isFree`` is `true`.
package final class PixelArena: @unchecked Sendable {
    // Safe: the address never changes, and only the owner of the block that was taken writes to the memory.
    package let address: UnsafeMutableRawPointer
    /// The size of the memory, in bytes.
    package let capacity: Int
    private let isTaken = Atomic(false)
    private let progress: @Sendable (Int) -> Void

    /// Creates an arena of mapped memory that's aligned to 64 bytes.
    ///
    /// - Parameters:
    ///   - address: The start of the memory.
    ///   - capacity: The size of the memory, in bytes.
    ///   - progress: A function that receives the number of bytes at the start of the block that don't change any
    ///     longer.
    package init(
        address: UnsafeMutableRawPointer, capacity: Int, progress: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.address = address
        self.capacity = capacity
        self.progress = progress
    }

    /// Reports the number of bytes at the start of the block that don't change any longer.
    func report(finishedBytes: Int) { progress(finishedBytes) }

    /// Whether no block uses the memory.
    package var isFree: Bool { !isTaken.load(ordering: .acquiring) }

    /// Returns whether the memory begins with these bytes.
    package func begins(with bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.baseAddress == UnsafeRawPointer(address) && bytes.count <= capacity
    }

    fileprivate func take(_ byteCount: Int) -> UnsafeMutableRawPointer? {
        guard byteCount <= capacity else { return nil }
        return isTaken.exchange(true, ordering: .acquiring) ? nil : address
    }

    fileprivate func release() { isTaken.store(false, ordering: .releasing) }
}
