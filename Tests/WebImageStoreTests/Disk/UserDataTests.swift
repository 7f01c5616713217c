// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP

@testable import WebImageStore

@Suite("Custom attachments on disk")
struct UserDataTests {
    let directory = TestDirectory()

    @Test("Setting, replacing, or removing an attachment takes effect immediately and survives a restart")
    func values() async throws {
        var cache = try directory.open()
        cache.store(entry(1))
        await cache.flush()
        for value in [Data("first".utf8), Data(), Data(repeating: 7, count: 100_000), nil] {
            try cache.setUserData(value, for: key(1))
            #expect(await cache.userData(for: key(1)) == value)
            await cache.flush()
            #expect(await cache.userData(for: key(1)) == value)
            await cache.close()
            cache = try directory.open()
            #expect(await cache.userData(for: key(1)) == value)
            #expect(await cache.entry(for: key(1))?.data == bytes(1))
        }
        await cache.close()
    }

    @Test("Changing the attachment or the response head doesn't rewrite the entry's file")
    func fileStays() async throws {
        let cache = try directory.open()
        cache.store(entry(1))
        await cache.flush()
        let path = CacheLayout(root: directory.path).entry(key(1).fileName)
        let inode = try SystemFileSystem().status(at: path).inode
        try cache.setUserData(Data("x".utf8), for: key(1))
        cache.updateHead(head(etag: "\"new\""), for: key(1))
        await cache.flush()
        #expect(try SystemFileSystem().status(at: path).inode == inode)
        let found = await cache.entry(for: key(1))
        #expect(found?.userData == Data("x".utf8))
        #expect(found?.head?.head.headers.combined("ETag") == "\"new\"")
        await cache.close()
    }

    @Test("Consecutive changes of attachment and response head are both kept, regardless of their batching")
    func together() async throws {
        for flushes in 0..<8 {
            let folder = TestDirectory()
            let cache = try folder.open()
            cache.store(entry(1))
            if flushes & 1 != 0 { await cache.flush() }
            try cache.setUserData(Data("mine".utf8), for: key(1))
            if flushes & 2 != 0 { await cache.flush() }
            cache.updateHead(head(etag: "\"new\""), for: key(1))
            if flushes & 4 != 0 { await cache.flush() }
            await cache.close()
            let again = try folder.open()
            let found = await again.entry(for: key(1))
            #expect(found?.userData == Data("mine".utf8), "\(flushes)")
            #expect(found?.head?.head.headers.combined("ETag") == "\"new\"", "\(flushes)")
            await again.close()
        }
    }

    @Test("A replaced entry has only the attachment that it was stored with")
    func replaced() async throws {
        let cache = try directory.open()
        cache.store(entry(1))
        await cache.flush()
        try cache.setUserData(Data("old".utf8), for: key(1))
        await cache.flush()
        cache.store(entry(1, version: 1))
        await cache.close()
        let again = try directory.open()
        #expect(await again.entry(for: key(1))?.data == bytes(1, version: 1))
        #expect(await again.userData(for: key(1)) == nil)
        try again.setUserData(Data("x".utf8), for: key(2))
        #expect(await again.userData(for: key(2)) == nil)
        await again.close()
    }

    @Test("A value above 1 MiB throws an error with the limit and the size, and the entry keeps its value")
    func tooLarge() async throws {
        let cache = try directory.open()
        cache.store(entry(1))
        for count in [1 << 20, (1 << 20) + 1, 5 << 20] {
            let value = Data(count: count)
            let isTooLarge = count > 1 << 20
            let failure = ImageError.LimitFailure(.userDataSize, limit: 1 << 20, actual: count)
            if isTooLarge {
                #expect(throws: ImageError.limitExceeded(failure)) { try cache.setUserData(value, for: key(1)) }
                // The error doesn't depend on the existence of the entry.
                #expect(throws: ImageError.limitExceeded(failure)) { try cache.setUserData(value, for: key(2)) }
            } else {
                try cache.setUserData(value, for: key(1))
            }
            #expect(await cache.userData(for: key(1))?.count == 1 << 20)
        }
        #expect(await cache.info().counters.dropped == 0)
        await cache.close()
    }
}
