// SPDX-License-Identifier: MIT

#if Memcached
    import Foundation
    import Synchronization
    import Testing
    import WebImage
    import WebImageConcurrency
    import WebImageMemcached
    import WebImageManagerTestSupport
    import WebImageTestSupport
    import WebImageTesting

    /// One machine of a fleet: a manager with neither memory cache nor disk cache, and a tier.
    private struct Machine: Sendable {
        let tier: MemcachedTier
        let manager: ImageManager

        init(_ ports: [UInt16], _ change: (inout MemcachedConfiguration) -> Void = { _ in }) {
            var settings = MemcachedConfiguration(
                servers: ports.map { MemcachedServer(host: "127.0.0.1", port: $0) })
            // A busy test machine must not turn hits into misses. The tests of timeouts set their own limits.
            settings.lookupTimeout = .seconds(5)
            settings.operationTimeout = .seconds(5)
            settings.connectTimeout = .seconds(5)
            change(&settings)
            let tier = MemcachedTier(settings)
            self.tier = tier
            manager = ImageManager { configuration in
                configuration.memoryCache.costLimit = 0
                configuration.diskCache = nil
                configuration.cacheTiers = [tier]
                configuration.downloader.proxy = .disabled
                configuration.downloader.maxStartsPerSecond = nil
                configuration.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
            }
        }

        func data(_ url: URL) async throws -> Data { try await manager.data(for: url) }
    }

    private let cacheable: HTTPHeaderFields = ["Cache-Control": "max-age=3600", "Content-Type": "image/png"]

    private func origin(_ count: Int, gate: TestGate? = nil) throws -> (server: LoopbackServer, images: [String: Data])
    {
        let images = try Dictionary(
            uniqueKeysWithValues: (0..<count).map { ("/\($0)", try TestImages.png($0, width: 40, height: 30)) })
        let server = try LoopbackServer { request in
            images[request.path].map {
                LoopbackServer.Response(headers: cacheable, body: $0).with { $0.headGate = gate }
            } ?? .status(404)
        }
        return (server, images)
    }

    @Suite(
        "A cache tier on memcached servers", .timeLimit(.minutes(5)),
        .enabled(if: MemcachedProcess.missing == nil, "memcached is not installed (Scripts/setup test)"))
    struct MemcachedTierTests {
        @Test("An image that one machine loads comes from memcached on another one")
        func sharing() async throws {
            let servers = try (0..<2).map { _ in try MemcachedProcess() }
            let (origin, images) = try origin(8)
            let (first, second) = (Machine(servers.map(\.port)), Machine(servers.map(\.port).reversed()))
            for (path, image) in images { #expect(try await first.data(origin.url(path)) == image) }
            await first.tier.flush()
            for (path, image) in images { #expect(try await second.data(origin.url(path)) == image) }
            #expect(origin.requests.count == 8)
            #expect(second.tier.statistics.hits == 8)
            #expect(first.tier.statistics.writes == 8)
        }

        @Test("A host name is resolved, and its addresses are tried in turn")
        func hostName() async throws {
            // The server has only an IPv4 address, and the name can also have an IPv6 address.
            let server = try MemcachedProcess()
            let key = CacheKey(["a"])
            let tier = Machine([]) { $0.servers = [MemcachedServer(host: "localhost", port: server.port)] }.tier
            await tier.store(CacheEntry(key: key, data: Data([1])), matching: [:])
            await tier.flush()
            #expect(await tier.entry(for: key, matching: [:])?.data == Data([1]))
        }

        @Test("Removed entries and all entries before a removal of all are misses")
        func removal() async throws {
            let server = try MemcachedProcess()
            let machine = Machine([server.port])
            let (a, b) = (CacheKey(["a"]), CacheKey(["b"]))
            for key in [a, b] { await machine.tier.store(CacheEntry(key: key, data: Data([1, 2])), matching: [:]) }
            #expect(await machine.tier.entry(for: a, matching: [:]) != nil)
            await machine.tier.flush()
            #expect(await machine.tier.entry(for: a, matching: [:])?.data == Data([1, 2]))
            await machine.tier.remove(a, matching: nil)
            #expect(await machine.tier.entry(for: a, matching: [:]) == nil)
            await machine.tier.flush()
            #expect(await Machine([server.port]).tier.entry(for: a, matching: [:]) == nil)
            #expect(await machine.tier.entry(for: b, matching: [:]) != nil)
            await machine.tier.removeAll()
            #expect(await machine.tier.entry(for: b, matching: [:]) == nil)
            // Another machine still finds it unless the tier may empty the servers.
            #expect(await Machine([server.port]).tier.entry(for: b, matching: [:]) != nil)
            let owner = Machine([server.port]) { $0.flushesServers = true }
            await owner.tier.removeAll()
            #expect(await Machine([server.port]).tier.entry(for: b, matching: [:]) == nil)
        }

        @Test("Entries that are too large, private, or expired aren't stored, and replace older entries")
        func rules() async throws {
            let server = try MemcachedProcess()
            let machine = Machine([server.port]) { $0.maxValueSize = 1_000 }
            let key = CacheKey(["a"])
            await machine.tier.store(CacheEntry(key: key, data: Data(count: 100)), matching: [:])
            await machine.tier.flush()
            // Smaller than the limit without its metadata, and larger with it.
            await machine.tier.store(CacheEntry(key: key, data: Data(count: 999)), matching: [:])
            await machine.tier.flush()
            #expect(await machine.tier.entry(for: key, matching: [:]) == nil)
            var expired = CacheEntry(key: key, data: Data(count: 10))
            expired.timeToLive = .milliseconds(1)
            await machine.tier.store(expired, matching: [:])
            await machine.tier.flush()
            #expect(await machine.tier.entry(for: key, matching: [:]) == nil)
            #expect(machine.tier.statistics.writes == 1)
            #expect(machine.tier.statistics.droppedWrites == 2)

            let image = try TestImages.png(1)
            let origin = try LoopbackServer { _ in
                LoopbackServer.Response(headers: ["Cache-Control": "private, max-age=60"], body: image)
            }
            let other = Machine([server.port])
            _ = try await other.data(origin.url("/private"))
            await other.tier.flush()
            #expect(other.tier.statistics.writes == 0)
        }

        @Test("A value of a machine without the secret is rejected")
        func authentication() async throws {
            let server = try MemcachedProcess()
            let (origin, images) = try origin(1)
            let foreign = Machine([server.port])
            let own = Machine([server.port]) { $0.secret = Data("secret".utf8) }
            for machine in [foreign, own, own, foreign] {
                #expect(try await machine.data(origin.url("/0")) == images["/0"])
                await machine.tier.flush()
            }
            #expect(own.tier.statistics.rejectedValues == 1)
            #expect(own.tier.statistics.hits == 1)
            #expect(foreign.tier.statistics.rejectedValues == 1)
        }

        @Test("With a lease, ten machines load an image once, and failures of the origin don't block them")
        func lease() async throws {
            let server = try MemcachedProcess()
            let gate = TestGate()
            let (origin, images) = try origin(2, gate: gate)
            let machines = (0..<10).map { _ in
                Machine([server.port]) { $0.lease = .init(duration: .seconds(10), waitLimit: .seconds(30)) }
            }
            try await withThrowingTaskGroup(of: Data.self) { group in
                for machine in machines { group.addTask { try await machine.data(origin.url("/0")) } }
                // All other machines wait before the origin responds.
                await untilTrue { machines.map(\.tier.statistics.leaseWaits).reduce(0, +) == 9 }
                gate.open()
                for try await data in group { #expect(data == images["/0"]) }
            }
            #expect(origin.requests.count == 1)

            // The origin has no such image, so nothing is stored, and the other machines end their wait.
            let impatient = (0..<3).map { _ in
                Machine([server.port]) { $0.lease = .init(duration: .seconds(10), waitLimit: .milliseconds(50)) }
            }
            for machine in impatient + impatient {
                await #expect(throws: ImageError.self) { try await machine.data(origin.url("/missing")) }
            }
            #expect(impatient.map(\.tier.statistics.leaseWaits).reduce(0, +) == 2)
        }

        @Test("Only the keys of a removed server move, and a server with another address takes its share from all")
        func ketama() {
            let tier = { (ports: [UInt16]) in
                MemcachedTier(
                    MemcachedConfiguration(servers: ports.map { MemcachedServer(host: "10.0.0.1", port: $0) }))
            }
            let (before, reordered) = (tier([1, 2, 3, 4]), tier([4, 2, 1, 3]))
            let (without, replaced) = (tier([1, 2, 3]), tier([1, 2, 3, 5]))
            let keys = (0..<4_000).map { CacheKey(["data", "https://a.example/\($0)"]) }
            #expect(keys.allSatisfy { before.server(for: $0) == reordered.server(for: $0) })
            let moved = keys.filter { before.server(for: $0) != without.server(for: $0) }
            #expect(moved.allSatisfy { before.server(for: $0)?.port == 4 })
            #expect((0.15...0.35).contains(Double(moved.count) / 4_000), "\(moved.count) keys")
            for key in keys where before.server(for: key) != replaced.server(for: key) {
                #expect(before.server(for: key)?.port == 4 || replaced.server(for: key)?.port == 5)
            }
            for port in UInt16(1)...4 {
                let share = keys.count { before.server(for: $0)?.port == port }
                #expect((600...1_500).contains(share), "\(share) keys on port \(port)")
            }
        }
    }

    @Suite(
        "Failing memcached servers", .timeLimit(.minutes(5)), .serialized,
        .enabled(if: MemcachedProcess.missing == nil, "memcached is not installed (Scripts/setup test)"))
    struct MemcachedFailureTests {
        @Test("A lookup ends at its own timeout while the operation still waits for a stopped server")
        func lookupTimeout() async throws {
            let server = try MemcachedProcess()
            let tier = Machine([server.port]) {
                $0.lookupTimeout = .milliseconds(50)
                $0.operationTimeout = .seconds(600)
            }.tier
            let key = CacheKey(["a"])
            await tier.store(CacheEntry(key: key, data: Data([1])), matching: [:])
            await tier.flush()
            server.pause()
            // The operation ends only when the server continues, so only the timeout of the lookup can end it.
            #expect(await tier.entry(for: key, matching: [:]) == nil)
            #expect(tier.statistics.ejections == 0)
            server.resume()
            while await tier.entry(for: key, matching: [:])?.data != Data([1]) {}
        }

        @Test("A stopped server is ejected, and returns")
        func stopped() async throws {
            let server = try MemcachedProcess()
            let tier = Machine([server.port]) {
                $0.lookupTimeout = .milliseconds(50)
                $0.operationTimeout = .milliseconds(150)
                $0.connectTimeout = .milliseconds(100)
                $0.retryDelay = .milliseconds(50)
            }.tier
            let key = CacheKey(["a"])
            await tier.store(CacheEntry(key: key, data: Data([1])), matching: [:])
            await tier.flush()
            server.pause()
            while tier.statistics.ejections == 0 {
                #expect(await tier.entry(for: CacheKey(["b"]), matching: [:]) == nil)
            }
            #expect(tier.server(for: key) == nil)
            server.resume()
            // Lookups start the probes.
            await untilTrue { tier.server(for: key) != nil }
            #expect(tier.statistics.ejectedServers.isEmpty)
            await tier.store(CacheEntry(key: key, data: Data([2])), matching: [:])
            await tier.flush()
            #expect(tier.statistics.failures >= 5)
        }

        @Test(
            "A server with invalid responses is ejected, and never allocates much memory",
            arguments: [
                "VALUE x 0 99999999999\r\n", "VALUE x 0 4294967290\r\nabc", "VALUE x 0 -1\r\n\r\nEND\r\n",
                "VALUE x 0 18446744073709551614\r\n\r\nEND\r\n", "END\r\nEND\r\n", "\n", "\0\0\0\0\r\n",
                "VALUE", "HTTP/1.1 400 Bad Request\r\n\r\n", "VALUE other 0 3\r\nabc\r\nEND\r\n", "ERROR\r\n",
                String(repeating: "A", count: 100_000),
            ])
        func rubbish(answer: String) async throws {
            let server = try RubbishServer(answer: Array(answer.utf8))
            let tier = Machine([server.port]) {
                $0.lookupTimeout = .milliseconds(50)
                $0.operationTimeout = .milliseconds(100)
                $0.retryDelay = .seconds(60)
            }.tier
            let key = CacheKey(["a"])
            for _ in 0..<200 where tier.statistics.ejections == 0 {
                #expect(await tier.entry(for: key, matching: [:]) == nil)
            }
            #expect(tier.statistics.ejections == 1)
            server.stop()
        }

        @Test("A server that sends single bytes slowly is ejected")
        func trickle() async throws {
            let server = try RubbishServer(
                answer: Array(repeating: UInt8(ascii: "A"), count: 2_000), pause: 10_000)
            let tier = Machine([server.port]) {
                $0.lookupTimeout = .milliseconds(20)
                $0.operationTimeout = .milliseconds(50)
                $0.connectTimeout = .milliseconds(50)
                $0.retryDelay = .seconds(60)
            }.tier
            while tier.statistics.ejections == 0 {
                #expect(await tier.entry(for: CacheKey(["a"]), matching: [:]) == nil)
            }
            server.stop()
        }

        /// The servers of ``faults()`` and the machines that use them.
        private final class Fleet: Sendable {
            private let processes: Lock<[MemcachedProcess?]>
            private let replacement = Lock<MemcachedProcess?>(nil)
            private let rubbish = Lock<RubbishServer?>(nil)
            private let current: Lock<[Machine]>
            private let finished = Atomic<Int>(0)
            private let longest = Lock(Duration.zero)
            let ports: [UInt16]
            /// The machines before the replacement of a server.
            let first: [Machine]

            static let connectTimeout = Duration.milliseconds(100)
            static let operationTimeout = Duration.milliseconds(150)

            init() throws {
                let started = try (0..<4).map { _ in try MemcachedProcess() }
                processes = Lock(started)
                ports = started.map(\.port)
                first = Self.machines(ports)
                current = Lock(first)
            }

            private static func machines(_ ports: [UInt16]) -> [Machine] {
                (0..<3).map { _ in
                    Machine(ports) {
                        $0.lookupTimeout = .milliseconds(50)
                        $0.operationTimeout = operationTimeout
                        $0.connectTimeout = connectTimeout
                        $0.retryDelay = .milliseconds(200)
                    }
                }
            }

            /// The machines that serve requests.
            var machines: [Machine] { current.withLock { $0 } }
            /// The duration of the slowest request.
            var slowest: Duration { longest.withLock { $0 } }

            /// Records a request, and returns the number of requests that are finished.
            func finish(after duration: Duration) -> Int {
                longest.withLock { $0 = max($0, duration) }
                return finished.add(1, ordering: .acquiringAndReleasing).newValue
            }

            func kill(_ index: Int) {
                let process = processes.withLock { processes in
                    defer { processes[index] = nil }
                    return processes[index]
                }
                process?.stop()
            }

            func start(_ index: Int) throws {
                let process = try MemcachedProcess(port: ports[index])
                processes.withLock { $0[index] = process }
            }

            func pause(_ index: Int) { processes.withLock { $0[index]?.pause() } }
            func resume(_ index: Int) { processes.withLock { $0[index]?.resume() } }

            func replaceWithRubbish(_ index: Int) throws {
                kill(index)
                let server = try RubbishServer(
                    port: ports[index], answer: Array("VALUE img:v1:x 0 5\r\nabcde\r\nEND\r\n".utf8))
                rubbish.withLock { $0 = server }
            }

            /// Starts a server on a new port instead of the last one, and restarts all machines with the new list.
            func replaceLast() throws {
                let process = try MemcachedProcess()
                replacement.withLock { $0 = process }
                kill(3)
                let machines = Self.machines(ports.dropLast() + [process.port])
                current.withLock { $0 = machines }
            }

            /// The ports after ``replaceLast()``.
            var portsAfterReplacement: [UInt16] {
                ports.dropLast() + (replacement.withLock { $0.map { [$0.port] } } ?? [])
            }
        }

        @Test(
            "While servers are killed, stopped, invalid, restarted, and replaced, every running request gets its image")
        func faults() async throws {
            let fleet = try Fleet()
            let (origin, images) = try origin(60)
            let (workers, requests) = (12, 240)
            let faults: [@Sendable (Fleet) throws -> Void] = [
                { $0.kill(0) }, { $0.pause(1) }, { try $0.replaceWithRubbish(2) }, { try $0.start(0) },
                { $0.resume(1) }, { $0.kill(3) }, { try $0.replaceLast() },
            ]
            // The worker whose request is the last of a step causes the next fault, while the others load images.
            let step = workers * requests / (faults.count + 1)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<workers {
                    group.addTask {
                        for number in 0..<requests {
                            let path = "/\((number * 7 + worker * 11) % 60)"
                            let machine = fleet.machines[worker % 3]
                            let start = ContinuousClock.now
                            let data = try await machine.data(origin.url(path))
                            #expect(data == images[path])
                            let count = fleet.finish(after: .now - start)
                            if count % step == 0, count / step <= faults.count { try faults[count / step - 1](fleet) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            // A request waits at most for a connection, two operations, and the origin. The rest is a generous allowance
            // for a busy machine, which only a request that hangs exceeds.
            let limit = Fleet.connectTimeout + Fleet.operationTimeout * 2 + .seconds(60)
            #expect(fleet.slowest < limit, "\(fleet.slowest)")
            let statistics = fleet.first.map(\.tier.statistics)
            #expect(statistics.map(\.ejections).reduce(0, +) >= 3)
            // Without the tiers, each of the 2,880 requests would reach the origin.
            #expect(origin.requests.count < 2_300, "\(origin.requests.count)")
            // The restarted and the continued server are in use again.
            for machine in fleet.first {
                await untilTrue {
                    _ = machine.tier.server(for: CacheKey(["a"]))
                    return Set(machine.tier.statistics.ejectedServers.map(\.port)).isDisjoint(with: fleet.ports[0...1])
                }
                await machine.tier.flush()
            }
            for machine in fleet.machines { await machine.tier.flush() }
        }

        @Test(
            "After the replacement of a server, a quarter of the keys is on the new one, and all other images are found"
        )
        func replacement() async throws {
            let servers = try (0..<4).map { _ in try MemcachedProcess() }
            let fifth = try MemcachedProcess()
            let (origin, images) = try origin(60)
            let (first, second) = (
                Machine(servers.map(\.port)), Machine(servers.dropLast().map(\.port) + [fifth.port])
            )
            for (path, image) in images { #expect(try await first.data(origin.url(path)) == image) }
            await first.tier.flush()
            servers[3].stop()
            // A key moves only if it was on the replaced server or is on the new one.
            let keys = (0..<4_000).map { CacheKey(["data", "https://a.example/\($0)"]) }
            let moved = keys.filter { first.tier.server(for: $0) != second.tier.server(for: $0) }
            for key in moved {
                #expect(
                    first.tier.server(for: key)?.port == servers[3].port
                        || second.tier.server(for: key)?.port == fifth.port)
            }
            for (tier, port) in [(first.tier, servers[3].port), (second.tier, fifth.port)] {
                let share = keys.count { tier.server(for: $0)?.port == port }
                #expect((600...1_500).contains(share), "\(share) of 4,000 keys")
            }
            let before = origin.requests.count
            for (path, image) in images { #expect(try await second.data(origin.url(path)) == image) }
            // The images that stay on their server are found, and the others are loaded once.
            let loaded = origin.requests.count - before
            #expect(second.tier.statistics.hits + loaded == 60)
            let share = Double(moved.count) / 4_000
            #expect(abs(Double(loaded) / 60 - share) < 0.25, "\(loaded) of 60 images, \(share) of the keys")
            await second.tier.flush()
            for (path, image) in images { #expect(try await second.data(origin.url(path)) == image) }
            #expect(origin.requests.count == before + loaded)
        }
    }
#endif
