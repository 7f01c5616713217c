// SPDX-License-Identifier: MIT

import Foundation

/// The metadata of a gain map (ISO 21496-1), which describe how its samples change the light of the base image.
///
/// Gains and headrooms are binary logarithms. The values of each channel are in the order red, green, blue.
public struct GainMapMetadata: Sendable, Hashable {
    /// The kinds of metadata in files.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The binary metadata of ISO 21496-1.
        case iso21496 = "ISO 21496-1"
        /// The XMP properties of Ultra HDR, version 1 (`hdrgm`).
        case ultraHDR = "Ultra HDR"
        /// Apple's auxiliary gain map. Decoders convert its samples to those of ISO 21496-1.
        case apple = "Apple"
    }

    /// The kind of metadata that the file contains.
    public var kind: Kind
    /// The binary logarithm of the headroom for which the base image was made. It's 0 for a base image in standard
    /// dynamic range.
    public var baseHeadroom: Double
    /// The binary logarithm of the headroom from which on the gain map applies in full.
    public var alternateHeadroom: Double
    /// The binary logarithms of the gains that samples of 0 stand for.
    public var gainMin: SIMD3<Double>
    /// The binary logarithms of the gains that samples of 1 stand for.
    public var gainMax: SIMD3<Double>
    /// The exponents with which the samples were encoded. The default is 1.
    public var gamma: SIMD3<Double>
    /// The light that's added to the base image before the gain applies.
    public var baseOffset: SIMD3<Double>
    /// The light that's subtracted after the gain was applied.
    public var alternateOffset: SIMD3<Double>
    /// A Boolean value that indicates whether the gain applies to the primaries of the base image. Otherwise, it applies
    /// to those in ``alternatePrimaries``. The default is `true`.
    public var usesBaseColorSpace = true
    /// The primaries of the alternate image as a code point of ITU-T H.273, or `nil` if the file doesn't contain them.
    public var alternatePrimaries: Int?

    /// The largest absolute value of a gain or a headroom. Light in PQ has a range of about 2^28.
    static let maxStops = 64.0
    /// The default offset of Ultra HDR.
    static let defaultOffset = 1.0 / 64

    /// Creates metadata for a base image in standard dynamic range.
    ///
    /// - Parameters:
    ///   - kind: The kind of metadata. The default is ISO 21496-1.
    ///   - gainMin: The binary logarithm of the smallest gain. The default is 0.
    ///   - gainMax: The binary logarithm of the largest gain.
    ///   - alternateHeadroom: The binary logarithm of the headroom from which on the gain map applies in full.
    public init(kind: Kind = .iso21496, gainMin: Double = 0, gainMax: Double, alternateHeadroom: Double) {
        self.kind = kind
        self.baseHeadroom = 0
        self.alternateHeadroom = alternateHeadroom
        self.gainMin = SIMD3(repeating: gainMin)
        self.gainMax = SIMD3(repeating: gainMax)
        self.gamma = SIMD3(repeating: 1)
        self.baseOffset = SIMD3(repeating: Self.defaultOffset)
        self.alternateOffset = SIMD3(repeating: Self.defaultOffset)
    }

    /// The largest headroom for which the metadata define an image, as a factor of the standard white.
    public var maxHeadroom: Double { exp2(max(baseHeadroom, alternateHeadroom)) }

    /// Returns the share of the gain that applies at a headroom, between -1 and 1. It's negative if the base image has
    /// the higher dynamic range.
    ///
    /// - Parameter headroom: The headroom of the display as a factor of the standard white.
    public func weight(headroom: Double) -> Double {
        let span = alternateHeadroom - baseHeadroom
        guard span != 0, headroom > 0 else { return 0 }
        let share = min(max((log2(headroom) - baseHeadroom) / span, 0), 1)
        return span < 0 ? -share : share
    }

    /// Returns the factor that a sample between 0 and 1 stands for in one channel at a weight.
    package func gain(_ sample: Double, channel: Int, weight: Double) -> Double {
        let share = pow(min(max(sample, 0), 1), 1 / gamma[channel])
        return exp2((gainMin[channel] + (gainMax[channel] - gainMin[channel]) * share) * weight)
    }

    /// The samples between 0 and 1 that change the base image least, for the parts that a transformer adds.
    package var neutralSample: SIMD3<Double> {
        var sample = SIMD3<Double>(repeating: 0)
        for channel in 0..<3 where gainMax[channel] > gainMin[channel] {
            let share = -gainMin[channel] / (gainMax[channel] - gainMin[channel])
            sample[channel] = pow(min(max(share, 0), 1), gamma[channel])
        }
        return sample
    }

    /// Whether the base image has the higher dynamic range, so that the gains describe the image in standard dynamic range.
    package var hasHDRBase: Bool { alternateHeadroom < baseHeadroom }

    /// Whether the numbers are within their ranges.
    ///
    /// Numbers come from the network. Other numbers would make light infinite or undefined.
    package var isValid: Bool {
        func isStop(_ value: Double) -> Bool { value.isFinite && abs(value) <= Self.maxStops }
        let channels = (0..<3).allSatisfy { channel in
            isStop(gainMin[channel]) && isStop(gainMax[channel]) && gainMin[channel] <= gainMax[channel]
                && gamma[channel] >= 1e-3 && gamma[channel] <= 1e3
                && abs(baseOffset[channel]) <= 1 && abs(alternateOffset[channel]) <= 1
        }
        return channels && isStop(baseHeadroom) && isStop(alternateHeadroom) && baseHeadroom >= 0
            && alternateHeadroom >= 0 && baseHeadroom != alternateHeadroom
    }
}

extension GainMapMetadata.Kind: BinaryCodable {}

extension GainMapMetadata: BinaryFields {
    package static var blank: GainMapMetadata { GainMapMetadata(kind: .iso21496, gainMax: 0, alternateHeadroom: 0) }

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        try coder.code(&kind)
        try coder.code(&baseHeadroom)
        try coder.code(&alternateHeadroom)
        try coder.code(&gainMin)
        try coder.code(&gainMax)
        try coder.code(&gamma)
        try coder.code(&baseOffset)
        try coder.code(&alternateOffset)
        try coder.code(&usesBaseColorSpace)
        try coder.code(&alternatePrimaries, in: ColorCodePoints.range)
    }

    package func check() throws(MalformedData) {
        guard isValid else { throw MalformedData("the numbers of the gain map are invalid") }
    }
}
