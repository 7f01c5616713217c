// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageNet

@Suite("Memory of bodies")
struct BodyMemoryTests {
    @Test("Released memory is reused for a body of nearly the same size, but not for a much smaller one")
    func reuse() {
        let memory = BodyMemory()
        let first = memory.take(100_000)
        memory.giveBack(first.base, capacity: first.capacity)
        #expect(memory.keptBytes == 100_000)
        let small = memory.take(50_000)
        #expect(small.capacity == 50_000)
        #expect(memory.keptBytes == 100_000)
        let again = memory.take(90_000)
        #expect(again.base == first.base)
        #expect(again.capacity == 100_000)
        #expect(memory.keptBytes == 0)
        memory.giveBack(small.base, capacity: small.capacity)
        memory.giveBack(again.base, capacity: again.capacity)
    }

    @Test("The pool keeps no more than its limits, and no very small or very large blocks")
    func limits() {
        let memory = BodyMemory()
        let blocks = (0..<40).map { memory.take(16_000 + $0 * 10_000) }
        for block in blocks { memory.giveBack(block.base, capacity: block.capacity) }
        #expect(memory.keptBytes <= BodyMemory.mostBytes)
        let kept = memory.keptBytes
        for size in [1, 1 << 20] {
            let block = memory.take(size)
            memory.giveBack(block.base, capacity: block.capacity)
        }
        #expect(memory.keptBytes == kept)
    }
}
