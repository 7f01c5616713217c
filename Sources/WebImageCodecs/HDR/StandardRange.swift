// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension DecodedImage {
    /// Renders the image for a headroom of 1, without a gain map. The result has the transfer function of sRGB.
    func inStandardRange(
        _ primaries: HDRPixels.Primaries, format: PixelFormat, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        let light = try rendered(headroom: 1, primaries: primaries, context: context)
        try context.limits.check(result: size, format: format)
        let canvas = try PixelCanvas(size: size, format: format)
        for row in 0..<size.height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            light.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress.map({ $0 + row * light.bytesPerRow }) else { return }
                let halves = start.assumingMemoryBound(to: UInt16.self)
                switch format.layout.sampleType {
                case .uint8: HalfLight.encode(halves, into: canvas.row(row), count: size.width, maximum: 255)
                case .uint16: HalfLight.encode(halves, into: canvas.words(row), count: size.width, maximum: 65_535)
                }
            }
        }
        var metadata = metadata
        switch primaries {
        case .sRGB: metadata.describePixels(in: .sRGB)
        case .displayP3: metadata.describePixels(in: .displayP3)
        case .bt2020:
            metadata.iccProfile = nil
            (metadata.colorPrimaries, metadata.transferCharacteristics) = (primaries.rawValue, 13)
            metadata.sourceCurve = .sRGB
        }
        return replacing(pixels: canvas.finish(isOpaque: pixels.isOpaque), animation: nil).with(metadata: metadata)
    }

    /// The image with a base image in standard dynamic range and the inverse gain map if its base image is PQ or HLG,
    /// for files whose base images must have a standard dynamic range.
    ///
    /// ISO 21496-1 applies the gains of such an image with a negative weight. So the exchanged base images, headrooms, and
    /// offsets describe the same images. The image remains unchanged if its gains apply to primaries that the new base
    /// image can't have.
    func withStandardBase(context: ImageProcessingContext) throws(ImageError) -> DecodedImage {
        guard metadata.hasHDRSamples, let gainMap, gainMap.metadata.hasHDRBase else { return self }
        var numbers = gainMap.metadata
        // A file may contain unknown primaries, or another number for the same ones.
        let space = numbers.alternateChromaticities ?? metadata.codePoints.flatMap { Chromaticities($0) }
        var primaries = HDRPixels.Primaries.allCases.first { Chromaticities(codePoint: $0.rawValue) == space }
        // Equal gains of all channels are independent of the primaries.
        if primaries != .sRGB, gainMap.isIndependentOfPrimaries { primaries = .displayP3 }
        guard let primaries else { return self }
        let base = try inStandardRange(primaries, format: .rgba8, context: context)
        swap(&numbers.baseHeadroom, &numbers.alternateHeadroom)
        swap(&numbers.baseOffset, &numbers.alternateOffset)
        numbers.usesBaseColorSpace = true
        numbers.alternatePrimaries = nil
        return base.with(gainMap: GainMap(pixels: gainMap.pixels, metadata: numbers))
    }
}

/// A converter for light as 16-bit floating-point numbers from 0 to 1.
private enum HalfLight {
    private static let one: UInt16 = 0x3C00
    /// The values of all numbers from 0 to 1.
    private static let values: [Double] = (0...one).map { bits in
        let (exponent, fraction) = (Int(bits >> 10), Double(bits & 1_023) / 1_024)
        return exponent == 0 ? scalbn(fraction, -14) : scalbn(1 + fraction, exponent - 15)
    }
    /// The sRGB samples of all numbers from 0 to 1.
    private static let samples = values.map { TransferFunction.encodeSRGB($0) }

    /// Converts pixels whose colors are multiplied by alpha in linear light to pixels whose samples are.
    static func encode<Sample: FixedWidthInteger & UnsignedInteger>(
        _ light: UnsafePointer<UInt16>, into out: UnsafeMutablePointer<Sample>, count: Int, maximum: Double
    ) {
        for pixel in 0..<count {
            let place = pixel * 4
            let opacity = min(light[place + 3], one)
            let alpha = values[Int(opacity)]
            for channel in 0..<3 {
                let bits = Int(min(light[place + channel], one))
                let sample =
                    opacity == one || alpha == 0
                    ? samples[bits] * alpha : TransferFunction.encodeSRGB(min(1, values[bits] / alpha)) * alpha
                out[place + channel] = Sample((sample * maximum).rounded())
            }
            out[place + 3] = Sample((alpha * maximum).rounded())
        }
    }
}
