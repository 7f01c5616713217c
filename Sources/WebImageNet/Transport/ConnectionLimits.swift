// SPDX-License-Identifier: MIT

/// The limits for connections, which can change while transfers run.
struct ConnectionLimits: Sendable, Hashable {
    /// The maximum number of simultaneous transfers per origin over HTTP/1.
    var perHost: Int
    /// The maximum number of connections.
    var total: Int

    /// Returns these limits with numbers of at least 1.
    var positive: ConnectionLimits { ConnectionLimits(perHost: max(perHost, 1), total: max(total, 1)) }
}
