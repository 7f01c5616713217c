// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The interceptors of a manager, in order.
///
/// A request passes through the interceptors one after another. Each of them receives the request and a closure that
/// passes a request on to the next one, and the manager serves the request at the end. Interceptors that don't apply to
/// memory hits are skipped while memory serves the request. If the image was evicted before the end, the request passes
/// through the skipped interceptors after all, because the manager may have to contact the server.
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
        _ plan: RequestPlan, lookup: MemoryLookup = .none, _ responder: @escaping Responder
    ) async throws(ImageError) -> ImageResponse {
        let traversal = Traversal(original: plan, defaults: defaults, lookup: lookup, responder: responder)
        return try await traversal.pass(plan.callerRequest, through: links[...], skipped: [])
    }

    /// The way of one request through the chain.
    private struct Traversal {
        /// The plan of the request before the interceptors changed it.
        let original: RequestPlan
        let defaults: RequestDefaults
        let lookup: MemoryLookup
        let responder: Responder

        /// Passes a request through `links`. `skipped` contains the earlier interceptors that a memory hit skipped.
        func pass(
            _ request: ImageRequest, through links: ArraySlice<Link>, skipped: [Link]
        ) async throws(ImageError) -> ImageResponse {
            guard !Task.isCancelled else { throw .cancelled }
            guard let link = links.first else { return try await finish(request, skipped) }
            let rest = links.dropFirst()
            if !link.appliesToMemoryHits, await lookup.serves(plan(request)) {
                return try await pass(request, through: rest, skipped: skipped + [link])
            }
            return try await link.interceptor.intercept(request) { (changed) async throws(ImageError) in
                try await pass(changed, through: rest, skipped: skipped)
            }
        }

        private func finish(_ request: ImageRequest, _ skipped: [Link]) async throws(ImageError) -> ImageResponse {
            let plan = await plan(request)
            guard !skipped.isEmpty else { return try await responder(plan) }
            if let response = lookup.response(plan) { return response }
            let required = skipped.map { Link(interceptor: $0.interceptor, appliesToMemoryHits: true) }
            return try await pass(request, through: required[...], skipped: [])
        }

        private func plan(_ request: ImageRequest) async -> RequestPlan {
            let plan = RequestPlan(
                request, defaults, trace: original.trace, settings: original.settings,
                isPrefetch: original.isPrefetch)
            return await plan.verified()
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
