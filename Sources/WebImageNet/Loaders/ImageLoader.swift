// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// Gets the bytes of a source: the downloader, files, data URLs, or an app's own.
public protocol ImageLoader: Sendable {
    /// Whether this loader takes `url`. Loaders are asked in order, last added first.
    func canLoad(_ url: URL) -> Bool

    /// Loads. Runs until the answer is whole; cancelling the surrounding Swift task ends it soon with
    /// ``RequestError/cancelled``.
    ///
    /// - Parameters:
    ///   - request: what to load.
    ///   - context: takes progress and body parts, and tells the live priority.
    /// - Returns: the whole body, or none for a 304 where the request allows it.
    /// - Throws: families 1xxx, 2xxx and 6xxx.
    func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse
}
