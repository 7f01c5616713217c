// SPDX-License-Identifier: MIT

import CColor
import WebImageCore

/// An embedded profile that Little CMS has opened in a separate context.
///
/// Safe: the profile isn't modified after `init`. Little CMS reads tags on demand under a lock of the profile.
final class ICCProfile: @unchecked Sendable {
    private let handle: OpaquePointer

    /// The maximum size of a profile in bytes. Larger profiles are ignored.
    static let maxBytes = 4 << 20

    /// Opens a profile. The initializer returns `nil` if the data isn't a valid device profile for gray, RGB, or CMYK.
    init?(_ bytes: [UInt8]) {
        guard bytes.count <= Self.maxBytes, let handle = wi_icc_open(bytes, bytes.count) else { return nil }
        self.handle = handle
    }

    deinit { wi_icc_close(handle) }

    var space: ColorSpaceModel {
        switch wi_icc_space_of(handle) {
        case WI_ICC_GRAY: .gray
        case WI_ICC_CMYK: .cmyk
        default: .rgb
        }
    }

    /// Returns the curves and the matrix of the profile, or `nil` if the profile uses lookup tables or is incomplete.
    func shaper(to target: ColorConversion.Target) -> MatrixColorConverter? {
        guard space != .cmyk, wi_icc_has_tables(handle) == 0 else { return nil }
        if space == .gray { return curve(0).map { MatrixColorConverter(curves: [$0, $0, $0], matrix: .identity) } }
        guard let (curves, colorants) = matrixModel(), let matrix = target.primaries.fromD50 else { return nil }
        return MatrixColorConverter(curves: curves, matrix: matrix * colorants)
    }

    /// Returns the curves of red, green, and blue, and the matrix from linear light to XYZ under D50. The result is `nil`
    /// if the profile isn't an RGB profile, uses lookup tables, or is incomplete.
    func matrixModel() -> (curves: [[Float]], colorants: Matrix3)? {
        guard space == .rgb, wi_icc_has_tables(handle) == 0 else { return nil }
        var colorants = [Double](repeating: 0, count: 9)
        guard wi_icc_colorants(handle, &colorants) != 0, let red = curve(0), let green = curve(1), let blue = curve(2)
        else { return nil }
        return ([red, green, blue], Matrix3(flat: colorants))
    }

    /// Returns the transform with the lookup tables of the profile for samples of 1 or 2 bytes, or `nil` if the
    /// profile is corrupt.
    func transform(to target: ColorConversion.Target, bytesPerSample: Int) -> ICCTransform? {
        let kind = target == .displayP3 ? WI_ICC_DISPLAY_P3 : WI_ICC_SRGB
        return wi_icc_transform_make(handle, kind, Int32(bytesPerSample)).map { ICCTransform($0, profile: self) }
    }

    /// Whether Little CMS can build a transform from the profile to sRGB.
    var hasTransform: Bool { wi_icc_has_transform(handle) != 0 }

    private func curve(_ channel: Int32) -> [Float]? {
        var values = [Float](repeating: 0, count: MatrixColorConverter.curveCount)
        return wi_icc_curve(handle, channel, &values, values.count) != 0 ? values : nil
    }
}

/// The color model of an image or a profile.
enum ColorSpaceModel: Hashable { case gray, rgb, cmyk }

/// A color transform with the lookup tables of a profile.
///
/// Safe: a transform that was created without the one-pixel cache of Little CMS (cmsFLAGS_NOCACHE) is read-only
/// while it runs. Creation and destruction happen once.
final class ICCTransform: @unchecked Sendable {
    private let handle: OpaquePointer
    // The transform uses the context of this profile.
    private let profile: ICCProfile

    init(_ handle: OpaquePointer, profile: ICCProfile) {
        self.handle = handle
        self.profile = profile
    }

    deinit { wi_icc_transform_free(handle) }

    /// Transforms pixels. `from` and `to` must not be the same buffer.
    func run(from: UnsafeRawPointer, to: UnsafeMutableRawPointer, count: Int) {
        wi_icc_transform_run(handle, from, to, UInt32(clamping: count))
    }
}
