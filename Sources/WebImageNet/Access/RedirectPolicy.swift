// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// A redirect that is about to be followed.
public struct RedirectProposal: Sendable {
    /// 301, 302, 303, 307 or 308.
    public let status: Int
    /// Who redirects.
    public let from: URL
    /// Where to: http or https.
    public let to: URL
    /// The fields that would be sent there, without cookies and credentials of stores. Where the origin is another
    /// one, only harmless ones are left.
    public let fields: HTTPFields
    /// Whether scheme, host or port differ.
    public let isCrossOrigin: Bool
    /// Counted from 1.
    public let number: Int
}

/// What becomes of a redirect.
public enum RedirectDecision: Sendable {
    /// It is followed as proposed.
    case follow
    /// It is followed with these fields; they are all that is sent but for Host and what stores add.
    case followWith(HTTPFields)
    /// The load fails with 2009 and this reason.
    case refuse(String)
    /// The redirect itself is the answer, whatever statuses are accepted; without body.
    case answer
}

/// Decides on redirects that the downloader's rules (schemes, downgrade, number) allow. Asked once per redirect, on
/// the network thread: it must be quick and must not block.
public typealias RedirectPolicy = @Sendable (RedirectProposal) -> RedirectDecision
