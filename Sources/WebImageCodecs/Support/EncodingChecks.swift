// SPDX-License-Identifier: MIT

import WebImageCore

/// - Throws: ``TransformError/encodingFailed(format:reason:)`` where no encoder of `format` could take the pixels.
func requireEncodable(_ pixels: PixelBuffer, as format: ImageFormat, maxSide: Int) throws(ImageError) {
    guard max(pixels.width, pixels.height) <= maxSide else {
        let reason = "\(pixels.size) is larger than the format's \(maxSide) pixels a side"
        throw .transform(.encodingFailed(format: format, reason: reason))
    }
}

extension ImageEncoding {
    /// - Throws: ``RequestError/invalidOption(name:value:)`` outside 0 to 9.
    func checkedEffort() throws(ImageError) -> Int? {
        guard let effort, !(0...9).contains(effort) else { return effort }
        throw .request(.invalidOption(name: "effort", value: "\(effort)"))
    }

    /// How finely colour is kept: as asked, else in full from quality 90 on, as people ask for 90 and more to see no
    /// difference.
    func chosenSubsampling(quality: Int) -> Subsampling { subsampling ?? (quality >= 90 ? .yuv444 : .yuv420) }
}
