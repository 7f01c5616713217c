// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// One step of a download: the request itself, or what a redirect led to. An object, so that thousands of waiting
/// tasks hold no copies.
final class DownloadHop: Sendable {
    /// Where to ask.
    let url: URL
    private let fields: HTTPFields
    private let request: LoadRequest
    private let configuration: DownloaderConfiguration

    init(_ request: LoadRequest, _ configuration: DownloaderConfiguration) {
        self.request = request
        self.configuration = configuration
        url = request.url
        var fields = request.fields
        for field in configuration.fields.lines where request.fields[field.name] == nil {
            fields.append(name: field.name, value: field.value)
        }
        let defaults = [
            ("Accept", configuration.accept), ("User-Agent", configuration.userAgent),
            ("Accept-Encoding", ContentDecoder.accepted),
        ]
        for (name, value) in defaults where fields[name] == nil { fields.append(name: name, value: value) }
        self.fields = fields
    }

    private init(_ hop: DownloadHop, redirect: Redirect) {
        request = hop.request
        configuration = hop.configuration
        url = redirect.url
        fields = redirect.fields(hop.fields)
    }

    /// Whether a status is an answer.
    func accepts(_ status: Int) -> Bool {
        status == 304 ? request.acceptsNotModified : configuration.acceptedStatuses.contains(status)
    }

    /// What follows an answer.
    enum Next {
        /// Nothing: it is the answer.
        case answer
        /// Another place.
        case hop(DownloadHop)
        /// A place where the redirect must not lead, for this reason.
        case refused(String)
    }

    /// Where `head` leads.
    func next(_ head: ResponseHead) -> Next {
        do throws(Redirect.Refusal) {
            let redirect = try Redirect(
                head, method: "GET", from: url, allowsDowngrade: configuration.allowsDowngrade)
            return .hop(DownloadHop(self, redirect: redirect))
        } catch {
            switch error {
            case .none: return .answer
            case .refused(let reason): return .refused(reason)
            }
        }
    }

    /// The exchange; `spent` seconds of the total time are gone.
    func transfer(spent: Double) throws(ImageError) -> TransferOrder {
        var timeouts = request.timeouts ?? configuration.timeouts
        guard spent < timeouts.total else { throw failure(.timedOut, phase: .total) }
        timeouts.total -= spent
        try checkFields()
        try checkAddress()
        var transfer = TransferRequest(url: try asciiURL(), origin: Origin(url).description)
        transfer.fields = fields
        transfer.maxBytes = request.maxBytes
        transfer.timeouts = timeouts
        transfer.disposition = { [self] head in
            if case .answer = next(head), accepts(head.status) { .deliver } else { .discard }
        }
        return TransferOrder(transfer)
    }

    /// An error at this place.
    func failure(
        _ reason: NetworkError.Reason, phase: NetworkError.Phase = .head, status: Int? = nil,
        retryAfter: Double? = nil, detail: String = ""
    ) -> ImageError {
        .network(
            NetworkError(
                reason, url: url.absoluteString, phase: phase, status: status, retryAfter: retryAfter, detail: detail))
    }

    /// Foundation has encoded host, path and query; what is not ASCII even so is no URL.
    private func asciiURL() throws(ImageError) -> String {
        let text = url.absoluteString.prefix { $0 != "#" }
        guard let host = url.host(), !host.isEmpty, text.utf8.allSatisfy({ (33...126).contains($0) }) else {
            throw .request(.invalidURL(url.absoluteString))
        }
        return String(text)
    }

    /// Line breaks in a field would begin another one, or another request.
    private func checkFields() throws(ImageError) {
        for field in fields.lines {
            let isValid =
                !field.name.isEmpty && field.name.utf8.allSatisfy(HeadParser.isTokenByte)
                && field.value.unicodeScalars.allSatisfy {
                    ($0.value >= 32 || $0 == "\t") && $0.value != 127 && $0.value < 256
                }
            guard isValid else {
                throw .request(.invalidOption(name: "header field \(field.name)", value: field.value))
            }
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
