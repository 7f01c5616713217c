// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

extension Engine {
    /// What the manager itself answers to a request that came through the chain.
    typealias Answering = @Sendable (RequestPlan) async throws(ImageError) -> RequestAnswer

    /// `request` as all interceptors want it before anything is looked at.
    func prepared(_ request: ImageRequest) -> ImageRequest {
        guard !configuration.interceptors.isEmpty else { return request }
        return configuration.interceptors.reduce(request) { $1.prepare($0) }
    }

    /// Runs `plan` for `task` through the interceptors to a picture.
    func runIntercepted(_ plan: RequestPlan, task: ImageTask) async -> Result<ImageResponse, ImageError> {
        do throws(ImageError) {
            let answer = try await intercepted(plan.request, plan.trace) { (plan) async throws(ImageError) in
                task.storesIn(plan)
                let known = self.remembered(plan)
                if let response = self.answer(known, plan) { return .response(response) }
                self.originals.enter()
                return .response(try await self.run(plan, task: task, known: known?.image).get())
            }
            let response = try await picture(of: answer, plan, task)
            preparation(response.image.pixels)
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    /// Runs `plan` through the interceptors to bytes.
    func bytesIntercepted(
        _ plan: RequestPlan, priority: LivePriority, answering: @escaping Answering
    ) async throws(ImageError) -> Data {
        switch try await intercepted(plan.request, plan.trace, answering) {
        case .data(let data):
            try plan.limits.check(encodedBytes: data.count)
            return data
        case .image(let image): return try await encoded(EncodingSource(image: image), plan, .png(), priority)
        case .response(let response):
            if let data = response.data { return data }
            return try await encoded(EncodingSource(image: response.image), plan, .png(), priority)
        }
    }

    private func intercepted(
        _ request: ImageRequest, _ trace: RequestTrace?, _ answering: @escaping Answering, from index: Int = 0
    ) async throws(ImageError) -> RequestAnswer {
        guard !Task.isCancelled else { throw .request(.cancelled) }
        guard index < configuration.interceptors.count else {
            return try await answering(RequestPlan(request, defaults, trace: trace))
        }
        return try await configuration.interceptors[index].intercept(request) { (changed) async throws(ImageError) in
            try await self.intercepted(changed, trace, answering, from: index + 1)
        }
    }

    /// The answer of the chain as a response to the request of `plan`.
    private func picture(
        of answer: RequestAnswer, _ plan: RequestPlan, _ task: ImageTask
    ) async throws(ImageError) -> ImageResponse {
        switch answer {
        case .response(let response): return response
        case .image(let image): return response(image, plan, origin: .local)
        case .data(let data):
            let original = try await inspect(given: data, plan)
            let picture = try await picture(original, nil, plan, priority: task.livePriority)
            var answer = response(picture.image, plan, origin: .local)
            answer.data = plan.request.wantsData ? data : nil
            answer.timings.decode = picture.decodeSeconds
            answer.timings.transform = picture.transformSeconds
            return answer
        }
    }

    /// Bytes that an interceptor gave.
    private func inspect(given data: Data, _ plan: RequestPlan) async throws(ImageError) -> Original {
        let options = plan.request.hintedOptions
        return try await workers.look(byteCount: data.count, limits: plan.limits) { context throws(ImageError) in
            let probe = try plan.coders.inspect(data, options: options, limits: context.limits)
            let resource = ResourceRecord(digest: ContentDigest(of: data), byteCount: data.count, head: nil)
            return Original(data: data, resource: resource, probe: probe, origin: .local)
        }
    }

    /// What memory answers by itself; nil where more has to be done.
    func answer(_ known: (image: Image, standing: RequestPlan.Standing)?, _ plan: RequestPlan) -> ImageResponse? {
        guard let known, known.standing != .waits, !plan.request.wantsData else { return nil }
        let isStale = known.standing == .answersMeanwhile
        if isStale { revalidateBehind(plan, image: known.image) }
        return response(known.image, plan, isStale: isStale)
    }

    /// The answer that is at hand: a picture of memory, or one that an interceptor gave.
    func response(
        _ image: Image, _ plan: RequestPlan, origin: ImageResponse.Origin = .memory, isStale: Bool = false
    ) -> ImageResponse {
        let resource = image.resource
        let head = resource?.head
        var response = ImageResponse(
            image: image, data: nil, origin: origin, url: plan.request.url,
            head: head, byteCount: resource?.byteCount,
            timings: StageTimings(), metrics: nil)
        response.isStale = isStale
        return response
    }
}
