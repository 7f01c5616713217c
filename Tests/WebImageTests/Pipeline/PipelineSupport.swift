// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

/// Images that contain a number.
enum Numbered {
    /// The size of each image, in pixels.
    static let size = PixelSize(width: 8, height: 6)

    /// Returns the encoded image of a number from 0 to 255.
    static func data(_ number: Int) -> Data {
        do {
            return try TestImages.png(number, width: size.width, height: size.height)
        } catch {
            Issue.record(error)
            return Data()
        }
    }

    /// Returns the number of an image.
    static func number(of image: DecodedImage) -> Int {
        // 173 is the modular inverse of the factor that maps the number to the red of every pixel.
        image.pixels.withUnsafeBytes { Int($0[0] &* 173) }
    }

    /// Returns a response head with an entity tag of the number. By default, the image is fresh for one minute.
    static func head(_ number: Int, cacheControl: String = "max-age=60") -> HTTPResponseHead {
        var fields = HTTPHeaderFields()
        fields["Content-Type"] = "image/png"
        fields["Cache-Control"] = cacheControl
        fields["ETag"] = "\"\(number)\""
        return HTTPResponseHead(statusCode: 200, headers: fields)
    }

    /// Returns the response of a loader with the image of a number.
    static func response(
        _ number: Int, cacheControl: String = "max-age=60", responseGate: TestGate? = nil, bodyGate: TestGate? = nil
    ) -> StubLoader.Response {
        StubLoader.Response(
            body: data(number), httpResponse: head(number, cacheControl: cacheControl), responseGate: responseGate,
            bodyGate: bodyGate)
    }
}

/// A tier in memory that counts its operations. Gates can hold its lookups and its writes. Thread-safe.
final class RecordingTier: HeadUpdatingCacheTier {
    private struct State {
        var entries: [CacheKey: CacheEntry] = [:]
        var payloads: [Data] = []
        var lookups = 0
        var writes = 0
        var removals = 0
    }

    let category: ImageCache.Tiers
    private let state = Shared(State())
    private let lookupGate: Shared<TestGate?>
    private let storeGate: TestGate?

    init(_ kind: ImageCache.Tiers = .custom, lookupGate: TestGate? = nil, storeGate: TestGate? = nil) {
        self.category = kind
        self.lookupGate = Shared(lookupGate)
        self.storeGate = storeGate
    }

    /// The current number of entries.
    var count: Int { state.value.entries.count }
    /// The current payloads.
    var stored: [Data] { state.value.entries.values.map(\.data) }
    /// The payloads in the order in which they were stored, including removed ones.
    var payloads: [Data] { state.value.payloads }
    /// The number of lookups that have started.
    var lookups: Int { state.value.lookups }
    /// The number of removals.
    var removals: Int { state.value.removals }
    /// The number of writes that have started.
    var writes: Int { state.value.writes }

    /// Holds all further lookups at a gate.
    func blockLookups(_ gate: TestGate) { lookupGate.value = gate }

    func entry(for key: CacheKey, matching request: HTTPHeaderFields) async -> CacheEntry? {
        let entry = state.update { state in
            state.lookups += 1
            return state.entries[key]
        }
        // A slow tier reads the entry long before its caller receives it.
        await lookupGate.value?.wait()
        return entry
    }

    func store(_ entry: CacheEntry, matching: HTTPHeaderFields) async {
        state.update { $0.writes += 1 }
        await storeGate?.wait()
        state.update { state in
            state.entries[entry.key] = entry
            state.payloads.append(entry.data)
        }
    }

    func updateHead(_ head: StoredResponseHead, for key: CacheKey, matching request: HTTPHeaderFields) async {
        state.update { $0.entries[key]?.head = head }
    }

    func remove(_ key: CacheKey, matching request: HTTPHeaderFields?) async {
        state.update { state in
            state.entries[key] = nil
            state.removals += 1
        }
    }

    func removeAll() async {
        state.update { state in
            state.entries = [:]
            state.removals += 1
        }
    }
}

