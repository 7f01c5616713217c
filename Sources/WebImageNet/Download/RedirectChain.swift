// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One attempt of a download. It follows the exchange and decides which responses are accepted. Thread-safe.
final class RedirectChain: Sendable {
    private let downloadContext: DownloadContext
    private let path: ExchangePath

    private var request: LoadRequest { downloadContext.request }

    init(_ downloadContext: DownloadContext) {
        self.downloadContext = downloadContext
        path = ExchangePath(
            ExchangeStep(
                downloadContext.request.url, method: downloadContext.request.method, body: downloadContext.request.body,
                headers: downloadContext.headers,
                rules: downloadContext.rules))
    }

    /// Returns the next transfer. `spent` is the part of the total timeout that is used up, in seconds.
    @inline(never)
    func transferRequest(spent: Double) throws(ImageError) -> TransferRequestBox {
        let sending = path.begin()
        let step = sending.step
        var timeouts = request.network.timeouts.replacing(downloadContext.configuration.loadTimeouts)
        let total = timeouts.total
        guard spent < total else {
            throw step.failure(.timedOut, phase: .total, detail: "the total timeout is \(LoadTimeouts.text(total))")
        }
        // All attempts and redirects of a load share the total timeout.
        timeouts.total -= spent
        let fields = step.headersWithSecrets()
        var transfer = TransferRequest(url: try step.check(fields), origin: Origin(step.url).description)
        try path.record(step, sending: fields)
        transfer.method = step.method
        transfer.headers = fields
        transfer.body = step.body
        transfer.allowsProcessingTwice = request.network.retry != nil
        transfer.maxBytes = request.maxByteCount
        transfer.timeouts = timeouts
        transfer.wholeTimeout = total
        transfer.tls = request.network.tls
        transfer.awsSignature = step.awsSignature
        let rules = downloadContext.rules
        let acceptsNotModified = request.acceptsNotModified
        // The decision needs only the head, so the bodies of redirects and of rejected responses are never collected.
        transfer.disposition = { [decision = sending.decision] head in
            guard case .response = decision.next(step, head) else { return .discard }
            guard rules.accepts(head.statusCode, acceptsNotModified), rules.acceptsType(head) else { return .reject }
            return .deliver
        }
        if transfer.isResumable {
            transfer.keep = downloadContext.keep
            transfer.source = downloadContext.source
        }
        return TransferRequestBox(transfer)
    }

    @inline(never)
    func receive(_ outcome: TransferOutcome) throws(ImageError) -> LoadResponse? {
        let step = path.step
        let response = try handleResponse(outcome, step)
        step.learn(response.head)
        switch try path.advance(
            after: response.head, requestTime: response.requestTime, responseTime: response.responseTime)
        {
        case nil:
            if path.step.redirects > step.redirects {
                downloadContext.configuration.exchangeLog?(.redirect(url: path.step.url.absoluteString))
            }
            return nil
        case .redirect?: return loadResponse(response, step)
        case .response?:
            try check(response, step)
            return loadResponse(response, step)
        }
    }

    /// Throws the error of the transfer. If libcurl can't use the URL, the error refers to the caller's URL or to the
    /// redirect.
    private func handleResponse(_ outcome: TransferOutcome, _ step: ExchangeStep) throws(ImageError) -> TransferResponse
    {
        do throws(ImageError) {
            return try outcome.get()
        } catch {
            guard case .network(let failure) = error, failure.curlCode == Self.malformed else { throw error }
            guard step.redirects > 0 else { throw .request(.invalidURL(step.url.absoluteString)) }
            throw step.failure(.redirectNotAllowed, detail: failure.details)
        }
    }

    /// The value of `CURLE_URL_MALFORMAT`, which occurs for a port above 65,535, for example.
    private static let malformed = 3

    private func check(_ response: TransferResponse, _ step: ExchangeStep) throws(ImageError) {
        let status = response.head.statusCode
        guard downloadContext.rules.accepts(status, request.acceptsNotModified) else {
            throw step.statusFailure(response)
        }
        guard downloadContext.rules.acceptsType(response.head) else {
            let type = response.head.headers["Content-Type"] ?? "none"
            throw step.failure(.unacceptableContentType, response: response.head, body: response.body, detail: type)
        }
        guard status == 304 || !response.body.isEmpty else { throw step.failure(.emptyBody, response: response.head) }
    }

    private func loadResponse(_ response: TransferResponse, _ step: ExchangeStep) -> LoadResponse {
        var metrics = response.metrics
        metrics.redirectCount = step.redirects
        var loadResponse = LoadResponse(
            httpResponse: response.head, body: response.body, url: step.url, requestDate: response.requestTime,
            responseDate: response.responseTime, metrics: metrics, hasKnownLength: response.isLengthKnown,
            redirects: step.redirects > 0 ? path.redirects : [])
        // A manager releases the body after it was decoded. Other callers may retain it indefinitely.
        if !downloadContext.configuration.sharesTransfers { loadResponse.charge = response.charge }
        return loadResponse
    }
}

extension ExchangeStep {
    /// Returns the error for a status code that isn't accepted.
    fileprivate func statusFailure(_ response: TransferResponse) -> ImageError {
        let head = response.head
        let isLocked = head.statusCode == 401 || head.statusCode == 407
        let realm = head.statusCode == 401 ? AuthenticationChallenge.all(head).first?.realm ?? "" : ""
        return failure(
            isLocked ? .authenticationRequired : .unacceptableStatusCode, response: head, body: response.body,
            retryAfter: response.retryAfter,
            freshFor: Freshness.explicitLifetime(of: head, now: Date()), detail: realm)
    }
}
