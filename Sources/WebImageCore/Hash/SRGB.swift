// SPDX-License-Identifier: MIT

import Glibc

/// The sRGB transfer function (IEC 61966-2-1), in the form of the BlurHash specification.
enum SRGB {
    /// The linear light of each stored value, from 0 to 1.
    static let linear: [Double] = (0...255).map { value in
        let v = Double(value) / 255
        return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }

    /// The minimum linear light of each stored value except zero, which is the rounding threshold.
    private static let steps: [Double] = (1...255).map { value in
        let v = (Double(value) - 0.5) / 255
        return v / 12.92 <= 0.003_130_8 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }

    /// Returns the stored value that's nearest to a linear light. Values outside 0...1 are clamped.
    static func stored(_ light: Double) -> UInt8 {
        var low = 0
        var high = steps.count
        while low < high {
            let middle = (low + high) / 2
            if steps[middle] <= light { low = middle + 1 } else { high = middle }
        }
        return UInt8(low)
    }
}
