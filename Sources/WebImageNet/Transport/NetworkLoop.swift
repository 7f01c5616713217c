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
    private let commands: NetworkCommandQueue
    /// The configuration, with the current limits for connections.
    private var configuration: ImageDownloader.Configuration
    /// The limits of libcurl, which are the highest limits so far.
    private var libraryLimits: ConnectionLimits
    private let multi: UnsafeMutableRawPointer
    private let sockets = IdleConnectionChecker()
    private let proxies: ProxyResolver
    private let handles = EasyHandlePool()
    private let waiting: WaitingTransfers
    private var running: [UInt64: Transfer] = [:]
    private var contexts: [UnsafeMutableRawPointer: TransferCallbacks.Context] = [:]
    private let postponed = PostponedTransfers()
    private let timeouts: TransferTimeouts
    private let ending = EndingConnections()
    private let resets: StreamResets
    private let bodies: BodyBudget
    /// The outcomes to deliver after the loop has filled the released slots.
    private var ended: [(Promise<TransferOutcome>, TransferOutcome)] = []

    /// Creates a loop. Returns `nil` if memory is exhausted.
    init?(_ commands: NetworkCommandQueue, _ configuration: ImageDownloader.Configuration) {
        guard let multi = wi_curl_multi_init() else { return nil }
        self.multi = multi
        self.commands = commands
        self.configuration = configuration
        libraryLimits =
            ConnectionLimits(perHost: configuration.maxConnectionsPerHost, total: configuration.maxConnections).positive
        waiting = WaitingTransfers(configuration)
        timeouts = TransferTimeouts(configuration)
        proxies = ProxyResolver(configuration)
        resets = StreamResets(multi, handles, sockets, proxies)
        bodies = BodyBudget.shared(limit: configuration.maxBodyBytesInFlight)
        wi_curl_multi_close_on_exec(multi)
        wi_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, libraryLimits.perHost)
        wi_curl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, libraryLimits.total)
        wi_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, libraryLimits.total)
        wi_curl_multi_set_long(
            multi, CURLMOPT_MAX_CONCURRENT_STREAMS, max(configuration.maxStreamsPerConnection, 1))
    }

    func run() {
        while processCommands(commands.dequeueAll()) {
            sockets.beginPass()
            startWaiting()
            postponed.startAll(established: sockets.established) { if running[$0.id] === $0 { start($0) } }
            waiting.reportReasons()
            reportEnded()
            resets.send(running, configuration)
            checkLeftConnections()
            wi_curl_multi_perform(multi)
            // Finished transfers release slots, so fill them before the loop sleeps.
            let hasEnded = [finishDone(), finishEnding(), finishLate()].contains(true)
            let isPending = postponed.isPending(established: sockets.established)
            if hasEnded || isPending || !resets.isEmpty || sockets.hasLeft || !commands.goToSleep() { continue }
            if wi_curl_multi_poll(multi, commands.waker, timeouts.milliseconds(toStart: waiting.nextStart)) {
                wi_wake_clear(commands.waker)
            }
        }
        shutDown()
    }

    // MARK: Commands

    /// Processes commands. Returns `false` if the loop must end.
    private func processCommands(_ commands: [NetworkCommand]) -> Bool {
        var goesOn = true
        for command in commands {
            switch command {
            case .add(let submission):
                if submission.promise.isResolved { submission.activity.drop() } else { waiting.enqueue(submission) }
            case .cancel(let id): cancel(id)
            case .setPriority(let id, let priority):
                waiting.setPriority(id, priority)
                running[id]?.setPriority(priority)
            case .resume(let id): resume(id)
            case .suspend(let isSuspended): waiting.isSuspended = isSuspended
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
        waiting.setLimits(limits)
    }

    private func cancel(_ id: UInt64) {
        if let transfer = waiting.remove(id) {
            transfer.submission.activity.drop()
        } else if let transfer = running[id] {
            end(transfer, .failure(.cancelled))
        }
    }

    private func shutDown() {
        let closed = TransferOutcome.failure(.request(.managerShutDown))
        for transfer in Array(running.values) { end(transfer, closed) }
        reportEnded()
        for transfer in waiting.removeAll() { drop(transfer.submission, closed) }
        for case .add(let submission) in commands.closeAndDequeueAll() { drop(submission, closed) }
        handles.removeAll()
        wi_curl_multi_cleanup(multi)
    }

    private func drop(_ submission: QueuedTransfer, _ outcome: TransferOutcome) {
        submission.activity.drop()
        submission.promise.resolve(outcome)
    }

    // MARK: Starts

    private func startWaiting() {
        while let transfer = waiting.next() {
            transfer.submission.activity.start()
            running[transfer.id] = transfer
            // The task was canceled, but its command hasn't arrived yet.
            if transfer.submission.promise.isResolved {
                end(transfer, .failure(.cancelled))
            } else {
                transfer.started = MonotonicTime.now
                waiting.recordStart()
                transfer.submission.observer(.started)
                start(transfer)
            }
        }
    }

    private func start(_ transfer: Transfer) {
        guard let handle = handles.take() else {
            return end(transfer, .failure(transfer.failure(.other, detail: "out of memory")))
        }
        let now = MonotonicTime.now
        transfer.handle = handle
        transfer.lastActivity = now
        transfer.enter(bodies) { [commands, id = transfer.id] in commands.post(.resume(id)) }
        transfer.speed = configuration.minimumSpeed.flatMap { TransferSpeedMeter($0) }
        transfer.requestTime = Date()
        transfer.proxy = proxies.proxy(for: transfer.request.url).map { ProxyAddress($0) }
        let context = TransferCallbacks.Context(
            transfer: transfer, policy: configuration.addressPolicy, trustsPeer: transfer.proxy != nil,
            sockets: sockets, group: transfer.socketGroup, timeouts: timeouts)
        contexts[handle.pointer] = context
        handles.prepare(
            handle, transfer.submission.transferRequest, transfer.proxy, transfer.priority, configuration)
        if let proxy = transfer.proxy, handles.awaitsChallenge(proxy) { transfer.awaitProxyChallenge() }
        TransferCallbacks.install(on: handle, context, sockets)
        // The server may have closed an idle connection, which would require repeating the request.
        if transfer.needsNewConnection || !transfer.request.mayRepeat { handle.set(CURLOPT_FRESH_CONNECT, 1) }
        sockets.sweep(transfer.socketGroup)
        timeouts.schedule(transfer, now: now)
        guard wi_curl_multi_add(multi, handle.pointer) == CURLM_OK else {
            return end(transfer, .failure(transfer.failure(.other, detail: "libcurl can't add the transfer")))
        }
    }

    // MARK: Ends

    /// Ends the transfers that libcurl finished. Returns whether there were any.
    private func finishDone() -> Bool {
        var pointer: UnsafeMutableRawPointer?
        var code = CURLE_OK
        var hasEnded = false
        while wi_curl_next_finished(multi, &pointer, &code) {
            guard let pointer, let transfer = contexts[pointer]?.transfer else { continue }
            hasEnded = true
            finish(transfer, code)
        }
        return hasEnded
    }

    private func finish(_ transfer: Transfer, _ code: CURLcode) {
        guard let handle = transfer.handle else { return }
        if transfer.isMultiplexed { waiting.setMultiplexed(transfer.request.origin) }
        handles.learn(from: handle, transfer.proxy)
        transfer.isDone = true
        if let connection = transfer.connection {
            if code == CURLE_OK { sockets.keep(connection, isMultiplexed: transfer.isMultiplexed) }
            ending.record(connection, sockets)
        }
        if transfer.refusal == .openingConnection, !transfer.submission.promise.isResolved {
            return postpone(transfer)
        }
        if [.unusableConnection, .unsuitableConnection].contains(transfer.refusal),
            !transfer.submission.promise.isResolved
        {
            if transfer.refusal == .unusableConnection, let connection = transfer.connection {
                sockets.shutDown(connection)
            }
            return restart(transfer, isCounted: false, onNewConnection: true)
        }
        if let stop = transfer.stop { return end(transfer, .failure(stop)) }
        if code == CURLE_OK || transfer.hasReachedEnd {
            if let result = transfer.finish() { return end(transfer, result) }
            let cut = transfer.failure(
                .connectionLost, phase: .waitingForResponse, detail: "the response head is truncated")
            return end(transfer, .failure(cut))
        }
        var failure = CurlFailure(transfer, handle, code, configuration.tls)
        // libcurl keeps a connection open even if sending over it failed.
        if failure.isConnectionLost, code != CURLE_HTTP2_STREAM,
            let connection = transfer.connection ?? transfer.opened
        {
            sockets.leave(connection)
            if connection.users <= 1 { sockets.shutDown(connection) }
        }
        if let refusal = transfer.refusal, [.sentTooOften, .mayBeProcessed].contains(refusal) {
            // This is what libcurl reports after its own maximum number of retries.
            failure.code = CURLE_SEND_ERROR.rawValue
            failure.detail = "the connection was interrupted before the response"
            failure.isNewConnection = false
        }
        fail(transfer, failure)
    }

    /// Lets libcurl deliver the data of a transfer that the budget for bodies paused.
    private func resume(_ id: UInt64) {
        guard let transfer = running[id], let handle = transfer.handle, transfer.resume(at: MonotonicTime.now) else {
            return
        }
        // libcurl calls back immediately with the data that it retains. The callback can pause the transfer again.
        let code = wi_curl_easy_resume(handle.pointer)
        if code != CURLE_OK { return finish(transfer, code) }
        timeouts.schedule(transfer, now: MonotonicTime.now)
    }

    private func fail(_ transfer: Transfer, _ failure: CurlFailure) {
        if failure.suggestsFreshConnection || transfer.isUnprocessed, transfer.mayRepeat {
            // The streams of a connection that the server ended need only one new connection together.
            let isShared = transfer.connection.map { $0.isMultiplexed && !$0.isSuspect } ?? false
            return restart(
                transfer, isCounted: !transfer.isRepeatedFreely,
                onNewConnection: !isShared || failure.code == CURLE_HTTP2_STREAM.rawValue)
        }
        let code = CURLcode(failure.code)
        if let refused = transfer.refusedAddress, code == CURLE_COULDNT_CONNECT {
            return end(transfer, .failure(transfer.failure(.addressNotAllowed, phase: .connecting, detail: refused)))
        }
        let error = transfer.failure(failure.reason, curlCode: Int(code.rawValue), detail: failure.detail)
        end(transfer, .failure(error))
    }

    private func restart(_ transfer: Transfer, isCounted: Bool, onNewConnection: Bool) {
        detach(transfer)
        transfer.restart(isCounted: isCounted, onNewConnection: onNewConnection)
        postponed.allowStart()
        start(transfer)
    }

    /// Restarts a transfer when a connection was opened or another transfer ended.
    private func postpone(_ transfer: Transfer) {
        detach(transfer)
        transfer.restart(isCounted: false, onNewConnection: false)
        postponed.add(transfer)
    }

    /// Ends the streams of HTTP/2 connections that have ended, after libcurl has delivered their buffered data. Returns
    /// whether there were any.
    private func finishEnding() -> Bool {
        guard let stalled = ending.takeStalled(running) else { return false }
        for transfer in stalled {
            let detail = "the connection was closed before the stream ended"
            fail(transfer, CurlFailure(code: CURLE_RECV_ERROR.rawValue, detail: detail))
        }
        return true
    }

    private func finishLate() -> Bool {
        let now = MonotonicTime.now
        guard timeouts.mustCheck(at: now) else { return false }
        var hasEnded = false
        for transfer in Array(running.values) {
            guard let failure = timeouts.check(transfer, among: running, now: now) else { continue }
            hasEnded = true
            end(transfer, .failure(failure))
        }
        return hasEnded
    }

    /// If libcurl abandons an HTTP/2 connection, it detects this with only one of the streams. The others would wait
    /// until the server closes the connection.
    private func checkLeftConnections() {
        guard sockets.hasLeft else { return }
        for connection in sockets.takeLeft() {
            for transfer in running.values where !transfer.isPaused && !transfer.isDone && transfer.uses(connection) {
                if let handle = transfer.handle { wi_curl_flush(handle.pointer) }
            }
        }
    }

    /// Removes the transfer from libcurl, releases its slot, and records the outcome.
    private func end(_ transfer: Transfer, _ outcome: TransferOutcome) {
        let outcome = transfer.ending(with: outcome)
        if case .failure(let error) = outcome, let keep = transfer.request.keep,
            let remainder = transfer.remainder(after: error)
        {
            keep(remainder, transfer.request)
        }
        transfer.charge?.finish()
        detach(transfer)
        running[transfer.id] = nil
        postponed.allowStart()
        waiting.releaseSlot(of: transfer)
        transfer.submission.activity.end()
        ended.append((transfer.submission.promise, outcome))
    }

    private func reportEnded() {
        guard !ended.isEmpty else { return }
        for (promise, outcome) in ended { promise.resolve(outcome) }
        ended.removeAll(keepingCapacity: true)
    }

    private func detach(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        wi_curl_multi_remove(multi, handle.pointer)
        if transfer.opened != nil { sockets.removeClosed(openedFor: transfer.id, group: transfer.socketGroup) }
        if let connection = transfer.connection {
            sockets.end(connection)
            // libcurl buffers the frame that resets the stream until it has something else to send.
            if connection.isMultiplexed, !transfer.isDone || transfer.stop != nil {
                resets.add(connection, transfer.submission.transferRequest)
            }
        }
        transfer.connection = nil
        handles.recycle(handle)
        contexts[handle.pointer] = nil
        transfer.handle = nil
    }
}
