// SPDX-License-Identifier: MIT

import Foundation

extension ImageError {
    /// A failure of a network transfer. The error codes begin at 2001.
    public struct NetworkFailure: Sendable, Hashable {
        /// The kinds of network failures. The raw values are the stable error codes.
        public enum Reason: Int, Sendable, Hashable, CaseIterable {
            /// A missing network connection.
            case offline = 2001
            /// A host name that doesn't resolve to an address.
            case cannotFindHost = 2002
            /// A server that doesn't accept connections or can't be reached.
            case cannotConnect = 2003
            /// An expired timeout. The phase identifies the timeout.
            case timedOut = 2004
            /// A connection that was interrupted before the response was complete.
            case connectionLost = 2005
            /// A response that isn't HTTP or violates its rules.
            case badServerResponse = 2006
            /// A status code that isn't accepted. The `unacceptableStatusCode` property contains the code.
            case unacceptableStatusCode = 2007
            /// A redirect loop, or more redirects than allowed.
            case tooManyRedirects = 2008
            /// A redirect to a scheme or destination that isn't allowed.
            case redirectNotAllowed = 2009
            /// A failure to establish a secure connection.
            case secureConnectionFailed = 2010
            /// An untrusted server certificate, for example a self-signed certificate, a certificate for another host,
            /// or a certificate whose key doesn't match the pinned key.
            case certificateUntrusted = 2011
            /// An expired server certificate.
            case certificateExpired = 2012
            /// A server certificate that isn't valid yet.
            case certificateNotYetValid = 2013
            /// A server certificate that was issued by an unknown authority.
            case certificateUnknownAuthority = 2014
            /// A missing client certificate that the server requires.
            case clientCertificateRequired = 2015
            /// A client certificate that the server rejected.
            case clientCertificateRejected = 2016
            /// Missing or rejected credentials for the server.
            case authenticationRequired = 2017
            /// An invalid or truncated content coding of the response body.
            case contentDecodingFailed = 2018
            /// A proxy that can't be reached or that rejected the connection.
            case proxyFailed = 2019
            /// A destination that the address policy doesn't allow.
            case addressNotAllowed = 2020
            /// An empty response.
            case emptyBody = 2021
            /// A content type that isn't accepted.
            case unacceptableContentType = 2022
            /// Any other error that libcurl reports.
            case other = 2099
        }

        /// The phase of a transfer.
        public enum Phase: String, Sendable, Hashable, CaseIterable {
            /// Waiting for a slot in the queue.
            case queued
            /// Name resolution.
            case nameResolution
            /// Connecting, including the TLS handshake.
            case connecting
            /// Sending the request and waiting for the response head.
            case waitingForResponse
            /// Receiving the body.
            case receivingBody
            /// The transfer as a whole, for the total timeout.
            case total
        }

        /// The kind of the failure.
        public let reason: Reason
        /// The URL of the failed request after redirects, without the user name and password.
        public let url: URL
        /// The phase in which the transfer failed.
        public let phase: Phase
        /// The HTTP status code, or `nil` if no response head was received.
        public let statusCode: Int?
        /// The delay before a retry that the server requested with Retry-After, or `nil` if it requested none.
        public let retryAfter: Duration?
        /// The error code of libcurl, or `nil` if libcurl reported no error.
        public let curlCode: Int?
        /// The error message of libcurl or of the operating system, or an empty string.
        public package(set) var details: String
        /// The number of the failed attempt, counted from 1.
        package var attempt: Int
        /// The freshness lifetime that the response declares with Cache-Control or Expires, in seconds.
        ///
        /// The value is 0 for `no-store`. The value is `nil` if the response declares no lifetime or if no response was
        /// received.
        package var freshFor: Double?
        /// The failures of the previous attempts in order: retries of the same URL first, and then alternatives.
        ///
        /// Only the failure that ends a request has this list. It contains at most the last 16 failures, and their own
        /// lists are empty.
        package var earlier: [ImageError.NetworkFailure] = []
        /// The date at which the failure expires in the negative cache, or `nil` for a new failure.
        package var rememberedUntil: Date?
        /// The response that caused the failure.
        package var response = FailedResponse()

        /// The beginning of the body of the response that the downloader rejected, up to 1 KiB and without content
        /// codings.
        ///
        /// Servers often describe the cause there. The value is empty if the response has no body, if the body isn't
        /// received within 500 milliseconds after the response head, or if the response wasn't rejected.
        ///
        /// The bytes are unmodified data from the server, so they can contain confidential values. Neither messages nor
        /// logs contain them, and they have no effect on whether two failures are equal.
        public var bodyPrefix: Data { response.bodyPrefix }

        /// Creates a network failure, for custom loaders and tests.
        ///
        /// - Parameters:
        ///   - reason: The kind of the failure.
        ///   - url: The URL of the failed request after redirects. The user name and password are removed.
        ///   - phase: The phase in which the transfer failed. The default is ``Phase/connecting``.
        ///   - statusCode: The HTTP status code, or `nil` if no response head was received.
        ///   - retryAfter: The delay before a retry that the server requested, or `nil` if it requested none.
        ///   - details: A description of the cause. User names and passwords in URLs are removed.
        public init(
            _ reason: Reason, url: URL, phase: Phase = .connecting, statusCode: Int? = nil,
            retryAfter: Duration? = nil, details: String = ""
        ) {
            self.init(
                reason, url: url, phase: phase, statusCode: statusCode, curlCode: nil, retryAfter: retryAfter,
                details: details)
        }

