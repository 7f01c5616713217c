// SPDX-License-Identifier: MIT

import CPixelKernels
import Glibc

/// The tables for conversions between encoded values and light.
///
/// Safe: The memory is written only by the initializers, before other threads can see it, and never deallocated.
final class LightTables: @unchecked Sendable {
    /// The tables of sRGB for opaque 8-bit pixels and for 16-bit pixels.
    static let opaque = LightTables(sRGBWith: nil)
    /// The tables of sRGB for all pixels. They're larger by 256 KiB and take milliseconds to compute, so they're
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
        if let premultiplied {
            var kernel = Self.opaque.kernel
            kernel.premultiplied = premultiplied
            kernel.values = Self.table(Int(WI_LIGHT_MAXIMUM) + 1) {
                Float(LightCurve.sRGB.encoded(Double($0) / Double(WI_LIGHT_MAXIMUM)))
            }
            self.kernel = kernel
            return
        }
        let maximum = Double(WI_LIGHT_MAXIMUM)
        var kernel = Self.floats(.sRGB)
        kernel.opaque = Self.table(256) { UInt16((LightCurve.sRGB.light(Double($0) / 255) * maximum).rounded()) }
        // The bytes from the 255 values of light between them, because 32,768 powers take a millisecond.
        let bounds = (0..<255).map { LightCurve.sRGB.light((Double($0) + 0.5) / 255) * maximum }
        var byte = 0
        kernel.bytes = Self.table(Int(WI_LIGHT_MAXIMUM) + 1) { light in
            while byte < bounds.count, Double(light) >= bounds[byte] { byte += 1 }
            return UInt8(byte)
        }
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
