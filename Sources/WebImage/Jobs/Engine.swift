// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// The way of a request, stage by stage. Each stage is a coalesced job or a call into a tier; this type only wires
/// them. It keeps no state of its own besides the jobs that run.
///
/// ```
/// request ─ memory ─ obtain ─┬─ disk (lookups)
///                            └─ loader (fetches)
///                  ─ picture ─ decode ─ transform … (pictures)
///                  ─ store, finish
/// ```
final class Engine: Sendable {
    let configuration: ImageManagerConfiguration
    let defaults: RequestDefaults
    /// Whether requests have to go through the interceptors before memory answers.
    let interceptsLoads: Bool
    let loaders: [any ImageLoader]
    let workers: WorkerPool
    let resources = ResourceTable()
    let originals = OriginalTable()
    let failures: FailureMemory
    let counters = ManagerCounters()
    let activity = LoadActivity()
    let previews: PreviewTable
    let streams: StreamTable
    let admissions = AdmissionTable()
    let starter = TaskStarter()
    let foreground = Foreground()
    let preparation = PixelPreparation()
    /// Nil for as many requests as there are.
    let queueLimit: Int?
    let revalidations = SharedJobs<BackgroundKey, Bool, Never>()
    /// Work that no request waits for: final pictures being encoded for the disk, revalidations.
    let backgroundWork = Atomic<Int>(0)

    let lookups = SharedJobs<LookUpKey, Original?, Never>()
    let fetches = SharedJobs<FetchKey, Fetched, LoadUpdate>()
    let pictures = SharedJobs<PictureKey, Picture, Never>()
    let encodings = SharedJobs<EncodingKey, Data, Never>()

    init(
        configuration: ImageManagerConfiguration, cache: ImageCache, loaders: [any ImageLoader]
    ) {
        self.configuration = configuration
        interceptsLoads = configuration.interceptors.contains { $0.interceptsLoads }
        defaults = RequestDefaults(configuration, cache: cache)
        self.loaders = loaders
        queueLimit = configuration.queueLimit
        failures = FailureMemory(
            policy: configuration.failures, limit: configuration.failureLimit, now: configuration.now)
        self.workers = WorkerPool(
            threads: configuration.workerThreads, byteBudget: configuration.decodeBudget,
            waitingLimit: configuration.waitingLimit)
        let studio = PreviewStudio(configuration, workers, preparation)
        previews = PreviewTable(studio)
        streams = StreamTable(StreamStudio(workers: workers, budget: studio.budget, time: { studio.time() }))
    }

    /// Jobs that run at any stage; zero when nothing is under way.
    var runningJobs: Int {
        lookups.count + fetches.count + pictures.count + encodings.count + workers.load
            + backgroundWork.load(ordering: .relaxed)
    }

    // MARK: - Pictures

    /// Everything behind the synchronous look into memory. `known` is what that look found but could not use as it
    /// is: a picture to be confirmed by the server, or one whose bytes are wanted too. The caller has entered the plan
    /// in ``originals`` when it was made.
    func run(_ plan: RequestPlan, task: ImageTask, known: Image?) async -> Result<ImageResponse, ImageError> {
        defer { originals.leave() }
        // Given up before it began, as by a view that was scrolled past.
        guard task.result == nil else { return .failure(.request(.cancelled)) }
        var run = RequestRun(plan: plan, task: task, engine: self)
        do throws(ImageError) {
            return .success(try await run.answer(known: known))
        } catch {
            return .failure(error)
        }
    }

    /// Asks the server about a picture that was delivered stale, behind the request's back. Equal revalidations are
    /// one; what comes replaces the stored picture.
    func revalidateBehind(_ plan: RequestPlan, image: Image) {
        let key = BackgroundKey(data: plan.keys.data, step: plan.keys.final)
        let priority = LivePriority(.low)
        backgroundWork.add(1, ordering: .relaxed)
        Task.detached(priority: .background) {
            _ = try? await self.revalidations.value(for: key, priority: priority) { _ in
                // Another one may have ended since the picture was delivered.
                guard plan.standing(of: image.resource) == .answersMeanwhile else { return .success(false) }
                // `refresh` asks although the copy might still do; nobody listens to its events.
                let asked = RequestPlan(plan, policy: .refresh)
                self.originals.enter()
                return await self.run(asked, task: ImageTask(asked.request), known: image).map { _ in true }
            }
            self.backgroundWork.subtract(1, ordering: .relaxed)
        }
    }
}

/// What makes two revalidations one.
struct BackgroundKey: Hashable, Sendable {
    let data: CacheKey
    let step: CacheKey
}
