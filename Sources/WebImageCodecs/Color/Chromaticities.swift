// SPDX-License-Identifier: MIT

import WebImageCore

/// The white point and the primaries of an RGB color space, as CIE 1931 x and y coordinates.
struct Chromaticities: Hashable {
    struct Point: Hashable {
        var x: Double
        var y: Double

        /// The XYZ coordinates with Y = 1.
        var xyz: [Double] { [x / y, 1, (1 - x - y) / y] }
    }

    var red: Point
    var green: Point
    var blue: Point
    var white: Point

    private init(_ values: [Double]) {
        red = Point(x: values[0], y: values[1])
        green = Point(x: values[2], y: values[3])
        blue = Point(x: values[4], y: values[5])
        white = Point(x: values[6], y: values[7])
    }

    /// Creates chromaticities from x and y of white, red, green, and blue, in the order of the PNG chunk `cHRM`. The
    /// initializer returns `nil` if the values don't define a color space.
    init?(whiteFirst values: [Double]) {
        guard values.count == 8, values.allSatisfy({ (0...1).contains($0) }) else { return nil }
        guard stride(from: 1, to: 8, by: 2).allSatisfy({ values[$0] > 0.0001 || $0 == 7 }), values[7] > 0 else {
            return nil
        }
        self.init(Array(values[2...] + values[..<2]))
        guard toSRGB != nil else { return nil }
    }

    static let sRGB = Chromaticities([0.64, 0.33, 0.30, 0.60, 0.15, 0.06, 0.3127, 0.3290])
    static let displayP3 = Chromaticities([0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.3127, 0.3290])
    static let adobeRGB = Chromaticities([0.64, 0.33, 0.21, 0.71, 0.15, 0.06, 0.3127, 0.3290])
    static let proPhoto = Chromaticities([0.7347, 0.2653, 0.1596, 0.8404, 0.0366, 0.0001, 0.3457, 0.3585])
    static let bt2020 = Chromaticities([0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290])

    /// Creates the primaries of code points, or returns `nil` if they're unknown or reserved.
    ///
    /// PQ and HLG are defined only with the primaries of BT.2020 (BT.2100, tables 2 to 5), so they also have these
    /// primaries if the file contains an unknown number. Otherwise, the samples would count as those of sRGB.
    init?(_ codePoints: ColorCodePoints) {
        if let primaries = Chromaticities(codePoint: codePoints.primaries) {
            self = primaries
        } else if codePoints.isHDR {
            self = .bt2020
        } else {
            return nil
        }
    }

    /// Creates the primaries of a code point (ITU-T H.273, table 2). The initializer returns `nil` for unknown and
    /// reserved code points.
    init?(codePoint: Int) {
        switch codePoint {
        case 1, 2: self = .sRGB
        case 4: self.init([0.67, 0.33, 0.21, 0.71, 0.14, 0.08, 0.310, 0.316])
        case 5: self.init([0.64, 0.33, 0.29, 0.60, 0.15, 0.06, 0.3127, 0.3290])
        case 6, 7: self.init([0.630, 0.340, 0.310, 0.595, 0.155, 0.070, 0.3127, 0.3290])
        case 8: self.init([0.681, 0.319, 0.243, 0.692, 0.145, 0.049, 0.310, 0.316])
        case 9: self = .bt2020
        case 11: self.init([0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.314, 0.351])
        case 12: self = .displayP3
        case 22: self.init([0.630, 0.340, 0.295, 0.605, 0.155, 0.077, 0.3127, 0.3290])
        default: return nil
        }
    }

    /// The matrix from linear light of the primaries to XYZ, with white at Y = 1.
    var toXYZ: Matrix3? {
        let columns = [red.xyz, green.xyz, blue.xyz]
        let primaries = Matrix3((0..<3).map { row in columns.map { $0[row] } })
        guard primaries.flat.allSatisfy(\.isFinite), let inverse = primaries.inverse else { return nil }
        return primaries * .diagonal(inverse * white.xyz)
    }

    /// The weights of the luminance of linear light.
    var luminance: (Float, Float, Float)? {
        toXYZ.map { (Float($0.flat[3]), Float($0.flat[4]), Float($0.flat[5])) }
    }

    /// The matrix from linear light of the primaries to linear light of sRGB. White maps to white.
    var toSRGB: Matrix3? { matrix(to: .sRGB) }

    /// Returns the matrix from linear light of these primaries to linear light of other primaries. White maps to white.
    func matrix(to other: Chromaticities) -> Matrix3? {
        guard self != other else { return .identity }
        guard let source = toXYZ, let target = other.toXYZ?.inverse else { return nil }
        guard let adaptation = Self.adaptation(from: white.xyz, to: other.white.xyz) else { return nil }
        return target * adaptation * source
    }

    /// The XYZ coordinates of D50, the white point of ICC profiles.
    private static let d50 = [0.9642, 1, 0.8249]

    /// The matrix from the XYZ of ICC profiles to linear light of the primaries.
    var fromD50: Matrix3? {
        guard let target = toXYZ?.inverse else { return nil }
        return Self.adaptation(from: Self.d50, to: white.xyz).map { target * $0 }
    }

    /// The Bradford transform from the white point to D50, which is the tag `chad` of ICC profiles.
    var adaptationToD50: Matrix3? { Self.adaptation(from: white.xyz, to: Self.d50) }

    /// The matrix from linear light of the primaries to the XYZ of ICC profiles.
    var toD50: Matrix3? {
        guard let source = toXYZ else { return nil }
        return adaptationToD50.map { $0 * source }
    }

    /// Returns the Bradford transform from XYZ under one white point to XYZ under another (ICC.1:2022, annex E).
    private static func adaptation(from: [Double], to: [Double]) -> Matrix3? {
        let cones = Matrix3([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
        guard let back = cones.inverse else { return nil }
        let scale = zip(cones * from, cones * to).map { $1 / $0 }
        guard scale.allSatisfy(\.isFinite) else { return nil }
        return back * .diagonal(scale) * cones
    }
}
