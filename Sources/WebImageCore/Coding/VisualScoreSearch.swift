// SPDX-License-Identifier: MIT

import Foundation

/// A coder that converts images to a color space that a format can describe before it encodes them, and to one that a
/// toolkit can describe after it decodes them.
package protocol ColorPreparingCoder: ImageCoder {
    /// Returns a decoded image in the form of ``ImageDecodingOptions/DynamicRange/pq``.
    func displayedInPQ(_ image: DecodedImage, context: ImageProcessingContext) throws(ImageError) -> DecodedImage
    /// Returns the image with the selected frames, in the color space in which the encoder writes it.
    func prepared(
        _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage
}

/// A search for the lowest quality at which an encoded image reaches a visual score.
///
/// The search encodes the image, decodes the result, and compares both. A ``ScoreSearch`` selects the qualities.
enum VisualScoreSearch {
    /// Returns the lowest score for which chroma has the full resolution by default, because half the resolution needs
    /// more bytes for this score or doesn't reach it. The JPEG encoder corrects the light of edges between colors, so
    /// half the resolution is sufficient for higher scores than for AVIF.
    private static func fullChromaScore(_ format: ImageFormat) -> Int { format == .jpeg ? 84 : 65 }

    /// The quality above which the search continues with the full resolution of chroma, because half the resolution may
    /// not reach the score at any quality.
    private static let highestReducedChromaQuality = 92

    /// Returns the encoded image whose score is nearest to ``ImageEncoding/visualScore``, and its encoding. The result is
    /// `nil` if the encoding has no score, or if it doesn't apply to the image and the format.
    static func run(
        _ image: DecodedImage, as encoding: ImageEncoding, coder: any ImageCoder, context: ImageProcessingContext
    ) throws(ImageError) -> (data: Data, encoding: ImageEncoding)? {
        let format = encoding.formatOrAutomatic
        guard let score = encoding.visualScore, !encoding.isLossless, !image.isAnimated else { return nil }
        var trial = encoding
        // A fixed resolution of chroma lets the score change continuously with the quality.
        let chroma = encoding.chromaSubsampling ?? (score >= fullChromaScore(format) ? .yuv444 : .yuv420)
        trial.chromaSubsampling = chroma
        guard var search = ScoreSearch(format, score: score, hasFullChroma: chroma == .yuv444),
            coder.canDecode(format, prefix: Data())
        else { return nil }
        var image = image
        if let coder = coder as? any ColorPreparingCoder {
            image = try coder.prepared(image, as: encoding, context: context)
        }
        var options = ImageDecodingOptions(frames: .first, color: image.metadata.color == .sRGB ? .sRGB : .source)
        var reference = image.pixels
        if image.metadata.hasHDRSamples, let coder = coder as? any ColorPreparingCoder {
            // The score is defined for standard dynamic range, so the images are compared after their tones are mapped.
            var standard = encoding
            standard.color = .sRGB
            reference = try coder.prepared(image, as: standard, context: context).pixels
            options.color = .sRGB
        }
        var best: (data: Data, encoding: ImageEncoding)?
        var closest = Double.infinity
        while let quality = search.next() {
            try context.checkCancellation()
            if quality > highestReducedChromaQuality, encoding.chromaSubsampling == nil,
                trial.chromaSubsampling != .yuv444,
                let full = ScoreSearch(format, score: score, hasFullChroma: true), format == .jpeg || format == .avif
            {
                trial.chromaSubsampling = .yuv444
                search = full
                continue
            }
            trial.quality = quality
            let data = try coder.encode(image, as: trial, context: context)
            let decoded = try coder.decode(
                data, info: try? ImageInfo(data: data), options: options, context: context)
            let measured = try VisualScore(
                decoded.pixels, reference: reference, background: encoding.background, context: context)
            search.add(quality: quality, measured)
            let difference = abs(measured.value - Double(score))
            if difference < closest { (best, closest) = ((data, trial), difference) }
        }
        return best
    }
}
