// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

/// How requests enter the engine.
extension Engine {
    /// What memory answers at once; else what it holds, to be confirmed or completed. Nothing where interceptors have to
    /// be asked before.
    func atOnce(_ plan: RequestPlan) -> (ImageResponse?, known: Image?) {
        guard !interceptsLoads else { return (nil, nil) }
        let known = remembered(plan)
        guard let response = answer(known, plan) else { return (nil, known?.image) }
        counters.countMemoryHit()
        if let trace = plan.trace { trace.begin(.request, key: plan.keys.final).end(.success(response)) }
        return (response, known?.image)
    }

    /// Starts what memory could not answer. `isAdmitted` is for a part of what was let in already, `isAhead` for what nobody
    /// waits for yet.
    func start(_ plan: RequestPlan, known: Image?, isAdmitted: Bool = false, isAhead: Bool = false) -> ImageTask {
        let span = plan.trace?.begin(.request, key: plan.keys.final)
        let place: AdmissionTable.Key?
        do throws(ImageError) {
            place = isAdmitted ? nil : try admit(plan)
        } catch {
            counters.count(.failure(error))
            span?.end(.failure(error))
            return ImageTask(plan.request, finished: .failure(error))
        }
        let task = ImageTask(plan.request)
        if !interceptsLoads {
            task.storesIn(plan)
            originals.enter()
        }
        if !isAhead { foreground.enter() }
        task.start(by: starter) { [self] isWanted in
            let result: Result<ImageResponse, ImageError> =
                if !isWanted {
                    dismissed(plan)
                } else if interceptsLoads {
                    await runIntercepted(plan, task: task)
                } else {
                    await run(plan, task: task, known: known)
                }
            // What was given up counts as that, also where an answer came at the same moment.
            let told = task.result ?? result
            counters.count(told)
            span?.end(told)
            release(place)
            if !isAhead { foreground.leave() }
            return result
        }
        return task
    }

    /// A request that was given up before it began, as by a view that was scrolled past.
    private func dismissed(_ plan: RequestPlan) -> Result<ImageResponse, ImageError> {
        if !interceptsLoads { originals.leave() }
        return .failure(.request(.cancelled))
    }

    /// The bytes for `plan`, through the interceptors where there are any.
    func bytes(_ plan: RequestPlan, task: ImageTask) async throws(ImageError) -> Data {
        guard interceptsLoads else { return try await ownBytes(plan, task) }
        return try await bytesIntercepted(plan, priority: task.livePriority) { (plan) async throws(ImageError) in
            .data(try await self.ownBytes(plan, task))
        }
    }

    private func ownBytes(_ plan: RequestPlan, _ task: ImageTask) async throws(ImageError) -> Data {
        originals.enter()
        defer { originals.leave() }
        var run = RequestRun(plan: plan, task: task, engine: self)
        return try await run.bytes()
    }
}
