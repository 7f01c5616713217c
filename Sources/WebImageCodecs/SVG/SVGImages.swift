// SPDX-License-Identifier: MIT

#if SVG
    import Foundation
    import WebImageCore

    /// A check of the images in the `data:` URLs of an SVG document, based on their headers.
    struct SVGImages {
        private static let types: [ImageFormat: String] = [
            .png: "png", .apng: "png", .jpeg: "jpeg", .gif: "gif", .webp: "webp", .bmp: "bmp",
        ]

        private var limits = ImageLimits.desktop
        private var count = 0
        private var total = 0

        init() {}

        init(limits: ImageLimits) { self.limits = limits }

        /// Returns the address of an image and the number of its pixels, or `nil` if librsvg must not load the image.
        /// Documents, such as another SVG, aren't loaded.
        ///
        /// The data is encoded again, so that librsvg receives exactly the data whose header was checked.
        ///
        /// - Throws: An ``ImageError/LimitFailure``.
        mutating func accept(_ address: String) throws(ImageError) -> (address: String, pixels: Int)? {
            guard address.prefix(5).lowercased() == "data:", let comma = address.firstIndex(of: ",") else { return nil }
            count += 1
            try DrawingBounds.check(count, SVGBounds.images, "embedded images")
            let payload = String(address[address.index(after: comma)...])
            let plain = payload.removingPercentEncoding ?? payload
            let isBase64 = address[..<comma].lowercased().hasSuffix("base64")
            let data = isBase64 ? Data(base64Encoded: plain, options: .ignoreUnknownCharacters) : Data(plain.utf8)
            guard let data, !data.isEmpty, let info = try? ImageInfo(data: data), let type = Self.types[info.format]
            else { return nil }
            try limits.check(info, encodedBytes: data.count, frames: .first)
            let (pixels, isLarge) = (info.storedSize.area ?? .max).multipliedReportingOverflow(
                by: max(1, info.frameCount))
            let (sum, isLarger) = total.addingReportingOverflow(pixels)
            total = isLarge || isLarger ? .max : sum
            try DrawingBounds.check(total, SVGBounds.imagePixels, "pixels of embedded images")
            return ("data:image/\(type);base64,\(data.base64EncodedString())", pixels)
        }
    }
#endif
