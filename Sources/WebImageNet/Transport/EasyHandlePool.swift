// SPDX-License-Identifier: MIT

import CCurl
import WebImageCore

/// The unused easy handles, and what their options reuse from earlier transfers.
final class EasyHandlePool {
    private static let limit = 64

    private var spare: [EasyHandle] = []
    /// The header lines of the last transfer with each priority, which most later transfers can reuse.
    private var lines: [RequestPriority: CurlHeaderList] = [:]
    private var proxyAuthentication = ProxyAuthentication()

    /// Returns an unused handle, or `nil` if memory is exhausted.
    func take() -> EasyHandle? { spare.popLast() ?? EasyHandle() }

    func recycle(_ handle: EasyHandle) {
        handle.reset()
        if spare.count < Self.limit { spare.append(handle) }
    }

    func removeAll() { spare = [] }

    /// Sets the options for `transferRequest`. Transfers with equal options share connections.
    func prepare(
        _ handle: EasyHandle, _ transferRequest: TransferRequestBox, _ proxy: ProxyAddress?,
        _ priority: RequestPriority, _ configuration: ImageDownloader.Configuration
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

    func awaitsChallenge(_ proxy: ProxyAddress) -> Bool { proxyAuthentication.awaitsChallenge(proxy) }

    func learn(from handle: EasyHandle, _ proxy: ProxyAddress?) {
        guard let proxy, proxy.hasCredentials else { return }
        proxyAuthentication.learn(UInt(bitPattern: handle.number(CURLINFO_PROXYAUTH_AVAIL)), from: proxy)
    }
}
