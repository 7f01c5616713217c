// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageTesting

/// The measurements of the suite `scale`, each of which runs in a dedicated process.
enum ScaleProbe {
    /// The argument that starts the program as a probe. A probe reads URLs from standard input and prints its sample as
    /// JSON.
    static let word = "scale-probe"

    enum Kind: String {
        case memoryHit, memoryStore, diskFirstHit, diskOpening, diskHits, diskTrim, threads, queue, cancelledQueue, list
    }

    static func run(_ arguments: [String]) async throws {
        guard arguments.count == 3, let kind = Kind(rawValue: arguments[0]), let count = Int(arguments[1]) else {
            throw Skipped(reason: "a probe needs its kind, a number, and a path")
        }
        let sample = try await sample(kind, count, path: arguments[2])
        let named = Dictionary(uniqueKeysWithValues: sample.map { ($0.key.rawValue, $0.value) })
        print(String(decoding: try JSONEncoder().encode(named), as: UTF8.self), terminator: "")
    }

    private static func sample(_ kind: Kind, _ count: Int, path: String) async throws -> Sample {
        switch kind {
        case .memoryHit: try memory(count, hits: true)
        case .memoryStore: try memory(count, hits: false)
        case .diskFirstHit: try await diskFirstHit(count, path)
        case .diskOpening: try await diskOpening(count, path)
        case .diskHits: try await diskHits(count, path)
        case .diskTrim: try await diskTrim(count, path)
        case .threads: try await threads(count)
        case .queue: try await queue(count, isCancelled: false)
        case .cancelledQueue: try await queue(count, isCancelled: true)
        case .list: try await list(count)
        }
    }

    // MARK: Memory cache

    /// Measures the cost of storing and of hits in a random order. The images share their pixels, so the memory is that
    /// of the entries.
    private static func memory(_ count: Int, hits: Bool) throws -> Sample {
        var configuration = MemoryCache.Configuration()
        configuration.costLimit = 1 << 50
        let cache = MemoryCache(configuration: configuration)
        let pixels = try PixelCanvas(size: PixelSize(width: 16, height: 16)).finish(isOpaque: false)
        let keys = (0..<count).map { CacheKey(["https://images.example.com/photos/\($0)/large.jpg?w=640&fit=crop"]) }
        let images = (0..<count).map { _ in DecodedImage(pixels: pixels) }
        let before = ResidentMemory.now()
        var sample = timed(count) { for index in 0..<count { cache.store(images[index], for: keys[index]) } }
        sample[.bytes] = (ResidentMemory.now() - before) / Double(count)
        guard hits else { return sample }
        let order = pseudoRandomOrder(65_536, below: count)
        let operations = 400_000
        return timed(operations) {
            for step in 0..<operations { consume(cache.image(for: keys[order[step & 65_535]])) }
        }
    }

    // MARK: Disk cache

    static func diskConfiguration(_ path: String) -> DiskCache.Configuration {
        var configuration = DiskCache.Configuration(directory: URL(filePath: path))
        configuration.sizeLimit = 64 << 30
        configuration.minimumFreeFraction = 0
        return configuration
    }

    private static func diskFirstHit(_ count: Int, _ path: String) async throws -> Sample {
        let key = Bodies(fixed: 1_000).key(count - 1)
        return try await timed(1) {
            let cache = try DiskCache(configuration: diskConfiguration(path))
            guard await cache.entry(for: key) != nil else { throw Skipped(reason: "the entry isn’t in the cache") }
        }
    }

    /// Measures the time until the writer has loaded the index, and the memory of the index per entry.
    private static func diskOpening(_ count: Int, _ path: String) async throws -> Sample {
        let before = ResidentMemory.now()
        var cache: DiskCache?
        var sample = try await timed(1) {
            cache = try DiskCache(configuration: diskConfiguration(path))
            await cache?.flush()
        }
        sample[.bytes] = (ResidentMemory.now() - before) / Double(count)
        await cache?.close()
        return sample
    }

    private static func diskHits(_ count: Int, _ path: String) async throws -> Sample {
        let cache = try DiskCache(configuration: diskConfiguration(path))
        await cache.flush()
        let bodies = Bodies(fixed: 1_000)
        // The last entries remain after each trim.
        let order = pseudoRandomOrder(4_000, below: count / 2).map { bodies.key(count - 1 - $0) }
        var latencies = Latencies()
        var sample = await timed(order.count) {
            for key in order {
                let start = Clocks.wall()
                consume(await cache.entry(for: key))
                latencies.add(since: start)
            }
        }
        sample.merge(latencies.sample) { $1 }
        await cache.close()
        return sample
    }

