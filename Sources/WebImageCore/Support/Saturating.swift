// SPDX-License-Identifier: MIT

/// Conversions of numbers that callers set. The initializers of the standard library trap on NaN, on infinity, and on values that
/// don't fit.
extension Int {
    /// The integer part of `value`, or the nearest integer that fits; 0 for NaN.
    package init(saturating value: Double) {
        // 2^63 is the first Double beyond; -2^63 fits.
        self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value < -0x1p63 ? .min : Int(value)
    }
}

extension Duration {
    /// `seconds` seconds, at most a hundred years; zero for NaN and for negative values.
    package static func seconds(saturating seconds: Double) -> Duration {
        .seconds(seconds.isNaN ? 0 : min(max(seconds, 0), 3_155_695_200))
    }
}
