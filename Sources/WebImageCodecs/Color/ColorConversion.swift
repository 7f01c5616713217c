// SPDX-License-Identifier: MIT

import WebImageCore

/// A conversion of pixels to sRGB or Display P3. It's thread-safe and shared by all images with the same color space.
/// Images that already have the color space of the target and images with unusable profiles have no conversion, so their
/// pixels stay unchanged.
final class ColorConversion: Sendable {
    /// The color space of the result.
    enum Target: Hashable {
        case sRGB
        case displayP3

        var primaries: Chromaticities { self == .sRGB ? .sRGB : .displayP3 }
    }

    private enum Method {
        case shaper(MatrixColorConverter)
        case tables(LUTColorConverter)

        func convert(_ row: UnsafeMutableRawPointer, format: PixelFormat, count: Int) {
            switch self {
            case .shaper(let shaper): shaper.convert(row, format: format, count: count)
            case .tables(let tables): tables.convert(row, format: format, count: count)
            }
        }
    }

    private let way: Method
    let origin: ColorCache.Key
    /// The color model of the input. ``ColorSpaceModel/gray`` accepts R, G, and B samples that are equal.
    let source: ColorSpaceModel
    /// Whether averages of samples have nearly the same meaning as in sRGB, so that pixels can be reduced before the
    /// conversion.
    let isPerceptual: Bool
    let sourceCurve: LightCurve

    private init(_ way: Method, source: ColorSpaceModel, origin: ColorCache.Key) {
        self.way = way
        self.origin = origin
        self.source = source
        self.isPerceptual = source != .cmyk && Self.isNearSRGB(way)
        sourceCurve = Self.curve(of: way, origin)
    }

    /// Creates a conversion from an ICC profile. The initializer returns `nil` if the profile is unusable or describes
    /// the target.
    convenience init?(profile bytes: [UInt8], to target: Target = .sRGB) {
        guard let profile = ICCProfile(bytes) else { return nil }
        let source = profile.space
        if let shaper = profile.shaper(to: target) {
            self.init(.shaper(shaper), source: source, origin: .profile(bytes))
        } else {
            guard let tables = LUTColorConverter(profile, to: target) else { return nil }
            self.init(.tables(tables), source: source, origin: .profile(bytes))
        }
        if isIdentity { return nil }
    }

    /// Creates a conversion from primaries and a transfer function. The initializer returns `nil` if the primaries
    /// don't define a color space, and if they describe the target.
    convenience init?(_ primaries: Chromaticities, _ transfer: TransferFunction, to target: Target = .sRGB) {
        guard let shaper = MatrixColorConverter(primaries, transfer, to: target) else { return nil }
        self.init(.shaper(shaper), source: .rgb, origin: .numbers(primaries, transfer))
        if isIdentity { return nil }
    }

    /// Returns the conversion from the same source to Display P3, or `nil` if the source is Display P3.
    private func toDisplayP3() -> ColorConversion? {
        ColorCache.shared.conversion(.displayP3(origin)) {
            switch origin {
            case .profile(let bytes): ColorConversion(profile: bytes, to: .displayP3)
            case .numbers(let primaries, let transfer): ColorConversion(primaries, transfer, to: .displayP3)
            case .codePoints, .displayP3: nil
            }
        }
    }

    /// Returns the conversion to Display P3 for a source with the conversion `conversion` to sRGB. The source is sRGB if
    /// it needs no conversion to sRGB. The result is `nil` if the source is Display P3.
    static func toDisplayP3(from conversion: ColorConversion?) -> ColorConversion? {
        if let conversion { return conversion.toDisplayP3() }
        return ColorCache.shared.conversion(.displayP3(.numbers(.sRGB, .sRGB))) {
            ColorConversion(.sRGB, .sRGB, to: .displayP3)
        }
    }

    var mapsTones: Bool {
        guard case .numbers(_, let transfer) = origin else { return false }
        return transfer == .pq || transfer == .hlg
    }

    /// Returns whether a conversion of the same source to `target` clips colors. Lookup tables map the colors of devices
    /// whose gamuts aren't known. They count as wider than sRGB, but not as wider than Display P3.
    func clips(to target: Target) -> Bool {
        guard source != .gray else { return false }
        switch way {
        case .tables: return target == .sRGB
        case .shaper(let shaper):
            guard target == .displayP3 else { return shaper.clips }
            guard let other = toDisplayP3(), case .shaper(let shaper) = other.way else { return false }
            return shaper.clips
        }
    }

    /// Converts pixels in place. The input is R, G, B, A with straight alpha, or C, M, Y, K with 8 bits per sample (0
    /// means no ink), which becomes opaque.
    func convert(_ row: UnsafeMutableRawPointer, format: PixelFormat, count: Int) {
        way.convert(row, format: format, count: count)
    }

    func convert(_ row: UnsafeMutablePointer<UInt8>, count: Int) { way.convert(row, format: .rgba8, count: count) }

    func convert(_ row: UnsafeMutablePointer<UInt16>, count: Int) { way.convert(row, format: .rgba16, count: count) }

    /// Whether no color of a lattice changes by more than 1 of 255. Such a color space is sRGB, regardless of its
    /// encoding.
    private var isIdentity: Bool {
        guard source != .cmyk else { return false }
        let pixels = source == .gray ? Self.grayLattice : Self.colorLattice
        var converted = pixels
        Self.run(way, &converted)
        return zip(pixels, converted).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
    }

    private static let latticeSteps: [UInt8] = [0, 1, 2, 4, 8, 16, 32, 64, 96, 128, 160, 192, 224, 255]
    /// The colors of ``isIdentity`` as opaque pixels, for gray and for other images.
    private static let grayLattice: [UInt8] = {
        var pixels: [UInt8] = []
        for gray in latticeSteps { pixels += [gray, gray, gray, 255] }
        return pixels
    }()
    private static let colorLattice: [UInt8] = {
        var pixels: [UInt8] = []
        for red in latticeSteps {
            for green in latticeSteps {
                for blue in latticeSteps { pixels += [red, green, blue, 255] }
            }
        }
        return pixels
    }()

    /// Returns the curve of the source. Lookup tables count as similar to sRGB.
    private static func curve(of way: Method, _ origin: ColorCache.Key) -> LightCurve {
        switch (origin, way) {
        case (.numbers(_, .pq), _): .pq
        case (.numbers(_, .hlg), _): .hlg
        case (_, .shaper(let shaper)): LightCurve(middle: shaper.middle)
        case (_, .tables): .sRGB
        }
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
            way.convert(start, format: .rgba8, count: buffer.count / 4)
        }
    }
}
