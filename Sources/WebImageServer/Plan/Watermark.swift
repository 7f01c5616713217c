// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// An image that the server draws on results whose URL requests it.
public struct ServerWatermark: Sendable, Hashable {
    /// The encoded image, in a format that the manager can decode.
    public var data: Data
    /// The opacity from 0 to 1, which the opacity of the URL multiplies. The default is 1.
    public var opacity: Double

    /// Creates a watermark.
    public init(data: Data, opacity: Double = 1) {
        self.data = data
        self.opacity = opacity
    }
}

/// A decoded watermark. Watermarks with equal data and opacity are equal.
package struct DecodedWatermark: Sendable, Hashable {
    private let digest: ContentDigest
    private let opacity: Double
    private let pixels: PixelBuffer

    /// Decodes a watermark.
    package init(_ watermark: ServerWatermark, _ manager: ImageManager) throws(ImageError) {
        let limits = manager.configuration.limits
        let image = try manager.configuration.coders.decode(
            watermark.data, context: ImageProcessingContext(limits: limits))
        pixels = image.pixels
        digest = ContentDigest(of: watermark.data)
        opacity = min(max(0, watermark.opacity), 1)
    }

    package static func == (left: DecodedWatermark, right: DecodedWatermark) -> Bool {
        left.digest == right.digest && left.opacity == right.opacity
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
        hasher.combine(opacity)
    }

    var identifier: String { "\(digest.high),\(digest.low),\(opacity)" }

    /// `pixelRatio` is the number of pixels per unit of the offsets.
    func drawn(
        on image: PixelBuffer, _ options: ProcessingOptions.Watermark, pixelRatio: Double,
        _ context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let opacity = opacity * options.opacity
        guard opacity > 0 else { return image }
        let mark = try scaled(for: image.size, options.scale, context)
        return try image.drawTiles(
            mark, at: places(of: mark.size, in: image.size, options, pixelRatio), opacity: opacity, context: context)
    }

    /// Returns the watermark, fitted into a fraction of the image if the scale isn't zero.
    private func scaled(
        for size: PixelSize, _ scale: Double, _ context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        guard scale > 0 else { return pixels }
        let factor = min(
            Double(size.width) * scale / Double(pixels.width), Double(size.height) * scale / Double(pixels.height))
        let width = max(1, (Double(pixels.width) * factor).rounded())
        let height = max(1, (Double(pixels.height) * factor).rounded())
        return try StandardTransformer.resize(.exact(width: width, height: height))
            .transform(pixels, context: context)
    }

    /// The maximum number of tiles. A smaller watermark or a larger image would take too long.
    private static let mostTiles = 4_096

    private func places(
        of mark: PixelSize, in size: PixelSize, _ options: ProcessingOptions.Watermark, _ pixelRatio: Double
    ) -> [(x: Int, y: Int)] {
        guard options.isRepeated else {
            return [options.gravity.position(of: mark, in: size, pixelRatio: pixelRatio)]
        }
        // The offsets are the distances of the tiles.
        let stepX = mark.width + options.gravity.distance(options.gravity.offsetX, size.width, pixelRatio)
        let stepY = mark.height + options.gravity.distance(options.gravity.offsetY, size.height, pixelRatio)
        let places = stride(from: 0, to: size.height, by: max(1, stepY)).lazy.flatMap { y in
            stride(from: 0, to: size.width, by: max(1, stepX)).lazy.map { x in (x, y) }
        }
        return Array(places.prefix(Self.mostTiles))
    }
}
