// SPDX-License-Identifier: MIT

#if DEBUG && !THREAD_SANITIZER
    import Foundation
    import Testing
    import WebImageManagerTestSupport
    import WebImageTestSupport
    import WebImageTesting

    @testable import WebImage

    /// The number of seeds. `make soak` sets a larger number.
    private let seeds = ProcessInfo.processInfo.environment["WEBIMAGE_SIMULATION_SEEDS"].flatMap(UInt64.init) ?? 300
    /// The first seed.
    private let firstSeed = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_SEED"].flatMap(UInt64.init) ?? 1
    private let steps = 30

    /// A Boolean value that indicates whether no other tests run in this process. The simulation replaces the executor of
    /// Swift tasks for the whole process.
    private let isAlone = ProcessInfo.processInfo.environment["WEBIMAGE_SIMULATION_SEEDS"] != nil

    @Suite(
        "Simulation of a manager", .serialized, .enabled(if: isAlone, "the simulation needs a process of its own"),
        .timeLimit(.minutes(seeds > 1_000 ? 600 : 10)))
    struct ManagerSimulationTests {
        /// Runs a seed on a dedicated thread, because it blocks the thread. No tool of WebImageConcurrency waits for the
        /// thread, because a mutant of such a tool would stop the test.
        private func run(_ seed: UInt64) async -> (digest: UInt64?, complaints: [String]) {
            await withCheckedContinuation { continuation in
                Thread {
                    let world = Shared<SimulatedWorld?>(nil)
                    let digest = DeterministicScheduler.run(seed: seed) { scheduler in
                        let simulated = SimulatedWorld(scheduler)
                        world.value = simulated
                        simulated.run(steps: steps)
                    }
                    var complaints = world.value?.complaints.value ?? []
                    if digest == nil { complaints.append("The simulation doesn't end") }
                    continuation.resume(returning: (digest, complaints))
                }.start()
            }
        }

        /// Initializes the static properties, which wait for each other outside of the simulation.
        private func prepare() async throws {
            let loader = StubLoader { _ in Numbered.response(1) }
            let manager = try ManagerFixture { $0.loaders = [loader] }.manager
            var request = ImageRequest(url: .sample, size: .fit(width: 4), transformers: [.flip(.vertical)])
            request.includesOriginalData = true
            #expect(await manager.load(request).code == nil)
            await manager.removeAllCachedImages()
            #expect(SimulatedSource.bodies.count == 48)
        }

        @Test("In each simulated order of events, every invariant of the manager holds")
        func invariants() async throws {
            try await prepare()
            for seed in firstSeed..<firstSeed + seeds {
                let result = await run(seed)
                #expect(result.complaints.isEmpty, "WEBIMAGE_SOAK_SEED=\(seed) WEBIMAGE_SIMULATION_SEEDS=1")
                guard result.complaints.isEmpty else { return }
            }
        }

        @Test("A seed replays its run")
        func replay() async throws {
            try await prepare()
            for seed in UInt64(1)...10 {
                let first = await run(seed)
                let second = await run(seed)
                #expect(first.digest != nil && first.digest == second.digest, "seed \(seed)")
            }
        }
    }
#endif
