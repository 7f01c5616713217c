// SPDX-License-Identifier: MIT

/// The network conditions that an album server simulates.
package struct SimulatedNetwork: Sendable, Hashable {
    /// The mean delay before a response, in seconds. The delay of a response is between 0.5 and 1.5 times this value.
    package var delay: Double
    /// The percentage of responses that fail. Half of them have the status 503, and the others are interrupted in the
    /// body.
    package var failures: Int
    /// The speed of a response body, in bytes per second, or `nil` for no limit.
    package var bytesPerSecond: Int?

    package init(delay: Double = 0, failures: Int = 0, bytesPerSecond: Int? = nil) {
        self.delay = delay
        self.failures = failures
        self.bytesPerSecond = bytesPerSecond
    }

    /// The simulated conditions of one response.
    struct SimulatedOutcome: Equatable {
        enum Failure: Equatable {
            case status
            case cut
        }

        /// The delay before the response, in seconds.
        var delay: Double
        var failure: Failure?
    }

    /// Returns the conditions for a request to `target`, where `attempt` is its number. The result is deterministic, so
    /// that observations can be reproduced.
    func outcome(of target: String, attempt: Int) -> SimulatedOutcome {
        let number = Self.mixed(target, attempt)
        let share = Double((number >> 16) & 0xFFFF) / 65_535
        let failure: SimulatedOutcome.Failure? =
            Int(number % 100) < failures ? (number >> 40) & 1 == 0 ? .status : .cut : nil
        return SimulatedOutcome(delay: max(0, delay) * (0.5 + share), failure: failure)
    }

    /// Returns the FNV-1a hash of the text and the number, followed by the finalizer of SplitMix64. The low bits of
    /// FNV-1a alone aren't mixed well.
    private static func mixed(_ target: String, _ attempt: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in target.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash ^= UInt64(truncatingIfNeeded: attempt) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
