// SPDX-License-Identifier: MIT

// Names without an equivalent. The messages name the replacements.

/// Not available.
@available(*, unavailable, message: "SwiftUI isn’t available. Use KF.url(_:) with set(to:).")
public enum KFImage {}

/// Not available.
@available(*, unavailable, message: "SwiftUI isn’t available. Use KF.url(_:) with set(to:). Views play animations.")
public enum KFAnimatedImage {}

/// Not available.
@available(*, unavailable, message: "Use DownloadInterceptor and ResponseBodyModifier of WebImage.")
public protocol ImageDownloaderDelegate {}

/// Not available.
@available(*, unavailable, message: "Use ImageDownloader.Configuration.redirectHandler of WebImage.")
public protocol ImageDownloadRedirectHandler: Sendable {}

/// Not available.
@available(*, unavailable, message: "Use NetworkOptions.credentials and NetworkOptions.tls of WebImage.")
public protocol AuthenticationChallengeResponsible {}

/// Not available.
@available(*, unavailable, message: "Use ImageIndicator.custom(isAnimated:draw:) of WebImageGTK.")
public protocol Indicator {}

/// Not available.
@available(*, unavailable, message: "Use UIImage as placeholder, or ImagePlaceholder of WebImage.")
public protocol Placeholder {}

/// Not available.
@available(*, unavailable, message: "Videos aren’t supported. Use ImageRequest(cacheKey:data:) of WebImage.")
public enum AVAssetImageDataProvider {}

/// Not available.
@available(*, unavailable, message: "Use ImageViewOptions.retriesWhenNetworkReturns of WebImage.")
public enum NetworkRetryStrategy {}
