// SPDX-License-Identifier: MIT

extension Duration {
    /// The duration in nanoseconds, limited to the range of `Int`.
    package var saturatingNanoseconds: Int {
        let (seconds, attoseconds) = components
        let (whole, isTooLarge) = Int(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = whole.addingReportingOverflow(Int(attoseconds) / 1_000_000_000)
        guard isTooLarge || overflows else { return sum }
        return seconds < 0 ? .min : .max
    }
}
