// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc

/// The tables for conversions between encoded values and light.
///
/// Safe: The memory is written only by the initializers, before other threads can see it, and never deallocated.
final class LightTables: @unchecked Sendable {
    /// The tables of sRGB for opaque 8-bit pixels and for 16-bit pixels.
    static let opaque = LightTables(sRGBWith: nil)
    /// The tables of sRGB for all pixels. They're larger by 128 KiB and take a millisecond to compute, so they're
    /// separate.
    static let premultiplied = LightTables(sRGBWith: premultipliedLight())
    private static let gamma18 = LightTables(.gamma18)
    private static let pq = LightTables(.pq)
    private static let hlg = LightTables(.hlg)

    let kernel: wi_resample_tables

    /// Returns the tables of a curve, or `nil` if samples are proportional to light. Pixels with 16 bits per sample
    /// count as opaque.
    static func of(_ curve: LightCurve, isOpaque: Bool) -> LightTables? {
        switch curve {
        case .sRGB: isOpaque ? opaque : premultiplied
        case .linear: nil
        case .gamma18: gamma18
        case .pq: pq
        case .hlg: hlg
        }
    }

    /// Whether the light of 8-bit pixels is a 15-bit integer. Other curves need more precision for dark pixels.
    var hasIntegers: Bool { kernel.opaque != nil }

    private init(sRGBWith premultiplied: UnsafePointer<UInt16>?) {
        let maximum = Double(WI_LIGHT_MAXIMUM)
        if let premultiplied {
            var kernel = Self.opaque.kernel
            kernel.premultiplied = premultiplied
            self.kernel = kernel
            return
        }
        let curve = LightCurve.sRGB
        let count = Int(WI_LIGHT_MAXIMUM) + 1
        let values = Self.table(count) { Float(curve.encoded(Double($0) / maximum)) }
        var kernel = Self.floats(curve)
        kernel.opaque = Self.table(256) { UInt16((curve.light(Double($0) / 255) * maximum).rounded()) }
        kernel.bytes = Self.table(count) { UInt8((values[$0] * 255).rounded()) }
        kernel.values = values
        self.kernel = kernel
    }

    private init(_ curve: LightCurve) { kernel = Self.floats(curve) }

    private static func floats(_ curve: LightCurve) -> wi_resample_tables {
        let steps = Int(WI_DEEP_LIGHT_STEPS)
        var kernel = wi_resample_tables()
        kernel.light = table(steps + 2) { Float(curve.light(min(1, Double($0) / Double(steps)))) }
        kernel.words = table(steps + 2) { step in
            var light = min(1, Double(step) / Double(steps))
            for _ in 0..<curve.roots { light *= light }
            return Float(curve.encoded(light) * 65_535)
        }
        kernel.roots = Int32(curve.roots)
        return kernel
    }

    private static func table<Value>(_ count: Int, _ value: (Int) -> Value) -> UnsafePointer<Value> {
        let memory = UnsafeMutablePointer<Value>.allocate(capacity: count)
        for index in 0..<count { (memory + index).initialize(to: value(index)) }
        return UnsafePointer(memory)
    }

    /// Returns the light for each alpha and each premultiplied byte. No color exceeds its alpha.
    private static func premultipliedLight() -> UnsafePointer<UInt16> {
        let maximum = Double(WI_LIGHT_MAXIMUM)
        return table(256 * 256) { index in
            let (alpha, value) = (Double(index / 256), Double(index % 256))
            guard alpha > 0 else { return 0 }
            return UInt16((LightCurve.sRGB.light(min(1, value / alpha)) * alpha / 255 * maximum).rounded())
        }
    }
}
