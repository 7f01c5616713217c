// SPDX-License-Identifier: MIT

import Foundation

/// Properties of an image file that don’t affect its decoded pixels: the print resolution, the chroma subsampling, and the
/// quality of a JPEG file.
///
/// The properties come from the header, so reading them doesn't require decoding.
public struct ImageFileDetails: Sendable, Hashable {
    /// The resolution for printing, or `nil` if the file has none or has a resolution without a unit.
    ///
    /// It comes from the JFIF header of JPEG, `pHYs` of PNG, the header of BMP, or the tags of TIFF. Other files and files
    /// without these parts can have it in their EXIF data.
    public package(set) var resolution: ImageResolution?
    /// The chroma subsampling, or `nil` if the image has no chroma, or if the header doesn't contain it.
    ///
    /// It's known for JPEG, AVIF, and HEIF, and for lossy WebP images that aren't animated.
    public package(set) var chromaSubsampling: ChromaSampling?
    /// The estimated quality of a JPEG file, from 1 to 100, or `nil` for other files.
    ///
    /// It's the quality for which libjpeg has the most similar quantization table for luminance. Encoders with other tables
    /// have their own scales, so the quality that they display can differ.
    public package(set) var estimatedQuality: Int?

    /// Reads the properties of a whole file. Properties that are missing or invalid are `nil`.
    public init(data: Data) {
        let format = ImageFormat(sniffing: data)
        data.withUnsafeBytes { bytes in
            let file = HeaderBytes(bytes, isComplete: true)
            switch format {
            case .jpeg: read(JPEGFileDetails(file))
            case .png, .apng: resolution = try? ImageResolution(png: file)
            case .bmp: resolution = try? ImageResolution(bmp: file)
            case .tiff: resolution = ExifBlock(reading: file).flatMap { ImageResolution(exif: $0) }
            case .avif, .heif: chromaSubsampling = try? HEIFChroma.sampling(file)
            default: break
            }
        }
        if format == .webp, let info = try? ImageInfo(data: data), !info.isLosslessWebP, info.frameCount == 1,
            info.frameCountIsExact
        {
            chromaSubsampling = ChromaSampling(columns: 2, rows: 2)
        }
        guard resolution == nil, format != .tiff, let exif = EmbeddedMetadata(reading: data).exif else { return }
        resolution = ExifBlock(exif).flatMap { ImageResolution(exif: $0) }
    }

    private mutating func read(_ details: JPEGFileDetails) {
        resolution = details.resolution
        chromaSubsampling = details.chromaSubsampling
        estimatedQuality = details.estimatedQuality
    }
}