    /// Removes the oldest entries, up to a twentieth of the cache.
    private static func diskTrim(_ count: Int, _ path: String) async throws -> Sample {
        let cache = try DiskCache(configuration: diskConfiguration(path))
        let before = await cache.info()
        let removed = min(count / 20, 2_000)
        let rest = before.size - before.size / max(1, before.entryCount) * removed
        let sample = await timed(removed) { await cache.trim(toSize: rest) }
        await cache.close()
        return sample
    }

    // MARK: Requests

    /// Measures the decoding of images of 1 megapixel that are already in memory.
    private static func threads(_ threads: Int) async throws -> Sample {
        let picture = try Photograph.encoded(1_200, 900, as: .jpeg(quality: 85))
        let manager = ImageManager {
            $0.diskCache = nil
            $0.workerThreadCount = threads
            $0.decodesWhileDownloading = false
            $0.limits = Photograph.roomy
            $0.memoryCache.costLimit = 8 << 20
            $0.loaders = [StubLoader { _ in StubLoader.Response(picture) }]
        }
        let requests = (0..<200).compactMap { URL(string: "https://images.example.com/\($0).jpg") }.map {
            ImageRequest(url: $0)
        }
        let sample = try await timed(requests.count) {
            for task in requests.map({ manager.load($0) }) { consume(try await task.image) }
        }
        await manager.shutdown()
        return sample
    }

    /// Returns different URLs of small images.
    private static func urls(_ count: Int) throws -> [URL] {
        var texts: [String] = []
        while let line = readLine() { texts.append(line) }
        guard !texts.isEmpty else { throw Skipped(reason: "the probe needs URLs") }
        // The server ignores queries. Different queries prevent the manager from coalescing the requests.
        return (0..<count).compactMap { URL(string: "\(texts[$0 % texts.count])?n=\($0)") }
    }

    private static func smallManager() -> ImageManager {
        ImageManager {
            $0.diskCache = nil
            $0.downloader.maxStartsPerSecond = nil
            $0.memoryCache.costLimit = 4 << 20
        }
    }

    /// Measures requests that are all enqueued before the first one starts: the processor time from the call of `load`
    /// to the image, and the memory of the queue.
    private static func queue(_ count: Int, isCancelled: Bool) async throws -> Sample {
        let manager = smallManager()
        let all = try urls(count + 1)
        // Exclude the memory that libraries allocate once.
        consume(try await manager.image(for: all[count]))
        let requests = all.prefix(count).map { ImageRequest(url: $0) }
        manager.downloader.isSuspended = true
        let before = ResidentMemory.now()
        var bytes = 0.0
        var latencies = Latencies()
        var sample = try await timed(count) {
            let tasks = requests.map { request in
                let start = Clocks.wall()
                defer { latencies.add(since: start) }
                return manager.load(request)
            }
            while manager.downloader.queuedCount < count { try await Task.sleep(for: .milliseconds(1)) }
            bytes = ResidentMemory.now() - before
            if isCancelled {
                for task in tasks { task.cancel() }
                for task in tasks { _ = try? await task.image }
            } else {
                manager.downloader.isSuspended = false
                for task in tasks { consume(try await task.image) }
            }
        }
        sample.merge(latencies.sample) { $1 }
        sample[.bytes] = max(0, bytes) / Double(count)
        await manager.shutdown()
        return sample
    }

    /// Scrolls through a list at 2,000 rows per second. Rows are loaded when they become visible and canceled when they
    /// leave. `p50`, `p99`, and `longest` are the times for which binding a row blocks the caller. `bytes` is the growth of
    /// the process.
    private static func list(_ count: Int) async throws -> Sample {
        let manager = smallManager()
        let requests = try urls(count).map { ImageRequest(url: $0, size: .fill(width: 64, height: 64)) }
        let visible = 40
        let step = 20
        var latencies = Latencies()
        let before = ResidentMemory.now()
        var sample = try await timed(count) {
            var rows: [ImageTask] = []
            var next = 0
            while next < count {
                for request in requests[next..<min(next + step, count)] {
                    let start = Clocks.wall()
                    rows.append(manager.load(request))
                    latencies.add(since: start)
                }
                next = min(next + step, count)
                for row in rows.dropLast(visible) { row.cancel() }
                rows = Array(rows.suffix(visible))
                try await Task.sleep(for: .milliseconds(10))
            }
            for row in rows { consume(try await row.image) }
        }
        sample.merge(latencies.sample) { $1 }
        sample[.bytes] = max(0, ResidentMemory.now() - before)
        await manager.shutdown()
        return sample
    }
}
