// SPDX-License-Identifier: MIT

/// The maximum rate at which transfers start, so that fast scrolling doesn't overload servers.
public struct StartRate: Sendable, Hashable {
    /// The number of starts per second in the long run. The default is 80.
    ///
    /// Infinity means no limit, and a value that isn't a number means the default.
    public var perSecond: Double
    /// The number of transfers that can start at the same time after an idle period. The default is 25.
    public var burst: Int

    /// Creates a start rate.
    public init(perSecond: Double = 80, burst: Int = 25) {
        self.perSecond = perSecond
        self.burst = burst
    }
}
