// SPDX-License-Identifier: MIT

/// What colours a picture was coded in, by the numbers of ITU-T H.273 (coding-independent code points), as PNG (`cICP`),
/// AVIF and HEIF (`nclx`) carry them.
public struct ColorCodePoints: Sendable, Hashable {
    /// ColourPrimaries: 1 BT.709, 9 BT.2020, 12 Display P3; 2 unspecified.
    public var primaries: Int
    /// TransferCharacteristics: 1 BT.709, 8 linear, 13 sRGB, 16 PQ, 18 HLG; 2 unspecified.
    public var transfer: Int

    /// Creates code points.
    public init(primaries: Int, transfer: Int) {
        self.primaries = primaries
        self.transfer = transfer
    }

    /// BT.709 primaries with the transfer function of sRGB.
    public static let sRGB = ColorCodePoints(primaries: 1, transfer: 13)
}

extension ColorCodePoints: CustomStringConvertible {
    /// The names people use, such as "Display P3, sRGB transfer".
    public var description: String { "\(primariesName), \(transferName) transfer" }

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
