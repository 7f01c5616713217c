// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// A suite that compares the disk cache with plain system calls on files of the same sizes.
enum DiskSuite: Suite {
    static let name = "disk"
    static let summary =
        "disk cache: put, hit, miss, opening, trimming, and calls during a trim, against plain file calls in C"

    private static let limit = "C files"

    static func cases(_ settings: Settings) async throws -> [Case] {
        [
            try put(settings), try await hit(settings), try await miss(settings), try await open(settings),
            try trim(settings), besideTrim(settings, .gets), besideTrim(settings, .puts),
        ]
    }

    /// Measures the processor time until all entries are on disk and the latency of single calls.
    private static func put(_ settings: Settings) throws -> Case {
        let count = 2_000
        let bodies = Bodies()
        let ours = Contender("WebImage") { round in
            let cache = try await DiskCache.withFolders(try configuration(settings, "put"))
            var latencies = Latencies()
            var sample = await timed(count) {
                for index in 0..<count {
                    let start = Clocks.wall()
                    cache.store(bodies.entry(round * count + index))
                    latencies.add(since: start)
                    if index % 256 == 255 { await cache.flush() }
                }
                await cache.flush()
            }
            sample.merge(latencies.sample) { $1 }
            await cache.close()
            return sample
        }
        let theirs = Contender(limit) { round in
            let files = try PlainFiles(settings.makeFolder("put-c"), count: count)
            return try timed(count) {
                for index in 0..<count { try files.put(index, bodies.bytes(round * count + index)) }
            }
        }
        return Case(
            name: "put of 5…200 KB, median 30 KB (p50 and p99: time until the caller continues)",
            contenders: [ours, theirs],
            goals: [.ratio(.cpu, to: limit, atMost: 1.25)])
    }

    private static func hit(_ settings: Settings) async throws -> Case {
        let count = 2_000
        let bodies = Bodies(fixed: 30_000)
        let cache = try DiskCache(configuration: try configuration(settings, "hit"))
        let files = try PlainFiles(settings.makeFolder("hit-c"), count: count)
        for index in 0..<count {
            cache.store(bodies.entry(index))
            try files.put(index, bodies.bytes(index))
            if index % 256 == 255 { await cache.flush() }
        }
        await cache.flush()
        let keys = (0..<count).map(bodies.key)
        let order = pseudoRandomOrder(4_000, below: count)
        let ours = Contender("WebImage") { _ in
            var latencies = Latencies()
            var sample = await timed(order.count) {
                for index in order {
                    let start = Clocks.wall()
                    consume(await cache.entry(for: keys[index]))
                    latencies.add(since: start)
                }
            }
            sample.merge(latencies.sample) { $1 }
            return sample
        }
        let theirs = Contender(limit) { _ in
            var latencies = Latencies()
            var sample = timed(order.count) {
                for index in order {
                    let start = Clocks.wall()
                    consume(files.get(index))
                    latencies.add(since: start)
                }
            }
            sample.merge(latencies.sample) { $1 }
            return sample
        }
        return Case(
            name: "hit of 30 KB, bytes", contenders: [ours, theirs],
            goals: [.ratio(.p50, to: limit, atMost: 1.2), .ratio(.p99, to: limit, atMost: 3)])
    }

    private static func miss(_ settings: Settings) async throws -> Case {
        let cache = try DiskCache(configuration: try configuration(settings, "miss"))
        cache.store(Bodies().entry(0))
        _ = await cache.info()
        let keys = (0..<1_000).map { CacheKey(["https://images.example.com/absent/\($0)"]) }
        let ours = Contender("WebImage") { _ in
            await timed(keys.count * 20) {
                for _ in 0..<20 { for key in keys { consume(await cache.entry(for: key)) } }
            }
        }
        return Case(name: "miss that the index knows", contenders: [ours], goals: [.atMost(2e-6, .cpu)])
    }

