// SPDX-License-Identifier: MIT

import WebImageCore

/// Throws ``ImageError/ProcessingFailure/encodingFailed(format:reason:)`` if a side is longer than `maxDimension`
/// pixels.
func requireEncodable(_ pixels: PixelBuffer, as format: ImageFormat, maxDimension: Int) throws(ImageError) {
    guard max(pixels.width, pixels.height) <= maxDimension else {
        let reason = "the size is \(pixels.size), but the format allows at most \(maxDimension) pixels per side"
        throw .processing(.encodingFailed(format: format, reason: reason))
    }
}

extension ImageEncoding {
    /// Throws ``ImageError/RequestFailure/invalidOption(name:value:)`` if the effort isn't between 0 and 9.
    func checkedEffort() throws(ImageError) -> Int? {
        guard let effort, !(0...9).contains(effort) else { return effort }
        throw .request(.invalidOption(name: "effort", value: "\(effort)"))
    }

    /// Returns the requested chroma subsampling, or a default for the quality and the gamut. From 90 on, and for color
    /// spaces that exceed Display P3, the default is full chroma resolution, because callers expect no visible difference
    /// at such a quality, and because saturated colors consist mainly of chroma.
    func chosenSubsampling(quality: Int, _ metadata: ImageMetadata) -> ChromaSubsampling {
        chromaSubsampling ?? (quality >= 90 || metadata.exceedsDisplayP3 ? .yuv444 : .yuv420)
    }
}
