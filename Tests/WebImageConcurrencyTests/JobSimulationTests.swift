// SPDX-License-Identifier: MIT

#if DEBUG && !THREAD_SANITIZER
    import Foundation
    import Testing
    import WebImageTestSupport
    import WebImageHTTPTesting

    /// The number of seeds. `make soak` sets a larger number.
    private let seeds = ProcessInfo.processInfo.environment["WEBIMAGE_SIMULATION_SEEDS"].flatMap(UInt64.init) ?? 300
    /// The first seed.
    private let firstSeed = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_SEED"].flatMap(UInt64.init) ?? 1

    /// A Boolean value that indicates whether no other tests run in this process. The simulation replaces the executor of
    /// Swift tasks for the whole process.
    private let isAlone = ProcessInfo.processInfo.environment["WEBIMAGE_SIMULATION_SEEDS"] != nil

    @Suite(
        "Simulation of shared jobs", .serialized, .enabled(if: isAlone, "the simulation needs a process of its own"),
        .timeLimit(.minutes(seeds > 1_000 ? 600 : 10)))
    struct JobSimulationTests {
        /// Runs a seed on a dedicated thread, because it blocks the thread. No tool of WebImageConcurrency waits for the
        /// thread, because a mutant of such a tool would stop the test.
        private func run(_ seed: UInt64) async -> (digest: UInt64?, complaints: [String]) {
            await withCheckedContinuation { continuation in
                Thread {
                    let world = Shared<SimulatedJobs?>(nil)
                    let digest = DeterministicScheduler.run(seed: seed) { scheduler in
                        let jobs = SimulatedJobs(scheduler)
                        world.value = jobs
                        // Some faults only matter if there is little work.
                        jobs.run(steps: seed % 4 == 0 ? 1 + Int(seed / 4 % 10) : 40)
                    }
                    var complaints = world.value?.complaints ?? []
                    if digest == nil { complaints.append("The simulation doesn't end") }
                    continuation.resume(returning: (digest, complaints))
                }.start()
            }
        }

        @Test("In each simulated order of events, every invariant of shared jobs holds")
        func invariants() async {
            for seed in firstSeed..<firstSeed + seeds {
                let result = await run(seed)
                #expect(result.complaints.isEmpty, "WEBIMAGE_SOAK_SEED=\(seed) WEBIMAGE_SIMULATION_SEEDS=1")
                guard result.complaints.isEmpty else { return }
            }
        }

        @Test("A seed replays its run")
        func replay() async {
            for seed in UInt64(1)...10 {
                let (first, second) = (await run(seed), await run(seed))
                #expect(first.digest != nil && first.digest == second.digest, "seed \(seed)")
            }
        }
    }
#endif
