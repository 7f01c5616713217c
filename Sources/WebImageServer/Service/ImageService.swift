// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImage
import WebImageConcurrency

/// The part of a server between its HTTP front and the handler: a queue, timeouts, logs, and metrics. This class is
/// thread-safe.
package final class ImageService: Sendable {
    /// The settings of a service.
    package struct Configuration: Sendable {
        /// The number of requests that run at the same time, and of lookups of stored results. The default is 8 per
        /// processor.
        package var workers = ProcessInfo.processInfo.activeProcessorCount * 8
        /// The maximum number of waiting requests. The default is 256.
        package var queueSize = 256
        /// The time from the arrival of a request to its response. The default is 15 seconds.
        package var timeout = Duration.seconds(15)
        /// The proxies whose `X-Forwarded-For` names the client. The default is none.
        package var trustedProxies: [AddressRange] = []
        /// The clients that may read the metrics. The default is this machine.
        package var metricsClients = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }
        /// Returns further values for the metrics.
        package var extraMetrics: @Sendable () -> [ServiceMetrics.Gauge] = { [] }
        /// The log of events that don't belong to a request, or `nil` for none. The default is `nil`.
        package var eventLog: ServiceLog?
        /// Returns the entries that the disk cache didn't store, or `nil` for those of the disk cache of the manager.
        package var droppedWrites: (@Sendable () -> DiskCache.DroppedWrites)?

        /// Creates the default settings.
        package init() {}
    }

    private struct State {
        var queue: FairQueue<Int>
        /// The number of running lookups of stored results.
        var lookupCount = 0
        /// The calls whose exchange hasn't ended.
        var calls: [Int: ServiceCall] = [:]
        var count = 0
        var isDraining = false
        var idle: [Promise<Void>] = []
        /// The number of dropped cache writes that the log contains.
        var loggedDrops = 0
        /// The time until which no further event of dropped writes is logged, in seconds of `time`.
        var nextDropEvent = -Double.infinity
    }

    private let handler: ImageServer
    private let configuration: Configuration
    private let log: ServiceLog?
    private let metrics: ServiceMetrics
    private let time: TimeSource
    private let state: Lock<State>

    /// Creates a service. `metrics` is also an observer of the manager. `log` is `nil` for no log.
    package init(
        handler: ImageServer, configuration: Configuration, metrics: ServiceMetrics, log: ServiceLog?,
        time: TimeSource = .system
    ) {
        self.time = time
        self.handler = handler
        self.configuration = configuration
        self.metrics = metrics
        self.log = log
        state = Lock(State(queue: FairQueue(slots: configuration.workers, limit: configuration.queueSize)))
    }

    // MARK: - Requests

    /// Begins a request. The closure receives the response once, on any thread, possibly before this method returns.
    /// `peer` is the numeric address of the other end of the connection, or `unix`.
    package func begin(
        _ request: ServerRequest, peer: String, respond: @escaping @Sendable (ServerResponse) -> Void
    ) -> ServiceCall {
        let client = ClientAddress.address(
            peer: peer, headers: request.headers, trusted: configuration.trustedProxies)
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let call = ServiceCall(number: number, request, client: client, time: time) { [weak self] response in
            respond(self?.completed(response) ?? response)
        }
        state.withLock { $0.calls[number] = call }
        if let response = ownResponse(to: call) {
            call.resolve(response.named(call.requestID))
            return call
        }
        call.setTimer(
            Task { [weak self, configuration, time] in
                await time.sleep(seconds: configuration.timeout / .seconds(1))
                if !Task.isCancelled { self?.expire(call) }
            })
        prepare(call)
        return call
    }

    /// Looks up the stored result of a request before the request waits for a worker. If too many lookups run, for example
    /// because the disk is slow, the worker does it.
    private func prepare(_ call: ServiceCall) {
        let mayLookUp = state.withLock { state in
            guard state.lookupCount < configuration.workers else { return false }
            state.lookupCount += 1
            return true
        }
        guard mayLookUp else { return admit(call, host: handler.contactedHost(by: call.request)) }
        call.beginLookup(
            Task {
                let preparation = await handler.preparation(of: call.request)
                state.withLock { $0.lookupCount -= 1 }
                metrics.add(call.duration, stage: "lookup")
                switch preparation {
                case .response(let response): call.resolve(response.named(call.requestID))
                case .work(let host): admit(call, host: host)
                }
            })
    }

    private func admit(_ call: ServiceCall, host: String?) {
        guard call.response == nil else { return }
        let (admission, other) = state.withLock { state in
            let admission = state.queue.add(call.number, client: ClientAddress.name(of: call.client), group: host)
            guard case .replaces(let number) = admission else { return (admission, nil as ServiceCall?) }
            return (admission, state.calls[number])
        }
        switch admission {
        case .runs: return run(call, host: host)
        case .waits: break
        case .replaces: if let other { reject(other) }
        case .rejected: reject(call)
        }
        // A call that received its response before it was added isn't removed otherwise.
        if call.response != nil { abandon(call) }
    }

    private func run(_ call: ServiceCall, host: String?) {
        call.begin(
            Task {
                let response = Task.isCancelled ? nil : await handler.response(to: call.request)
                call.resolve((response ?? Self.overloaded).named(call.requestID))
                if let next = nextCall(after: host) { run(next.call, host: next.host) }
            })
        metrics.add(call.waitingTime ?? .zero, stage: "queue")
    }

    /// Ends a running request, and returns the call that receives its slot.
    private func nextCall(after host: String?) -> (call: ServiceCall, host: String?)? {
        state.withLock { state in
            var host = host
            while let next = state.queue.finish(group: host) {
                if let call = state.calls[next.id] { return (call, next.group) }
                // The call ended while it was added, so its slot is free again.
                host = next.group
            }
            return nil
        }
    }

    private static var overloaded: ServerResponse { unavailable("The server is overloaded.") }

    private static func unavailable(_ reason: String) -> ServerResponse {
        ServerResponse(
            statusCode: 503,
            headers: [
                "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", "Retry-After": "1",
            ], body: Data((reason + "\n").utf8))
    }

    private func reject(_ call: ServiceCall) {
        if call.resolve(Self.overloaded.named(call.requestID)) { metrics.countRejection("queue") }
    }

    private func expire(_ call: ServiceCall) {
        let reason = "The request took longer than \(configuration.timeout)."
        if call.resolve(Self.unavailable(reason).named(call.requestID)) { metrics.countRejection("timeout") }
        abandon(call)
    }

    private func abandon(_ call: ServiceCall) {
        call.cancelWork()
        state.withLock { _ = $0.queue.withdraw(call.number, client: ClientAddress.name(of: call.client)) }
    }

    private func completed(_ response: ServerResponse) -> ServerResponse {
        guard state.withLock({ $0.isDraining }) else { return response }
        var response = response
        response.headers.append(name: "Connection", value: "close")
        return response
    }

    /// The status of calls whose client closed its connection before there was a response, as in nginx.
    private static let clientClosedRequest = 499

    /// Cancels the work of a call whose client closed its connection. The caller must still end the call.
    ///
    /// The call then has the status 499 in the log and in the metrics. No client receives it.
    package func disconnect(_ call: ServiceCall) {
        guard call.resolve(ServerResponse(statusCode: Self.clientClosedRequest).named(call.requestID)) else { return }
        abandon(call)
    }

    /// Ends a call after its response was sent or its connection was closed.
    ///
    /// - Parameters:
    ///   - call: The call.
    ///   - sentBytes: The number of bytes of the body that were sent.
    ///   - isComplete: Whether the connection accepted the whole response. It also accepts the empty response to a
    ///     client that closed it, which the log doesn't call complete.
    package func end(_ call: ServiceCall, sentBytes: Int, isComplete: Bool) {
        disconnect(call)
        let status = call.response?.statusCode ?? 0
        let duration = call.duration
        metrics.count(status: status, sentBytes: sentBytes)
        metrics.add(duration, stage: "response")
        let text = call.response.map { String(decoding: $0.body.prefix(256), as: UTF8.self) } ?? ""
        let reason = status >= 400 && !text.isEmpty ? text : nil
        log?.add(
            ServiceLog.Request(
                time: ServiceLog.now(), requestID: call.requestID, traceID: call.trace.traceID,
                spanID: call.trace.spanID, client: call.client, method: String(call.request.method.prefix(16)),
                path: String(handler.loggedPath(of: call.request).prefix(4_096)),
                userAgent: call.request.headers["User-Agent"].map { String($0.prefix(256)) },
                status: status, bytes: sentBytes, isComplete: isComplete && status != Self.clientClosedRequest,
                durationMs: Self.milliseconds(duration), queueMs: call.waitingTime.map(Self.milliseconds),
                reason: reason?.trimmingCharacters(in: .whitespacesAndNewlines)))
        let idle = state.withLock { state in
            state.calls[call.number] = nil
            guard state.calls.isEmpty else { return [Promise<Void>]() }
            defer { state.idle = [] }
            return state.idle
        }
        for promise in idle { promise.resolve(()) }
        logDroppedWrites()
    }

    private var droppedWrites: DiskCache.DroppedWrites {
        configuration.droppedWrites?() ?? handler.manager.diskCache?.droppedWrites
            ?? DiskCache.DroppedWrites(count: 0, errorNumber: 0)
    }

    /// Adds an event to the log if the disk cache dropped further writes, at most once per minute.
    private func logDroppedWrites() {
        guard let events = configuration.eventLog else { return }
        let (dropped, now) = (droppedWrites, time.uptime())
        let isNew = state.withLock { state in
            guard dropped.count > state.loggedDrops, now >= state.nextDropEvent else { return false }
            (state.loggedDrops, state.nextDropEvent) = (dropped.count, now + 60)
            return true
        }
        guard isNew else { return }
        let reason =
            dropped.errorNumber == 0
            ? "entries are too large, or too many writes are pending" : String(cString: strerror(dropped.errorNumber))
        events.add("disk cache writes dropped", ["count": "\(dropped.count)", "reason": reason])
    }

    private static func milliseconds(_ duration: Duration) -> Double {
        (duration / .microseconds(1)).rounded() / 1_000
    }

    // MARK: - Own paths

    /// Returns the response of a path of the service, which doesn't wait in the queue, or `nil` for other paths.
    private func ownResponse(to call: ServiceCall) -> ServerResponse? {
        let target = call.request.target.prefix { $0 != "?" }
        guard ["GET", "HEAD"].contains(call.request.method), target.hasPrefix(handler.configuration.pathPrefix) else {
            return nil
        }
        let headers: HTTPHeaderFields = ["Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"]
        let respond = { (status: Int, text: String) in
            ServerResponse(statusCode: status, headers: headers, body: Data(text.utf8))
        }
        switch target.dropFirst(handler.configuration.pathPrefix.count) {
        case "/health": return respond(200, "ok\n")
        case "/ready":
            return state.withLock { $0.isDraining } ? respond(503, "draining\n") : respond(200, "ready\n")
        case "/metrics":
            guard configuration.metricsClients.contains(where: { $0.contains(call.client) }) else {
                return respond(403, "The metrics aren’t available to this client.\n")
            }
            return respond(200, metrics.text(gauges))
        default: return nil
        }
    }

    private var gauges: [ServiceMetrics.Gauge] {
        let (running, waiting) = state.withLock { ($0.queue.runningCount, $0.queue.waitingCount) }
        let statistics = handler.manager.statistics
        let hits = { (tier: String, count: Int) in
            ServiceMetrics.Gauge("webimage_loads_total{source=\"\(tier)\"}", count, type: "counter")
        }
        return [
            .init("webimage_running_requests", running), .init("webimage_waiting_requests", waiting),
            hits("memory", statistics.memoryHits), hits("disk", statistics.diskHits),
            hits("tier", statistics.tierHits), hits("revalidated", statistics.revalidations),
            hits("network", statistics.downloads), hits("local", statistics.localLoads),
            .init("webimage_coalesced_loads_total", statistics.coalescedLoads, type: "counter"),
            .init("webimage_failed_loads_total", statistics.failures, type: "counter"),
            .init("webimage_loaded_bytes_total", statistics.loadedByteCount, type: "counter"),
            .init("webimage_dropped_log_lines_total", log?.droppedCount ?? 0, type: "counter"),
            .init("webimage_dropped_cache_writes_total", droppedWrites.count, type: "counter"),
            .init("process_resident_memory_bytes", ServiceMetrics.residentBytes),
            .init("webimage_helper_resident_memory_bytes", ServiceMetrics.helperResidentBytes),
        ] + configuration.extraMetrics()
    }

    // MARK: - Shutdown

    /// Reports in `/ready` that the server stops, and closes connections after their next response.
    package func beginDraining() { state.withLock { $0.isDraining = true } }

    /// Waits until all responses are sent, or until the deadline, and then ends all other requests with the status 503.
    package func drain(deadline: Duration) async {
        beginDraining()
        await waitUntilIdle(upTo: deadline)
        for call in state.withLock({ Array($0.calls.values) }) {
            call.resolve(Self.unavailable("The server stops.").named(call.requestID))
            abandon(call)
        }
        // The caller closes the connections, so clients that read slowly lose the rest of their response.
        await waitUntilIdle(upTo: .seconds(1))
    }

    private func waitUntilIdle(upTo duration: Duration) async {
        let idle = Promise<Void>()
        let isIdle = state.withLock { state in
            guard !state.calls.isEmpty else { return true }
            state.idle.append(idle)
            return false
        }
        guard !isIdle else { return }
        let timer = Task { [time] in
            await time.sleep(seconds: duration / .seconds(1))
            idle.resolve(())
        }
        await idle.outcome(onCancel: { idle.resolve(()) })
        timer.cancel()
    }
}

extension ServerResponse {
    fileprivate func named(_ requestID: String) -> ServerResponse {
        var response = self
        response.headers.append(name: "X-Request-ID", value: requestID)
        return response
    }
}
