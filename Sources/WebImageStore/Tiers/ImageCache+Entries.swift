// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// Questions and changes that concern the entry of one request in every tier.
extension ImageCache {
    /// Returns the kinds of the tiers that have an entry for a key which a request with the given header fields
    /// selects.
    ///
    /// This method reads the entries, so the result doesn't contain tiers whose entry is corrupt.
    package func tiers(having key: CacheKey, matching request: HTTPHeaderFields) async -> ImageCache.Tiers {
        var kinds: ImageCache.Tiers = []
        for tier in encodedTiers where tier.mayContain(key) {
            if await tier.entry(for: key, matching: request) != nil { kinds.formUnion(tier.category) }
        }
        return kinds
    }

    /// Replaces or removes the custom value of the entry that a request with the given header fields selects, in every
    /// tier that has the entry.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/userDataSize`` if the value
    ///   has more than 1 MiB.
    package func setUserData(
        _ value: Data?, for key: CacheKey, matching request: HTTPHeaderFields
    ) async throws(ImageError) {
        try EntryMetadataUpdate.check(attachment: value)
        let holding = encodedTiers.filter { $0.mayContain(key) }
        await each(holding, .concurrent) { await $0.replaceUserData(value, for: key, matching: request) }
    }
}

extension CacheTier {
    /// Replaces the custom value of an entry. A tier that can't do so stores the entry again with the new value.
    fileprivate func replaceUserData(_ value: Data?, for key: CacheKey, matching headers: HTTPHeaderFields) async {
        if let disk = self as? VariantDiskTier {
            return await disk.setUserData(value, for: key, matching: headers)
        }
        guard var entry = await entry(for: key, matching: headers), entry.userData != value else { return }
        entry.userData = value
        await store(entry, matching: headers)
    }
}
