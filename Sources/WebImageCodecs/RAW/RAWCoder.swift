// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A coder for the JPEG previews of camera RAW files.
///
/// The coder doesn't develop the sensor data. It decodes the largest embedded JPEG image with the JPEG coder, and
/// applies the orientation of the RAW file. If a file has no preview, the registry tries the TIFF coder next.
package struct RAWCoder: ReducingImageCoder {
    /// Creates a coder.
    package init() {}

    /// Returns whether the format is a camera RAW format.
    package func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { format?.isRAW ?? false }

    /// Decodes the largest JPEG preview.
    ///
    /// - Throws: ``ImageError/DecodingFailure/Reason/unsupportedFeature(feature:)`` if the file has no JPEG preview, or
    ///   an error of the JPEG coder.
    package func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try context.checkCancellation()
        guard !data.isEmpty else { throw .decoding(.noData) }
        guard let format = info?.format ?? ImageFormat(sniffing: data), format.isRAW else {
            throw .decoding(.unknownFormat)
        }
        let preview = try RAWPreview(data, format: format)
        guard preview.range.lowerBound < data.count else {
            throw .decoding(
                .truncated(format: format, receivedBytes: data.count, expectedBytes: preview.range.upperBound))
        }
        try info.requireAgreement(on: preview.image.storedSize, format: format)
        let start = data.startIndex + preview.range.lowerBound
        let end = data.startIndex + min(preview.range.upperBound, data.count)
        let image = try JPEGCoder().decode(
            data[start..<end], info: preview.image, options: options, context: context)
        return DecodedImage(pixels: image.pixels, scale: options.scale, format: format, metadata: image.metadata)
    }

    /// Returns the requirements for the JPEG preview, which the JPEG coder reduces, or those of the TIFF coder if the file
    /// has no preview.
    package func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements? {
        guard info.rowsPerUnit != nil else {
            return JPEGCoder().requirements(for: info, options: options, isIncremental: isIncremental)
        }
        #if TIFF
            return TIFFCoder().requirements(for: info, options: options, isIncremental: isIncremental)
        #else
            return nil
        #endif
    }
}