/// A transformer that waits at a gate and returns its input. While it waits, the original data is in use.
final class HoldingTransformer: ImageTransformer {
    let identifier: String
    private let gate: TestGate
    private let begun = Atomic(false)

    init(_ gate: TestGate, identifier: String = "holding") {
        self.gate = gate
        self.identifier = identifier
    }

    /// A Boolean value that indicates whether an image has reached the gate.
    var isHolding: Bool { begun.load(ordering: .acquiring) }

    func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        begun.store(true, ordering: .releasing)
        gate.blockingWait()
        return pixels
    }
}

/// A coder that waits at a gate before it decodes.
final class HoldingCoder: ImageCoder {
    private let gate: TestGate
    private let begun = Atomic(false)

    init(_ gate: TestGate) { self.gate = gate }

    /// A Boolean value that indicates whether data has reached the gate.
    var isHolding: Bool { begun.load(ordering: .acquiring) }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format == .png }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        begun.store(true, ordering: .releasing)
        gate.blockingWait()
        return try ImageCoderRegistry.standard.decode(data, options: options, context: context)
    }
}

/// A loader that exposes the contexts of its loads and holds each load except the first at a gate.
final class ContextLoader: ImageLoader {
    private let state = Shared<[(request: LoadRequest, context: LoadContext)]>([])
    private let gate: TestGate
    private let respond: @Sendable (LoadRequest) -> StubLoader.Response

    init(_ gate: TestGate, respond: @escaping @Sendable (LoadRequest) -> StubLoader.Response) {
        self.gate = gate
        self.respond = respond
    }

    /// The number of loads that have started.
    var count: Int { state.value.count }

    /// The current priorities of the loads in the order in which they started.
    var priorities: [RequestPriority] { state.value.map(\.context.priority) }

    func canLoad(_ url: URL) -> Bool { true }

    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        let isFirst = state.update { state in
            state.append((request, context))
            return state.count == 1
        }
        if !isFirst { await gate.wait() }
        let answer = respond(request)
        return try await StubLoader { _ in answer }.load(request, context: context)
    }
}

extension ImageManager {
    /// Waits until `count` requests have started or joined a load.
    func waitForLoads(_ count: Int) async {
        await untilTrue {
            let counts = statistics
            return counts.loads + counts.coalescedLoads >= count
        }
    }

    /// Waits until no jobs are running.
    func rest() async { await untilTrue { runningJobs == 0 } }

    /// Returns the error code of a request, or `nil` if it succeeds.
    func code(of request: ImageRequest) async -> Int? {
        do throws(ImageError) {
            _ = try await image(for: request)
            return nil
        } catch {
            return error.signedCode
        }
    }
}

extension ImageError {
    /// The code of a failure, which is negative if the failure comes from the negative cache.
    var signedCode: Int { rememberedUntil == nil ? code : -code }
}

extension ImageTask {
    /// The number of the resulting image, or `nil` if the task fails.
    var number: Int? {
        get async {
            do throws(ImageError) {
                return Numbered.number(of: try await image)
            } catch {
                return nil
            }
        }
    }

    /// The code of the resulting error, or `nil` if the task succeeds.
    var code: Int? {
        get async {
            do throws(ImageError) {
                _ = try await response
                return nil
            } catch {
                return error.code
            }
        }
    }
}

/// Lets other tasks run until `condition` is `true`, for at most one second or 2,000 yields.
///
/// Use this function to wait for an event that may not occur. The time is limited because other tests can occupy the
/// processors for many milliseconds at each yield.
func passing(_ condition: () -> Bool = { false }) async {
    let end = ContinuousClock.now + .seconds(1)
    for _ in 0..<2_000 where !condition() && .now < end { await Task.yield() }
}

/// Returns all ordered pairs of the values of a list.
func pairs<Value: Sendable>(_ values: [Value]) -> [(Value, Value)] {
    values.flatMap { first in values.map { (first, $0) } }
}

extension URL {
    /// The URL for tests whose loader doesn't use the network.
    static var sample: URL { URL(string: "https://images.test/a") ?? URL(filePath: "/") }
}
