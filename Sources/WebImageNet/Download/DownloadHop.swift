// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One step of a download: the request itself, or what a redirect led to.
struct DownloadHop: Sendable {
    /// Where to ask.
    private(set) var url: URL
    /// Redirects before it.
    private(set) var redirects = 0
    /// The number of challenges that this step has answered.
    var answeredChallenges = 0
    var fields: HTTPFields
    private let basis: DownloadBasis

    var request: LoadRequest { basis.request }
    var configuration: DownloaderConfiguration { basis.configuration }

    init(_ basis: DownloadBasis) {
        self.basis = basis
        url = basis.configuration.strictTransport?.secured(basis.request.url) ?? basis.request.url
        fields = basis.fields
    }

    /// Whether a status is an answer.
    func accepts(_ status: Int) -> Bool {
        guard status != 304 else { return request.acceptsNotModified }
        return (request.network.acceptedStatuses ?? configuration.acceptedStatuses).contains(status)
    }

    /// Whether the content type of an answer is an accepted one.
    func acceptsType(_ head: ResponseHead) -> Bool {
        head.status == 304
            || ContentTypeFilter.accepts(
                head, request.network.acceptedContentTypes ?? configuration.acceptedContentTypes)
    }

    /// What follows an answer.
    enum Next {
        /// Nothing: it is the answer.
        case answer
        /// Nothing: a redirect that is wanted as the answer.
        case redirectAnswer
        /// Another place.
        case hop(DownloadHop)
        /// A place where the redirect must not lead, for this reason.
        case refused(String)
    }

    /// Where `head` leads. Asks the redirect policy.
    func decide(_ head: ResponseHead) -> Next {
        // The answer that redirects may itself be the one that asks for https.
        learnTransport(head)
        do throws(Redirect.Refusal) {
            let redirect = try Redirect(
                head, method: "GET", from: url, allowsDowngrade: configuration.allowsDowngrade,
                strictTransport: configuration.strictTransport)
            var next = self
            next.url = redirect.url
            next.answeredChallenges = 0
            next.redirects += 1
            next.fields = redirect.fields(fields)
            return judged(next, head.status, isCrossOrigin: redirect.isCrossOrigin)
        } catch {
            switch error {
            case .none: return .answer
            case .refused(let reason): return .refused(reason)
            }
        }
    }

    private func judged(_ next: DownloadHop, _ status: Int, isCrossOrigin: Bool) -> Next {
        guard let policy = request.network.redirectPolicy ?? configuration.redirectPolicy,
            next.redirects <= configuration.maxRedirects
        else { return .hop(next) }
        let proposal = RedirectProposal(
            status: status, from: url.withoutUserInfo, to: next.url.withoutUserInfo, fields: next.fields,
            isCrossOrigin: isCrossOrigin, number: next.redirects)
        switch policy(proposal) {
        case .follow: return .hop(next)
        case .followWith(let fields):
            var changed = next
            changed.fields = fields
            return .hop(changed)
        case .refuse(let reason): return .refused(reason)
        case .answer: return .redirectAnswer
        }
    }

    /// The exchange; `spent` seconds of the total time are gone. `decision` keeps what its answer leads to.
    func transfer(spent: Double, _ decision: HopDecision) throws(ImageError) -> TransferOrder {
        var timeouts = request.timeouts ?? configuration.timeouts
        guard spent < timeouts.total else { throw failure(.timedOut, phase: .total) }
        timeouts.total -= spent
        let fields = fieldsWithSecrets()
        try check(fields)
        try checkAddress()
        var transfer = TransferRequest(url: try asciiURL(), origin: Origin(url).description)
        transfer.fields = fields
        transfer.maxBytes = request.maxBytes
        transfer.timeouts = timeouts
        transfer.tls = request.network.tls
        transfer.disposition = { [self] head in
            guard case .answer = decision.next(self, head), accepts(head.status), acceptsType(head) else {
                return .discard
            }
            return .deliver
        }
        if transfer.isResumable {
            transfer.keep = basis.keep
            transfer.source = basis.source
        }
        return TransferOrder(transfer)
    }

    /// An error at this place.
    func failure(
        _ reason: NetworkError.Reason, phase: NetworkError.Phase = .head, status: Int? = nil,
        retryAfter: Double? = nil, freshFor: Double? = nil, detail: String = ""
    ) -> ImageError {
        .network(
            NetworkError(
                reason, url: url.withoutUserInfo.absoluteString, phase: phase, status: status, retryAfter: retryAfter,
                freshFor: freshFor, detail: detail))
    }

    /// What came. A URL that libcurl cannot use is the caller's fault, or that of the redirect that led there.
    func answer(_ outcome: TransferOutcome) throws(ImageError) -> TransferAnswer {
        do throws(ImageError) {
            return try outcome.get()
        } catch {
            guard case .network(let failure) = error, failure.underlying == Self.malformed else {
                throw error.withoutUserInfo(of: url)
            }
            guard redirects > 0 else { throw .request(.invalidURL(url.withoutUserInfo.absoluteString)) }
            throw self.failure(.redirectRefused, detail: failure.detail)
        }
    }

    /// CURLE_URL_MALFORMAT: a port beyond 65535, for example.
    private static let malformed: Int32 = 3

    /// Foundation has encoded host, path and query; what is not ASCII even so is no URL.
    private func asciiURL() throws(ImageError) -> String {
        let text = url.absoluteString
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let host = url.host(), !host.isEmpty, bytes[..<end].allSatisfy({ (33...126).contains($0) }) else {
            throw .request(.invalidURL(text))
        }
        return end == bytes.endIndex ? text : String(text[..<end])
    }

    /// Line breaks in a field would begin another one, or another request.
    private func check(_ fields: HTTPFields) throws(ImageError) {
        for field in fields.lines {
            let isValid =
                !field.name.isEmpty && field.name.utf8.allSatisfy(HeadParser.isTokenByte)
                && Self.isFieldValue(field.value)
            guard isValid else {
                throw .request(.invalidOption(name: "header field \(field.name)", value: field.value))
            }
        }
    }

    /// Visible ASCII, blanks and tabs, and the upper half of Latin-1.
    private static func isFieldValue(_ text: String) -> Bool {
        if text.utf8.allSatisfy({ (32...126).contains($0) }) { return true }
        return text.unicodeScalars.allSatisfy {
            ($0.value >= 32 || $0 == "\t") && $0.value != 127 && $0.value < 256
        }
    }

    /// With a proxy the connection does not show where it leads: an address in the URL itself is judged here.
    private func checkAddress() throws(ImageError) {
        guard configuration.addressPolicy != .any, let address = IPAddress(host: url.host() ?? ""),
            !configuration.addressPolicy.allows(address)
        else { return }
        throw failure(.addressRefused, phase: .connect, detail: url.host() ?? "")
    }
}
