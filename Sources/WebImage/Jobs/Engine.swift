// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
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
    let memory: MemoryCache
    let disk: DiskCache?
    let loaders: [any ImageLoader]
    let workers: WorkerPool
    let resources = ResourceTable()
    /// Final pictures that are being encoded for the disk.
    let storesUnderWay = Atomic<Int>(0)

    let lookups = SharedJobs<CacheKey, Original?, Never>()
    let fetches = SharedJobs<FetchKey, Fetched, ImageProgress>()
    let pictures = SharedJobs<PictureKey, Picture, Never>()
    let encodings = SharedJobs<EncodingKey, Data, Never>()

    init(
        configuration: ImageManagerConfiguration, memory: MemoryCache, disk: DiskCache?, loaders: [any ImageLoader]
    ) {
        self.configuration = configuration
        self.memory = memory
        self.disk = disk
        self.loaders = loaders
        self.workers = WorkerPool(
            threads: configuration.workerThreads, byteBudget: configuration.decodeBudget,
            waitingLimit: configuration.waitingLimit)
    }

    /// Jobs that run at any stage; zero when nothing is under way.
    var runningJobs: Int {
        lookups.count + fetches.count + pictures.count + encodings.count + workers.load
            + storesUnderWay.load(ordering: .relaxed)
    }

    // MARK: - Pictures

    /// Everything behind the synchronous look into memory. `known` is what that look found but could not use as it
    /// is: a picture to be confirmed by the server, or one whose bytes are wanted too.
    func run(_ plan: RequestPlan, task: ImageTask, known: Image?) async -> Result<ImageResponse, ImageError> {
        var run = RequestRun(plan: plan, task: task, engine: self)
        do throws(ImageError) {
            return .success(try await run.answer(known: known))
        } catch {
            return .failure(error)
        }
    }

    /// What memory holds for `plan`, and whether it may answer as it is.
    func remembered(_ plan: RequestPlan) -> (image: Image, answers: Bool)? {
        guard plan.policy != .reload, plan.request.reads.contains(.memory),
            let image = memory.image(for: plan.keys.final)
        else { return nil }
        let holds =
            switch plan.policy {
            case .cacheFirst, .cacheOnly: true
            case .refresh, .reload: false
            case .http: image.resource.map { plan.isFresh($0) } ?? true
            }
        return (image, holds && !plan.request.wantsData)
    }
}
