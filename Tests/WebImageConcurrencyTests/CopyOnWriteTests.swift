// SPDX-License-Identifier: MIT

import Testing
import WebImageConcurrency

@Suite("Copy on write")
struct CopyOnWriteTests {
    @Test("A change of one copy doesn't affect the other copies")
    func independence() {
        let original = CopyOnWrite([1, 2])
        var copy = original
        #expect(copy.identity == original.identity)
        copy.value.append(3)
        #expect(original.value == [1, 2] && copy.value == [1, 2, 3])
        #expect(copy.identity != original.identity)
    }

    @Test("A change of a container without copies reuses its storage")
    func uniqueStorage() {
        var container = CopyOnWrite([Int](repeating: 0, count: 1_000))
        let before = container.identity
        container.value[0] = 1
        #expect(container.identity == before && container.value[0] == 1)
    }
}
