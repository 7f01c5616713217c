// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The interceptors of a manager, in order.
struct RequestInterceptorChain: Sendable {
    /// A closure with which the manager serves a request that passed through the chain.
    typealias Responder = @Sendable (ResolvedRequest) async throws(ImageError) -> RequestAnswer

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

    /// Passes the request of `plan` through the chain and returns the result.
    func respond(_ plan: ResolvedRequest, _ answering: @escaping Responder) async throws(ImageError) -> RequestAnswer {
        try await respond(plan.request, plan.trace, answering, from: 0)
    }

    private func respond(
        _ request: ImageRequest, _ trace: ObserverNotifier?, _ answering: @escaping Responder, from index: Int
    ) async throws(ImageError) -> RequestAnswer {
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
            let answer = try await interceptors.respond(plan) { (plan) async throws(ImageError) in
                task.stores(in: plan.caches)
                let hit = self.memory.hit(plan)
                if let response = self.response(hit, plan) { return .response(response) }
                self.inFlight.enter()
                defer { self.inFlight.leave() }
                return .response(try await self.run(plan, task, known: hit?.image).get())
            }
            let response = try await response(answer, plan, task)
            preparation(response.image.pixels)
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    /// Runs `plan` through the interceptors and returns the data.
    func bytesIntercepted(_ plan: ResolvedRequest, _ task: ImageTask) async throws(ImageError) -> Data {
        let answer = try await interceptors.respond(plan) { (plan) async throws(ImageError) in
            .data(try await self.ownBytes(plan, task))
        }
        switch answer {
        case .data(let data):
            try plan.limits.check(encodedBytes: data.count)
            return data
        case .image(let image): return try await png(image, plan, task)
        case .response(let response):
            if let data = response.originalData { return data }
            return try await png(response.image, plan, task)
        }
    }

    private func png(_ image: DecodedImage, _ plan: ResolvedRequest, _ task: ImageTask) async throws(ImageError) -> Data
    {
        try await encode.encode(image, original: nil, plan, as: .png, priority: task.livePriority).data
    }

    /// Converts the result of the chain to a response to the request of `plan`.
    private func response(
        _ answer: RequestAnswer, _ plan: ResolvedRequest, _ task: ImageTask
    ) async throws(ImageError) -> ImageResponse {
        switch answer {
        case .response(let response): return response
        case .image(let image): return response(image, plan, origin: .local)
        case .data(let data):
            let original = try await inspect(data, plan)
            let made = try await image(original, nil, plan, priority: task.livePriority)
            var answer = response(made.image, plan, origin: .local)
            answer.originalData = plan.request.includesOriginalData ? data : nil
            answer.timings.set(made)
            return answer
        }
    }

    /// Checks the data that an interceptor returned.
    private func inspect(_ data: Data, _ plan: ResolvedRequest) async throws(ImageError) -> OriginalData {
        let options = plan.request.hintedOptions
        let generation = plan.originalCache.generation(of: plan.keys.data)
        return try await workers.inspect(byteCount: data.count, limits: plan.limits) { context throws(ImageError) in
            let probe = try plan.coders.inspect(data, options: options, limits: context.limits)
            let resource = OriginalInfo(digest: ContentDigest(of: data), byteCount: data.count, head: nil)
            return OriginalData(data: data, resource: resource, probe: probe, origin: .local, generation: generation)
        }
    }
}
