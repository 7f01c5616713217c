// SPDX-License-Identifier: MIT

import WebImageCore

/// An RGB color space with primaries and a transfer function.
struct StandardColorSpace: Hashable {
    let primaries: Chromaticities
    let transfer: TransferFunction

    static let displayP3 = StandardColorSpace(primaries: .displayP3, transfer: .sRGB)
    static let adobeRGB = StandardColorSpace(primaries: .adobeRGB, transfer: .gamma(563.0 / 256))
    static let proPhoto = StandardColorSpace(primaries: .proPhoto, transfer: .gamma(1.8))

    /// The spaces that ``init(matching:)`` recognizes.
    private static let all = [
        displayP3, adobeRGB, proPhoto, StandardColorSpace(primaries: .bt2020, transfer: .bt709),
        StandardColorSpace(primaries: .bt2020, transfer: .sRGB),
        StandardColorSpace(primaries: .sRGB, transfer: .gamma(1)),
        StandardColorSpace(primaries: .bt2020, transfer: .gamma(1)),
        StandardColorSpace(primaries: .sRGB, transfer: .gamma(2.2)),
    ]
    /// The largest difference of a colorant's XYZ coordinates, which changes colors by less than the rounding to 8
    /// bits.
    static let colorantTolerance = 0.0015
    /// The largest difference of the curves after encoding for sRGB.
    private static let curveTolerance = 0.002

    /// Creates the color space of code points. The initializer returns `nil` for unknown code points.
    init?(_ codePoints: ColorCodePoints?) {
        guard let codePoints, let primaries = Chromaticities(codePoints),
            let transfer = TransferFunction(codePoint: codePoints.transfer)
        else { return nil }
        self.init(primaries: primaries, transfer: transfer)
    }

    /// Creates the standard color space that a profile describes. The initializer returns `nil` if the profile describes
    /// another color space or none.
    init?(matching profile: [UInt8]) {
        guard let (curves, colorants) = ICCProfile(profile)?.matrixModel() else { return nil }
        let found = Self.all.first { space in
            guard let own = space.primaries.toD50?.flat else { return false }
            return zip(own, colorants.flat).allSatisfy { abs($0 - $1) <= Self.colorantTolerance }
                && curves.allSatisfy(space.hasCurve)
        }
        guard let found else { return nil }
        self = found
    }

    init(primaries: Chromaticities, transfer: TransferFunction) {
        self.primaries = primaries
        self.transfer = transfer
    }

    /// A compact profile of the color space, or `nil` if ICC profiles can't describe it.
    var profile: [UInt8]? {
        self == .displayP3 ? CompactProfile.displayP3 : CompactProfile.bytes(primaries, transfer, name: name)
    }

    /// The name in the profile, which programs show to users.
    private var name: String {
        switch self {
        case .adobeRGB: return "Adobe RGB compatible"
        case .proPhoto: return "ProPhoto RGB"
        default: break
        }
        let space: String
        switch primaries {
        case .sRGB: space = "sRGB primaries"
        case .displayP3: space = "Display P3 primaries"
        case .bt2020: space = "BT.2020"
        default: space = "RGB"
        }
        switch transfer {
        case .sRGB: return "\(space), sRGB curve"
        case .gamma(1): return "\(space), linear"
        case .gamma(let power): return "\(space), gamma \((power * 100).rounded() / 100)"
        default: return space
        }
    }

    private func hasCurve(_ curve: [Float]) -> Bool {
        stride(from: 0, to: curve.count, by: 15).allSatisfy { index in
            let light = transfer.light(Double(index) / Double(curve.count - 1))
            let difference = TransferFunction.encodeSRGB(light) - TransferFunction.encodeSRGB(Double(curve[index]))
            return abs(difference) <= Self.curveTolerance
        }
    }
}
