// SPDX-License-Identifier: MIT

import CColor
import CPixelKernels
import Foundation
import WebImageCore

extension DecodedImage {
    /// Renders the pixels for a display. This method blocks, so call it on a background thread.
    ///
    /// For images with a gain map, the map applies as ISO 21496-1 defines. For images in PQ and HLG, the EETF of BT.2390
    /// maps tones that exceed the headroom, up to 1,000 cd/m² at a white of 203 cd/m². Other images have no tones above
    /// the white of standard dynamic range. Only the poster frame of animations is rendered.
    ///
    /// - Parameters:
    ///   - headroom: The largest luminance of the display as a factor of the white of standard dynamic range, at least 1.
    ///     At 1, the result shows the image in standard dynamic range.
    ///   - encoding: The encoding of the samples. The default is linear light in 16-bit floating-point numbers.
    ///   - primaries: The primaries of the samples. Colors outside their gamut are clipped, and those of images in PQ and
    ///     HLG keep their hue and luminance. The default is sRGB.
    ///   - context: The limits and the cancellation. The default has the limits ``ImageLimits/desktop``.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)`` if the headroom isn't a number of at least 1,
    ///   an ``ImageError/LimitFailure`` if the result is too large, or ``ImageError/cancelled``.
    public func rendered(
        headroom: Double, as encoding: HDRPixels.Encoding = .linear, primaries: HDRPixels.Primaries = .sRGB,
        context: ImageProcessingContext = ImageProcessingContext()
    ) throws(ImageError) -> HDRPixels {
        guard headroom.isFinite, headroom >= 1 else {
            throw .request(.invalidOption(name: "headroom", value: "\(headroom)"))
        }
        let renderer = try HDRRenderer(
            self, headroom: headroom, encoding: encoding, primaries: primaries, context: context)
        let result = try renderer.run(context: context)
        return HDRPixels(result, encoding: encoding, primaries: primaries, headroom: headroom)
    }

    /// The image with a high dynamic range as PQ with the primaries of BT.2020, or the image itself in PQ or HLG.
    func inPQ(context: ImageProcessingContext) throws(ImageError) -> DecodedImage {
        guard gainMap != nil, !metadata.hasHDRSamples else { return self }
        return try displayedInPQ(context: context)
    }

    /// The still image with the whole dynamic range of its file in PQ, or the image itself if its range is standard. The
    /// metadata continue to describe the file, except for the colors of the pixels.
    func displayedInPQ(context: ImageProcessingContext) throws(ImageError) -> DecodedImage {
        guard isHDR, !isAnimated else { return self }
        // The gain map of an image in PQ or HLG describes its standard range.
        let source = metadata.hasHDRSamples ? with(gainMap: nil) : self
        if metadata.hasHDRSamples, metadata.lightCurve == .pq { return source }
        let headroom = min(source.gainMap?.metadata.maxHeadroom ?? .infinity, HDRRenderer.maxPQHeadroom)
        let renderer = try HDRRenderer(
            source, headroom: headroom, encoding: .pq, primaries: .bt2020, context: context)
        var metadata = metadata
        metadata.iccProfile = nil
        metadata.sourceCurve = .pq
        // The colors of the file no longer describe the samples, neither here nor in a file of the disk cache.
        metadata.fileCodePoints = .pq
        metadata.describePixels(in: .source)
        return replacing(pixels: try renderer.run(context: context), animation: nil).with(metadata: metadata)
    }
}

/// A rendering of one image, whose tables exist as long as this object.
struct HDRRenderer {
    private let pixels: PixelBuffer
    private let map: PixelBuffer?
    private let source: Source
    private let gains: [[Float]]
    private let metadata: GainMapMetadata?
    private let toOutput: Matrix3
    private let headroom: Double
    private let tones: [Float]
    private let outputLuminance: (Float, Float, Float)
    private let isPQ: Bool

    /// The headroom of PQ, which has up to 10,000 cd/m².
    static let maxPQHeadroom = 10_000 / HDRToneMapping.white

    /// The meaning of the pixels.
    private struct Source {
        var curves: [[Float]]
        /// The matrix from linear light of the pixels to linear light of sRGB.
        var toSRGB: Matrix3
        var isHLG = false
        /// Whether light can exceed white.
        var isHDR = false
    }