    /// Measures the time until the first hit and the time until the index is loaded, for a directory with
    /// `settings.entries` small entries.
    private static func open(_ settings: Settings) async throws -> Case {
        let configuration = try configuration(settings, "open")
        let bodies = Bodies(fixed: 1_000)
        let cache = try DiskCache(configuration: configuration)
        for index in 0..<settings.entries {
            cache.store(bodies.entry(index))
            if index % 512 == 511 { await cache.flush() }
        }
        await cache.close()
        let key = bodies.key(settings.entries / 2)
        let firstHit = Contender("opening to first hit") { _ in
            var opened: DiskCache?
            let sample = try await timed(1) {
                let cache = try DiskCache(configuration: configuration)
                opened = cache
                guard await cache.entry(for: key) != nil else { throw Skipped(reason: "the entry isn’t in the cache") }
            }
            await opened?.close()
            return sample
        }
        let loaded = Contender("opening to loaded index") { _ in
            var opened: DiskCache?
            let sample = try await timed(1) {
                let cache = try DiskCache(configuration: configuration)
                opened = cache
                // The writer handles this call after it has loaded the index.
                await cache.flush()
            }
            await opened?.close()
            return sample
        }
        return Case(
            name: "opening with \(settings.entries) entries", contenders: [firstHit, loaded],
            goals: [.atMost(5e-3, .wall)])
    }

    private static func trim(_ settings: Settings) throws -> Case {
        let count = 4_000
        let bodies = Bodies(fixed: 30_000)
        let ours = Contender("WebImage") { _ in
            let cache = try await filled(try configuration(settings, "trim"), bodies: bodies, count: count)
            let bytes = await cache.info().size
            let sample = await timed(count / 2) { await cache.trim(toSize: bytes / 2) }
            await cache.close()
            return sample
        }
        // The kernel needs a different time to delete the files of a cache than to delete the plain files of the other
        // contender.
        let same = Contender("C unlink of the same files") { _ in
            let configuration = try configuration(settings, "trim-same")
            let cache = try await filled(configuration, bodies: bodies, count: count)
            await cache.close()
            let paths = try blobs(under: configuration.directory.path(percentEncoded: false))
            return timed(count / 2) { for path in paths.prefix(count / 2) { _ = wi_limit_unlink(path) } }
        }
        let theirs = Contender("C unlink") { _ in
            let files = try PlainFiles(settings.makeFolder("trim-c"), count: count)
            for index in 0..<count { try files.put(index, bodies.bytes(index)) }
            return timed(count / 2) { for index in 0..<(count / 2) { files.remove(index) } }
        }
        return Case(
            name: "trim of half of \(count) entries of 30 KB", contenders: [ours, same, theirs],
            goals: [.ratio(.cpu, to: "C unlink of the same files", atMost: 1.2)])
    }

    private static func filled(
        _ configuration: DiskCache.Configuration, bodies: Bodies, count: Int
    ) async throws -> DiskCache {
        let cache = try DiskCache(configuration: configuration)
        for index in 0..<count {
            cache.store(bodies.entry(index))
            if index % 256 == 255 { await cache.flush() }
        }
        return cache
    }

    /// Returns the paths of a cache's entries, oldest first.
    private static func blobs(under directory: String) throws -> [String] {
        let folder = directory + "/blobs"
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).compactMap { name -> (String, Date)? in
            let facts = try FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            guard facts[.type] as? FileAttributeType == .typeRegular else { return nil }
            return ("\(folder)/\(name)", facts[.modificationDate] as? Date ?? .distantPast)
        }
        return files.sorted { $0.1 < $1.1 }.map(\.0)
    }

    static func configuration(_ settings: Settings, _ name: String) throws -> DiskCache.Configuration {
        var configuration = DiskCache.Configuration(directory: URL(filePath: try settings.makeFolder(name)))
        configuration.sizeLimit = 64 << 30
        configuration.minimumFreeFraction = 0
        configuration.entrySizeLimit = 32 << 20
        return configuration
    }
}

extension DiskCache {
    /// Creates a cache whose 256 subdirectories exist. A cache creates them only once in its lifetime, and the C
    /// contender also creates its directories in advance.
    fileprivate static func withFolders(_ configuration: DiskCache.Configuration) async throws -> DiskCache {
        for shard in 0..<256 {
            let digits = (shard < 16 ? "0" : "") + String(shard, radix: 16)
            try FileManager.default.createDirectory(
                at: configuration.directory.appending(path: "blobs/\(digits)"), withIntermediateDirectories: true)
        }
        let cache = try DiskCache(configuration: configuration)
        await cache.flush()
        return cache
    }
}
