// SPDX-License-Identifier: MIT

import WebImageCore

extension GainMapMetadata {
    /// The primaries to which the gain applies, or `nil` if they're those of the base image or unknown.
    var alternateChromaticities: Chromaticities? {
        usesBaseColorSpace ? nil : alternatePrimaries.flatMap { Chromaticities(codePoint: $0) }
    }
}

extension Chromaticities {
    /// The code points that ``codePoint(ofProfile:)`` returns.
    private static let codePoints = HDRPixels.Primaries.allCases.map(\.rawValue) + [4, 5, 6, 8, 11, 22]

    /// Returns the code point of the primaries that an RGB profile with a matrix describes, or `nil` if no code point
    /// describes them.
    static func codePoint(ofProfile profile: [UInt8]) -> Int? {
        guard let colorants = ICCProfile(profile)?.matrixModel()?.colorants.flat else { return nil }
        return codePoints.first { number in
            guard let own = Chromaticities(codePoint: number)?.toD50?.flat else { return false }
            return zip(own, colorants).allSatisfy { abs($0 - $1) <= StandardColorSpace.colorantTolerance }
        }
    }
}
