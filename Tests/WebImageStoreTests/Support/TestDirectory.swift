// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

@testable import WebImageStore

/// A directory for one test, which is deleted with this object.
///
/// If possible, the directory is in memory, because closing an index waits for the disk several times.
final class TestDirectory: Sendable {
    let path: String

    init(onDisk: Bool = false) {
        let memory = ProcessInfo.processInfo.environment["WEBIMAGE_TEST_MEMORY"] ?? "/dev/shm"
        let isShared = !onDisk && FileManager.default.isWritableFile(atPath: memory)
        let base = isShared ? memory : FileManager.default.temporaryDirectory.path
        path = "\(base)/webimage-test-\(UUID().uuidString)"
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Returns the configuration of a cache in this directory that doesn't depend on the free space of the machine.
    func configuration(sizeLimit: Int = 64 << 20) -> DiskCache.Configuration {
        DiskCache.Configuration(path: path, sizeLimit: sizeLimit, minimumFreeFraction: 0)
    }

    func open(sizeLimit: Int = 64 << 20, key: DiskCache.EncryptionKey? = nil) throws -> DiskCache {
        var configuration = configuration(sizeLimit: sizeLimit)
        configuration.encryptionKey = key
        return try DiskCache(configuration: configuration)
    }
}

/// An encryption key that is the same in all processes of a test.
let testKeyBytes = Data((0..<32).map { UInt8($0 * 7 + 3) })

/// Returns the encryption key of tests, or `nil` if a test runs without encryption.
func testKey(_ isEncrypted: Bool = true) throws -> DiskCache.EncryptionKey? {
    isEncrypted ? try DiskCache.EncryptionKey(data: testKeyBytes) : nil
}

/// A clock that a test sets.
final class ManualClock: Sendable {
    private let time = Lock((now: 1_800_000_000.0, uptime: 1_000.0))

    /// Advances the calendar and the uptime by `seconds`.
    func advance(_ seconds: Double) {
        time.withLock {
            $0.now += seconds
            $0.uptime += seconds
        }
    }

    /// Changes only the calendar. The uptime remains unchanged.
    func jump(_ seconds: Double) { time.withLock { $0.now += seconds } }

    var now: Date { Date(timeIntervalSince1970: time.withLock { $0.now }) }

    var clock: TimeSource {
        TimeSource(now: { self.now }, uptime: { self.time.withLock { $0.uptime } })
    }
}

/// A generator that produces the same numbers in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

func key(_ number: Int) -> CacheKey { CacheKey(["GET", "https://example.org/\(number).jpg"]) }

/// Returns bytes that depend on the key and the version, so that tests detect mixed-up entries.
func bytes(_ number: Int, version: Int = 0, count: Int = 3_000) -> Data {
    var generator = SeededGenerator(seed: UInt64(truncatingIfNeeded: number &* 1_000_003 &+ version))
    let words = (0..<((count + 7) / 8)).map { _ in generator.next() }
    return words.withUnsafeBytes { Data($0.prefix(count)) }
}

func entry(_ number: Int, version: Int = 0, count: Int = 3_000, stored: Date = Date()) -> CacheEntry {
    CacheEntry(
        key: key(number), head: head(etag: "\"\(number)-\(version)\""),
        probe: ImageInfo(format: .jpeg, storedSize: PixelSize(width: 40, height: 30), orientation: .right),
        data: bytes(number, version: version, count: count), storedAt: stored)
}

func head(etag: String, time: Date = Date()) -> StoredResponseHead {
    StoredResponseHead(
        head: HTTPResponseHead(
            statusCode: 200,
            headers: HTTPHeaderFields([
                .init(name: "Content-Type", value: "image/jpeg"), .init(name: "ETag", value: etag),
            ])),
        varyHeaders: HTTPHeaderFields([.init(name: "Accept", value: "image/*")]), finalURL: "https://example.org/final",
        requestTime: time.addingTimeInterval(-1), responseTime: time)
}