        /// Creates a network failure with the error code of libcurl.
        package init(
            _ reason: Reason, url: URL, phase: Phase, statusCode: Int? = nil, curlCode: Int?, attempt: Int = 1,
            retryAfter: Duration? = nil, freshFor: Double? = nil, details: String = ""
        ) {
            self.reason = reason
            self.url = URLCredentials.removed(from: url)
            self.phase = phase
            self.statusCode = statusCode
            self.curlCode = curlCode
            self.attempt = attempt
            self.retryAfter = retryAfter
            self.freshFor = freshFor
            self.details = URLCredentials.removed(from: details)
        }

        /// The stable error code.
        package var code: Int { reason.rawValue }

        var isTransient: Bool {
            switch reason {
            case .offline, .cannotFindHost, .cannotConnect, .timedOut, .connectionLost, .proxyFailed: true
            case .unacceptableStatusCode: statusCode.map { [408, 425, 429, 500, 502, 503, 504].contains($0) } ?? false
            default: false
            }
        }

        /// A message that describes the error and its remedy.
        package var message: String {
            let suffix = details.isEmpty ? "" : ": \(details)"
            let sentence = "\(summary)\(suffix) [\(url.absoluteString)]."
            return SecretNames.removed(from: earlier.isEmpty ? sentence : "\(sentence) \(earlierSummary)")
        }

        /// The words for the failure, which begin a sentence, with the status code or the phase.
        private var summary: String {
            switch reason {
            case .unacceptableStatusCode: "\(reason.phrase) \(statusCode ?? 0)"
            case .timedOut, .connectionLost: reason.phrase + phase.phrase
            default: reason.phrase
            }
        }

        /// A sentence that describes the last earlier failures. Equal consecutive failures are described once.
        private var earlierSummary: String {
            var groups: [(text: String, count: Int)] = []
            for failure in earlier.suffix(Self.maxDescribed) {
                let text = failure.shortDescription(after: url)
                if groups.last?.text == text {
                    groups[groups.count - 1].count += 1
                } else {
                    groups.append((text, 1))
                }
            }
            let texts = groups.map { $0.count > 1 ? "\($0.text) (\($0.count) times)" : $0.text }
            return "Earlier failures: \(texts.joined(separator: ", "))."
        }

        private static var maxDescribed: Int { 5 }

        /// Returns the words for an earlier failure, with its URL if it differs from that of the last failure.
        private func shortDescription(after last: URL) -> String {
            var text: String
            if reason == .unacceptableStatusCode, let statusCode {
                text = "status \(statusCode)"
            } else {
                text = summary.prefix(1).lowercased() + summary.dropFirst()
                // The details of a timeout name the timeout.
                if reason == .timedOut, !details.isEmpty { text += " (\(details))" }
            }
            return url == last ? text : "\(text) at \(url.absoluteString)"
        }
    }
}

extension ImageError.NetworkFailure.Reason {
    /// The words for the failure, which begin a sentence.
    package var phrase: String {
        switch self {
        case .offline: "There is no network connection"
        case .cannotFindHost: "The host name can't be resolved"
        case .cannotConnect: "Can't connect to the server"
        case .timedOut: "The request timed out"
        case .connectionLost: "The connection was interrupted"
        case .badServerResponse: "The server's response isn't valid HTTP"
        case .unacceptableStatusCode: "The server responded with status"
        case .tooManyRedirects: "The server redirected the request too often"
        case .redirectNotAllowed: "The redirect was rejected"
        case .secureConnectionFailed: "Can't establish a secure connection"
        case .certificateUntrusted: "The server's certificate isn't trusted"
        case .certificateExpired: "The server's certificate has expired"
        case .certificateNotYetValid: "The server's certificate isn't valid yet"
        case .certificateUnknownAuthority: "The server's certificate was issued by an unknown authority"
        case .clientCertificateRequired: "The server requires a client certificate"
        case .clientCertificateRejected: "The server rejected the client certificate"
        case .authenticationRequired: "Valid credentials are required"
        case .contentDecodingFailed: "The content coding of the response body is invalid"
        case .proxyFailed: "The proxy can't be reached or rejected the connection"
        case .addressNotAllowed: "The address policy doesn't allow the destination address"
        case .emptyBody: "The response is empty"
        case .unacceptableContentType: "The content type of the response isn't accepted"
        case .other: "The transfer failed"
        }
    }
}

extension ImageError.NetworkFailure.Phase {
    /// The words for the phase, which follow those for the failure.
    fileprivate var phrase: String {
        switch self {
        case .queued: " while it waited for a connection"
        case .nameResolution: " during the resolution of the host name"
        case .connecting: " while connecting"
        case .waitingForResponse: " while waiting for the response"
        case .receivingBody: " while receiving the response"
        case .total: ""
        }
    }
}

extension ImageError.NetworkFailure {
    /// Whether the server was unreachable or its response was interrupted.
    ///
    /// In this case, a stale response may be used (RFC 9111, section 4.2.4), and the request may succeed when the
    /// network returns.
    package var isUnreachable: Bool {
        switch reason {
        case .offline, .cannotFindHost, .cannotConnect, .timedOut, .connectionLost, .proxyFailed: true
        default: false
        }
    }
}

extension ImageError {
    /// Whether the server was unreachable or its response was interrupted.
    package var isUnreachable: Bool {
        guard case .network(let error) = self else { return false }
        return error.isUnreachable
    }
}
