// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageStore

extension ImageRequest: Hashable {
    /// Returns whether two requests have the same source and the same options.
    ///
    /// Transformers and coders are equal if their identifiers are. Loaders are equal if they're the same object, equal
    /// values of a `Hashable` type, or copies of one request. Caches are equal if they're the same object. Images that
    /// the application creates are equal if their keys are. ``userInfo`` isn't compared.
    public static func == (lhs: ImageRequest, rhs: ImageRequest) -> Bool {
        if lhs.storage.identity == rhs.storage.identity { return true }
        guard lhs.url == rhs.url else { return false }
        return lhs.decodesLike(rhs) && lhs.cachesLike(rhs) && lhs.loadsLike(rhs)
    }

    /// Hashes the source, the size, and the transformers.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(size)
        hasher.combine(identities)
        hasher.combine(caching.key)
    }

    private func decodesLike(_ other: ImageRequest) -> Bool {
        guard identities == other.identities, transformsAnimations == other.transformsAnimations else { return false }
        guard decoding == other.decoding, coder?.identifier == other.coder?.identifier else { return false }
        return previews == other.previews && limits == other.limits
    }

    private func cachesLike(_ other: ImageRequest) -> Bool {
        let (left, right) = (caching, other.caching)
        guard cachePolicy == other.cachePolicy, left.key == right.key, left.keyHeaders == right.keyHeaders,
            left.partition == right.partition, left.tags == right.tags, left.timeToLive == right.timeToLive
        else { return false }
        guard left.readFrom == right.readFrom, left.writeTo == right.writeTo,
            left.originalReadFrom == right.originalReadFrom, left.originalWriteTo == right.originalWriteTo
        else { return false }
        guard left.processedEncoding == right.processedEncoding, left.allowsLargerImages == right.allowsLargerImages,
            left.cache === right.cache, left.originalCache === right.originalCache
        else { return false }
        return left.bypassesFailureCache == right.bypassesFailureCache
            && left.storesAnyMethod == right.storesAnyMethod
            && left.waitsUntilStored == right.waitsUntilStored
    }

    private func loadsLike(_ other: ImageRequest) -> Bool {
        guard loaderIdentity == other.loaderIdentity, (maker == nil) == (other.maker == nil) else { return false }
        guard headers == other.headers, network == other.network else { return false }
        guard method == other.method, body == other.body else { return false }
        guard priority == other.priority, maxInFlightRequests == other.maxInFlightRequests else { return false }
        guard preliminary == other.preliminary, lowerQuality == other.lowerQuality else { return false }
        return includesOriginalData == other.includesOriginalData
            && continuesAfterCancellation == other.continuesAfterCancellation && deadline == other.deadline
    }
}

extension ImageRequest: CustomStringConvertible {
    /// The URL without user name, password, query, and fragment, for messages and logs.
    public var description: String { "ImageRequest(\(Redaction.text(of: url)))" }
}
