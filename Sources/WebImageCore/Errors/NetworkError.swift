// SPDX-License-Identifier: MIT

/// A failure on the way to the server and back. Codes 2001 and up.
public struct NetworkError: Sendable, Hashable {
    /// What went wrong. Raw values are the stable numbers.
    public enum Reason: Int, Sendable, Hashable, CaseIterable {
        /// No network at all.
        case offline = 2001
        /// The name resolves to nothing.
        case cannotFindHost = 2002
        /// Nobody listens, or no way there.
        case cannotConnect = 2003
        /// A time limit passed; the phase tells which.
        case timedOut = 2004
        /// The connection was lost before the answer was whole.
        case connectionLost = 2005
        /// What came is not HTTP, or breaks its rules.
        case badServerResponse = 2006
        /// A status outside the accepted ones; `status` tells which.
        case status = 2007
        /// More redirects than allowed, or a loop.
        case tooManyRedirects = 2008
        /// A redirect to a scheme or place that is not allowed.
        case redirectRefused = 2009
        /// No secure connection could be made.
        case secureConnectionFailed = 2010
        /// The server's certificate is not trusted: self-signed, wrong host, pinned otherwise.
        case certificateUntrusted = 2011
        /// The server's certificate has expired.
        case certificateExpired = 2012
        /// The server's certificate is not valid yet.
        case certificateNotYetValid = 2013
        /// The certificate was issued by an unknown authority.
        case certificateUnknownRoot = 2014
        /// The server wants a client certificate.
        case clientCertificateRequired = 2015
        /// The client certificate was not accepted or cannot be used.
        case clientCertificateRejected = 2016
        /// The server or the proxy wants credentials.
        case authenticationRequired = 2017
        /// The body's content coding is broken or cut.
        case contentCodingFailed = 2018
        /// The proxy could not be reached or refused.
        case proxyFailed = 2019
        /// The address policy forbids the destination.
        case addressRefused = 2020
        /// An empty answer where a picture was expected.
        case noData = 2021
        /// The content type is not among the accepted ones.
        case contentTypeRefused = 2022
        /// Anything else libcurl reported.
        case other = 2099
    }

    /// Where in the transfer it happened.
    public enum Phase: String, Sendable, Hashable {
        /// Waiting for a place in the queue.
        case queue
        /// Name resolution.
        case resolve
        /// Connecting, TLS included.
        case connect
        /// Sending the request and waiting for the answer's head.
        case head
        /// Receiving the body.
        case body
        /// The whole transfer (total time limit).
        case total
    }

    /// What went wrong.
    public var reason: Reason
    /// The URL asked at that moment (after redirects), without user name and password.
    public var url: String
    /// Where in the transfer.
    public var phase: Phase
    /// HTTP status where an answer came.
    public var status: Int?
    /// libcurl's code where one was reported.
    public var underlying: Int32?
    /// Counted from 1.
    public var attempt: Int
    /// Seconds after which the server asked to be tried again (Retry-After).
    public var retryAfter: Double?
    /// Seconds for which the answer says that it holds (Cache-Control, Expires; 0 for `no-store`); nil where it says
    /// nothing, or none came.
    public var freshFor: Double?
    /// libcurl's or the system's own words.
    public var detail: String
    /// Why what was tried before this failed, in order: the same URL again, then alternatives. The last 16 at most, none
    /// of which has any of its own. Told by the failure that a request ends with.
    public var earlier: [NetworkError] = []

    /// Creates a failure.
    public init(
        _ reason: Reason, url: String, phase: Phase, status: Int? = nil, underlying: Int32? = nil, attempt: Int = 1,
        retryAfter: Double? = nil, freshFor: Double? = nil, detail: String = ""
    ) {
        self.reason = reason
        self.url = URLCredentials.removed(from: url)
        self.phase = phase
        self.status = status
        self.underlying = underlying
        self.attempt = attempt
        self.retryAfter = retryAfter
        self.freshFor = freshFor
        self.detail = URLCredentials.removed(from: detail)
    }

    /// The stable number.
    public var code: Int { reason.rawValue }

    /// Whether the failure can pass by itself.
    var isTransient: Bool {
        switch reason {
        case .offline, .cannotFindHost, .cannotConnect, .timedOut, .connectionLost, .proxyFailed: true
        case .status: status.map { [408, 425, 429, 500, 502, 503, 504].contains($0) } ?? false
        default: false
        }
    }

    /// A sentence a person can act on.
    public var message: String {
        let suffix = detail.isEmpty ? "" : ": \(detail)"
        let text =
            switch reason {
            case .offline: "There is no network"
            case .cannotFindHost: "The host cannot be found"
            case .cannotConnect: "No connection could be made"
            case .timedOut: "The server took too long (\(phase.rawValue))"
            case .connectionLost: "The connection was lost (\(phase.rawValue))"
            case .badServerResponse: "The server's answer is not valid HTTP"
            case .status: "The server answered with status \(status ?? 0)"
            case .tooManyRedirects: "There were too many redirects"
            case .redirectRefused: "A redirect was refused"
            case .secureConnectionFailed: "No secure connection could be made"
            case .certificateUntrusted: "The server's certificate is not trusted"
            case .certificateExpired: "The server's certificate has expired"
            case .certificateNotYetValid: "The server's certificate is not valid yet"
            case .certificateUnknownRoot: "The server's certificate comes from an unknown authority"
            case .clientCertificateRequired: "The server wants a client certificate"
            case .clientCertificateRejected: "The client certificate was not accepted"
            case .authenticationRequired: "Credentials are required"
            case .contentCodingFailed: "The body's content coding is broken"
            case .proxyFailed: "The proxy failed"
            case .addressRefused: "The destination's address is not allowed"
            case .noData: "The answer has no body"
            case .contentTypeRefused: "The content type is not accepted"
            case .other: "The transfer failed"
            }
        return URLCredentials.removed(from: "\(text)\(suffix) [\(url)]")
    }
}
