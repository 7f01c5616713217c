// SPDX-License-Identifier: MIT

import WebImageCore

extension GainMapMetadata {
    /// The primaries to which the gain applies, or `nil` if they're those of the base image or unknown.
    var alternateChromaticities: Chromaticities? {
        usesBaseColorSpace ? nil : alternatePrimaries.flatMap { Chromaticities(codePoint: $0) }
    }
}

extension GainMap {
    /// Whether the gains have the same effect in all color spaces, because they're equal for all channels.
    var isIndependentOfPrimaries: Bool { metadata.isUniform && pixels.isGray() }

    /// Returns the map for an image whose pixels were converted to another color space than that of its file.
    ///
    /// Gains that differ between the channels still apply to the primaries of the file.
    func keepingPrimaries(ofFileOf image: ImageMetadata) -> GainMap {
        let current: Chromaticities
        switch image.color {
        case .sRGB: current = .sRGB
        case .displayP3: current = .displayP3
        case .source: return self
        }
        let number =
            image.iccProfile.map { Chromaticities.codePoint(ofProfile: [UInt8]($0)) }
            ?? image.sourceCodePoints?.primaries
        guard metadata.usesBaseColorSpace, let number, let primaries = Chromaticities(codePoint: number),
            primaries != current, !isIndependentOfPrimaries
        else { return self }
        var numbers = metadata
        numbers.usesBaseColorSpace = false
        numbers.alternatePrimaries = number
        return GainMap(pixels: pixels, metadata: numbers)
    }
}

extension Chromaticities {
    /// The code points that ``codePoint(ofProfile:)`` returns.
    private static let codePoints = HDRPixels.Primaries.allCases.map(\.rawValue) + [4, 5, 6, 8, 11, 22]

    /// Returns the code point of the primaries that an RGB profile contains, or that its matrix describes, or `nil` if no
    /// code point describes them.
    static func codePoint(ofProfile profile: [UInt8]) -> Int? {
        if let points = ColorCodePoints(iccProfile: profile) { return points.primaries }
        guard let colorants = ICCProfile(profile)?.matrixModel()?.colorants.flat else { return nil }
        return codePoints.first { number in
            guard let own = Chromaticities(codePoint: number)?.toD50?.flat else { return false }
            return zip(own, colorants).allSatisfy { abs($0 - $1) <= StandardColorSpace.colorantTolerance }
        }
    }
}
