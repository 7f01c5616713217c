// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// One request on its way through the engine.
struct RequestRun {
    let plan: RequestPlan
    let task: ImageTask
    let engine: Engine
    private let clock = ContinuousClock()
    private let start = ContinuousClock.now
    private var timings = StageTimings()
    /// The picture that was delivered as `.cached`.
    private var shown: Image?
    /// The last picture made from bytes, so that no bytes are decoded twice.
    private var made: Image?

    init(plan: RequestPlan, task: ImageTask, engine: Engine) {
        self.plan = plan
        self.task = task
        self.engine = engine
    }

    /// The answer, or why there is none.
    mutating func answer(known: Image?) async throws(ImageError) -> ImageResponse {
        // Memory has a picture that answers, and only its bytes are wanted besides: nothing to show in between.
        if let known, plan.standing(of: known.resource) == .waits { show(known, origin: .memory) }
        if known == nil, let final = await storedFinal() { return final }
        let obtained = try await obtain(known: known)
        switch obtained {
        case .bytes(let original, let ahead):
            return try await deliver(original, ahead, known: known)
        case .confirmed(let resource, let stored, let metrics):
            return try await confirm(resource, stored, metrics, known)
        case .unreachable(let error, let stored):
            return try await deliverStale(error, stored, known)
        }
    }

    /// The original bytes, without decoding them.
    mutating func bytes() async throws(ImageError) -> Data {
        guard plan.request.maker == nil else { throw .request(.noOriginal) }
        var stored: Original?
        if plan.policy != .reload {
            stored = await engine.lookUp(plan, priority: task.livePriority)
        }
        if let stored, plan.standing(of: stored.resource) == .answers { return stored.data }
        guard plan.policy != .cacheOnly else { throw .cache(.notInCache) }
        switch try await engine.ask(plan, stored: stored, known: nil, task: task, for: .bytes) {
        case .bytes(let original, _):
            if original.isLengthKnown { await keep(original, nil) }
            return original.data
        case .confirmed(_, let confirmed, _):
            guard let confirmed else { throw .cache(.notInCache) }
            return confirmed.data
        case .unreachable(let error, let stale):
            guard let stale, engine.mayServeStale(stale.resource, plan, instead: error) else { throw error }
            return stale.data
        }
    }

    private mutating func obtain(known: Image?) async throws(ImageError) -> Obtained {
        if let original = engine.justArrived(plan), plan.policy != .cacheOnly { return .bytes(original) }
        var stored: Original?
        if plan.policy != .reload {
            let before = clock.now
            stored = await engine.lookUp(plan, priority: task.livePriority)
            timings.disk += seconds(since: before)
        }
        if let candidate = stored {
            let standing = plan.standing(of: candidate.resource)
            if standing != .waits {
                if try await isUsable(candidate, known) {
                    if standing == .answersMeanwhile, let image = made ?? known {
                        engine.revalidateBehind(plan, image: image)
                    }
                    return .bytes(candidate)
                }
                stored = nil
            } else if shown == nil {
                if try await isUsable(candidate, nil) {
                    if let made { show(made, origin: candidate.origin) }
                } else {
                    stored = nil
                }
            }
        }
        guard plan.policy != .cacheOnly else { throw .cache(.notInCache) }
        let before = clock.now
        defer { timings.load += seconds(since: before) }
        return try await engine.ask(
            plan, stored: stored, known: shown ?? known, task: task, for: .picture(showsPreviews: shown == nil))
    }

    /// Whether stored bytes make a picture. Damaged ones are thrown away, so that they are asked for anew.
    private mutating func isUsable(_ original: Original, _ known: Image?) async throws(ImageError) -> Bool {
        if let known, known.resource?.digest == original.resource.digest { return true }
        do throws(ImageError) {
            _ = try await make(original)
            return true
        } catch {
            guard error.blamesBytes else { throw error }
            await engine.discard(original, plan)
            return false
        }
    }

    /// New or fresh bytes: the picture made of them, stored where the request wants it.
    private mutating func deliver(
        _ original: Original, _ ahead: StreamedDecode?, known: Image?
    ) async throws(ImageError) -> ImageResponse {
        // The same bytes as shown already: no second decode, no flicker.
        let same = picture(of: original.resource, known)
        let image = if let same { same } else { try await makeNew(original, ahead) }
        await keep(original, image)
        await keep(image, original.resource)
        return response(image, original.resource, original.origin, data: original.data, metrics: original.metrics)
    }

