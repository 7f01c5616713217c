// SPDX-License-Identifier: MIT

#if Memcached
    import Foundation
    import Synchronization
    import WebImageConcurrency
    import WebImageCore

    /// The servers of a tier, with a pool of connections and a circuit breaker for each.
    final class MemcachedNodes: Sendable {
        /// The threads of one server. Each owns a connection.
        typealias Pool = WorkerPool<MemcachedConnection, RequestPriority>

        /// One server.
        struct Node: Sendable {
            let index: Int
            let server: MemcachedServer
            let pool: Pool
        }

        private struct State {
            var breakers: [NodeBreaker]
            var live: [Int] = []
            var ring: KetamaRing?
            var ejections = 0
            var failures = 0
        }

        private let nodes: [Node]
        private let time: TimeSource
        private let probeName: String
        private let state: Lock<State>

        init(_ configuration: MemcachedConfiguration, time: TimeSource) {
            // The order of the list must not change the ring.
            let servers = Set(configuration.servers).sorted {
                ($0.description, $0.weight) < ($1.description, $1.weight)
            }
            nodes = servers.enumerated().map { index, server in
                Node(
                    index: index, server: server,
                    pool: Pool(
                        name: "webimage-memcached", threads: configuration.connectionsPerServer,
                        waitingLimit: max(1, configuration.maxWaitingOperations)
                    ) { MemcachedConnection(server, configuration) })
            }
            self.time = time
            probeName = configuration.normalizedPrefix + "probe"
            let policy = NodeBreaker.Policy(
                failureLimit: configuration.failureLimit, window: configuration.failureWindow / .seconds(1),
                retryDelay: configuration.retryDelay / .seconds(1), longestRetryDelay: 60)
            var initial = State(breakers: servers.map { _ in NodeBreaker(policy: policy) })
            Self.rebuild(&initial, nodes)
            state = Lock(initial)
        }

        var health: (failures: Int, ejections: Int, ejected: [MemcachedServer]) {
            state.withLock { state in
                let ejected = nodes.filter { !state.breakers[$0.index].isClosed }.map(\.server)
                return (state.failures, state.ejections, ejected)
            }
        }

        var all: [Node] { nodes }

        /// Returns the server of a key, or `nil` if all servers are ejected. Also starts the probes that are due.
        func node(for name: String) -> Node? {
            let now = time.uptime()
            let (index, due) = state.withLock { state -> (Int?, [Int]) in
                let due = state.breakers.indices.filter { state.breakers[$0].beginProbe(at: now) }
                return (state.ring.map { state.live[$0.index(of: name)] }, due)
            }
            for index in due { probe(nodes[index]) }
            return index.map { nodes[$0] }
        }

        func isLive(_ node: Node) -> Bool { state.withLock { $0.breakers[node.index].isClosed } }

        /// Runs `body` on the connection of the calling thread and records whether it succeeded.
        func perform<Result>(
            _ node: Node, _ connection: MemcachedConnection,
            _ body: (MemcachedConnection) -> (result: Result, success: Bool)
        ) -> Result {
            let (result, success) = body(connection)
            record(node, success: success)
            return result
        }

        private func record(_ node: Node, success: Bool) {
            let now = time.uptime()
            state.withLock { state in
                if !success { state.failures += 1 }
                guard state.breakers[node.index].record(success: success, at: now) else { return }
                state.ejections += 1
                Self.rebuild(&state, nodes)
            }
        }

        private func probe(_ node: Node) {
            do throws(Pool.Refusal) {
                try node.pool.submit(.high) { [weak self] connection in
                    guard let self else { return }
                    finishProbe(node, success: connection.value(for: probeName).status != .failed)
                }
            } catch {
                finishProbe(node, success: false)
            }
        }

        private func finishProbe(_ node: Node, success: Bool) {
            let now = time.uptime()
            state.withLock { state in
                if state.breakers[node.index].finishProbe(success: success, at: now) { Self.rebuild(&state, nodes) }
            }
        }

        private static func rebuild(_ state: inout State, _ nodes: [Node]) {
            state.live = nodes.indices.filter { state.breakers[$0].isClosed }
            state.ring = KetamaRing(state.live.map { nodes[$0].server })
        }
    }
#endif
