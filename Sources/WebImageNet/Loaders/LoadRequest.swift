// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// A request to a loader.
///
/// Requests are equal if all of their properties are. Closures in their options are equal only if they're copies.
public struct LoadRequest: Sendable, Hashable {
    /// The source.
    public var url: URL
    /// Additional header fields (HTTP only), conditions among them.
    public var fields: HTTPFields
    /// Most bytes of body that are accepted, coded or decoded. Checked while receiving.
    public var maxBytes: Int
    /// Whether a 304 is an answer. Set when `fields` hold conditions for a stored copy.
    public var acceptsNotModified: Bool
    /// Time limits that differ from the loader's own.
    public var timeouts: LoadTimeouts?
    /// When a failed load is tried again; nil for the loader's own rule. Default nil.
    public var retry: RetryPolicy?
    /// Asked in this order when ``url`` finally fails on the network or with a status that is not accepted. Those
    /// of another origin get no field that could be a secret; those the loader does not take are passed over.
    public var alternatives: [URL] = []
    /// Cookies, trust, credentials and answers that differ from the loader's own (HTTP only).
    public var network = NetworkOptions()

    /// Creates a request; default at most 32 MiB.
    public init(
        url: URL, fields: HTTPFields = HTTPFields(), maxBytes: Int = 32 << 20, acceptsNotModified: Bool = false,
        timeouts: LoadTimeouts? = nil
    ) {
        self.url = url
        self.fields = fields
        self.maxBytes = maxBytes
        self.acceptsNotModified = acceptsNotModified
        self.timeouts = timeouts
    }
}

/// Time limits of one transfer, in seconds.
public struct LoadTimeouts: Sendable, Hashable {
    /// Until the connection stands, TLS included. Default 10.
    public var connect: Double
    /// Without a single byte, before or during the answer. Default 15.
    public var idle: Double
    /// For everything, redirects included; time in the queue does not count. Default 60.
    public var total: Double

    /// Creates time limits.
    public init(connect: Double = 10, idle: Double = 15, total: Double = 60) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }
}
