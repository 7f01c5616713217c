// SPDX-License-Identifier: MIT

// A separate process for the tests of the disk cache:
//
//     store-helper write <folder> <seed>
//         Stores entries indefinitely. After each flush, prints the number of entries stored so far.
//     store-helper churn <folder> <seed> <count> <limit>
//         Reads, stores, removes, and trims. Exits with status 1 if an entry has wrong contents.
//
//     store-helper serve <folder> <seed>
//         Performs the commands of the standard input, one per line, and prints a line after each of them:
//         "store <number> <size>", "remove <number>", "clear", and "read <number>", which prints the size of the entry
//         or "none".
//     store-helper exit
//         Computes a digest, derives a key in the exit handler that runs last, and prints whether both succeed.
//
// A last argument of the form key=<64 hex> is the encryption key of the cache.

import CHash
import Foundation
import WebImageStore

struct Numbers: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}

func key(_ number: Int) -> CacheKey { CacheKey(["process", String(number)]) }

/// Returns blocks of 256 bytes whose values count up from the number, so that every reader can check that they're
/// complete.
func payload(_ number: Int, count: Int) -> Data {
    var data = Data(capacity: count + 256)
    for block in 0...(count / 256) {
        data.append(Data(repeating: UInt8(truncatingIfNeeded: number &+ block), count: 256))
    }
    return data.prefix(count)
}

func entry(_ number: Int, count: Int) -> CacheEntry {
    CacheEntry(
        key: key(number), data: payload(number, count: count), userData: Data("\(count)".utf8), storedAt: Date())
}

func isWhole(_ entry: CacheEntry, _ number: Int) -> Bool {
    guard let text = entry.userData.map({ String(decoding: $0, as: UTF8.self) }), let count = Int(text) else {
        return false
    }
    return entry.key == key(number) && entry.data == payload(number, count: count)
}

func write(_ cache: DiskCache, seed: UInt64) async {
    var random = Numbers(state: seed)
    var number = 0
    while true {
        for _ in 0..<Int.random(in: 1...40, using: &random) {
            cache.store(entry(number, count: Int.random(in: 10...60_000, using: &random)))
            number += 1
        }
        await cache.flush()
        try? FileHandle.standardOutput.write(contentsOf: Data("\(number)\n".utf8))
    }
}

func churn(_ cache: DiskCache, seed: UInt64, count: Int) async -> Bool {
    var random = Numbers(state: seed)
    for step in 0..<count {
        let number = Int.random(in: 0..<300, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: cache.store(entry(number, count: Int.random(in: 10...30_000, using: &random)))
        case 45..<85:
            if let found = await cache.entry(for: key(number)), !isWhole(found, number) { return false }
        case 85..<95: cache.remove(key(number))
        case 95..<98: await cache.flush()
        case 98: await cache.trim(toSize: 500_000)
        default: if step % 7 == 0 { await cache.removeAll() }
        }
    }
    await cache.close()
    return true
}

func serve(_ cache: DiskCache) async {
    while let line = readLine() {
        let words = line.split(separator: " ")
        let number = words.count > 1 ? Int(words[1]) ?? 0 : 0
        var result = "done"
        switch words.first {
        case "store": cache.store(entry(number, count: words.count > 2 ? Int(words[2]) ?? 0 : 0))
        case "remove": cache.remove(key(number))
        case "clear": await cache.removeAll()
        case "read":
            // Applications check first whether a lookup is worthwhile.
            let found = cache.mayContain(key(number)) ? await cache.entry(for: key(number)) : nil
            result = found.map { isWhole($0, number) ? "\($0.data.count)" : "wrong" } ?? "none"
        default: result = "unknown"
        }
        if words.first != "read" { await cache.flush() }
        try? FileHandle.standardOutput.write(contentsOf: Data("\(result)\n".utf8))
    }
    await cache.close()
}

func bytes(_ digits: Substring) -> Data {
    let values = digits.compactMap(\.hexDigitValue)
    return Data(stride(from: 0, to: values.count - 1, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) })
}

var arguments = CommandLine.arguments
if arguments[1] == "exit" {
    // Handlers run in reverse order, so this one runs after those of the libraries that the digest initializes.
    atexit {
        var bytes = [UInt8](repeating: 0, count: 32)
        print(wi_scrypt("word", 4, [UInt8](repeating: 7, count: 16), 16, 16, 8, 1, 1 << 20, &bytes, 32))
    }
    var digest = [UInt8](repeating: 0, count: 32)
    print(wi_sha256("word", 4, &digest))
    exit(0)
}
let secret = arguments.last?.hasPrefix("key=") == true ? arguments.removeLast().dropFirst(4) : nil
let limit = arguments.count > 5 ? Int(arguments[5]) ?? 0 : 1 << 30
var configuration = DiskCache.Configuration(path: arguments[2], sizeLimit: limit, minimumFreeFraction: 0)
configuration.entrySizeLimit = 1 << 20
if let secret { configuration.encryptionKey = try DiskCache.EncryptionKey(data: bytes(secret)) }
let cache = try DiskCache(configuration: configuration)
let seed = UInt64(arguments[3]) ?? 0
if arguments[1] == "write" {
    await write(cache, seed: seed)
} else if arguments[1] == "serve" {
    await serve(cache)
} else {
    exit(await churn(cache, seed: seed, count: Int(arguments[4]) ?? 0) ? 0 : 1)
}
