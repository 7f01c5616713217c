// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import WebImageStore

@Suite("Cache keys")
struct CacheKeyTests {
    /// The hash function uses separate code paths for short, medium, and long input.
    private static let keys = [
        CacheKey([]), CacheKey(["a"]), CacheKey(["data", "https://a.example/image.png", "decode", "original"]),
        CacheKey(["data", String(repeating: "long ", count: 40)]),
        CacheKey(["data", String(repeating: "long ", count: 400)]),
    ]

    @Test("The digest used in memory can't be computed from the key alone", arguments: keys)
    func digestIsSeeded(key: CacheKey) {
        let plain = ContentDigest(of: Data(key.canonical.utf8))
        #expect(key.digest.high != plain.high)
        #expect(key.digest.low != plain.low)
    }

    @Test("Equal keys have equal digests within the process", arguments: keys)
    func digestIsConstant(key: CacheKey) {
        let again = CacheKey(canonical: key.canonical)
        #expect(again == key && again.digest == key.digest && again.storedDigest == key.storedDigest)
        var text = key.canonical
        #expect(text.withUTF8 { CacheKey.Digest(ofCanonical: UnsafeRawBufferPointer($0)) } == key.digest)
    }

    @Test("The file name of a key is the same in every process")
    func stored() {
        let key = CacheKey(["data", "https://a.example/"])
        let plain = ContentDigest(of: Data(key.canonical.utf8))
        #expect(key.storedDigest.high == plain.high && key.storedDigest.low == plain.low)
        #expect(key.canonical == "4:data18:https://a.example/")
        #expect(key.fileName == "a7f2e0ba00508cb69868bc363bba04ef3a2442b1aa8f01aa320a6aeb716c204d")
    }
}