    init(
        _ image: DecodedImage, headroom: Double, encoding: HDRPixels.Encoding, primaries: HDRPixels.Primaries,
        context: ImageProcessingContext
    ) throws(ImageError) {
        var pixels = image.pixels
        if let source = Self.source(of: image.metadata) {
            self.source = source
        } else {
            let conversion = ColorConversion.from(profile: image.metadata.iccProfile.map { [UInt8]($0) })
            if let conversion, conversion.source != .cmyk {
                pixels = try conversion.converted(pixels, context: context)
            }
            self.source = Source(curves: Self.curves(.sRGB), toSRGB: .identity)
        }
        self.pixels = pixels
        self.headroom = headroom
        isPQ = encoding == .pq
        let weight = image.gainMap?.metadata.weight(headroom: headroom) ?? 0
        map = weight == 0 ? nil : image.gainMap?.pixels
        metadata = image.gainMap?.metadata
        gains = metadata.map { Self.gains($0, weight: weight) } ?? []
        let isCompressed = source.isHDR && headroom * HDRToneMapping.white < HDRToneMapping.peak && image.gainMap == nil
        tones = isCompressed ? Self.tones(headroom: headroom) : []
        let output = Chromaticities(codePoint: primaries.rawValue)
        toOutput = try Self.fromSRGB(output)
        outputLuminance = output?.luminance ?? HDRToneMapping.luminance
    }

    private static func source(of metadata: ImageMetadata) -> Source? {
        switch metadata.color {
        case .sRGB: return Source(curves: curves(.sRGB), toSRGB: .identity)
        case .displayP3: return Chromaticities.displayP3.toSRGB.map { Source(curves: curves(.sRGB), toSRGB: $0) }
        case .source: break
        }
        if !metadata.hasHDRSamples, let profile = metadata.iccProfile,
            ColorCodePoints(iccProfile: [UInt8](profile)) == nil
        {
            return ICCShaper([UInt8](profile)).map(Self.source)
        }
        guard let points = metadata.codePoints, let transfer = TransferFunction(codePoint: points.transfer),
            let matrix = Chromaticities(points)?.toSRGB
        else { return nil }
        return Source(curves: curves(transfer), toSRGB: matrix, isHLG: transfer == .hlg, isHDR: points.isHDR)
    }

    private static func source(_ profile: ICCShaper) -> Source {
        Source(curves: profile.curves, toSRGB: profile.toSRGB)
    }

    private static func curves(_ transfer: TransferFunction) -> [[Float]] {
        let count = MatrixColorConverter.curveCount
        let curve = (0..<count).map { Float(transfer.light(Double($0) / Double(count - 1))) }
        return [curve, curve, curve]
    }

    private static func gains(_ metadata: GainMapMetadata, weight: Double) -> [[Float]] {
        (0..<3).map { channel in
            (0..<Int(WI_GAIN_STEPS) + 2).map { step in
                Float(metadata.gain(Double(step) / Double(WI_GAIN_STEPS), channel: channel, weight: weight))
            }
        }
    }

    private static func tones(headroom: Double) -> [Float] {
        (0..<Int(WI_ROOT_STEPS) + 2).map { step in
            Float(HDRToneMapping.factor(root: min(1, Double(step) / Double(WI_ROOT_STEPS)), headroom: headroom))
        }
    }

    /// Returns the matrix from linear light of sRGB to linear light of other primaries.
    private static func fromSRGB(_ primaries: Chromaticities?) throws(ImageError) -> Matrix3 {
        guard let inverse = primaries?.toSRGB?.inverse else {
            throw .request(.invalidOption(name: "primaries", value: "no color space"))
        }
        return inverse
    }

    /// The matrices from the pixels to the primaries to which the gain applies, and from there to the result.
    private var matrices: (toGain: Matrix3, toOutput: Matrix3) {
        // Without a gain map, and with equal gains for all channels, the primaries don't matter.
        guard map != nil, let toSRGB = metadata?.alternateChromaticities?.toSRGB, let fromSRGB = toSRGB.inverse
        else { return (.identity, toOutput * source.toSRGB) }
        return (fromSRGB * source.toSRGB, toOutput * toSRGB)
    }

