// SPDX-License-Identifier: MIT

import Foundation

extension ImageFormat {
    /// The quality of files in this format if their encoding has none, or `nil` if the quality doesn't affect the format.
    package var defaultQuality: Int? { EncodedSizeModel.model(of: self)?.defaultQuality }
}

/// The typical effect of the quality on the size of the files of a format.
///
/// The values are medians over 24 to 51 image files, mostly photographs with 100 to 500 pixels per side, some of which
/// are variants of one photograph. They were encoded with each quality from 10 to 100 by libjpeg-turbo 2.1.5,
/// libwebp 1.2.4, libavif 0.11.1 with libaom, libheif 1.15.1 with x265, and libjxl 0.7. A search corrects the values by
/// the sizes that it finds, so they needn't be precise.
struct EncodedSizeModel {
    /// The natural logarithm of the ratio of the file size to the size for quality 80. The qualities and the sizes
    /// increase.
    typealias Curve = [(quality: Int, logSize: Double)]

    let defaultQuality: Int
    /// The sizes with the chroma subsampling that the format uses for lower qualities.
    private let curve: Curve
    /// The sizes with full chroma resolution for the qualities that use it by default, or `nil` if the default
    /// subsampling doesn't depend on the quality.
    private let fullChroma: Curve?

    /// The properties of drafts, or `nil` if files with the lowest effort aren't encoded much faster.
    var drafts: Drafts?

    /// The properties of drafts, which are files with the lowest effort.
    struct Drafts {
        /// The lowest effort for which files take much longer than drafts. The default effort takes longer, too.
        let lowestEffort: Int
        /// The effort of the files if the encoding has none, or `nil` for the default effort of the format. An encode of
        /// HEIF with the default effort takes twice as long, for files that are about 2% smaller.
        var effort: Int?
        /// The natural logarithm of the ratio of the size of a file with ``effort`` to the size of a draft with
        /// quality 80. The value is the mean of ten photographs.
        let logRatio: Double
        /// The mean change of that logarithm if the logarithm of the size increases by 1 because of the quality.
        let slope: Double

        func areFaster(than effort: Int?) -> Bool { effort.map { $0 >= lowestEffort } ?? true }
    }

    /// The lowest quality with full chroma resolution by default.
    static let lowestFullChromaQuality = 90
    /// The highest quality for which a file with reduced chroma resolution is typically smaller than one with
    /// ``lowestFullChromaQuality`` and full chroma resolution. The search doesn't exceed the requested quality either.
    static let highestReducedChromaQuality = 95

    /// Whether the default subsampling depends on the quality.
    var changesSubsampling: Bool { fullChroma != nil }

    /// Returns the expected natural logarithm of the relative file size. It never decreases with the quality.
    ///
    /// - Parameter hasFullChroma: Whether the file has full chroma resolution because of its quality.
    func logSize(quality: Int, hasFullChroma: Bool) -> Double {
        let curve = hasFullChroma ? fullChroma ?? curve : curve
        guard let next = curve.firstIndex(where: { $0.quality >= quality }) else { return curve.last?.logSize ?? 0 }
        guard next > 0 else { return curve[0].logSize }
        let (low, high) = (curve[next - 1], curve[next])
        let share = Double(quality - low.quality) / Double(high.quality - low.quality)
        return low.logSize + share * (high.logSize - low.logSize)
    }

    /// Returns the approximate size of the headers in a file without metadata, in bytes.
    static func headerByteCount(of format: ImageFormat) -> Int {
        switch format {
        case .jpeg: 350
        case .avif: 280
        case .heif: 450
        case .webp, .jxl: 30
        default: 60
        }
    }

    /// Returns the model of a format, or `nil` if the quality doesn't affect the size of its files. Formats of custom
    /// coders have the curve of JPEG.
    static func model(of format: ImageFormat) -> EncodedSizeModel? {
        switch format {
        case .png, .apng, .gif, .bmp, .ico, .tiff, .qoi, .pbm, .pgm, .ppm, .pam: nil
        case .jpeg: jpeg
        case .webp: webp
        case .avif: avif
        case .heif: heif
        case .jxl: jxl
        default: EncodedSizeModel(defaultQuality: 90, curve: jpeg.curve, fullChroma: nil)
        }
    }

    private static let jpeg = EncodedSizeModel(
        defaultQuality: 90,
        curve: [
            (10, -1.51), (15, -1.25), (20, -1.06), (30, -0.80), (40, -0.64), (50, -0.51), (60, -0.38), (70, -0.22),
            (75, -0.12), (80, 0), (85, 0.15), (90, 0.36), (93, 0.48), (95, 0.57), (97, 0.75), (98, 0.85), (99, 1),
            (100, 1.1),
        ],
        fullChroma: [(90, 0.58), (92, 0.62), (94, 0.69), (95, 0.74), (97, 0.88), (98, 0.96), (99, 1.21), (100, 1.51)])

    private static let webp = EncodedSizeModel(
        defaultQuality: 80,
        curve: [
            (10, -1.22), (15, -1.08), (20, -0.96), (30, -0.75), (40, -0.58), (50, -0.46), (60, -0.35), (70, -0.24),
            (75, -0.18), (80, 0), (85, 0.19), (90, 0.41), (93, 0.58), (95, 0.67), (97, 0.8), (100, 0.93),
        ], fullChroma: nil)

    private static let avif = EncodedSizeModel(
        defaultQuality: 70,
        curve: [
            (10, -2.09), (20, -1.71), (30, -1.36), (40, -0.99), (50, -0.71), (60, -0.44), (70, -0.24), (75, -0.13),
            (80, 0), (85, 0.15), (89, 0.36), (90, 0.44), (93, 0.54), (95, 0.66), (97, 0.67), (100, 0.84),
        ], fullChroma: [(90, 0.67), (93, 0.74), (95, 0.82), (97, 0.83), (98, 1.21), (100, 1.22)],
        drafts: Drafts(lowestEffort: 3, logRatio: -0.06, slope: -0.09))

    private static let heif = EncodedSizeModel(
        defaultQuality: 75,
        curve: [
            (10, -2.59), (15, -2.37), (20, -2.17), (30, -1.76), (40, -1.37), (50, -0.96), (60, -0.59), (70, -0.27),
            (75, -0.1), (80, 0), (85, 0.15), (90, 0.23), (93, 0.31), (100, 0.32),
        ], fullChroma: nil, drafts: Drafts(lowestEffort: 5, effort: 5, logRatio: -0.12, slope: 0.1))

    private static let jxl = EncodedSizeModel(
        defaultQuality: 90,
        curve: [
            (10, -1.55), (15, -1.33), (20, -1.11), (30, -0.86), (40, -0.75), (50, -0.62), (60, -0.44), (70, -0.24),
            (75, -0.12), (80, 0), (85, 0.16), (90, 0.37), (93, 0.54), (95, 0.69), (97, 0.89), (98, 1.06), (99, 1.23),
            (100, 1.7),
        ], fullChroma: nil)
}
