// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A suite that replays request traces through both caches and compares their hit ratios with simulations of known
/// eviction policies. It measures no times, so its results are the same on every machine.
enum PolicySuite: Suite {
    static let name = "policy"
    static let summary = "eviction: hit ratios of traces in both caches, against LRU, Clock, SIEVE, S3-FIFO, and GDSF"

    /// The sizes of the caches with goals, as fractions of the footprint.
    private static let sizes = [0.01, 0.05, 0.1, 0.3]
    private static let plottedSizes = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5]

    private typealias Simulation = (
        name: String, make: @Sendable (_ objects: Int, _ capacity: Int) -> any PolicySimulation
    )
    private static let simulations: [Simulation] = [
        ("LRU", { LRUSimulation(objects: $0, capacity: $1) }),
        ("Clock", { ClockSimulation(objects: $0, capacity: $1) }),
        ("SIEVE", { SieveSimulation(objects: $0, capacity: $1) }),
        ("S3-FIFO", { S3FIFOSimulation(objects: $0, capacity: $1) }),
    ]
    private static let sizeAware: Simulation = ("GDSF", { GDSFSimulation(objects: $0, capacity: $1) })

    static func cases(_ settings: Settings) async throws -> [Case] {
        let image = DecodedImage(pixels: try PixelCanvas(size: PixelSize(width: 1, height: 1)).finish(isOpaque: false))
        var traces = [
            RequestTrace.zipf(0.8), .zipf(1), .scans(), .loop(), .feed(), .drift(),
        ]
        var cases: [Case] = []
        do {
            let pages = try RequestTrace("product pages", file: "\(settings.traces)/product-pages.txt.xz")
            let network = try RequestTrace("content network", file: "\(settings.traces)/cdn-sizes.txt.xz")
            traces.append(pages)
            traces.append(network.resized { _, _ in 1 })
            cases += try await diskCases(network, settings)
        } catch let skipped as Skipped {
            FileHandle.standardError.write(Data("policy: recorded traces skipped: \(skipped.reason)\n".utf8))
        }
        cases += try traces.flatMap { try memoryCases($0, image, settings) }
        return cases + [try await scan(image, settings), try await diskScan(settings)]
    }

    // MARK: Memory

    private static func memoryCases(
        _ trace: RequestTrace, _ image: DecodedImage, _ settings: Settings
    ) throws -> [Case] {
        func capacity(_ size: Double) -> Int { max(1, Int(Double(trace.footprint) * size)) }
        func own(_ size: Double) -> Tally { replay(trace, image, capacity: capacity(size)) }
        func simulated(_ simulation: Simulation, _ size: Double) -> Tally {
            Tally(trace, simulation.make(trace.objectCount, capacity(size)))
        }
        var lines = [("WebImage", plottedSizes.map { own($0).hits })]
        for simulation in simulations {
            lines.append((simulation.name, plottedSizes.map { simulated(simulation, $0).hits }))
        }
        try write(plot("\(trace.name), memory cache", plottedSizes, lines), "memory-\(trace.name)", settings)
        return sizes.map { size in
            let others = simulations.map { ($0.name, simulated($0, size)) }
            let best = others.map(\.1.hits).max() ?? 0
            var sample = own(size).sample
            sample[.shortfall] = best - own(size).hits
            return Case(
                name: "\(trace.name), memory, \(decimal(size * 100, 0)) %",
                contenders: [constant("WebImage", sample)] + others.map { constant($0.0, $0.1.sample) },
                goals: [.atMost(0.3, .shortfall)], warmUps: 0)
        }
    }

    /// Requests all images of a trace from a memory cache and stores the missing ones.
    private static func replay(_ trace: RequestTrace, _ image: DecodedImage, capacity: Int) -> Tally {
        var configuration = MemoryCache.Configuration()
        configuration.costLimit = image.cost * capacity
        configuration.entryCostLimit = .max
        let cache = MemoryCache(configuration: configuration)
        let keys = (0..<trace.objectCount).map { CacheKey(["\($0)"]) }
        var tally = Tally()
        for request in trace.requests {
            let isHit = cache.image(for: keys[request.object]) != nil
            // Each entry needs an image of its own. The cache returns evicted images that are still in use elsewhere.
            if !isHit { cache.store(DecodedImage(pixels: image.pixels), for: keys[request.object]) }
            tally.count(isHit: isHit, size: request.size)
        }
        return tally
    }

    private static func scan(_ image: DecodedImage, _ settings: Settings) async throws -> Case {
        try await scan("memory", requests: 60_000, objectSize: 1) { replay($0, image, capacity: $1) }
    }

    /// Measures how many hits a scan over ten times the size of a cache costs. `replay` replays a trace in an empty cache
    /// with a capacity.
    private static func scan(
        _ name: String, requests: Int, objectSize: Int, replay: (RequestTrace, Int) async throws -> Tally
    ) async throws -> Case {
        let objects = 1_000
        let before = RequestTrace.zipf(1, objects: 3 * objects, requests: requests)
        let scan = (0..<(10 * objects)).map { (id: 1_000_000 + $0, size: objectSize) }
        let first = before.requests.map { (id: $0.object, size: objectSize) }
        let after = first.suffix(3_000)
        func hits(_ lines: [(id: Int, size: Int)]) async throws -> Double {
            let capacity = objects * objectSize
            let all = try await replay(RequestTrace("", lines + after), capacity)
            let prefix = try await replay(RequestTrace("", lines), capacity)
            return Double(all.hitCount - prefix.hitCount) / Double(after.count) * 100
        }
        let calm = try await hits(first)
        let disturbed = try await hits(first + scan)
        return Case(
            name: "the 3,000 requests after a scan over ten times the \(name) cache",
            contenders: [
                constant("WebImage", [.hits: disturbed, .shortfall: calm - disturbed]),
                constant("WebImage without the scan", [.hits: calm]),
            ],
            goals: [.atMost(3, .shortfall)], warmUps: 0)
    }

    // MARK: Disk

    private static func diskCases(_ trace: RequestTrace, _ settings: Settings) async throws -> [Case] {
        let keys = (0..<trace.objectCount).map { CacheKey(["\($0)"]) }
        // The size of a file is a multiple of 4 KiB. It contains a header of 48 bytes, the key, and a checksum.
        let stored = trace.resized { object, size in
            (size + 56 + keys[object].description.utf8.count + 4_095) / 4_096 * 4_096
        }
        func capacity(_ size: Double) -> Int { Int(Double(stored.footprint) * size) }
        func simulated(_ simulation: Simulation, _ size: Double) -> Tally {
            Tally(stored, simulation.make(stored.objectCount, capacity(size)), sizes: trace)
        }
        var own: [Tally] = []
        for size in sizes { own.append(try await replay(trace, stored, keys, capacity: capacity(size), settings)) }
        var lines = [("WebImage", own.map(\.hits))]
        for simulation in simulations + [sizeAware] {
            lines.append((simulation.name, sizes.map { simulated(simulation, $0).hits }))
        }
        try write(plot("\(trace.name), disk cache", sizes, lines), "disk-\(trace.name)", settings)
        return zip(sizes, own).map { size, tally in
            let contenders = [("WebImage", tally)] + (simulations + [sizeAware]).map { ($0.name, simulated($0, size)) }
            return Case(
                name: "\(trace.name), disk, \(decimal(size * 100, 0)) %",
                contenders: contenders.map { constant($0.0, $0.1.sample) },
                goals: [
                    .ratioAtLeast(0.97, .hits, of: "GDSF"), .ratioAtLeast(1, .byteHits, of: "LRU"),
                ],
                warmUps: 0)
        }
    }

    /// The scan of a disk cache with files of 4 KiB.
    private static func diskScan(_ settings: Settings) async throws -> Case {
        try await scan("disk", requests: 20_000, objectSize: 4_096) { stored, capacity in
            let keys = (0..<stored.objectCount).map { CacheKey(["\($0)"]) }
            return try await replay(stored.resized { _, _ in 3_900 }, stored, keys, capacity: capacity, settings)
        }
    }

    /// Requests all objects of a trace from a disk cache and stores the missing ones.
    private static func replay(
        _ trace: RequestTrace, _ stored: RequestTrace, _ keys: [CacheKey], capacity: Int, _ settings: Settings
    ) async throws -> Tally {
        var configuration = DiskCache.Configuration(directory: URL(filePath: try settings.makeFolder("policy")))
        configuration.sizeLimit = capacity
        configuration.entrySizeLimit = capacity
        configuration.minimumFreeFraction = 0
        let cache = try DiskCache(configuration: configuration)
        let body = Data(count: trace.requests.map(\.size).max() ?? 0)
        var tally = Tally()
        var waiting = 0
        for (request, file) in zip(trace.requests, stored.requests) {
            let key = keys[request.object]
            let isHit = await cache.entry(for: key) != nil
            tally.count(isHit: isHit, size: request.size)
            guard !isHit, file.size <= capacity else { continue }
            cache.store(CacheEntry(key: key, data: body.prefix(request.size)))
            waiting += file.size
            // The cache writes in the background, so without waiting, more than the capacity would be in use.
            guard waiting > capacity / 50 else { continue }
            waiting = 0
            await cache.flush()
            await cache.trim(toSize: capacity)
        }
        await cache.close()
        return tally
    }

    // MARK: Results

    private static func constant(_ name: String, _ sample: Sample) -> Contender { Contender(name) { _ in sample } }

    /// Returns a plot of hit ratios in percent over the size of the cache.
    private static func plot(
        _ title: String, _ sizes: [Double], _ lines: [(name: String, values: [Double])]
    ) -> LinePlot {
        LinePlot(
            title: "Hit ratio: \(title)",
            horizontal: LinePlot.Axis(
                "size of the cache, as a share of all requested objects",
                labels: sizes.map { ($0, "\(decimal($0 * 100, $0 < 0.01 ? 1 : 0)) %") }, isLogarithmic: true),
            vertical: .linear("hit ratio", lines.flatMap(\.values)) { "\(decimal($0, 0)) %" },
            lines: lines.map { line in (line.name, zip(sizes, line.values).map { (x: $0, y: $1) }) })
    }

    private static func write(_ plot: LinePlot, _ name: String, _ settings: Settings) throws {
        try ReportFiles(settings).write(plot, named: "hit-ratio-\(name)")
    }
}

/// The hits of a replay.
private struct Tally {
    private(set) var hitCount = 0
    private var count = 0
    private var hitBytes = 0
    private var bytes = 0

    init() {}

    /// Replays a trace in a simulated cache. The sizes of `sizes` are those of the counted bytes.
    init(_ trace: RequestTrace, _ simulation: any PolicySimulation, sizes: RequestTrace? = nil) {
        var simulation = simulation
        for (request, counted) in zip(trace.requests, (sizes ?? trace).requests) {
            count(isHit: simulation.request(request.object, size: request.size), size: counted.size)
        }
    }

    mutating func count(isHit: Bool, size: Int) {
        count += 1
        bytes += size
        guard isHit else { return }
        hitCount += 1
        hitBytes += size
    }

    /// The share of the requests that were hits, in percent.
    var hits: Double { Double(hitCount) / Double(max(1, count)) * 100 }
    var sample: Sample { [.hits: hits, .byteHits: Double(hitBytes) / Double(max(1, bytes)) * 100] }
}
