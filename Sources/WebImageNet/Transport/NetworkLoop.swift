// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageCore

/// The network thread's work: takes commands, starts transfers where there is a place, lets libcurl run, and
/// finishes what is whole, failed or late. Created and used on the network thread alone.
final class NetworkLoop {
    private let mailbox: Mailbox
    private let configuration: DownloaderConfiguration
    private let activity: ActivityBoard
    private let multi: UnsafeMutableRawPointer
    private let sockets = SocketRegistry()
    private let proxies: ProxyResolver
    private var proxyAuthentication = ProxyAuthentication()
    private var admission: AdmissionQueue
    private var waiting: [UInt64: Transfer] = [:]
    private var running: [UInt64: Transfer] = [:]
    private var contexts: [UnsafeMutableRawPointer: TransferCallbacks.Context] = [:]
    private var spareHandles: [EasyHandle] = []
    /// No time limit passes before; a transfer's own may be later.
    private var nextDeadline = Int64.max
    private var limiter: StartLimiter
    private var isSuspended = false

    /// Most easy handles kept for later.
    private static let mostSpareHandles = 64

    /// nil where there is no memory.
    init?(_ mailbox: Mailbox, _ configuration: DownloaderConfiguration, _ activity: ActivityBoard) {
        guard let multi = curl_multi_init() else { return nil }
        self.multi = multi
        self.mailbox = mailbox
        self.configuration = configuration
        self.activity = activity
        admission = AdmissionQueue(
            perOrigin: configuration.connectionsPerHost, perMultiplexedOrigin: configuration.streamsPerConnection,
            total: configuration.totalConnections, order: configuration.queueOrder)
        limiter = StartLimiter(configuration.startRate, now: MonotonicTime.now)
        proxies = ProxyResolver(configuration)
        wi_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(configuration.connectionsPerHost, 1))
        wi_curl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, max(configuration.totalConnections, 1))
        wi_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(configuration.totalConnections, 1))
        wi_curl_multi_set_long(
            multi, CURLMOPT_MAX_CONCURRENT_STREAMS, max(configuration.streamsPerConnection, 1))
    }

    /// Runs until the close command.
    func run() {
        while takeCommands(mailbox.take()) {
            startWaiting()
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            // What ended freed places: fill them before sleeping.
            if finishDone() || finishLate() { continue }
            wi_curl_multi_poll(multi, mailbox.waker, pollTimeout())
            wi_wake_clear(mailbox.waker)
        }
        shutDown()
    }

    // MARK: Commands

    /// False where the loop is to end.
    private func takeCommands(_ commands: [NetworkCommand]) -> Bool {
        var goesOn = true
        for command in commands {
            switch command {
            case .add(let submission): enqueue(submission)
            case .cancel(let id): cancel(id)
            case .setPriority(let id, let priority): admission.setPriority(id, priority)
            case .suspend(let isSuspended): self.isSuspended = isSuspended
            case .close: goesOn = false
            }
        }
        return goesOn
    }

    private func enqueue(_ submission: Submission) {
        let origin = submission.request.origin
        guard !submission.ticket.isResolved else { return activity.change(origin, queued: -1) }
        waiting[submission.ticket.id] = Transfer(submission)
        admission.enqueue(submission.ticket.id, origin: origin, priority: submission.priority)
    }

    private func cancel(_ id: UInt64) {
        if let transfer = waiting.removeValue(forKey: id) {
            admission.remove(id)
            activity.change(transfer.request.origin, queued: -1)
        } else if let transfer = running[id] {
            end(transfer, .failure(.request(.cancelled)))
        }
    }

    private func shutDown() {
        let closed = TransferOutcome.failure(.request(.managerClosed))
        for transfer in Array(running.values) { end(transfer, closed) }
        for transfer in waiting.values { drop(transfer.submission, closed) }
        for case .add(let submission) in mailbox.closeAndTake() { drop(submission, closed) }
        waiting = [:]
        spareHandles = []
        curl_multi_cleanup(multi)
    }

    private func drop(_ submission: Submission, _ outcome: TransferOutcome) {
        activity.change(submission.request.origin, queued: -1)
        submission.ticket.resolve(outcome)
    }

    // MARK: Starting

    private func startWaiting() {
        while !isSuspended, limiter.allowsStart(now: MonotonicTime.now), let id = admission.next() {
            guard let transfer = waiting.removeValue(forKey: id) else { continue }
            activity.change(transfer.request.origin, running: 1, queued: -1)
            running[id] = transfer
            if transfer.submission.ticket.isResolved {
                end(transfer, .failure(.request(.cancelled)))
            } else {
                transfer.started = MonotonicTime.now
                limiter.noteStart()
                transfer.submission.observer(.started)
                start(transfer)
            }
        }
    }

    private func start(_ transfer: Transfer) {
        guard let handle = spareHandles.popLast() ?? EasyHandle() else {
            return end(transfer, .failure(transfer.failure(.other, detail: "no memory for a transfer")))
        }
        let now = MonotonicTime.now
        transfer.handle = handle
        transfer.lastActivity = now
        transfer.requestTime = Date()
        transfer.proxy = proxies.proxy(for: transfer.request.url).map { ProxyAddress($0) }
        let context = TransferCallbacks.Context(
            transfer: transfer, policy: configuration.addressPolicy, trustsPeer: transfer.proxy != nil,
            sockets: sockets)
        contexts[handle.pointer] = context
        handle.prepare(transfer.request, configuration, proxy: transfer.proxy?.text)
        if let proxy = transfer.proxy {
            let tls = transfer.request.tls ?? configuration.tls
            handle.prepare(proxy, tls, schemes: proxyAuthentication.schemes(proxy))
            if proxyAuthentication.awaitsChallenge(proxy) { transfer.awaitProxyChallenge() }
        }
        TransferCallbacks.install(on: handle, context, sockets)
        if transfer.isRetry { handle.set(CURLOPT_FRESH_CONNECT, 1) }
        let group = socketGroup(transfer)
        sockets.sweep(group, busy: busySockets(group))
        nextDeadline = min(nextDeadline, deadline(of: transfer, now: now))
        guard curl_multi_add_handle(multi, handle.pointer) == CURLM_OK else {
            return end(transfer, .failure(transfer.failure(.other, detail: "libcurl takes no transfer")))
        }
    }

    /// Connections to a proxy serve every origin.
    private func socketGroup(_ transfer: Transfer) -> String {
        transfer.proxy == nil ? transfer.request.origin : ""
    }

    /// The sockets that transfers of `group` use; nil where one has a connection whose socket is not known yet.
    private func busySockets(_ group: String) -> Set<Int32>? {
        var busy: Set<Int32> = []
        for transfer in running.values where socketGroup(transfer) == group {
            guard let handle = transfer.handle else { continue }
            if let socket = handle.socket {
                busy.insert(socket)
            } else if handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0 {
                return nil
            }
        }
        return busy
    }

    // MARK: Ending

    /// True where anything ended.
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
        if transfer.isMultiplexed { admission.setMultiplexed(transfer.request.origin) }
        if let proxy = transfer.proxy, proxy.hasCredentials {
            proxyAuthentication.learn(UInt(bitPattern: handle.number(CURLINFO_PROXYAUTH_AVAIL)), from: proxy)
        }
        if code == CURLE_OK, let socket = handle.socket {
            let isPlain =
                transfer.request.url.hasPrefix("http:") && !transfer.isMultiplexed && transfer.proxy?.isSecure != true
            sockets.release(socket, group: socketGroup(transfer), isPlain: isPlain)
        }
        if let stop = transfer.stop { return end(transfer, .failure(stop)) }
        if code == CURLE_OK {
            let cut = transfer.failure(.connectionLost, phase: .head, detail: "the answer's head was cut")
            return end(transfer, transfer.finish() ?? .failure(cut))
        }
        let failure = facts(of: transfer, handle, code)
        let isSafe = transfer.request.method == "GET" || transfer.request.method == "HEAD"
        if isSafe, failure.suggestsFreshConnection, !transfer.isRetry, !transfer.hasBytes,
            !transfer.submission.ticket.isResolved
        {
            detach(transfer)
            transfer.restart()
            return start(transfer)
        }
        if let refused = transfer.refusedAddress, code == CURLE_COULDNT_CONNECT {
            return end(transfer, .failure(transfer.failure(.addressRefused, phase: .connect, detail: refused)))
        }
        end(
            transfer,
            .failure(
                transfer.failure(
                    failure.reason, underlying: Int32(bitPattern: code.rawValue), detail: failure.detail)))
    }

    private func facts(of transfer: Transfer, _ handle: EasyHandle, _ code: CURLcode) -> CurlFailure {
        var failure = CurlFailure(code: code.rawValue)
        failure.systemError = Int32(truncatingIfNeeded: handle.number(CURLINFO_OS_ERRNO))
        failure.verifyResult = handle.number(CURLINFO_SSL_VERIFYRESULT)
        failure.proxyStatus = handle.number(CURLINFO_HTTP_CONNECTCODE)
        if let proxy = transfer.proxy {
            let isPlain = transfer.request.url.hasPrefix("http:")
            failure.usesProxy = true
            failure.proxyAnswers = proxy.isHTTP && isPlain
            failure.isProxyTLS =
                proxy.isSecure && failure.proxyStatus == 0 && handle.offset(CURLINFO_PRETRANSFER_TIME_T) == 0
        }
        if failure.isProxyTLS { failure.verifyResult = handle.number(CURLINFO_PROXY_SSL_VERIFYRESULT) }
        if code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT { failure.hasRoute = Routes.exist }
        failure.hasClientCertificate = !(transfer.request.tls ?? configuration.tls).clientCertificates.isEmpty
        failure.isEndedHere = transfer.openedSocket.map(sockets.wasEndedHere) ?? false
        let words = handle.errorDetail.isEmpty ? String(cString: curl_easy_strerror(code)) : handle.errorDetail
        failure.detail = failure.isProxyTLS ? "proxy: \(words)" : words
        return failure
    }

    /// Takes the transfer out of libcurl and its place back, and resolves it.
    private func end(_ transfer: Transfer, _ outcome: TransferOutcome) {
        if case .failure(let error) = outcome, let keep = transfer.request.keep,
            let remainder = transfer.remainder(after: error)
        {
            keep(remainder)
        }
        detach(transfer)
        running[transfer.id] = nil
        admission.release(origin: transfer.request.origin)
        activity.change(transfer.request.origin, running: -1)
        transfer.submission.ticket.resolve(outcome)
    }

    private func detach(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        curl_multi_remove_handle(multi, handle.pointer)
        handle.reset()
        contexts[handle.pointer] = nil
        transfer.handle = nil
        if spareHandles.count < Self.mostSpareHandles { spareHandles.append(handle) }
    }

    // MARK: Time limits

    /// True where anything ended.
    private func finishLate() -> Bool {
        let now = MonotonicTime.now
        guard now >= nextDeadline else { return false }
        var hasEnded = false
        nextDeadline = .max
        for transfer in Array(running.values) {
            if let failure = lateness(of: transfer, now: now) {
                hasEnded = true
                end(transfer, .failure(failure))
            } else {
                nextDeadline = min(nextDeadline, deadline(of: transfer, now: now))
            }
        }
        return hasEnded
    }

    /// The error of a transfer that is late; nil where it has time.
    private func lateness(of transfer: Transfer, now: Int64) -> ImageError? {
        let limits = transfer.request.timeouts
        if now >= transfer.started + MonotonicTime.nanoseconds(limits.total) {
            return transfer.failure(.timedOut, phase: .total, detail: "\(limits.total) s")
        }
        let phase = transfer.phase
        guard phase == .head || phase == .body else {
            // libcurl watches over the connection's time itself, but not while a transfer waits for another's.
            if hasOthersAtWork(transfer) { transfer.lastActivity = now }
            let limit = MonotonicTime.nanoseconds(limits.connect) + 250_000_000
            guard now >= transfer.lastActivity + limit else { return nil }
            return transfer.failure(.timedOut, phase: phase, detail: "\(limits.connect) s")
        }
        noteRequestSent(transfer)
        guard transfer.isIdle(for: idleLimit(of: transfer), at: now) else { return nil }
        return transfer.failure(.timedOut, phase: phase, detail: "no byte for \(limits.idle) s")
    }

    /// Whether a connection to the same origin stands: a transfer without one waits for a stream or a place there,
    /// and whoever holds it has a time limit of its own.
    private func hasOthersAtWork(_ transfer: Transfer) -> Bool {
        running.values.contains {
            $0 !== transfer && $0.request.origin == transfer.request.origin && [.head, .body].contains($0.phase)
        }
    }

    /// The wait for the first byte begins when the connection stands.
    private func noteRequestSent(_ transfer: Transfer) {
        guard !transfer.hasBytes, let handle = transfer.handle else { return }
        let sent = transfer.started + Int64(handle.offset(CURLINFO_PRETRANSFER_TIME_T)) * 1_000
        transfer.lastActivity = max(transfer.lastActivity, sent)
    }

    /// When to look at the transfer again.
    private func deadline(of transfer: Transfer, now: Int64) -> Int64 {
        let limits = transfer.request.timeouts
        let total = transfer.started + MonotonicTime.nanoseconds(limits.total)
        let idle = idleLimit(of: transfer)
        guard transfer.phase == .head || transfer.phase == .body else {
            // Not known yet when the wait for the first byte begins: look a few times.
            let connect = MonotonicTime.nanoseconds(limits.connect) + 250_000_000
            return min(total, transfer.lastActivity + connect, now + max(idle / 4, 10_000_000))
        }
        return min(total, transfer.lastActivity + idle)
    }

    /// Nobody waits for the rest of an uninteresting body: a second, then its place goes to others.
    private func idleLimit(of transfer: Transfer) -> Int64 {
        let idle = MonotonicTime.nanoseconds(transfer.request.timeouts.idle)
        return transfer.isDiscarding ? min(idle, 1_000_000_000) : idle
    }

    private func pollTimeout() -> Int32 {
        var next = nextDeadline
        if !isSuspended, admission.canStart, let start = limiter.nextStart { next = min(next, start) }
        guard next != .max else { return 3_600_000 }
        let left = next - MonotonicTime.now
        return Int32(clamping: max(0, (left + 999_999) / 1_000_000))
    }
}
