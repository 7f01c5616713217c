// SPDX-License-Identifier: MIT

// Names without an equivalent. The messages name the replacements.

/// Not available.
@available(*, unavailable, message: "Use ImageRequestInterceptor and ImageManager.Configuration.failureLifetime.")
public protocol SDWebImageManagerDelegate {}

/// Not available.
@available(*, unavailable, message: "Use the closures of SDWebImagePrefetcher.prefetchURLs(_:progress:completed:).")
public protocol SDWebImagePrefetcherDelegate {}

/// Not available.
@available(*, unavailable, message: "Use ImageLoader of WebImage, and ImageManager.Configuration.loaders.")
public protocol SDImageLoader {}

/// Not available.
@available(*, unavailable, message: "Use CacheTier of WebImage, and ImageManager.Configuration.cacheTiers.")
public protocol SDImageCacheProtocol {}

/// Not available.
@available(
    *, unavailable, message: "Use MemoryCacheTier of WebImage, and ImageManager.Configuration.customMemoryCache."
)
public protocol SDMemoryCacheProtocol {}

/// Not available.
@available(*, unavailable, message: "Use CacheTier of WebImage, and ImageManager.Configuration.cacheTiers.")
public protocol SDDiskCacheProtocol {}

/// Not available.
@available(
    *, unavailable,
    message: "Use ProgressiveImageDecoder of WebImage, and ImageCoder.makeProgressiveDecoder(info:options:context:)."
)
public protocol SDProgressiveImageCoder {}

/// Not available.
@available(*, unavailable, message: "Use ImageAnimation of WebImage, which an ImageCoder returns.")
public protocol SDAnimatedImageCoder {}

/// Not available.
@available(*, unavailable, message: "Use MemoryCache of WebImage.")
public enum SDMemoryCache {}

/// Not available.
@available(*, unavailable, message: "Use DiskCache of WebImage.")
public enum SDDiskCache {}

/// Not available.
@available(*, unavailable, message: "Completion closures run on the main actor. Use Task { … } in the closure.")
public enum SDCallbackQueue {}

/// Not available.
@available(*, unavailable, message: "Use ImageManager.Configuration.cacheSerializer of WebImage.")
public enum SDWebImageCacheSerializer {}

/// Not available.
@available(*, unavailable, message: "Use ImageLoader of WebImage.")
public enum SDWebImageDownloaderOperation {}

/// Not available.
@available(*, unavailable, message: "Use ImageAnimation(frames:loopCount:) and the transformers of WebImage.")
public enum SDImageCoderHelper {}

/// Not available.
@available(*, unavailable, message: "Use ImageAnimation(frames:loopCount:) of WebImage.")
public enum SDImageFrame {}

/// Not available.
@available(*, unavailable, message: "Use PixelCanvas of WebImage.")
public enum SDGraphicsImageRenderer {}
