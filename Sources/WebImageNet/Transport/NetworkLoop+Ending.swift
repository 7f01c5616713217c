// SPDX-License-Identifier: MIT

import CCurl
import Foundation
import WebImageConcurrency
import WebImageCore

/// The part of the network loop that ends transfers.
extension NetworkLoop {
    /// Ends the transfers that libcurl finished. Returns whether there were any.
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
        transfer.isDone = true
        if let connection = transfer.connection {
            if code == CURLE_OK { sockets.keep(connection, isMultiplexed: transfer.isMultiplexed) }
            recordEnding(connection)
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
        var failure = facts(of: transfer, handle, code)
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
    func resume(_ id: UInt64) {
        guard let transfer = running[id], let handle = transfer.handle, transfer.resume(at: MonotonicTime.now) else {
            return
        }
        // libcurl calls back immediately with the data that it retains. The callback can pause the transfer again.
        let code = wi_curl_easy_resume(handle.pointer)
        if code != CURLE_OK { return finish(transfer, code) }
        deadlines.add(deadline(of: transfer, now: MonotonicTime.now))
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
        end(
            transfer,
            .failure(
                transfer.failure(
                    failure.reason, curlCode: Int(code.rawValue), detail: failure.detail)))
    }

    private func restart(_ transfer: Transfer, isCounted: Bool, onNewConnection: Bool) {
        detach(transfer)
        transfer.restart(isCounted: isCounted, onNewConnection: onNewConnection)
        mayStartPostponed = true
        start(transfer)
    }

    /// Restarts a transfer when a connection was opened or another transfer ended.
    private func postpone(_ transfer: Transfer) {
        detach(transfer)
        transfer.restart(isCounted: false, onNewConnection: false)
        postponed.append(transfer)
    }

    /// Starts the postponed transfers again if the connection for which they wait may be open or has failed.
    func startPostponed() {
        defer { (mayStartPostponed, establishedBefore) = (false, sockets.established) }
        guard !postponed.isEmpty, mayStartPostponed || sockets.established != establishedBefore else { return }
        let transfers = postponed
        postponed = []
        for transfer in transfers where running[transfer.id] === transfer { start(transfer) }
    }

    /// Records that an HTTP/2 connection has ended. libcurl detects this with only one of the streams, and the others
    /// would wait indefinitely.
    private func recordEnding(_ connection: Connection) {
        guard connection.isMultiplexed, !connection.isSpoiled, connection.isAtEnd else { return }
        sockets.spoil(connection)
        ending.append((connection, [:]))
    }

    /// Ends the streams of HTTP/2 connections that have ended, after libcurl has delivered their buffered data.
    ///
    /// Returns whether there were any.
    func finishEnding() -> Bool {
        guard !ending.isEmpty else { return false }
        let noted = ending
        ending = []
        for (connection, earlier) in noted {
            var progress: [UInt64: Int] = [:]
            for transfer in running.values.filter({ uses($0, connection) }) {
                if earlier[transfer.id] == transfer.progress {
                    let detail = "the connection was closed before the stream ended"
                    fail(transfer, CurlFailure(code: CURLE_RECV_ERROR.rawValue, detail: detail))
                } else {
                    progress[transfer.id] = transfer.progress
                }
            }
            if !progress.isEmpty { ending.append((connection, progress)) }
        }
        return true
    }

    /// Lets libcurl check the other streams of the HTTP/2 connections that a transfer left without a response.
    ///
    /// If libcurl abandons a connection, it detects this with only one of the streams. The others would wait until the
    /// server closes the connection.
    func checkLeftConnections() {
        guard sockets.hasLeft else { return }
        for connection in sockets.takeLeft() {
            for transfer in running.values where !transfer.isPaused && !transfer.isDone && uses(transfer, connection) {
                if let handle = transfer.handle { wi_curl_flush(handle.pointer) }
            }
        }
    }

    /// Returns whether `transfer` still uses `connection`. libcurl may have started to repeat it on another
    /// connection.
    private func uses(_ transfer: Transfer, _ connection: Connection) -> Bool {
        guard transfer.connection === connection, let handle = transfer.handle else { return false }
        return connection.session == nil || wi_curl_tls(handle.pointer) == connection.session
    }

    private func facts(of transfer: Transfer, _ handle: EasyHandle, _ code: CURLcode) -> CurlFailure {
        var failure = CurlFailure(code: code.rawValue)
        failure.systemError = Int32(truncatingIfNeeded: handle.number(CURLINFO_OS_ERRNO))
        failure.verifyResult = handle.number(CURLINFO_SSL_VERIFYRESULT)
        failure.proxyStatus = handle.number(CURLINFO_HTTP_CONNECTCODE)
        if let proxy = transfer.proxy {
            let isPlain = transfer.request.url.hasPrefix("http:")
            failure.usesProxy = true
            failure.proxyResponded = proxy.isHTTP && isPlain
            failure.isProxyTLS =
                proxy.isSecure && failure.proxyStatus == 0 && handle.offset(CURLINFO_PRETRANSFER_TIME_T) == 0
        }
        if failure.isProxyTLS { failure.verifyResult = handle.number(CURLINFO_PROXY_SSL_VERIFYRESULT) }
        if code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT {
            failure.hasRoute = NetworkReachability.exist
        }
        failure.hasClientCertificate = hasClientCertificate(transfer)
        let tls = transfer.connection?.tls ?? transfer.tls
        failure.alert = tls?.alert
        failure.requiresCertificate = tls?.requiresCertificate ?? false
        if !transfer.hasBytes, let connection = transfer.connection ?? transfer.opened {
            failure.isNewConnection = connection.responses == 0 && connection.lastProcessedStream == nil
        }
        // An orderly close comes from the server, not from libcurl. For protocol errors in HTTP/1, libcurl reports
        // specific errors.
        failure.isEndedHere =
            transfer.opened?.wasEndedHere == true && tls?.hasEnded != true && tls?.isHTTP2 != false
            && transfer.opened?.lastProcessedStream == nil
        let words = handle.errorDetail.isEmpty ? String(cString: wi_curl_message(code)) : handle.errorDetail
        failure.detail = failure.isProxyTLS ? "proxy: \(words)" : words
        return failure
    }

    private func hasClientCertificate(_ transfer: Transfer) -> Bool {
        let tls = transfer.request.tls ?? configuration.tls
        guard !tls.clientCertificates.isEmpty, let host = HostName(ofURL: transfer.request.url) else { return false }
        return tls.certificate(for: host.text) != nil || transfer.proxy?.isSecure == true
    }

    /// Removes the transfer from libcurl, releases its slot, and records the outcome.
    func end(_ transfer: Transfer, _ outcome: TransferOutcome) {
        let outcome = transfer.ending(with: outcome)
        if case .failure(let error) = outcome, let keep = transfer.request.keep,
            let remainder = transfer.remainder(after: error)
        {
            keep(remainder, transfer.request)
        }
        transfer.charge?.finish()
        detach(transfer)
        running[transfer.id] = nil
        mayStartPostponed = true
        admission.release(origin: transfer.request.origin)
        transfer.submission.activity.end()
        ended.append((transfer.submission.promise, outcome))
    }

    /// Delivers the outcomes to the waiting tasks.
    func reportEnded() {
        guard !ended.isEmpty else { return }
        for (promise, outcome) in ended { promise.resolve(outcome) }
        ended.removeAll(keepingCapacity: true)
    }

    private func detach(_ transfer: Transfer) {
        guard let handle = transfer.handle else { return }
        wi_curl_multi_remove(multi, handle.pointer)
        if transfer.opened != nil { sockets.removeClosed(openedFor: transfer.id, group: socketGroup(transfer)) }
        if let connection = transfer.connection {
            sockets.end(connection)
            // libcurl buffers the frame that resets the stream until it has something else to send.
            if connection.isMultiplexed, !transfer.isDone || transfer.stop != nil {
                resets[ObjectIdentifier(connection)] = (connection, transfer.submission.transferRequest)
            }
        }
        transfer.connection = nil
        handle.reset()
        contexts[handle.pointer] = nil
        transfer.handle = nil
        if spareHandles.count < Self.mostSpareHandles { spareHandles.append(handle) }
    }
}