    func run(context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        try context.limits.check(result: pixels.size, format: .rgba16)
        let canvas = try PixelCanvas(size: pixels.size, format: .rgba16)
        var render = wi_render()
        let matrices = matrices
        render.to_gain = Self.tuple(matrices.toGain)
        render.to_output = Self.tuple(matrices.toOutput)
        render.limit = Float(headroom)
        render.pq_scale = Float(1 / Self.maxPQHeadroom)
        render.peak = Float(HDRToneMapping.peak / HDRToneMapping.white)
        if source.isHLG {
            render.ootf_power = Float(HDRToneMapping.hlgPower)
            render.ootf_scale = render.peak
            render.luminance = HDRToneMapping.luminance
        }
        // ISO 21496-1 doesn't define colors outside of the gamut, and other implementations clip them.
        render.keeps_hue = source.isHDR && metadata == nil ? 1 : 0
        render.output_luminance = outputLuminance
        if let metadata {
            render.base_offset = Self.tuple(metadata.baseOffset)
            render.alternate_offset = Self.tuple(metadata.alternateOffset)
        }
        let tables = Tables(curves: source.curves, gains: map == nil ? [] : gains, tones: tones)
        tables.install(in: &render, isPQ: isPQ)
        var samples = [Float](repeating: 0, count: map == nil ? 0 : pixels.width * 3)
        for row in 0..<pixels.height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            if let map { readMap(map, row: row, into: &samples) }
            renderRow(row, samples, into: canvas, &render)
        }
        withExtendedLifetime(tables) {}
        return canvas.finish(isOpaque: pixels.isOpaque)
    }

    private func renderRow(
        _ row: Int, _ samples: [Float], into canvas: borrowing PixelCanvas, _ render: inout wi_render
    ) {
        let out = canvas.words(row)
        pixels.withUnsafeBytes { bytes in
            guard let from = bytes.baseAddress.map({ $0 + row * pixels.bytesPerRow }) else { return }
            samples.withUnsafeBufferPointer { samples in
                let map = samples.isEmpty ? nil : samples.baseAddress
                pixels.format.kernels.render(from, map, out, &render, pixels.width)
            }
        }
    }

    /// Interpolates the samples of the map for a row of pixels. The centers of both images coincide.
    private func readMap(_ map: PixelBuffer, row: Int, into samples: inout [Float]) {
        let place = (Double(row) + 0.5) * Double(map.height) / Double(pixels.height) - 0.5
        let limited = min(max(place, 0), Double(map.height - 1))
        let top = Int(limited)
        let bottom = min(top + 1, map.height - 1)
        let step = Double(map.width) / Double(pixels.width)
        let rest = Float(limited - Double(top))
        map.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            map.format.kernels.map_row(
                base + top * map.bytesPerRow, base + bottom * map.bytesPerRow, rest, 0.5 * step - 0.5, step, map.width,
                &samples, pixels.width)
        }
    }

    private static func tuple(
        _ matrix: Matrix3
    ) -> (Float, Float, Float, Float, Float, Float, Float, Float, Float) {
        let m = matrix.flat.map { Float($0) }
        return (m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8])
    }

    private static func tuple(_ values: SIMD3<Double>) -> (Float, Float, Float) {
        (Float(values.x), Float(values.y), Float(values.z))
    }
}

/// The memory of the tables of a rendering. The kernels only read it.
private final class Tables {
    private let curves: [UnsafeMutablePointer<Float>]
    private let gains: [UnsafeMutablePointer<Float>]
    private let tones: UnsafeMutablePointer<Float>?

    init(curves: [[Float]], gains: [[Float]], tones: [Float]) {
        self.curves = curves.map(Self.copy)
        self.gains = gains.map(Self.copy)
        self.tones = tones.isEmpty ? nil : Self.copy(tones)
    }

    deinit {
        for table in curves + gains { table.deallocate() }
        tones?.deallocate()
    }

    func install(in render: inout wi_render, isPQ: Bool) {
        render.curves = (UnsafePointer(curves[0]), UnsafePointer(curves[1]), UnsafePointer(curves[2]))
        if !gains.isEmpty {
            render.gains = (UnsafePointer(gains[0]), UnsafePointer(gains[1]), UnsafePointer(gains[2]))
        }
        render.tones = tones.map { UnsafePointer($0) }
        render.pq = isPQ ? UnsafePointer(PQTable.shared.samples) : nil
    }

    private static func copy(_ values: [Float]) -> UnsafeMutablePointer<Float> {
        let table = UnsafeMutablePointer<Float>.allocate(capacity: values.count)
        table.initialize(from: values, count: values.count)
        return table
    }
}

/// The table of PQ samples.
///
/// Safe: only `init` writes the table, and the only instance is never deallocated.
private final class PQTable: @unchecked Sendable {
    static let shared = PQTable()

    let samples: UnsafeMutablePointer<Float>

    private init() {
        let count = Int(WI_PQ_STEPS) + 2
        samples = .allocate(capacity: count)
        for step in 0..<count {
            let root = min(1, Double(step) / Double(WI_PQ_STEPS))
            (samples + step).initialize(
                to: Float(HDRToneMapping.pq(luminance: 10_000 * root * root * root * root) * 65_535))
        }
    }
}

/// The curves and the matrix of a profile without lookup tables.
private struct ICCShaper {
    let curves: [[Float]]
    let toSRGB: Matrix3

    /// Reads a profile. The initializer returns `nil` if it isn't an RGB profile with curves and a matrix.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= ICCProfile.maxBytes, let handle = wi_icc_open(bytes, bytes.count) else { return nil }
        defer { wi_icc_close(handle) }
        var colorants = [Double](repeating: 0, count: 9)
        guard wi_icc_space_of(handle) == WI_ICC_RGB, wi_icc_has_tables(handle) == 0,
            wi_icc_colorants(handle, &colorants) != 0, let target = Chromaticities.sRGB.fromD50
        else { return nil }
        var curves: [[Float]] = []
        for channel in 0..<3 {
            var values = [Float](repeating: 0, count: MatrixColorConverter.curveCount)
            guard wi_icc_curve(handle, Int32(channel), &values, values.count) != 0 else { return nil }
            curves.append(values)
        }
        self.curves = curves
        toSRGB = target * Matrix3(flat: colorants)
    }
}
