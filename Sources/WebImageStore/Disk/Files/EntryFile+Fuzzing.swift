// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The access of the fuzzers to the reader of entry files.
package enum EntryFuzzing {
    /// Decodes data as an entry file, encodes the result, decodes it again, and returns `false` if the results differ.
    /// The first decoding doesn't verify the checksum because no mutated file would pass.
    package static func roundTrip(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let entry = decode(bytes, verify: false) else { return true }
        guard let again = EntryFile.bytes(of: entry) else { return false }
        return again.withUnsafeBytes { decode($0, verify: true) } == entry
    }

    private static func decode(_ bytes: UnsafeRawBufferPointer, verify: Bool) -> CacheEntry? {
        guard let memory = FileBytes(count: bytes.count) else { return nil }
        memory.mutableBytes.copyMemory(from: bytes)
        return try? EntryFile.decode(memory, key: nil, verify: verify)
    }

    /// A small entry file with all sections, from which the fuzzer starts.
    package static var seed: [UInt8] {
        let head = StoredResponseHead(
            head: HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields([.init(name: "ETag", value: "\"a\"")])),
            finalURL: "https://a.example/", requestTime: Date(timeIntervalSince1970: 1_700_000_000),
            responseTime: Date(timeIntervalSince1970: 1_700_000_001))
        var entry = CacheEntry(
            key: CacheKey(["data", "https://a.example/"]), head: head,
            probe: ImageInfo(format: .jpeg, storedSize: PixelSize(width: 4, height: 3)), data: Data([1, 2, 3]),
            userData: Data([4]), tags: ["t", "u"], storedAt: Date(timeIntervalSince1970: 1_700_000_002))
        entry.timeToLive = .seconds(60)
        return EntryFile.bytes(of: entry) ?? []
    }
}
