// SPDX-License-Identifier: MIT

import Glibc

/// The transfer function of sRGB (IEC 61966-2-1), as BlurHash's description writes it.
enum SRGB {
    /// Linear light, 0...1, of each stored value.
    static let linear: [Double] = (0...255).map { value in
        let v = Double(value) / 255
        return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }

    /// The least linear light of each stored value but zero: where rounding changes.
    private static let steps: [Double] = (1...255).map { value in
        let v = (Double(value) - 0.5) / 255
        return v / 12.92 <= 0.003_130_8 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4)
    }

    /// The stored value nearest to some linear light; what is outside 0...1 is clamped.
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
