// SPDX-License-Identifier: MIT

/// Conversions of numbers that callers set. The initializers of the standard library trap on NaN, on infinity, and on
/// values that don't fit.
extension Int {
    /// Creates the integer part of `value`, or the nearest integer that fits. NaN becomes 0.
    package init(saturating value: Double) {
        // 2^63 is the first Double value that doesn't fit. -2^63 fits.
        self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value < -0x1p63 ? .min : Int(value)
    }
}

extension Duration {
    /// The duration that means no timeout. It exceeds the age of the universe, and adding a clock time to it doesn't
    /// overflow.
    package static let unlimited = Duration.seconds(Int64.max)

    /// Returns a duration of `seconds` seconds, up to one hundred years. NaN and negative values become zero.
    package static func seconds(saturating seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, 0), 3_155_695_200))
    }
}
