// SPDX-License-Identifier: MIT

/// How fast transfers may start, so that a list that is scrolled fast does not flood servers.
public struct StartRate: Sendable, Hashable {
    /// The number of starts per second in the long run. The default is 80.
    ///
    /// Infinity means no limit, and a value that isn't a number means the default.
    public var perSecond: Double
    /// Starts at once after a rest. Default 25.
    public var burst: Int

    /// Creates a rate.
    public init(perSecond: Double = 80, burst: Int = 25) {
        self.perSecond = perSecond
        self.burst = burst
    }
}
