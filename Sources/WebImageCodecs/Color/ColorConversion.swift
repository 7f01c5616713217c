// SPDX-License-Identifier: MIT

import WebImageCore

/// A conversion of pixels to sRGB. It's thread-safe and shared by all images with the same color space. Images that
/// are already in sRGB and images with unusable profiles have no conversion, so their pixels stay unchanged.
final class ColorConversion: Sendable {
    private enum Method {
        case shaper(MatrixColorConverter)
        case tables(LUTColorConverter)
    }

    private let way: Method
    /// The color model of the input. ``ColorSpaceModel/gray`` accepts R, G, and B samples that are equal.
    let source: ColorSpaceModel
    /// A Boolean value that indicates whether averages of samples have nearly the same meaning as in sRGB, so that
    /// pixels can be reduced before the conversion.
    let isPerceptual: Bool

    private init(_ way: Method, source: ColorSpaceModel) {
        self.way = way
        self.source = source
        self.isPerceptual = source != .cmyk && Self.isNearSRGB(way)
    }

    /// Creates a conversion from an ICC profile. The initializer returns `nil` if the profile is unusable or describes
    /// sRGB.
    convenience init?(profile bytes: [UInt8]) {
        guard let profile = ICCProfile(bytes) else { return nil }
        let source = profile.space
        if let shaper = profile.shaper() {
            self.init(.shaper(shaper), source: source)
        } else {
            guard let tables = LUTColorConverter(profile) else { return nil }
            self.init(.tables(tables), source: source)
        }
        if isIdentity { return nil }
    }

    /// Creates a conversion from primaries and a transfer function. The initializer returns `nil` if the primaries
    /// don't define a color space, and for sRGB.
    convenience init?(_ primaries: Chromaticities, _ transfer: TransferFunction) {
        guard let shaper = MatrixColorConverter(primaries, transfer) else { return nil }
        self.init(.shaper(shaper), source: .rgb)
        if isIdentity { return nil }
    }

    /// Converts 8-bit pixels in place. The input is R, G, B, A with straight alpha, or C, M, Y, K (0 means no ink),
    /// which becomes opaque.
    func convert(_ row: UnsafeMutablePointer<UInt8>, count: Int) {
        switch way {
        case .shaper(let shaper): shaper.convert(row, count: count)
        case .tables(let tables): tables.convert(row, count: count)
        }
    }

    /// Converts 16-bit R, G, B, A pixels with straight alpha in place.
    func convert(_ row: UnsafeMutablePointer<UInt16>, count: Int) {
        switch way {
        case .shaper(let shaper): shaper.convert(row, count: count)
        case .tables(let tables): tables.convert(row, count: count)
        }
    }

    /// A Boolean value that indicates whether no color of a lattice changes by more than 1 of 255. Such a color space
    /// is sRGB, regardless of its encoding.
    private var isIdentity: Bool {
        guard source != .cmyk else { return false }
        let steps: [UInt8] = [0, 1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 224, 255]
        var pixels: [UInt8] = []
        for red in steps {
            for green in source == .gray ? [red] : steps {
                for blue in source == .gray ? [red] : steps { pixels += [red, green, blue, 255] }
            }
        }
        var converted = pixels
        Self.run(way, &converted)
        return zip(pixels, converted).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
    }

    private static func isNearSRGB(_ way: Method) -> Bool {
        let greys: [UInt8] = [32, 64, 96, 128, 160, 192, 224]
        var pixels: [UInt8] = []
        for grey in greys { pixels += [grey, grey, grey, 255] }
        run(way, &pixels)
        return greys.indices.allSatisfy { abs(Int(pixels[$0 * 4 + 1]) - Int(greys[$0])) <= 24 }
    }

    private static func run(_ way: Method, _ pixels: inout [UInt8]) {
        pixels.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            switch way {
            case .shaper(let shaper): shaper.convert(start, count: buffer.count / 4)
            case .tables(let tables): tables.convert(start, count: buffer.count / 4)
            }
        }
    }
}
