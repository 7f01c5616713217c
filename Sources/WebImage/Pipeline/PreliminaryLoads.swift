// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore

/// The preliminary requests of a running task. They run alongside the task, have its priority, and end with it.
///
/// The nested requests form a list: the preliminary request of the task has rank 0, its own preliminary request has rank
/// 1, and so on. All of them start at the same time. The task decides under its lock whether it delivers an image, so it
/// never delivers an image after a better one. This class is thread-safe.
final class PreliminaryLoads: Sendable {
    /// The maximum number of preliminary requests of one task. Further nested requests are ignored.
    static let limit = 3

    private struct State {
        /// The running requests, by rank.
        var tasks: [Int: ImageTask] = [:]
        /// The lowest rank of the images that have arrived.
        var arrived = Int.max
        var observation: Int?
    }

    private let task: ImageTask
    private let state = Lock(State())

    private init(_ task: ImageTask) { self.task = task }

    /// Returns the image that was in memory.
    static func start(for plan: RequestPlan, _ task: ImageTask, _ pipeline: ImagePipeline) -> DecodedImage? {
        guard var next = plan.callerRequest.preliminary, task.result == nil else { return nil }
        let loads = PreliminaryLoads(task)
        var stored: DecodedImage?
        for rank in 0..<limit {
            let nested = next.preliminary
            stored = loads.start(next, rank, plan, pipeline)
            // If the image was in memory, less detailed images are superfluous.
            guard stored == nil, let nested else { break }
            next = nested
        }
        loads.followTask()
        return stored
    }

    /// Starts a preliminary request. Returns its image if it was in memory.
    private func start(
        _ request: ImageRequest, _ rank: Int, _ main: RequestPlan, _ pipeline: ImagePipeline
    ) -> DecodedImage? {
        var request = request
        request.priority = task.priority
        request.preliminary = nil
        request.previews = .disabled
        request.includesOriginalData = false
        let plan = pipeline.plan(request)
        guard plan.keys.digest != main.keys.digest else { return nil }
        let (response, known) = pipeline.hit(plan)
        if let response {
            receive(response.image, rank)
            return response.image
        }
        let load = pipeline.start(plan, known: known, isPreliminary: true)
        let isSuperfluous = state.withLock { state in
            state.tasks[rank] = load
            return state.arrived < rank
        }
        if isSuperfluous { load.cancel() }
        Task.detached { [self] in
            // A failure of the request has no effect on the task.
            let response = try? await load.response
            _ = state.withLock { $0.tasks.removeValue(forKey: rank) }
            if let response { receive(response.image, rank) }
        }
        return nil
    }

    private func followTask() {
        let observation = task.livePriority.follow { [weak self] priority in
            guard let self else { return }
            for load in self.state.withLock({ Array($0.tasks.values) }) { load.priority = priority }
        }
        state.withLock { $0.observation = observation }
        // The task retains this object until it finishes.
        task.call(whenFinished: { self.end() })
    }

    private func receive(_ image: DecodedImage, _ rank: Int) {
        task.emit(preliminary: image, rank: rank)
        let superfluous = state.withLock { state in
            state.arrived = min(state.arrived, rank)
            return state.tasks.filter { $0.key > state.arrived }.map(\.value)
        }
        for load in superfluous { load.cancel() }
    }

    private func end() {
        let (loads, observation) = state.withLock { state in
            (Array(state.tasks.values), state.observation)
        }
        if let observation { task.livePriority.stopObserving(observation) }
        for load in loads { load.cancel() }
    }
}
