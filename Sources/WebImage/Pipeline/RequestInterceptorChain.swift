// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The interceptors of a manager, in order.
struct RequestInterceptorChain: Sendable {
    /// A closure with which the manager serves a request that passed through the chain.
    typealias Responder = @Sendable (RequestPlan) async throws(ImageError) -> ImageResponse

    /// The memory lookup for images that serve a request without contacting the server.
    struct MemoryLookup: Sendable {
        /// A closure that returns whether memory serves a request. It delivers nothing.
        let serves: @Sendable (RequestPlan) -> Bool
        let response: @Sendable (RequestPlan) -> ImageResponse?

        static let none = MemoryLookup(serves: { _ in false }, response: { _ in nil })
    }

    private struct Link {
        let interceptor: any ImageRequestInterceptor
        let appliesToMemoryHits: Bool
    }

    /// The values that all steps of one request share.
    private struct Passage {
        let trace: ObserverNotifier?
        let settings: SettingsSnapshot
        let isPrefetch: Bool
        let lookup: MemoryLookup
        let answering: Responder

        func plan(_ request: ImageRequest, _ defaults: RequestDefaults) -> RequestPlan {
            RequestPlan(request, defaults, trace: trace, settings: settings, isPrefetch: isPrefetch)
        }
    }

    private let links: [Link]
    private let modifier: (@Sendable (inout ImageRequest) -> Void)?
    private let defaults: RequestDefaults
    /// Whether requests must pass through the chain unless memory serves them.
    let interceptsLoads: Bool
    let interceptsMemoryHits: Bool

    init(_ configuration: ImageManager.Configuration, _ defaults: RequestDefaults) {
        links = configuration.interceptors.map {
            Link(interceptor: $0, appliesToMemoryHits: $0.appliesToMemoryHits)
        }
        modifier = configuration.requestModifier
        self.defaults = defaults
        interceptsLoads = !links.isEmpty
        interceptsMemoryHits = links.contains { $0.appliesToMemoryHits }
    }

    /// Whether there's no modifier of requests. Checking it first avoids a copy of each request.
    var preparesNothing: Bool { modifier == nil }

    func prepared(_ request: ImageRequest) -> ImageRequest {
        guard let modifier else { return request }
        var request = request
        modifier(&request)
        return request
    }

    func respond(
        _ plan: RequestPlan, lookup: MemoryLookup = .none, _ answering: @escaping Responder
    ) async throws(ImageError) -> ImageResponse {
        let passage = Passage(
            trace: plan.trace, settings: plan.settings, isPrefetch: plan.isPrefetch, lookup: lookup,
            answering: answering)
        return try await respond(plan.callerRequest, links[...], skipped: [], passage)
    }

    /// Passes `request` through `rest`. `skipped` contains the interceptors that were skipped because of a memory hit.
    private func respond(
        _ request: ImageRequest, _ rest: ArraySlice<Link>, skipped: [Link], _ passage: Passage
    ) async throws(ImageError) -> ImageResponse {
        guard !Task.isCancelled else { throw .cancelled }
        guard let link = rest.first else {
            let plan = await passage.plan(request, defaults).verified()
            guard !skipped.isEmpty else { return try await passage.answering(plan) }
            if let response = passage.lookup.response(plan) { return response }
            // The image was evicted in the meantime, or the request was changed. The manager may have to contact the
            // server, so the skipped interceptors apply after all.
            let forced = skipped.map { Link(interceptor: $0.interceptor, appliesToMemoryHits: true) }
            return try await respond(request, forced[...], skipped: [], passage)
        }
        let rest = rest.dropFirst()
        if !link.appliesToMemoryHits {
            let plan = await passage.plan(request, defaults).verified()
            if passage.lookup.serves(plan) {
                return try await respond(request, rest, skipped: skipped + [link], passage)
            }
        }
        return try await link.interceptor.intercept(request) { (changed) async throws(ImageError) in
            try await self.respond(changed, rest, skipped: skipped, passage)
        }
    }
}

extension ImagePipeline {
    func runIntercepted(_ plan: RequestPlan, _ task: ImageTask) async -> Result<ImageResponse, ImageError> {
        do throws(ImageError) {
            let lookup = RequestInterceptorChain.MemoryLookup { plan in
                task.stores(in: plan.caches)
                return self.servesWithoutServer(self.memory.hit(plan), plan)
            } response: { plan in
                task.stores(in: plan.caches)
                return self.response(self.memory.hit(plan), plan, needsNothing: true)
            }
            let response = try await interceptors.respond(plan, lookup: lookup) { (plan) async throws(ImageError) in
                task.stores(in: plan.caches)
                let hit = self.memory.hit(plan)
                if let response = self.response(hit, plan) { return response }
                self.inFlight.enter()
                defer { self.inFlight.leave() }
                return try await self.run(plan, task, known: hit?.known).get()
            }
            postprocessor(response.image)
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    func bytesIntercepted(_ plan: RequestPlan, _ task: ImageTask) async throws(ImageError) -> DeliveredData {
        let response = try await interceptors.respond(plan) { (plan) async throws(ImageError) in
            let original = try await self.ownBytes(plan, task)
            return try ImageResponse(undecoded: original.data, url: plan.request.url, source: original.source)
        }
        guard let data = response.originalData else {
            let image = response.image
            let encoded = try await encode.encode(image, original: nil, plan, as: .png, priority: task.livePriority)
            return DeliveredData(data: encoded.data, originalInfo: nil, source: response.source)
        }
        try plan.limits.check(encodedBytes: data.count)
        return DeliveredData(data: data, originalInfo: nil, source: response.source)
    }
}

extension ImageResponse {
    /// Creates the response to a request for data, with a placeholder instead of an image.
    fileprivate init(undecoded data: Data, url: URL, source: Source) throws(ImageError) {
        let pixels = try PixelBuffer.filled(with: .clear, size: PixelSize(width: 1, height: 1))
        self.init(image: DecodedImage(pixels: pixels), url: url, source: source)
        originalData = data
        originalByteCount = data.count
    }
}
