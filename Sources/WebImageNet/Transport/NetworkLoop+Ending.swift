// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageCore

/// Ending transfers.
extension NetworkLoop {
    /// True where anything ended.
    func finishDone() -> Bool {
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
            sockets.release(
                socket, port: transfer.port ?? handle.number(CURLINFO_LOCAL_PORT), group: socketGroup(transfer),
                isPlain: isPlain)
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
    func end(_ transfer: Transfer, _ outcome: TransferOutcome) {
        if case .failure(let error) = outcome, let keep = transfer.request.keep,
            let remainder = transfer.remainder(after: error)
        {
            keep(remainder, transfer.request)
        }
        detach(transfer)
        running[transfer.id] = nil
        admission.release(origin: transfer.request.origin)
        transfer.submission.activity.end()
        ended.append((transfer.submission.ticket, outcome))
    }

    /// Resumes the tasks that wait for what ended.
    func tellEnded() {
        guard !ended.isEmpty else { return }
        for (ticket, outcome) in ended { ticket.resolve(outcome) }
        ended.removeAll(keepingCapacity: true)
    }

    private func detach(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        curl_multi_remove_handle(multi, handle.pointer)
        if let port = transfer.port { sockets.end(port) }
        transfer.port = nil
        handle.reset()
        contexts[handle.pointer] = nil
        transfer.handle = nil
        if spareHandles.count < Self.mostSpareHandles { spareHandles.append(handle) }
    }
}
