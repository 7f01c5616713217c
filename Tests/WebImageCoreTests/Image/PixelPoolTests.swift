// SPDX-License-Identifier: MIT

import Testing

@testable import WebImageCore

@Suite("Pixel pool")
struct PixelPoolTests {
    private static let block = 1 << 20

    /// Takes a block of each size, and then returns all of them to the pool in the same order.
    private func use(_ pool: PixelPool, _ sizes: [Int]) throws {
        let blocks = try sizes.map { try #require(pool.makeBlock($0)) }
        for block in blocks { pool.recycle(block) }
    }

    /// Returns a Boolean value that indicates whether the pool has an idle block of this size.
    private func hasIdle(_ pool: PixelPool, _ size: Int) throws -> Bool {
        let before = pool.idleBytes
        let block = try #require(pool.makeBlock(size))
        defer { pool.recycle(block) }
        return pool.idleBytes < before
    }

    @Test("A pool that is full of unused sizes makes room for the sizes that are used next")
    func replacement() throws {
        let pool = PixelPool(idleLimit: 8 * Self.block)
        // Eight different sizes, each used once.
        try use(pool, (0..<8).map { Self.block / 2 + $0 * Self.block / 16 })
        let used = pool.idleBytes
        #expect(used > 4 * Self.block)
        try use(pool, [4 * Self.block])
        #expect(try hasIdle(pool, 4 * Self.block))
        #expect(pool.idleBytes <= 8 * Self.block)
        #expect(pool.bytesInUse == 0)
    }

    @Test("The blocks that have been idle longest are freed first, and no more of them than needed")
    func order() throws {
        let pool = PixelPool(idleLimit: 4 * Self.block)
        try use(pool, [Self.block, 2 * Self.block])
        // The first size becomes idle again, so the second one is the oldest.
        try use(pool, [Self.block])
        try use(pool, [Self.block + Self.block / 2])
        #expect(try hasIdle(pool, Self.block))
        #expect(try hasIdle(pool, Self.block + Self.block / 2))
        #expect(try !hasIdle(pool, 2 * Self.block))
    }

    @Test("A block larger than the limit isn't pooled and replaces nothing")
    func tooLarge() throws {
        let pool = PixelPool(idleLimit: 2 * Self.block)
        try use(pool, [Self.block])
        try use(pool, [4 * Self.block])
        #expect(try hasIdle(pool, Self.block))
        #expect(pool.idleBytes == Self.block)
    }

    @Test("Trimming frees blocks until at most the given number of bytes is idle")
    func trimming() throws {
        let pool = PixelPool(idleLimit: 16 * Self.block)
        try use(pool, [Self.block, Self.block, 2 * Self.block, 4 * Self.block])
        pool.trim(to: 3 * Self.block)
        #expect(pool.idleBytes <= 3 * Self.block)
        pool.trim()
        #expect(pool.idleBytes == 0)
    }

    @Test("The first limit of a user replaces the initial one, and the highest limit of several users applies")
    func allowance() throws {
        let pool = PixelPool(idleLimit: 16 * Self.block)
        try use(pool, [Self.block, Self.block, 2 * Self.block, 4 * Self.block])
        pool.allowIdle(2 * Self.block)
        #expect(pool.idleBytes <= 2 * Self.block)
        try use(pool, [4 * Self.block])
        #expect(pool.idleBytes <= 2 * Self.block)
        pool.allowIdle(4 * Self.block)
        pool.allowIdle(Self.block)
        try use(pool, [4 * Self.block])
        #expect(pool.idleBytes == 4 * Self.block)
    }
}
