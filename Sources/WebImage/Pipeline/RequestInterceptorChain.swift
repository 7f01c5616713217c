// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The interceptors of a manager, in order.
struct RequestInterceptorChain: Sendable {
    /// A closure with which the manager serves a request that passed through the chain.
    typealias Responder = @Sendable (ResolvedRequest) async throws(ImageError) -> ImageResponse

    private let interceptors: [any ImageRequestInterceptor]
    private let modifier: (@Sendable (inout ImageRequest) -> Void)?
    private let defaults: RequestDefaults
    /// A Boolean value that indicates whether requests must pass through the chain before the memory lookup.
    let interceptsLoads: Bool

    init(_ configuration: ImageManager.Configuration, _ defaults: RequestDefaults) {
        interceptors = configuration.interceptors
        modifier = configuration.requestModifier
        self.defaults = defaults
        interceptsLoads = !interceptors.isEmpty
    }

    /// A Boolean value that indicates whether there's no modifier of requests. Checking it first avoids a copy of each
    /// request.
    var preparesNothing: Bool { modifier == nil }

    /// Returns `request` after the modifier changed it.
    func prepared(_ request: ImageRequest) -> ImageRequest {
        guard let modifier else { return request }
        var request = request
        modifier(&request)
        return request
    }

    /// Passes the request of `plan` through the chain and returns the response.
    func respond(_ plan: ResolvedRequest, _ answering: @escaping Responder) async throws(ImageError) -> ImageResponse {
        try await respond(plan.callerRequest, plan.trace, answering, from: 0)
    }

    private func respond(
        _ request: ImageRequest, _ trace: ObserverNotifier?, _ answering: @escaping Responder, from index: Int
    ) async throws(ImageError) -> ImageResponse {
        guard !Task.isCancelled else { throw .cancelled }
        guard index < interceptors.count else {
            return try await answering(await ResolvedRequest(request, defaults, trace: trace).verified())
        }
        return try await interceptors[index].intercept(request) { (changed) async throws(ImageError) in
            try await self.respond(changed, trace, answering, from: index + 1)
        }
    }
}

extension ImagePipeline {
    /// Runs `plan` for `task` through the interceptors and returns a response.
    func runIntercepted(_ plan: ResolvedRequest, _ task: ImageTask) async -> Result<ImageResponse, ImageError> {
        do throws(ImageError) {
            let response = try await interceptors.respond(plan) {
                [isPrefetch = plan.prefetchRole.isPrefetch] plan async throws(ImageError) in
                if isPrefetch { plan.prefetchRole.becomePrefetch() }
                task.stores(in: plan.caches)
                let hit = self.memory.hit(plan)
                if let response = self.response(hit, plan) { return response }
                self.inFlight.enter()
                defer { self.inFlight.leave() }
                return try await self.run(plan, task, known: hit?.image).get()
            }
            preparation(response.image.pixels)
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    /// Runs `plan` through the interceptors and returns the data.
    func bytesIntercepted(_ plan: ResolvedRequest, _ task: ImageTask) async throws(ImageError) -> Data {
        let response = try await interceptors.respond(plan) {
            [isPrefetch = plan.prefetchRole.isPrefetch] plan async throws(ImageError) in
            if isPrefetch { plan.prefetchRole.becomePrefetch() }
            let data = try await self.ownBytes(plan, task)
            return try ImageResponse(undecoded: data, url: plan.request.url)
        }
        guard let data = response.originalData else {
            let image = response.image
            return try await encode.encode(image, original: nil, plan, as: .png, priority: task.livePriority).data
        }
        try plan.limits.check(encodedBytes: data.count)
        return data
    }
}

extension ImageResponse {
    /// Creates the response to a request for data, with a placeholder instead of an image.
    fileprivate init(undecoded data: Data, url: URL) throws(ImageError) {
        let pixels = try PixelBuffer.filled(with: .clear, size: PixelSize(width: 1, height: 1))
        self.init(image: DecodedImage(pixels: pixels), url: url)
        originalData = data
        originalByteCount = data.count
    }
}
