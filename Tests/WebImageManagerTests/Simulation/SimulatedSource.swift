// SPDX-License-Identifier: MIT

#if DEBUG && !THREAD_SANITIZER
    import Foundation
    import WebImageConcurrency
    import WebImageManagerTestSupport
    import WebImageTestSupport

    @testable import WebImage

    /// A server whose images change, with latency, faults, truncated bodies, redirects, and 304 responses. It's also the
    /// loader of a simulated manager.
    final class SimulatedSource: ImageLoader {
        static let urlCount = 3
        private static let versionCount = 16
        static let urls = (0..<urlCount).compactMap { URL(string: "https://simulation.test/\($0)") }
        /// The encoded images by number.
        static let bodies = (0..<urlCount * versionCount).map { Numbered.data($0) }

        struct Load: Sendable {
            let url: Int
            let context: LoadContext
            var isActive = true
        }

        private struct State: Sendable {
            var versions = Array(repeating: 0, count: urlCount)
            var loads: [Load] = []
        }

        private let state = Shared(State())
        private let scheduler: DeterministicScheduler
        private let isReliable: Bool

        init(_ scheduler: DeterministicScheduler, isReliable: Bool) {
            self.scheduler = scheduler
            self.isReliable = isReliable
        }

        /// The number of the current image at a URL.
        func number(_ url: Int) -> Int { url * Self.versionCount + state.value.versions[url] }

        /// Returns whether an image with this number belongs to a URL and is at least as new as another one.
        static func isValid(_ number: Int, _ url: Int, since first: Int) -> Bool {
            number / versionCount == url && number >= first
        }

        /// Replaces the image at a URL.
        func change(_ url: Int) {
            state.update { $0.versions[url] = min($0.versions[url] + 1, Self.versionCount - 1) }
        }

        /// The loads that haven't ended.
        var activeLoads: [Load] { state.value.loads.filter(\.isActive) }

        func removeLoads() { state.update { $0.loads = [] } }

        func canLoad(_ url: URL) -> Bool { true }

        func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
            let url = Int(request.url.lastPathComponent) ?? 0
            let index = state.update { state in
                state.loads.append(Load(url: url, context: context))
                return state.loads.count - 1
            }
            defer { state.update { if index < $0.loads.count { $0.loads[index].isActive = false } } }
            context.reportStart()
            try await wait(1..<8)
            let number = number(url)
            let body = Self.bodies[number]
            var fields = Numbered.head(number, cacheControl: "max-age=5").headers
            if chance(4) { fields["Cache-Control"] = "max-age=1, stale-while-revalidate=60" }
            if request.acceptsNotModified, request.headers["If-None-Match"] == fields["ETag"] {
                return response(304, fields, Data(), request)
            }
            context.reportResponse(HTTPResponseHead(statusCode: 200, headers: fields), expectedByteCount: body.count)
            let isTruncated = !isReliable && chance(10)
            let parts = scheduler.number(1..<4)
            let size = body.count / parts + 1
            for part in 0..<parts {
                try await wait(0..<4)
                context.reportData(Data(body.dropFirst(part * size).prefix(size)))
                if isTruncated { throw failure(.connectionLost, request) }
            }
            if !isReliable, chance(12) { throw failure(.timedOut, request) }
            if !isReliable, chance(12) { return response(200, fields, Data("<html></html>".utf8), request) }
            return response(200, fields, body, request)
        }

        private func chance(_ part: Int) -> Bool { scheduler.number(0..<part) == 0 }

        /// Waits for a random time, and throws if the load is canceled.
        private func wait(_ range: Range<Int>) async throws(ImageError) {
            let delay = scheduler.number(range)
            if delay > 0 { await scheduler.sleep(Double(delay) / 10) }
            guard !Task.isCancelled else { throw .cancelled }
        }

        private func failure(_ reason: ImageError.NetworkFailure.Reason, _ request: LoadRequest) -> ImageError {
            .network(ImageError.NetworkFailure(reason, url: request.url, phase: .receivingBody))
        }

        private func response(_ status: Int, _ fields: HTTPHeaderFields, _ body: Data, _ request: LoadRequest)
            -> LoadResponse
        {
            let date = Date(timeIntervalSince1970: SimulatedWorld.start + scheduler.now)
            var response = LoadResponse(
                httpResponse: HTTPResponseHead(statusCode: status, headers: fields), body: body,
                url: chance(6) ? request.url.appending(path: "redirected") : request.url)
            (response.requestDate, response.responseDate) = (date, date)
            return response
        }
    }

    /// A cache tier with latency that sometimes loses entries.
    final class SimulatedTier: CacheTier {
        private let entries = Shared<[CacheKey: CacheEntry]>([:])
        private let scheduler: DeterministicScheduler
        let category = ImageCache.Tiers.disk

        init(_ scheduler: DeterministicScheduler) { self.scheduler = scheduler }

        private func wait() async {
            let delay = scheduler.number(0..<4)
            if delay > 0 { await scheduler.sleep(Double(delay) / 10) }
        }

        func entry(for key: CacheKey, matching headers: HTTPHeaderFields) async -> CacheEntry? {
            let entry = entries.value[key]
            await wait()
            return scheduler.number(0..<10) == 0 ? nil : entry
        }

        func store(_ entry: CacheEntry, matching headers: HTTPHeaderFields) async {
            await wait()
            entries.update { $0[entry.key] = entry }
        }

        func remove(_ key: CacheKey, matching headers: HTTPHeaderFields?) async {
            await wait()
            entries.update { $0[key] = nil }
        }

        func removeAll() async {
            await wait()
            entries.update { $0 = [:] }
        }
    }

    /// The clock of a simulation.
    struct SimulatedClock: Clock {
        struct Instant: InstantProtocol {
            var offset: Duration
            func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
            func duration(to other: Instant) -> Duration { other.offset - offset }
            static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
        }

        let scheduler: DeterministicScheduler
        var now: Instant { Instant(offset: .seconds(scheduler.now)) }
        var minimumResolution: Duration { .nanoseconds(1) }

        func sleep(until deadline: Instant, tolerance: Duration?) async throws {
            await scheduler.sleep((deadline.offset - now.offset) / .seconds(1))
            try Task.checkCancellation()
        }
    }
#endif
