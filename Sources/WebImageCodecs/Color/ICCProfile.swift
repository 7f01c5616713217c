// SPDX-License-Identifier: MIT

import CColor
import WebImageCore

/// One embedded profile, opened by Little CMS in a context of its own.
final class ICCProfile: @unchecked Sendable {
    // Sendable: nothing is written to it after init; the tags that Little CMS reads on demand it reads under a lock of
    // the profile's own.
    private let handle: OpaquePointer

    /// Longer profiles are ignored.
    static let maxBytes = 4 << 20

    /// Nil for what is no profile of a device in grey, RGB or CMYK.
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

    /// Curves and matrix; nil where the profile works by tables or lacks a part.
    func shaper() -> ColorShaper? {
        guard space != .cmyk, wi_icc_has_tables(handle) == 0 else { return nil }
        if space == .gray { return curve(0).map { ColorShaper(curves: [$0, $0, $0], matrix: .identity) } }
        var colorants = [Double](repeating: 0, count: 9)
        guard wi_icc_colorants(handle, &colorants) != 0, let target = Chromaticities.sRGBFromD50 else { return nil }
        guard let red = curve(0), let green = curve(1), let blue = curve(2) else { return nil }
        return ColorShaper(curves: [red, green, blue], matrix: target * Matrix3(flat: colorants))
    }

    /// The way through the profile's tables, for samples of 1 or 2 bytes; nil where it is damaged.
    func transform(bytesPerSample: Int) -> ICCTransform? {
        wi_icc_transform_make(handle, Int32(bytesPerSample)).map { ICCTransform($0, profile: self) }
    }

    private func curve(_ channel: Int32) -> [Float]? {
        var values = [Float](repeating: 0, count: ColorShaper.curveCount)
        return wi_icc_curve(handle, channel, &values, values.count) != 0 ? values : nil
    }
}

/// What the samples of a picture or a profile stand for.
enum ColorSpaceModel: Hashable { case gray, rgb, cmyk }

/// A conversion through a profile's tables.
final class ICCTransform: @unchecked Sendable {
    // Sendable: Little CMS only reads a transform while it runs, when it was made without its one-pixel cache
    // (cmsFLAGS_NOCACHE); making and freeing happen once.
    private let handle: OpaquePointer
    // Its context is the transform's.
    private let profile: ICCProfile

    init(_ handle: OpaquePointer, profile: ICCProfile) {
        self.handle = handle
        self.profile = profile
    }

    deinit { wi_icc_transform_free(handle) }

    /// `from` must not be `to`.
    func run(from: UnsafeRawPointer, to: UnsafeMutableRawPointer, count: Int) {
        wi_icc_transform_run(handle, from, to, UInt32(clamping: count))
    }
}
