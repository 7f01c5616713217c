// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// A redirect that the downloader is about to follow.
public struct Redirect: Sendable {
    /// The status code: 301, 302, 303, 307, or 308.
    public let statusCode: Int
    /// The URL of the server that sent the redirect.
    public let source: URL
    /// The target of the redirect, with the scheme `http` or `https`.
    public let destination: URL
    /// The header fields to send to the target, without cookies and credentials from stores. For another origin, they
    /// contain only fields that are safe to share.
    public let headers: HTTPHeaderFields
    /// A Boolean value that indicates whether the scheme, host, or port differs.
    public let isCrossOrigin: Bool
    /// The number of the redirect, starting at 1.
    package let number: Int
}

/// The decision about a redirect.
public enum RedirectDecision: Sendable {
    /// A decision to follow the redirect as proposed.
    case follow
    /// A decision to follow the redirect with these header fields. Only `Host` and the header fields from stores are
    /// added.
    case followWithHeaders(HTTPHeaderFields)
    /// A decision to fail the load with ``ImageError/NetworkFailure/Reason/redirectNotAllowed`` and this reason.
    case refuse(reason: String)
    /// A decision to return the redirect itself as the response, without a body and regardless of the accepted status
    /// codes.
    case returnResponse
}

/// A closure that decides whether to follow a redirect that the downloader's rules (schemes, downgrade, and number)
/// allow.
///
/// The closure runs once per redirect on the network thread, so it must be quick and must not block.
package typealias RedirectPolicy = @Sendable (Redirect) -> RedirectDecision
