// SPDX-License-Identifier: MIT

import WebImageCore

/// The content of a view without an image: during a load, after a failed load, and without a URL.
public enum Placeholder: Sendable {
    /// No content. The slot is emptied.
    ///
    /// The case isn't called `none` because an option of the type `Placeholder?` would take that for `nil`, which means
    /// “not set”.
    case empty
    /// A picture at hand.
    case picture(Image)
    /// A BlurHash (28 characters or so), drawn about 32 pixels large and enlarged by the view. `aspectRatio` is width ÷
    /// height of what it stands for. A text that is no BlurHash shows nothing.
    case blurHash(String, aspectRatio: Double = 1)
    /// The bytes of a ThumbHash, drawn in its own proportions, about 32 pixels large. Bytes that are none show nothing.
    case thumbHash([UInt8])
    /// A plain colour.
    case color(PixelColor)
}
