// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// Memory of bodies that nobody looks at any more, for the next ones: the system's allocator would give pages back and
/// take new ones for every picture. Process-wide; thread-safe.
final class BodyMemory: Sendable {
    static let shared = BodyMemory()

    /// `@unchecked Sendable`: only memory that nobody else knows is in one, and it is handed over as a whole.
    private struct Block: @unchecked Sendable {
        let base: UnsafeMutableRawPointer
        let capacity: Int
    }

    private struct State {
        /// Oldest first.
        var blocks: [Block] = []
        var bytes = 0
    }

    /// Most bytes that are kept.
    static let mostBytes = 2 << 20
    /// Most blocks that are kept.
    static let mostBlocks = 32
    /// Sizes that are kept; smaller ones cost the allocator little, larger ones are rare.
    static let sizes = (8 << 10)...(512 << 10)

    private let state = Lock(State())

    deinit {
        state.withLock { state in
            for block in state.blocks { block.base.deallocate() }
            state.blocks = []
        }
    }

    /// Bytes kept at present.
    var keptBytes: Int { state.withLock { $0.bytes } }

    /// Memory of `capacity` bytes or up to a quarter more, not cleared.
    func take(_ capacity: Int) -> (base: UnsafeMutableRawPointer, capacity: Int) {
        if Self.sizes.contains(capacity), let block = takeKept(capacity) { return (block.base, block.capacity) }
        return (.allocate(byteCount: capacity, alignment: 16), capacity)
    }

    private func takeKept(_ capacity: Int) -> Block? {
        state.withLock { state in
            var best: Int?
            var least = capacity + capacity / 4 + 1
            for index in state.blocks.indices {
                let found = state.blocks[index].capacity
                guard found >= capacity, found < least else { continue }
                (best, least) = (index, found)
            }
            guard let best else { return nil }
            state.bytes -= least
            return state.blocks.remove(at: best)
        }
    }

    /// Takes back what ``take(_:)`` gave.
    func giveBack(_ base: UnsafeMutableRawPointer, capacity: Int) {
        guard Self.sizes.contains(capacity) else { return base.deallocate() }
        let block = Block(base: base, capacity: capacity)
        let surplus = state.withLock { state in
            state.blocks.append(block)
            state.bytes += capacity
            var count = 0
            while state.bytes > Self.mostBytes || state.blocks.count - count > Self.mostBlocks {
                state.bytes -= state.blocks[count].capacity
                count += 1
            }
            guard count > 0 else { return [Block]() }
            defer { state.blocks.removeFirst(count) }
            return Array(state.blocks.prefix(count))
        }
        for block in surplus { block.base.deallocate() }
    }
}