    private mutating func confirm(
        _ resource: ResourceRecord, _ stored: Original?, _ metrics: LoadMetrics, _ known: Image?
    ) async throws(ImageError) -> ImageResponse {
        if let same = picture(of: resource, known) {
            await keep(same, resource)
            return response(same, resource, .revalidated, data: stored?.data, metrics: metrics)
        }
        guard let stored else { throw .cache(.corrupt(reason: "a confirmed picture is no longer there")) }
        let image = try await make(stored)
        await keep(image, resource)
        return response(image, resource, .revalidated, data: stored.data, metrics: metrics)
    }

    /// The server could not be asked: the stored picture with the reason, where HTTP or the policy allows it.
    private mutating func deliverStale(
        _ error: ImageError, _ stored: Original?, _ known: Image?
    ) async throws(ImageError) -> ImageResponse {
        guard let resource = shown?.resource ?? stored?.resource, engine.mayServeStale(resource, plan, instead: error)
        else {
            throw error
        }
        var image = shown
        if image == nil, let stored { image = try? await make(stored) }
        guard let image else { throw error }
        var answer = response(
            image, resource, shown == nil ? stored?.origin ?? .disk : .memory, data: stored?.data, metrics: nil)
        answer.isStale = true
        answer.refreshError = error
        return answer
    }

    private func keep(_ original: Original, _ image: Image?) async {
        await engine.keep(original, image, plan)
        if plan.request.waitsForStore { await plan.originalCache.flush() }
    }

    private func keep(_ image: Image, _ resource: ResourceRecord) async {
        guard let storing = engine.keep(image, resource, plan) else { return }
        task.follow(storing)
        guard plan.request.waitsForStore else { return }
        await storing.value
        await plan.cache.flush()
    }

    /// The picture of bytes that have just come. Those that are none are not asked for again for a while, unless they
    /// may only have been cut on the way.
    private mutating func makeNew(
        _ original: Original, _ ahead: StreamedDecode?
    ) async throws(ImageError) -> Image {
        do throws(ImageError) {
            return try await make(original, ahead)
        } catch {
            let error = error.after(original.metrics)
            if original.origin == .network, original.isLengthKnown, error.blamesBytes { engine.note(error, plan) }
            throw error
        }
    }

    private mutating func make(
        _ original: Original, _ ahead: StreamedDecode? = nil
    ) async throws(ImageError) -> Image {
        if let made, made.resource?.digest == original.resource.digest { return made }
        let picture = try await engine.picture(original, ahead, plan, priority: task.livePriority)
        made = picture.image
        timings.decode = picture.decodeSeconds
        timings.transform = picture.transformSeconds
        return picture.image
    }

    /// A picture at hand that was made of exactly these bytes.
    private func picture(of resource: ResourceRecord, _ known: Image?) -> Image? {
        [shown, known].lazy.compactMap { $0 }.first { $0.resource?.digest == resource.digest }
    }

    private mutating func show(_ image: Image, origin: ImageResponse.Origin) {
        shown = image
        guard let resource = image.resource else { return }
        var answer = response(image, resource, origin, data: nil, metrics: nil)
        answer.isStale = !plan.isFresh(resource)
        task.emit(.cached(answer))
    }

    /// The final picture, where it was stored as an entry of its own.
    private mutating func storedFinal() async -> ImageResponse? {
        let before = clock.now
        guard let final = await engine.storedFinal(plan, priority: task.livePriority) else { return nil }
        timings.disk += seconds(since: before)
        return response(final.image, final.image.resource, final.origin, data: nil, metrics: nil)
    }

    private func response(
        _ image: Image, _ resource: ResourceRecord?, _ origin: ImageResponse.Origin, data: Data?,
        metrics: LoadMetrics?
    ) -> ImageResponse {
        var timings = timings
        timings.total = seconds(since: start)
        let head = resource?.head
        var answer = ImageResponse(
            image: image, data: plan.request.wantsData && plan.request.maker == nil ? data : nil, origin: origin,
            url: plan.request.url,
            head: head, byteCount: resource?.byteCount,
            timings: timings, metrics: metrics)
        answer.isStale = [.disk, .remote].contains(origin) && plan.standing(of: resource) == .answersMeanwhile
        return answer
    }

    private func seconds(since instant: ContinuousClock.Instant) -> Double {
        instant.duration(to: clock.now) / .seconds(1)
    }
}
