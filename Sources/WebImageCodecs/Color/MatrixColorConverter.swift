// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

/// A conversion to sRGB or Display P3 with one curve per channel and a matrix. It supports all RGB and gray color spaces
/// without lookup tables. Both targets have the transfer function of sRGB.
///
/// Safe: only `init` writes the memory that `light` points to, which exists as long as this object or the process.
final class MatrixColorConverter: @unchecked Sendable {
    private let light: wi_light
    private let storage: UnsafeMutablePointer<Float>

    /// The range of the linear light: that of a display, or a larger range that requires tone mapping.
    enum Range { case display, pq, hlg }

    /// Whether colors of the source are outside the target.
    let clips: Bool
    /// The linear light of green at the sample 0.5.
    let middle: Double

    /// The negative linear light that counts as outside the target. Rounded colorants of profiles have smaller values.
    private static let clippedLight: Float = 0.005

    static let curveCount = Int(WI_CURVE_STEPS) + 1

    /// The curves contain the linear light of `curveCount` evenly spaced samples for each channel. The matrix converts
    /// linear light of the source to that of the target. The default range of the linear light is that of a display. The
    /// target is necessary for the other ranges. The default is sRGB.
    init(curves: [[Float]], matrix: Matrix3, range: Range = .display, target: Chromaticities = .sRGB) {
        let perCurve = Self.curveCount
        let perChannel = perCurve + 256
        middle = Double(curves[1][Self.curveCount / 2])
        storage = .allocate(capacity: perChannel * 3)
        for (channel, curve) in curves.enumerated() {
            let start = storage + channel * perChannel
            curve.withUnsafeBufferPointer { values in
                let count = min(values.count, perCurve)
                if let first = values.baseAddress { start.initialize(from: first, count: count) }
                (start + count).initialize(repeating: 0, count: perChannel - count)
            }
            for byte in 0...255 { start[Self.curveCount + byte] = start[byte * (Int(WI_CURVE_STEPS) / 255)] }
        }
        let (red, green, blue) = (storage, storage + perChannel, storage + perChannel * 2)
        var light = wi_light()
        light.curves = (UnsafePointer(red), UnsafePointer(green), UnsafePointer(blue))
        light.bytes = (
            UnsafePointer(red + Self.curveCount), UnsafePointer(green + Self.curveCount),
            UnsafePointer(blue + Self.curveCount)
        )
        let m = matrix.flat.map { Float($0) }
        clips = m.contains { $0 < -Self.clippedLight }
        light.matrix = (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
        if range == .hlg {
            light.ootf_power = Float(HDRToneMapping.hlgPower)
            light.ootf_scale = Float(HDRToneMapping.peak / HDRToneMapping.white)
            light.luminance = HDRToneMapping.luminance
        }
        light.output_luminance = target.luminance ?? HDRToneMapping.luminance
        let tables = EncodingTables.shared
        light.gains = range == .display ? nil : UnsafePointer(HDRToneMappingTable.shared.gains)
        light.peak = Float(HDRToneMapping.peak / HDRToneMapping.white)
        light.encoded_bytes = UnsafePointer(tables.bytes)
        light.encoded_words = UnsafePointer(tables.words)
        self.light = light
    }

    deinit { storage.deallocate() }

    /// Creates a conversion from primaries and a transfer function. The initializer returns `nil` if the primaries
    /// don't define a color space.
    convenience init?(
        _ primaries: Chromaticities, _ transfer: TransferFunction, to target: ColorConversion.Target
    ) {
        guard let matrix = primaries.matrix(to: target.primaries) else { return nil }
        let curve = (0..<Self.curveCount).map { Float(transfer.light(Double($0) / Double(WI_CURVE_STEPS))) }
        let range: Range = transfer == .pq ? .pq : transfer == .hlg ? .hlg : .display
        self.init(curves: [curve, curve, curve], matrix: matrix, range: range, target: target.primaries)
    }

    /// Converts pixels with straight alpha in place.
    func convert(_ row: UnsafeMutableRawPointer, format: PixelFormat, count: Int) {
        withUnsafePointer(to: light) { format.kernels.light(row, row, $0, count) }
    }
}

/// The lookup tables for sRGB encoding, which all shapers share.
///
/// Safe: only `init` writes the tables, and the only instance is never deallocated.
private final class EncodingTables: @unchecked Sendable {
    static let shared = EncodingTables()

    let bytes: UnsafeMutablePointer<UInt8>
    let words: UnsafeMutablePointer<Float>

    private init() {
        bytes = .allocate(capacity: Int(WI_LIGHT_STEPS) + 1)
        for step in 0...Int(WI_LIGHT_STEPS) {
            let sample = TransferFunction.encodeSRGB(Double(step) / Double(WI_LIGHT_STEPS))
            (bytes + step).initialize(to: UInt8((sample * 255).rounded()))
        }
        let count = Int(WI_ROOT_STEPS) + 2
        words = .allocate(capacity: count)
        for step in 0..<count {
            let root = min(1, Double(step) / Double(WI_ROOT_STEPS))
            (words + step).initialize(to: Float(TransferFunction.encodeSRGB(root * root) * 65_535))
        }
    }
}

/// The additional lookup table for tone mapping of PQ and HLG.
///
/// Safe: only `init` writes the table, and the only instance is never deallocated.
private final class HDRToneMappingTable: @unchecked Sendable {
    static let shared = HDRToneMappingTable()

    let gains: UnsafeMutablePointer<Float>

    private init() {
        let count = Int(WI_ROOT_STEPS) + 2
        gains = .allocate(capacity: count)
        for step in 0..<count {
            let root = min(1, Double(step) / Double(WI_ROOT_STEPS))
            (gains + step).initialize(to: Float(HDRToneMapping.factor(root: root)))
        }
    }
}
