// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageStore
import WebImageTestSupport

@testable import WebImageMemcached

@Suite("Values in memcached", .timeLimit(.minutes(1)))
struct ValueTests {
    private let key = CacheKey(["data", "https://a.example/1.png"])
    private var entry: CacheEntry {
        CacheEntry(key: key, data: Data((0..<500).map { UInt8(truncatingIfNeeded: $0) }), tags: ["t"])
    }

    @Test("A value returns the same entry", arguments: [nil, Data("secret".utf8)])
    func roundTrip(secret: Data?) throws {
        let form = SealedValue(secret: secret)
        let value = try #require(form.sealed(entry, name: "n"))
        #expect(form.opened(value, key: key, name: "n")?.data == entry.data)
        #expect(form.opened(value, key: CacheKey(["other"]), name: "n") == nil)
    }

    @Test("A value with any changed byte or any truncation is rejected", arguments: [nil, Data("secret".utf8)])
    func corruption(secret: Data?) throws {
        let form = SealedValue(secret: secret)
        let value = try #require(form.sealed(entry, name: "n"))
        for index in value.indices {
            var changed = value
            changed[index] ^= 0x10
            #expect(form.opened(changed, key: key, name: "n") == nil)
            #expect(form.opened(value[..<index], key: key, name: "n") == nil)
        }
        #expect(form.opened(value + [0], key: key, name: "n") == nil)
    }

    @Test("A value with a valid checksum but without the secret is rejected")
    func forgery() throws {
        let plain = try #require(SealedValue(secret: nil).sealed(entry, name: "n"))
        let foreign = try #require(SealedValue(secret: Data("other".utf8)).sealed(entry, name: "n"))
        let own = SealedValue(secret: Data("secret".utf8))
        #expect(own.opened(plain, key: key, name: "n") == nil)
        #expect(own.opened(foreign, key: key, name: "n") == nil)
        // The authentication covers the name, so a server can't return the value of another name.
        let value = try #require(own.sealed(entry, name: "n"))
        #expect(own.opened(value, key: key, name: "m") == nil)
    }

    @Test("Expirations stay within 10 percent and within the limit of memcached")
    func expirations() {
        var configuration = MemcachedConfiguration(servers: [])
        configuration.timeToLive = .seconds(1_000)
        #expect(configuration.expiration(of: nil, deviation: -1) == 900)
        #expect(configuration.expiration(of: nil, deviation: 1) == 1_100)
        #expect(configuration.expiration(of: .seconds(100), deviation: 1) == 90)
        #expect(configuration.expiration(of: .zero, deviation: 1) == nil)
        configuration.timeToLive = .seconds(1e12)
        #expect(configuration.expiration(of: nil, deviation: 1) ?? 0 <= 30 * 86_400)
        configuration.keyPrefix = "a b\r\n" + String(repeating: "x", count: 500)
        #expect(configuration.normalizedPrefix.hasPrefix("abxx"))
        #expect(configuration.normalizedPrefix.utf8.count == 128)
    }

    @Test("Descriptions of servers are parsed")
    func servers() {
        #expect(MemcachedServer("a.example") == MemcachedServer(host: "a.example"))
        #expect(MemcachedServer("10.0.0.1:11300") == MemcachedServer(host: "10.0.0.1", port: 11_300))
        #expect(MemcachedServer("[::1]:11300") == MemcachedServer(host: "::1", port: 11_300))
        #expect(MemcachedServer("[::1]") == MemcachedServer(host: "::1"))
        #expect(MemcachedServer("::1") == MemcachedServer(host: "::1"))
        for text in ["", ":1", "a:", "a:0", "a:65536", "a b", "a:x", "[", "a/b:1", "é"] {
            #expect(MemcachedServer(text) == nil, "\(text)")
        }
    }

    @Test("A removal hides older entries, and storing an entry ends it")
    func removals() {
        var dates = RemovalDates()
        let old = entry
        dates.remove(key, at: old.storedAt + 1)
        #expect(dates.hides(old))
        var new = old
        new.storedAt += 2
        #expect(!dates.hides(new))
        dates.restore(key)
        #expect(!dates.hides(old))
        dates.removeAll(at: old.storedAt)
        #expect(dates.hides(old))
        #expect(!dates.hides(new))
        for number in 0..<(3 * RemovalDates.limit) {
            dates.remove(CacheKey(["\(number)"]), at: old.storedAt + Double(number))
        }
        let last = CacheEntry(key: CacheKey(["\(3 * RemovalDates.limit - 1)"]), data: Data())
        var hidden = last
        hidden.storedAt = old.storedAt
        #expect(dates.hides(hidden))
    }

    @Test("A machine neither waits for its own lease nor for a key whose wait had no effect")
    func leases() {
        var table = LeaseTable()
        #expect(table.mayWait(for: key, at: 0))
        table.own(key, until: 10)
        #expect(!table.mayWait(for: key, at: 9))
        #expect(table.mayWait(for: key, at: 10))
        table.own(key, until: 20)
        table.disown(key)
        #expect(table.mayWait(for: key, at: 11))
        table.avoid(key, until: 30)
        #expect(!table.mayWait(for: key, at: 29))
    }
}
