// SPDX-License-Identifier: MIT

import WebImageCore

/// A description of a delivered result, for the statistics and the observers.
struct DeliveredResult: Sendable {
    let source: ImageResponse.Source
    /// The size of the delivered data, or of the original data of a delivered image, in bytes. It's `nil` if only the
    /// decoded image is available.
    var byteCount: Int?
    /// The size of the delivered image in pixels, or `nil` for data that wasn't decoded.
    var imageSize: PixelSize?
}

extension DeliveredResult {
    init(_ response: ImageResponse) {
        self.init(
            source: response.source, byteCount: response.originalByteCount, imageSize: response.image.size)
    }
}
