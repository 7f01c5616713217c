// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

/// One source of a request, which is its URL or an alternative, together with the loader for it.
struct FetchSource: Sendable {
    /// The loader, or `nil` if the application creates the image.
    let loader: (any ImageLoader)?
    let identity: LoaderIdentity
    let isAlternative: Bool
    /// Whether the data is already on this machine.
    let isLocal: Bool

    /// The last loader that can load the URL is used.
    ///
    /// - Throws: ``ImageError/RequestFailure/unsupportedScheme(_:)`` if no loader can load the URL or if its scheme
    ///   isn't allowed.
    init(_ url: URL, _ plan: RequestPlan, _ loaders: [any ImageLoader]) throws(ImageError) {
        let request = plan.request
        isAlternative = url != request.url
        isLocal = isAlternative ? SourceKind(url).isOnThisMachine : plan.isLocal
        guard isAlternative || request.maker == nil else {
            (loader, identity) = (nil, request.loaderIdentity)
            return
        }
        if !isAlternative {
            try plan.defaults.checkScheme(of: request)
        } else if !plan.defaults.allowsScheme(of: url) {
            throw .request(.unsupportedScheme(url.scheme?.lowercased() ?? ""))
        }
        if let own = request.loader, !isAlternative || Self.loads(own, url, request) {
            (loader, identity) = (own, request.loaderIdentity)
        } else if let found = loaders.last(where: { $0.canLoad(url) }) {
            (loader, identity) = (found, .registry)
        } else {
            throw .request(.unsupportedScheme(url.scheme ?? ""))
        }
    }

    /// A closure that supplies the data of one source doesn't load an alternative.
    private static func loads(_ loader: any ImageLoader, _ url: URL, _ request: ImageRequest) -> Bool {
        request.loaderIdentity != .key && loader.canLoad(url)
    }
}
