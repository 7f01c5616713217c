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
        #expect(memory.pooledBytes == 100_000)
        let small = memory.makeBlock(50_000)
        #expect(small.capacity == 50_000)
        #expect(memory.pooledBytes == 100_000)
        let again = memory.makeBlock(90_000)
        #expect(again.base == first.base)
        #expect(again.capacity == 100_000)
        #expect(memory.pooledBytes == 0)
        memory.recycle(small.base, capacity: small.capacity)
        memory.recycle(again.base, capacity: again.capacity)
    }

    @Test("The pool keeps no more than its limits, and no very small or very large blocks")
    func limits() {
        let memory = ResponseBufferPool()
        let blocks = (0..<40).map { memory.makeBlock(16_000 + $0 * 10_000) }
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
