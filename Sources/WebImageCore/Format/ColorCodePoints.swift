// SPDX-License-Identifier: MIT

/// The color encoding of an image as code points of ITU-T H.273 (coding-independent code points). PNG (`cICP`), AVIF,
/// and HEIF (`nclx`) contain them.
package struct ColorCodePoints: Sendable, Hashable {
    /// The value of `ColourPrimaries`: 1 for BT.709, 9 for BT.2020, 12 for Display P3, or 2 for unspecified.
    package var primaries: Int
    /// The value of `TransferCharacteristics`: 1 for BT.709, 8 for linear, 13 for sRGB, 16 for PQ, 18 for HLG, or 2
    /// for unspecified.
    package var transfer: Int
    /// The numbers that stored code points can have. Those of H.273 are small.
    package static let range = 0...65_535

    /// Creates code points.
    package init(primaries: Int, transfer: Int) {
        self.primaries = primaries
        self.transfer = transfer
    }

    /// The BT.709 primaries with the transfer function of sRGB.
    package static let sRGB = ColorCodePoints(primaries: 1, transfer: 13)
    /// The primaries of Display P3 with the transfer function of sRGB.
    package static let displayP3 = ColorCodePoints(primaries: 12, transfer: 13)
    /// The primaries of BT.2020 with the perceptual quantizer (BT.2100).
    package static let pq = ColorCodePoints(primaries: 9, transfer: 16)

    /// Whether the transfer function is PQ or HLG.
    package var isHDR: Bool { transfer == 16 || transfer == 18 }
}

extension ImageColorSpace {
    /// The code points of the color space, or `nil` for that of the source.
    var codePoints: ColorCodePoints? {
        switch self {
        case .sRGB: .sRGB
        case .displayP3: .displayP3
        case .source: nil
        }
    }
}

extension ColorCodePoints: CustomStringConvertible {
    /// The common names of the code points, such as “Display P3, sRGB transfer”.
    package var description: String { "\(primariesName), \(transferName) transfer" }

    private var primariesName: String {
        switch primaries {
        case 1: "BT.709"
        case 2: "unspecified primaries"
        case 4: "BT.470 M"
        case 5: "BT.470 BG"
        case 6, 7: "BT.601"
        case 8: "film"
        case 9: "BT.2020"
        case 10: "XYZ"
        case 11: "DCI P3"
        case 12: "Display P3"
        case 22: "EBU 3213"
        default: "primaries \(primaries)"
        }
    }

    private var transferName: String {
        switch transfer {
        case 1, 6, 14, 15: "BT.709"
        case 2: "unspecified"
        case 4: "gamma 2.2"
        case 5: "gamma 2.8"
        case 8: "linear"
        case 13: "sRGB"
        case 16: "PQ"
        case 17: "DCI"
        case 18: "HLG"
        default: "number \(transfer)"
        }
    }
}
