// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// A type that loads the data of an image, such as the downloader, the file loader, the data URL loader, or a custom
/// loader.
public protocol ImageLoader: Sendable {
    /// Returns whether this loader can load `url`. The most recently added loader is tried first.
    func canLoad(_ url: URL) -> Bool

    /// Loads the data of an image.
    ///
    /// This method returns when the response is complete. If the surrounding task is canceled, it soon throws
    /// ``ImageError/cancelled``.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - context: The context, which receives progress and chunks of the body and has the live priority.
    /// - Returns: The complete body, or no body for a 304 response if the request allows it.
    /// - Throws: An ``ImageError`` of the cases ``ImageError/request(_:)``, ``ImageError/network(_:)``, and
    ///   ``ImageError/limitExceeded(_:)``, or ``ImageError/cancelled``.
    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse
}
