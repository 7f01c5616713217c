// SPDX-License-Identifier: MIT

// Names without an equivalent. The messages name the replacements.

/// Not available.
@available(*, unavailable, message: "Use ImageLoader of WebImage, and ImageManager.Configuration.loaders.")
public protocol DataLoading {}

/// Not available.
@available(*, unavailable, message: "Use CacheTier of WebImage, and ImageManager.Configuration.cacheTiers.")
public protocol DataCaching {}

/// Not available.
@available(*, unavailable, message: "Use ImageCoder of WebImage, and ImageManager.Configuration.coders.")
public protocol ImageDecoding {}

/// Not available.
@available(
    *, unavailable, message: "Use ImageDownloader.Configuration of WebImage, with Configuration.configureManager."
)
public enum DataLoader {}

/// Not available.
@available(*, unavailable, message: "Use ImageCoderRegistry of WebImage.")
public enum ImageDecoders {}

/// Not available.
@available(*, unavailable, message: "Use ImageCoderRegistry of WebImage, with Configuration.configureManager.")
public enum ImageDecoderRegistry {}

/// Not available.
@available(*, unavailable, message: "Use ImageEncoding and DecodedImage.encoded(as:) of WebImage.")
public enum ImageEncoders {}

/// Not available.
@available(*, unavailable, message: "Use WebPicture of WebImageGTK, or loadImage(with:options:into:completion:).")
public enum LazyImageView {}

/// Not available.
@available(*, unavailable, message: "Combine isn’t available. Use ImageTask.events.")
public enum ImagePublisher {}

/// Not available.
@available(*, unavailable, message: "Use UIImageView, or ImageBinder of WebImageUI for other views.")
public protocol ImageDisplaying {}

/// Not available.
@available(*, unavailable, message: "Use UIImageView, or ImageBinder of WebImageUI for other views.")
public protocol Nuke_ImageDisplaying {}
