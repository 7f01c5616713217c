// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageConcurrency
import WebImageCore

/// The event loop of the network thread: it processes commands, starts transfers, runs libcurl, and ends transfers
/// that are complete, failed, or timed out.
///
/// It's created and used only on the network thread.
final class NetworkLoop {
    let commands: NetworkCommandQueue
    /// The configuration, with the current limits for connections.
    private(set) var configuration: ImageDownloader.Configuration
    /// The limits of libcurl, which are the highest limits so far.
    private var libraryLimits: ConnectionLimits
    let multi: UnsafeMutableRawPointer
    let sockets = IdleConnectionChecker()
    let proxies: ProxyResolver
    var proxyAuthentication = ProxyAuthentication()
    var admission: TransferQueue
    var waiting: [UInt64: Transfer] = [:]
    var running: [UInt64: Transfer] = [:]
    var contexts: [UnsafeMutableRawPointer: TransferCallbacks.Context] = [:]
    var spareHandles: [EasyHandle] = []
    /// The header lines of the last transfer with each priority, which most later transfers can reuse.
    var lines: [RequestPriority: CurlHeaderList] = [:]
    /// The transfers that were enqueued in this pass and want to know why they wait.
    var arrivals: [UInt64] = []
    /// The outcomes to deliver after the loop has filled the released slots.
    var ended: [(Promise<TransferOutcome>, TransferOutcome)] = []
    let deadlines = TransferDeadlines()
    /// The budget for the bodies of all transfers of the process.
    let bodies: BodyBudget
    var limiter: TokenBucket
    var isSuspended = false
    /// The transfers that wait until libcurl has opened a connection.
    var postponed: [Transfer] = []
    /// A Boolean value that indicates whether a transfer ended or restarted since the last pass.
    var mayStartPostponed = false
    /// The number of established connections in the last pass.
    var establishedBefore = 0
    /// The HTTP/2 connections that ended, and the progress of their transfers in the previous pass.
    var ending: [(connection: Connection, progress: [UInt64: Int])] = []
    /// The HTTP/2 connections with canceled streams to reset, each with the request of one of the streams.
    var resets: [ObjectIdentifier: (connection: Connection, transferRequest: TransferRequestBox)] = [:]

    /// The maximum number of unused easy handles to keep.
    static let mostSpareHandles = 64

    /// Creates a loop. Returns `nil` if memory is exhausted.
    init?(_ commands: NetworkCommandQueue, _ configuration: ImageDownloader.Configuration) {
        guard let multi = wi_curl_multi_init() else { return nil }
        self.multi = multi
        self.commands = commands
        self.configuration = configuration
        libraryLimits =
            ConnectionLimits(perHost: configuration.maxConnectionsPerHost, total: configuration.maxConnections).positive
        admission = TransferQueue(
            perOrigin: configuration.maxConnectionsPerHost, perMultiplexedOrigin: configuration.maxStreamsPerConnection,
            total: configuration.maxConnections, order: configuration.queueOrder)
        limiter = TokenBucket(
            perSecond: configuration.maxStartsPerSecond, burst: configuration.startBurst, now: MonotonicTime.now)
        proxies = ProxyResolver(configuration)
        bodies = BodyBudget.shared(limit: configuration.maxBodyBytesInFlight)
        wi_curl_multi_close_on_exec(multi)
        wi_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, libraryLimits.perHost)
        wi_curl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, libraryLimits.total)
        wi_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, libraryLimits.total)
        wi_curl_multi_set_long(
            multi, CURLMOPT_MAX_CONCURRENT_STREAMS, max(configuration.maxStreamsPerConnection, 1))
    }

    /// Runs the loop until it receives the close command.
    func run() {
        while processCommands(commands.dequeueAll()) {
            sockets.beginPass()
            startWaiting()
            startPostponed()
            reportWaiting()
            reportEnded()
            sendResets()
            checkLeftConnections()
            wi_curl_multi_perform(multi)
            // Finished transfers release slots, so fill them before the loop sleeps.
            let hasEnded = [finishDone(), finishEnding(), finishLate()].contains(true)
            let isPending = !postponed.isEmpty && sockets.established != establishedBefore
            if hasEnded || isPending || !resets.isEmpty || sockets.hasLeft || !commands.goToSleep() { continue }
            if wi_curl_multi_poll(multi, commands.waker, pollTimeout()) { wi_wake_clear(commands.waker) }
        }
        shutDown()
    }

    // MARK: Commands

    /// Processes commands. Returns `false` if the loop must end.
    private func processCommands(_ commands: [NetworkCommand]) -> Bool {
        var goesOn = true
        for command in commands {
            switch command {
            case .add(let submission): enqueue(submission)
            case .cancel(let id): cancel(id)
            case .setPriority(let id, let priority):
                admission.setPriority(id, priority)
                (waiting[id] ?? running[id])?.setPriority(priority)
            case .resume(let id): resume(id)
            case .suspend(let isSuspended): self.isSuspended = isSuspended
            case .setConnectionLimits(let limits): setConnectionLimits(limits)
            case .close: goesOn = false
            }
        }
        return goesOn
    }

    /// Applies changed limits. ``startWaiting()`` then starts the transfers for which slots became free.
    private func setConnectionLimits(_ limits: ConnectionLimits) {
        // The queue enforces the limits. Those of libcurl never decrease, because it would delay transfers that the
        // queue has already started.
        libraryLimits.perHost = max(limits.perHost, libraryLimits.perHost)
        libraryLimits.total = max(limits.total, libraryLimits.total)
        wi_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, libraryLimits.perHost)
        wi_curl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, libraryLimits.total)
        wi_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limits.total)
        configuration.maxConnectionsPerHost = limits.perHost
        configuration.maxConnections = limits.total
        admission.setLimits(perOrigin: limits.perHost, total: limits.total)
    }

    private func enqueue(_ submission: QueuedTransfer) {
        guard !submission.promise.isResolved else { return submission.activity.drop() }
        waiting[submission.id] = Transfer(submission)
        admission.enqueue(submission.id, origin: submission.request.origin, priority: submission.priority)
        if submission.requestsBody { arrivals.append(submission.id) }
    }

    private func cancel(_ id: UInt64) {
        if let transfer = waiting.removeValue(forKey: id) {
            admission.remove(id)
            transfer.submission.activity.drop()
        } else if let transfer = running[id] {
            end(transfer, .failure(.cancelled))
        }
    }

    private func shutDown() {
        let closed = TransferOutcome.failure(.request(.managerShutDown))
        for transfer in Array(running.values) { end(transfer, closed) }
        reportEnded()
        for transfer in waiting.values { drop(transfer.submission, closed) }
        for case .add(let submission) in commands.closeAndDequeueAll() { drop(submission, closed) }
        waiting = [:]
        spareHandles = []
        wi_curl_multi_cleanup(multi)
    }

    private func drop(_ submission: QueuedTransfer, _ outcome: TransferOutcome) {
        submission.activity.drop()
        submission.promise.resolve(outcome)
    }
}
