// SPDX-License-Identifier: MIT

/// How a served album makes the network worse than it is.
package struct NetworkBehaviour: Sendable, Hashable {
    /// Seconds before an answer begins, in the mean; single answers wait between half and one and a half times as long.
    package var delay: Double
    /// Answers of a hundred that fail: half of them with status 503, half by a connection that breaks off in the body.
    package var failures: Int
    /// Bytes of body per second and answer; nil for as fast as it goes.
    package var bytesPerSecond: Int?

    package init(delay: Double = 0, failures: Int = 0, bytesPerSecond: Int? = nil) {
        self.delay = delay
        self.failures = failures
        self.bytesPerSecond = bytesPerSecond
    }

    /// What happens to one answer.
    struct Fate: Equatable {
        enum Failure: Equatable {
            case status
            case cut
        }

        /// Seconds before it begins.
        var delay: Double
        var failure: Failure?
    }

    /// The fate of the answer number `attempt` to `target`: always the same one, so that what is seen can be seen again.
    func fate(of target: String, attempt: Int) -> Fate {
        let number = Self.mixed(target, attempt)
        let share = Double((number >> 16) & 0xFFFF) / 65_535
        let failure: Fate.Failure? =
            Int(number % 100) < failures ? (number >> 40) & 1 == 0 ? .status : .cut : nil
        return Fate(delay: max(0, delay) * (0.5 + share), failure: failure)
    }

    /// FNV-1a over the text and the number, then the finalizer of SplitMix64: FNV alone mixes its low bits poorly.
    private static func mixed(_ target: String, _ attempt: Int) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in target.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        hash ^= UInt64(truncatingIfNeeded: attempt) &* 0x9E37_79B9_7F4A_7C15
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
