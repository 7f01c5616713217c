// SPDX-License-Identifier: MIT

/// The limits for connections, which can change while transfers run.
struct ConnectionLimits: Sendable, Hashable {
    /// The maximum number of simultaneous transfers per origin over HTTP/1.
    var perHost: Int
    var total: Int

    var positive: ConnectionLimits { ConnectionLimits(perHost: max(perHost, 1), total: max(total, 1)) }
}
