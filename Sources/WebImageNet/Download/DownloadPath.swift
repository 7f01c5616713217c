// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One attempt of a download. It follows the exchange and decides which responses are accepted. Thread-safe.
final class DownloadPath: Sendable {
    private let basis: DownloadBasis
    private let path: ExchangePath

    private var request: LoadRequest { basis.request }

    init(_ basis: DownloadBasis) {
        self.basis = basis
        path = ExchangePath(ExchangeStep(basis.request.url, fields: basis.fields, rules: basis.rules))
    }

    /// Returns the next transfer. `spent` is the part of the total timeout that is used up, in seconds.
    @inline(never)
    func order(spent: Double) throws(ImageError) -> TransferOrder {
        let sending = path.begin()
        let step = sending.step
        var timeouts = request.timeouts ?? basis.configuration.timeouts
        guard spent < timeouts.total else { throw step.failure(.timedOut, phase: .total) }
        timeouts.total -= spent
        let fields = step.fieldsWithSecrets()
        var transfer = TransferRequest(url: try step.check(fields), origin: Origin(step.url).description)
        try path.note(step, sending: fields)
        transfer.fields = fields
        transfer.maxBytes = request.maxBytes
        transfer.timeouts = timeouts
        transfer.tls = request.network.tls
        let rules = basis.rules
        let acceptsNotModified = request.acceptsNotModified
        transfer.disposition = { [decision = sending.decision] head in
            guard case .answer = decision.next(step, head), rules.accepts(head.status, acceptsNotModified),
                rules.acceptsType(head)
            else { return .discard }
            return .deliver
        }
        if transfer.isResumable {
            transfer.keep = basis.keep
            transfer.source = basis.source
        }
        return TransferOrder(transfer)
    }

    /// Returns the response if `outcome` ends the exchange, or `nil` if another step follows.
    @inline(never)
    func take(_ outcome: TransferOutcome) throws(ImageError) -> LoadResponse? {
        let step = path.step
        let answer = try answer(outcome, step)
        step.learn(answer.head)
        switch try path.advance(
            after: answer.head, requestTime: answer.requestTime, responseTime: answer.responseTime)
        {
        case nil: return nil
        case .redirect?: return response(answer, step)
        case .answer?:
            try check(answer, step)
            return response(answer, step)
        }
    }

    /// Returns the response of a transfer.
    ///
    /// - Throws: The error of the transfer. If libcurl can't use the URL, the error refers to the caller's URL or to
    ///   the redirect.
    private func answer(_ outcome: TransferOutcome, _ step: ExchangeStep) throws(ImageError) -> TransferAnswer {
        do throws(ImageError) {
            return try outcome.get()
        } catch {
            guard case .network(let failure) = error, failure.underlying == Self.malformed else { throw error }
            guard step.redirects > 0 else { throw .request(.invalidURL(step.url.absoluteString)) }
            throw step.failure(.redirectRefused, detail: failure.detail)
        }
    }

    /// The value of `CURLE_URL_MALFORMAT`, which occurs for a port above 65,535, for example.
    private static let malformed: Int32 = 3

    private func check(_ answer: TransferAnswer, _ step: ExchangeStep) throws(ImageError) {
        let status = answer.head.status
        guard basis.rules.accepts(status, request.acceptsNotModified) else {
            throw step.statusFailure(answer.head, retryAfter: answer.retryAfter)
        }
        guard basis.rules.acceptsType(answer.head) else {
            let type = answer.head.fields["Content-Type"] ?? "none"
            throw step.failure(.contentTypeRefused, status: status, detail: type)
        }
        guard status == 304 || !answer.body.isEmpty else { throw step.failure(.noData, status: status) }
    }

    private func response(_ answer: TransferAnswer, _ step: ExchangeStep) -> LoadResponse {
        var metrics = answer.metrics
        metrics.redirects = step.redirects
        var response = LoadResponse(
            head: answer.head, body: answer.body, finalURL: step.url, requestTime: answer.requestTime,
            responseTime: answer.responseTime, metrics: metrics)
        response.isLengthKnown = answer.isLengthKnown
        if step.redirects > 0 { response.redirects = path.redirects }
        return response
    }
}

extension ExchangeStep {
    /// Returns the error for a status code that isn't accepted.
    fileprivate func statusFailure(_ head: ResponseHead, retryAfter: Double?) -> ImageError {
        let isLocked = head.status == 401 || head.status == 407
        let realm = head.status == 401 ? AuthenticationChallenge.all(head).first?.realm ?? "" : ""
        return failure(
            isLocked ? .authenticationRequired : .status, status: head.status, retryAfter: retryAfter,
            freshFor: Freshness.told(by: head, now: Date()), detail: realm)
    }
}
