// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageConcurrency
import WebImageCore

/// The part of the network loop that starts transfers.
extension NetworkLoop {
    func startWaiting() {
        while !isSuspended, limiter.allowsStart(now: MonotonicTime.now), let id = admission.next() {
            guard let transfer = waiting.removeValue(forKey: id) else { continue }
            transfer.submission.activity.start()
            running[id] = transfer
            if transfer.submission.promise.isResolved {
                end(transfer, .failure(.cancelled))
            } else {
                transfer.started = MonotonicTime.now
                limiter.recordStart()
                transfer.submission.observer(.started)
                start(transfer)
            }
        }
    }

    /// Reports the reason for the wait to transfers that were enqueued and didn't start.
    func reportWaiting() {
        guard !arrivals.isEmpty else { return }
        for id in arrivals {
            guard let submission = waiting[id]?.submission, !submission.promise.isResolved else { continue }
            submission.observer(.waiting(waitReason(of: id)))
        }
        arrivals.removeAll(keepingCapacity: true)
    }

    /// Returns the reason for the wait. If a slot is free, it's the start rate or ``ImageDownloader/isSuspended``.
    private func waitReason(of id: UInt64) -> WaitReason {
        if let reason = admission.waitReason(of: id) { return reason }
        return isSuspended ? .connectionLimit : .rateLimit
    }

    func start(_ transfer: Transfer) {
        guard let handle = spareHandles.popLast() ?? EasyHandle() else {
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
            sockets: sockets, group: socketGroup(transfer), deadlines: deadlines)
        contexts[handle.pointer] = context
        prepare(handle, transfer.submission.transferRequest, transfer.proxy, transfer.priority)
        if let proxy = transfer.proxy, proxyAuthentication.awaitsChallenge(proxy) { transfer.awaitProxyChallenge() }
        TransferCallbacks.install(on: handle, context, sockets)
        if transfer.needsNewConnection || !transfer.request.mayRepeat { handle.set(CURLOPT_FRESH_CONNECT, 1) }
        sockets.sweep(socketGroup(transfer))
        deadlines.add(deadline(of: transfer, now: now))
        guard wi_curl_multi_add(multi, handle.pointer) == CURLM_OK else {
            return end(transfer, .failure(transfer.failure(.other, detail: "libcurl can't add the transfer")))
        }
    }

    /// Sets the options for `transferRequest`. Transfers with equal options share connections.
    func prepare(
        _ handle: EasyHandle, _ transferRequest: TransferRequestBox, _ proxy: ProxyAddress?, _ priority: RequestPriority
    ) {
        handle.prepare(transferRequest, lines(of: transferRequest, priority), configuration, proxy: proxy?.text)
        // libcurl's default is the weight of the normal priority.
        if priority != .normal { handle.set(CURLOPT_STREAM_WEIGHT, priority.streamWeight) }
        guard let proxy else { return }
        handle.prepare(
            proxy, transferRequest.request.tls ?? configuration.tls, schemes: proxyAuthentication.schemes(proxy))
    }

    private func lines(of transferRequest: TransferRequestBox, _ priority: RequestPriority) -> CurlHeaderList {
        if let lines = lines[priority], lines.fit(transferRequest.request) { return lines }
        let made = CurlHeaderList(transferRequest.request, priority)
        lines[priority] = made
        return made
    }

    /// Returns the group of connections that libcurl can use for a transfer. Connections to a proxy serve all origins.
    func socketGroup(_ transfer: Transfer) -> String {
        transfer.proxy == nil ? transfer.request.origin : ""
    }
}
