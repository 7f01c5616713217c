// SPDX-License-Identifier: MIT

import WebImageCore

/// The content of a view without an image: during a load, after a failed load, and without a URL.
public enum ImagePlaceholder: Sendable {
    /// No content. The slot is emptied.
    ///
    /// The case isn't called `none` because an option of the type `ImagePlaceholder?` would take that for `nil`, which
    /// means “not set”.
    case empty
    /// An image.
    case image(DecodedImage)
    /// A BlurHash with typically 28 characters, which is rendered at about 32 pixels and enlarged by the view.
    ///
    /// `aspectRatio` is the width divided by the height of the represented image. If the text isn't a valid BlurHash,
    /// the view shows nothing.
    case blurHash(String, aspectRatio: Double = 1)
    /// The bytes of a ThumbHash, which is rendered at about 32 pixels with its own aspect ratio. If the bytes aren't a
    /// valid ThumbHash, the view shows nothing.
    case thumbHash([UInt8])
    /// A solid color.
    case color(PixelColor)
    /// An icon of the toolkit's icon theme, by its name. Toolkits without icon themes show nothing.
    case icon(String)
    /// Content that only the toolkit can draw, such as a paintable. Other toolkits show nothing.
    case custom(any PlaceholderContent)

    /// The icon `image-missing-symbolic`, which a view shows after a failed load if it would be empty otherwise.
    public static let missingImage = ImagePlaceholder.icon("image-missing-symbolic")
}

/// Placeholder content that only one toolkit can draw. The module of the toolkit declares the types that conform.
public protocol PlaceholderContent: Sendable {}
