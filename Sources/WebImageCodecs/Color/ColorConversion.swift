// SPDX-License-Identifier: MIT

import WebImageCore

/// Converts one picture's pixels to sRGB. Thread-safe; shared by all pictures of the same colours. There is none for
/// pictures in sRGB already, and for profiles that cannot be used: their pixels stay as they are.
final class ColorConversion: Sendable {
    private enum Way {
        case shaper(ColorShaper)
        case tables(ColorTables)
    }

    private let way: Way
    /// What samples it takes. ``ColorSpaceModel/gray`` takes R, G, B of equal samples.
    let source: ColorSpaceModel
    /// Whether sums of samples mean nearly what they mean in sRGB, so that pixels may be reduced first.
    let isPerceptual: Bool

    private init(_ way: Way, source: ColorSpaceModel) {
        self.way = way
        self.source = source
        self.isPerceptual = source != .cmyk && Self.isNearSRGB(way)
    }

    /// Nil where the profile is unusable or means sRGB.
    convenience init?(profile bytes: [UInt8]) {
        guard let profile = ICCProfile(bytes) else { return nil }
        let source = profile.space
        if let shaper = profile.shaper() {
            self.init(.shaper(shaper), source: source)
        } else {
            guard let tables = ColorTables(profile) else { return nil }
            self.init(.tables(tables), source: source)
        }
        if isIdentity { return nil }
    }

    /// Nil for primaries that make no space, and for sRGB.
    convenience init?(_ primaries: Chromaticities, _ transfer: TransferFunction) {
        guard let shaper = ColorShaper(primaries, transfer) else { return nil }
        self.init(.shaper(shaper), source: .rgb)
        if isIdentity { return nil }
    }

    /// Converts 8-bit pixels in place: R, G, B, A, alpha not multiplied in; or C, M, Y, K (0 no ink) to opaque pixels.
    func convert(_ row: UnsafeMutablePointer<UInt8>, count: Int) {
        switch way {
        case .shaper(let shaper): shaper.convert(row, count: count)
        case .tables(let tables): tables.convert(row, count: count)
        }
    }

    /// Converts 16-bit pixels of R, G, B, A in place, alpha not multiplied in.
    func convert(_ row: UnsafeMutablePointer<UInt16>, count: Int) {
        switch way {
        case .shaper(let shaper): shaper.convert(row, count: count)
        case .tables(let tables): tables.convert(row, count: count)
        }
    }

    /// Whether no colour of a lattice changes by more than one step of 255: that is sRGB, however it is written.
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

    private static func isNearSRGB(_ way: Way) -> Bool {
        let greys: [UInt8] = [32, 64, 96, 128, 160, 192, 224]
        var pixels: [UInt8] = []
        for grey in greys { pixels += [grey, grey, grey, 255] }
        run(way, &pixels)
        return greys.indices.allSatisfy { abs(Int(pixels[$0 * 4 + 1]) - Int(greys[$0])) <= 24 }
    }

    private static func run(_ way: Way, _ pixels: inout [UInt8]) {
        pixels.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            switch way {
            case .shaper(let shaper): shaper.convert(start, count: buffer.count / 4)
            case .tables(let tables): tables.convert(start, count: buffer.count / 4)
            }
        }
    }
}
