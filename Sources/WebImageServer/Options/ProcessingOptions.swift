// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The processing that a URL requests.
package struct ProcessingOptions: Sendable, Hashable {
    /// The way an image is fitted into the requested box.
    package enum ResizingType: String, Sendable, Hashable, CaseIterable {
        case fit
        case fill
        case fillDown = "fill-down"
        case force
        case auto
    }

    /// The part of the image that a crop keeps.
    package struct Gravity: Sendable, Hashable {
        /// The kind of the gravity.
        package enum Kind: Sendable, Hashable {
            /// A point of the image by its fractions of the width and of the height.
            case point(Double, Double)
            /// The most interesting part.
            case smart
        }

        /// The kind. The default is the center.
        package var kind = Kind.point(0.5, 0.5)
        /// Whether the point becomes the center of the result, as far as possible. Otherwise, it's a common point of
        /// the image and of the result, such as a corner.
        package var isFocus = false
        /// The sign of the horizontal offset, which points away from the edge: -1 at the right edge, otherwise 1.
        package var signX = 1.0
        /// The sign of the vertical offset: -1 at the bottom edge, otherwise 1.
        package var signY = 1.0
        /// The horizontal offset in pixels, or as a fraction of the width if its magnitude is less than 1.
        package var offsetX = 0.0
        /// The vertical offset in pixels, or as a fraction of the height if its magnitude is less than 1.
        package var offsetY = 0.0

        /// The center without an offset.
        package static let center = Gravity()
    }

    /// A box that the result is extended to.
    package struct Extend: Sendable, Hashable {
        package var isEnabled = false
        package var gravity = Gravity.center
    }

    /// The watermark on the result.
    package struct Watermark: Sendable, Hashable {
        /// The opacity from 0 to 1.
        package var opacity = 1.0
        /// The position and the offsets.
        package var gravity = Gravity.center
        /// Whether the watermark covers the image like tiles. The offsets are then the distances between the tiles.
        package var isRepeated = false
        /// The size relative to the result, or zero for the size of the watermark.
        package var scale = 0.0
    }

    package var resizingType = ResizingType.fit
    /// The width in pixels before `dpr`, or zero for any.
    package var width = 0
    /// The height in pixels before `dpr`, or zero for any.
    package var height = 0
    package var minWidth = 0
    package var minHeight = 0
    package var zoomX = 1.0
    package var zoomY = 1.0
    /// The number of pixels per unit of the sizes.
    package var dpr = 1.0
    package var enlarges = false
    /// The maximum width and height of the result in pixels, or zero for none. Larger results are scaled down.
    package var maxResultDimension = 0
    package var extend = Extend()
    package var extendAspectRatio = Extend()
    package var gravity = Gravity.center
    /// The width of the crop before resizing, in pixels, or as a fraction if it's less than 1. Zero means the whole.
    package var cropWidth = 0.0
    package var cropHeight = 0.0
    /// The gravity of the crop, or `nil` for ``gravity``.
    package var cropGravity: Gravity?
    /// The tolerance of trimming from 0 to 255, or `nil` if edges aren't trimmed.
    package var trimThreshold: Double?
    package var trimColor: PixelColor?
    package var trimsSidesEqually = false
    package var trimsEndsEqually = false
    package var paddingTop = 0
    package var paddingRight = 0
    package var paddingBottom = 0
    package var paddingLeft = 0
    /// The clockwise rotation in degrees: 0, 90, 180, or 270.
    package var rotation = 0
    package var flipsHorizontally = false
    package var flipsVertically = false
    package var background: PixelColor?
    /// The standard deviation of the blur in pixels, or zero.
    package var blur = 0.0
    /// The radius of the sharpening mask in pixels, or zero.
    package var sharpen = 0.0
    /// The size of a block in pixels. Values below 2 have no effect.
    package var pixelate = 0
    /// The watermark, or `nil` for none.
    package var watermark: Watermark?
    /// The quality from 1 to 100, or zero for the default.
    package var quality = 0
    package var formatQuality: [ImageFormat: Int] = [:]
    /// The maximum size of the result in bytes, or zero for none.
    package var maxBytes = 0
    /// The format of the result, or `nil` to negotiate it.
    package var format: ImageFormat?
    package var stripsMetadata = true
    /// Whether the author and the copyright remain if metadata is removed.
    package var keepsCopyright = false
    /// The index of the page or the frame, or `nil` for the default.
    package var page: Int?
    /// Whether the source is sent unchanged.
    package var isRaw = false
    package var skippedFormats: Set<ImageFormat> = []
    /// The date in seconds since 1970 from which on the URL isn't valid, or `nil`.
    package var expires: Int?
    package var filename: String?
    package var isAttachment = false

    /// Creates the options of a URL without options.
    package init() {}
}
