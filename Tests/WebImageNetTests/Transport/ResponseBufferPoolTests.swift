// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageNet

@Suite("Memory of bodies")
struct ResponseBufferPoolTests {
    @Test("Released memory is reused for a body of nearly the same size, but not for a much smaller one")
    func reuse() {
        let memory = ResponseBufferPool()
        let first = memory.makeBlock(100_000)
        memory.recycle(first.base, capacity: first.capacity)
        // There are blocks of 4, 5, 6, and 7 times each power of two.
        #expect(first.capacity == 7 << 14)
        #expect(memory.pooledBytes == first.capacity)
        let small = memory.makeBlock(50_000)
        #expect(small.capacity == 7 << 13)
        #expect(memory.pooledBytes == first.capacity)
        let again = memory.makeBlock(110_000)
        #expect(again.base == first.base)
        #expect(again.capacity == first.capacity)
        #expect(memory.pooledBytes == 0)
        memory.recycle(small.base, capacity: small.capacity)
        memory.recycle(again.base, capacity: again.capacity)
    }

    @Test("A block has at least the requested size and at most a quarter more")
    func sizes() {
        let memory = ResponseBufferPool()
        for size in Array(8_190...8_200) + stride(from: 8_200, through: 524_300, by: 1_021) + [
            524_287, 524_288, 524_289,
        ] {
            let block = memory.makeBlock(size)
            #expect(block.capacity >= size && block.capacity <= size + size / 4)
            memory.recycle(block.base, capacity: block.capacity)
        }
    }

    @Test("The pool keeps no more than its limits, and no very small or very large blocks")
    func limits() {
        let memory = ResponseBufferPool()
        let blocks = (0..<80).map { memory.makeBlock(16_000 + $0 * 6_000) }
        for block in blocks { memory.recycle(block.base, capacity: block.capacity) }
        #expect(memory.pooledBytes <= ResponseBufferPool.mostBytes)
        let kept = memory.pooledBytes
        for size in [1, 1 << 20] {
            let block = memory.makeBlock(size)
            memory.recycle(block.base, capacity: block.capacity)
        }
        #expect(memory.pooledBytes == kept)
    }
}
