// SPDX-License-Identifier: MIT

#if Memcached
    import Foundation
    import Synchronization
    import WebImageConcurrency
    import WebImageCore
    import WebImageHTTP
    import WebImageStore

    /// A cache tier that stores encoded images on memcached servers, which several machines share.
    ///
    /// The keys are distributed with the weighted ketama algorithm of libmemcached. A server that fails repeatedly is
    /// ejected, and its keys move to the other servers until it responds again. Failures never reach a request. If a
    /// lookup takes longer than ``MemcachedConfiguration/lookupTimeout``, the request also contacts the origin and uses
    /// the first result.
    ///
    /// The tier stores one response per key. If a response depends on request header fields (`Vary`), the last one
    /// replaces the others, and requests that don’t select it miss.
    ///
    /// Add the tier to ``ImageCache/tiers``. All network access happens on threads of the tier. This class is
    /// thread-safe. The module needs the trait `Memcached`.
    public final class MemcachedTier: CacheTier {
        /// Counters of a tier since its creation.
        public struct Statistics: Sendable, Hashable {
            /// The number of lookups that found an entry.
            public internal(set) var hits = 0
            /// The number of lookups without an entry, including all lookups that failed.
            public internal(set) var misses = 0
            /// The number of lookups that took longer than ``MemcachedConfiguration/lookupTimeout``.
            public internal(set) var timeouts = 0
            /// The number of lookups that found an entry after ``MemcachedConfiguration/lookupTimeout``.
            public internal(set) var lateHits = 0
            /// The number of values that were rejected because they’re corrupt, forged, or belong to another key.
            public internal(set) var rejectedValues = 0
            /// The number of entries that were written.
            public internal(set) var writes = 0
            /// The number of entries that weren’t written because of a limit or a failure.
            public internal(set) var droppedWrites = 0
            /// The number of lookups that waited for the lease of another machine.
            public internal(set) var leaseWaits = 0
            /// The number of failed operations.
            public internal(set) var failures = 0
            /// The number of times that a server was ejected.
            public internal(set) var ejections = 0
            /// The servers that are ejected.
            public internal(set) var ejectedServers: [MemcachedServer] = []
            /// The number of writes and removals that aren’t finished.
            public internal(set) var pendingOperations = 0
        }

        private struct Pending {
            var operations: PendingOperations
            var waiters: [Promise<Void>] = []

            /// Removes and returns the callers of ``MemcachedTier/flush()`` if no operation is left.
            mutating func takeIdle() -> [Promise<Void>] {
                guard operations.count == 0 else { return [] }
                defer { waiters = [] }
                return waiters
            }
        }

        private enum Lookup: Sendable {
            case found(CacheEntry)
            case missing
            case unavailable
        }

        /// The settings of the tier.
        public let configuration: MemcachedConfiguration
        private let nodes: MemcachedNodes
        private let form: SealedValue
        private let time: TimeSource
        private let prefix: String
        private let pending: Lock<Pending>
        private let removals = Lock(RemovalDates())
        private let leases = Lock(LeaseTable())
        private let counters = Lock(Statistics())

        /// Creates a tier. It opens connections when it needs them.
        public convenience init(_ configuration: MemcachedConfiguration) {
            self.init(configuration, time: .system)
        }

        /// Creates a tier with a time source.
        package init(_ configuration: MemcachedConfiguration, time: TimeSource) {
            self.configuration = configuration
            self.time = time
            nodes = MemcachedNodes(configuration, time: time)
            form = SealedValue(secret: configuration.secret)
            prefix = configuration.normalizedPrefix
            pending = Lock(
                Pending(
                    operations: PendingOperations(
                        countLimit: configuration.maxPendingWrites, byteLimit: configuration.maxPendingBytes)))
        }

        deinit { for node in nodes.all { node.pool.close() } }

        /// The current counters.
        public var statistics: Statistics {
            var result = counters.withLock { $0 }
            (result.failures, result.ejections, result.ejectedServers) = nodes.health
            result.pendingOperations = pending.withLock { $0.operations.count }
            return result
        }

        /// Returns the server that currently stores a key, or `nil` if all servers are ejected.
        package func server(for key: CacheKey) -> MemcachedServer? { nodes.node(for: prefix + key.fileName)?.server }

        // MARK: - Reading

        /// Returns the entry of a key that a request with the given header fields selects.
        ///
        /// This method returns `nil` after ``MemcachedConfiguration/lookupTimeout``. With a lease, it also waits up to
        /// ``MemcachedConfiguration/Lease/waitLimit`` for the machine that loads the image.
        public func entry(for key: CacheKey, matching headers: HTTPHeaderFields) async -> CacheEntry? {
            await hit(key, headers, onDelay: nil)
        }

        /// Returns the entry of a key that a request with the given header fields selects, and reports a slow lookup.
        ///
        /// This method calls `onDelay` after ``MemcachedConfiguration/lookupTimeout`` and continues until the timeouts of
        /// the connection end the lookup.
        public func entry(
            for key: CacheKey, matching headers: HTTPHeaderFields, onDelay: @escaping @Sendable () -> Void
        ) async -> CacheEntry? {
            await hit(key, headers, onDelay: onDelay)
        }

        private func hit(
            _ key: CacheKey, _ headers: HTTPHeaderFields, onDelay: (@Sendable () -> Void)?
        ) async -> CacheEntry? {
            let entry = await found(key, waits: true, onDelay: onDelay)
            let isHit = entry?.matches(headers) ?? false
            counters.withLock { if isHit { $0.hits += 1 } else { $0.misses += 1 } }
            return isHit ? entry : nil
        }

        private func found(
            _ key: CacheKey, waits: Bool, onDelay: (@Sendable () -> Void)? = nil
        ) async -> CacheEntry? {
            if let operation = pending.withLock({ $0.operations.newest(for: key) }) {
                guard case .store(let entry) = operation else { return nil }
                return entry
            }
            let name = prefix + key.fileName
            switch await lookup(key, name, onDelay: onDelay) {
            case .found(let entry): return entry
            case .unavailable: return nil
            case .missing: return waits ? await entryOfOtherMachine(key, name) : nil
            }
        }

        private func lookup(
            _ key: CacheKey, _ name: String, onDelay: (@Sendable () -> Void)? = nil
        ) async -> Lookup {
            guard let node = nodes.node(for: name) else { return .unavailable }
            let isDelayed = Lock(false)
            let delayed = onDelay.map { onDelay in
                { @Sendable () -> Void in
                    isDelayed.withLock { $0 = true }
                    onDelay()
                }
            }
            let result = await ask(node, otherwise: Lookup.unavailable, onDelay: delayed) { tier, connection in
                tier.nodes.perform(node, connection) { tier.read(key, name, $0) }
            }
            guard isDelayed.withLock({ $0 }) else { return result }
            switch result {
            case .found: counters.withLock { $0.lateHits += 1 }
            // The request already contacts the origin, so it must not wait for the lease of another machine.
            case .missing: return .unavailable
            case .unavailable: break
            }
            return result
        }

        /// Returns `fallback` if the current task is canceled. After the timeout of a lookup, this method calls
        /// `onDelay` and continues, or it returns `fallback` if there's no such closure. It never waits longer than the
        /// timeouts of a connection and of two operations.
        private func ask<Result: Sendable>(
            _ node: MemcachedNodes.Node, otherwise fallback: Result, onDelay: (@Sendable () -> Void)? = nil,
            _ body: @escaping @Sendable (MemcachedTier, MemcachedConnection) -> Result
        ) async -> Result {
            guard !Task.isCancelled else { return fallback }
            let promise = Promise<Result>()
            let work = try? node.pool.submit(.normal) { promise.resolve(body(self, $0)) }
            guard let work else { return fallback }
            let timer = inheritingTask {
                let settings = self.configuration
                await self.time.sleep(seconds: settings.lookupTimeout / .seconds(1))
                guard !Task.isCancelled, !promise.isResolved else { return }
                self.counters.withLock { $0.timeouts += 1 }
                if let onDelay {
                    onDelay()
                    let limit = settings.connectTimeout + settings.operationTimeout * 2
                    await self.time.sleep(seconds: limit / .seconds(1))
                    guard !Task.isCancelled else { return }
                }
                if promise.resolve(fallback) { _ = node.pool.withdraw(work) }
            }
            defer { timer.cancel() }
            return await promise.outcome {
                if promise.resolve(fallback) { _ = node.pool.withdraw(work) }
            }
        }

        private func read(
            _ key: CacheKey, _ name: String, _ connection: MemcachedConnection
        ) -> (result: Lookup, success: Bool) {
            let (status, value) = connection.value(for: name)
            guard let value else { return (status == .failed ? .unavailable : .missing, status != .failed) }
            guard let entry = form.opened(value, key: key, name: name) else {
                counters.withLock { $0.rejectedValues += 1 }
                // A server that returns such values repeatedly is ejected like one that doesn’t respond.
                return (.missing, false)
            }
            return (removals.withLock { $0.hides(entry) } ? .missing : .found(entry), true)
        }

        // MARK: - Leases

        private func leaseName(_ name: String) -> String { prefix + "lease:" + name.dropFirst(prefix.count) }

        /// Takes the lease of a key, or waits for the machine that has it.
        private func entryOfOtherMachine(_ key: CacheKey, _ name: String) async -> CacheEntry? {
            guard let lease = configuration.lease, let node = nodes.node(for: name),
                leases.withLock({ $0.mayWait(for: key, at: time.uptime()) })
            else { return nil }
            let seconds = UInt32(min(max(1, (lease.duration / .seconds(1)).rounded(.up)), 3_600))
            let leaseName = leaseName(name)
            let status = await ask(node, otherwise: MemcachedConnection.Status.failed) { tier, connection in
                tier.nodes.perform(node, connection) {
                    let status = $0.set(Data([1]), for: leaseName, seconds: seconds, adds: true)
                    return (status, status != .failed)
                }
            }
            let start = time.uptime()
            switch status {
            case .failed, .refused: return nil
            case .success:
                leases.withLock { $0.own(key, until: start + Double(seconds)) }
                return nil
            case .unchanged: break
            }
            counters.withLock { $0.leaseWaits += 1 }
            var pause = 0.01
            while time.uptime() - start < lease.waitLimit / .seconds(1), !Task.isCancelled {
                await time.sleep(seconds: pause)
                pause = min(pause * 2, 0.1)
                if case .found(let entry) = await lookup(key, name) { return entry }
            }
            // The other machine can’t store the image, or it failed. Don’t wait for this key again soon.
            leases.withLock { $0.avoid(key, until: time.uptime() + 60) }
            return nil
        }

        // MARK: - Writing

        /// Stores an entry in the background.
        ///
        /// Lookups through this tier find it immediately. The tier doesn’t store entries that exceed
        /// ``MemcachedConfiguration/maxValueSize``, and private responses unless the configuration allows them.
        public func store(_ entry: CacheEntry, matching headers: HTTPHeaderFields) async {
            guard isAllowed(entry) else {
                counters.withLock { $0.droppedWrites += 1 }
                // The stored entry is older than this one.
                return enqueue(.remove, entry.key)
            }
            removals.withLock { $0.restore(entry.key) }
            enqueue(.store(entry), entry.key)
        }

        private func isAllowed(_ entry: CacheEntry) -> Bool {
            guard entry.data.count <= configuration.maxValueSize else { return false }
            guard !configuration.storesPrivateResponses, let response = entry.httpResponse else { return true }
            let control = CacheControl(response.headers)
            return !control.isPrivate && !control.noStore
        }

        /// Removes the entry of a key.
        ///
        /// The tier hides the entry immediately. If the server isn’t available, other machines may still find it.
        public func remove(_ key: CacheKey, matching headers: HTTPHeaderFields?) async {
            if let headers, let entry = await found(key, waits: false), !entry.matches(headers) { return }
            removals.withLock { $0.remove(key, at: time.now()) }
            enqueue(.remove, key)
        }

        /// Hides all entries that were stored before this call. If ``MemcachedConfiguration/flushesServers`` is `true`,
        /// this method also empties the servers.
        public func removeAll() async {
            pending.withLock { $0.operations.dropEntries() }
            removals.withLock { $0.removeAll(at: time.now()) }
            guard configuration.flushesServers else { return }
            for node in nodes.all where nodes.isLive(node) {
                _ = await ask(node, otherwise: MemcachedConnection.Status.failed) { tier, connection in
                    tier.nodes.perform(node, connection) {
                        let status = $0.removeAll()
                        return (status, status != .failed)
                    }
                }
            }
        }

        /// Waits until all writes and removals are finished or have failed.
        public func flush() async {
            let promise = Promise<Void>()
            let isIdle = pending.withLock { pending in
                guard pending.operations.count > 0 else { return true }
                pending.waiters.append(promise)
                return false
            }
            if !isIdle { await promise.outcome { promise.resolve(()) } }
        }

        private func enqueue(_ operation: PendingOperations.Operation, _ key: CacheKey) {
            let dropped = pending.withLock { $0.operations.add(operation, for: key) }
            if dropped > 0 { counters.withLock { $0.droppedWrites += dropped } }
            submit(key)
        }

        private func submit(_ key: CacheKey) {
            let name = prefix + key.fileName
            if let node = nodes.node(for: name),
                (try? node.pool.submit(.low, { self.write(key, name, node, $0) })) != nil
            {
                return
            }
            // No server is available, or too many operations wait for it.
            finish(key) { $0.begin(key) }
        }

        /// Takes the waiting operation on a key without performing it.
        private func finish(_ key: CacheKey, taking: (inout PendingOperations) -> PendingOperations.Operation?) {
            let (operation, idle) = pending.withLock { pending -> (PendingOperations.Operation?, [Promise<Void>]) in
                let operation = taking(&pending.operations)
                if operation != nil { _ = pending.operations.finish(key) }
                return (operation, pending.takeIdle())
            }
            if case .store = operation { counters.withLock { $0.droppedWrites += 1 } }
            for promise in idle { promise.resolve(()) }
        }

        private func write(
            _ key: CacheKey, _ name: String, _ node: MemcachedNodes.Node, _ connection: MemcachedConnection
        ) {
            guard let operation = pending.withLock({ $0.operations.begin(key) }) else {
                // The operation was dropped, or it follows the running one.
                for promise in pending.withLock({ $0.takeIdle() }) { promise.resolve(()) }
                return
            }
            let isStored = nodes.isLive(node) && perform(operation, name, node, connection)
            if case .store = operation {
                counters.withLock { if isStored { $0.writes += 1 } else { $0.droppedWrites += 1 } }
                leases.withLock { $0.disown(key) }
            }
            let (isWaiting, idle) = pending.withLock { ($0.operations.finish(key), $0.takeIdle()) }
            if isWaiting { submit(key) }
            for promise in idle { promise.resolve(()) }
        }

        private func perform(
            _ operation: PendingOperations.Operation, _ name: String, _ node: MemcachedNodes.Node,
            _ connection: MemcachedConnection
        ) -> Bool {
            nodes.perform(node, connection) { connection -> (result: Bool, success: Bool) in
                guard case .store(let entry) = operation else {
                    let status = connection.remove(name)
                    return (status != .failed, status != .failed)
                }
                let seconds = configuration.expiration(of: entry.timeToLive, deviation: .random(in: -1...1))
                guard let seconds, let value = form.sealed(entry, name: name), value.count <= configuration.maxValueSize
                else {
                    // The server may have an older entry.
                    return (false, connection.remove(name) != .failed)
                }
                let status = connection.set(value, for: name, seconds: seconds)
                // A server that doesn’t store a value may have removed the previous one or not.
                if status == .refused { _ = connection.remove(name) }
                if configuration.lease != nil, status != .failed { _ = connection.remove(leaseName(name)) }
                return (status == .success, status != .failed)
            }
        }
    }
#endif
