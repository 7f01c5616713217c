// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageNet

extension ImageRequest {
    /// The image in lower qualities, for slow and metered networks.
    ///
    /// The request selects one URL when it starts. On a metered network, this is the last of
    /// ``LowerQuality/urls``. Otherwise, it depends on the measured throughput. If a higher quality is cached and the
    /// cache policy allows its use without contacting the server, the request uses it instead. With the policy
    /// ``CachePolicy/cacheOnly``, it uses the highest cached quality.
    ///
    /// The selected URL replaces ``url``, so it determines the key, and ``ImageResponse/url`` contains it. If
    /// ``CachingOptions/key`` is set, or if ``ImageManager/Configuration/makeCacheKey`` returns one key for several
    /// qualities, lower qualities have keys derived from it. ``NetworkOptions/alternativeURLs`` apply to each quality.
    /// ``ImageManager/removeCachedImage(for:)`` removes all qualities, ``ImageManager/cachedImage(for:)-(ImageRequest)``
    /// returns the highest one in memory, and ``ImageManager/store(_:data:for:in:)`` stores an image for ``url``. The
    /// default has no URLs.
    public var lowerQuality: LowerQuality {
        get { storage.value.lowerQuality }
        set { change { $0.lowerQuality = newValue } }
    }

    /// Returns the request for one quality. Position 0 is the URL of the request.
    func quality(at position: Int) -> ImageRequest {
        var request = self
        request.change { values in
            if position > 0 {
                let origin = Origin(values.url)
                values.higherQualities = [values.url] + values.lowerQuality.urls.prefix(position - 1)
                values.url = values.lowerQuality.urls[position - 1]
                // Another server must not receive the secrets, as with alternatives.
                if Origin(values.url) != origin { values.headers = RedirectRules.withoutSecrets(values.headers) }
            }
            values.lowerQuality.urls = []
        }
        return request
    }

    func applicationKey(_ make: ((URL) -> String?)?) -> String? {
        let own = caching.key
        guard own != nil || make != nil else { return nil }
        let key = own ?? make?(url)
        let higher = storage.value.higherQualities
        guard !higher.isEmpty else { return key }
        let text = key ?? source.text
        // The same key would serve requests for another quality.
        let isShared = own != nil || higher.contains { (make?($0) ?? SourceKind($0).text) == text }
        return isShared ? "\(text)|lower quality \(higher.count)" : key
    }

    /// The requests for all qualities, beginning with the highest quality.
    var qualities: [ImageRequest] {
        hasLowerQualities ? (0...lowerQuality.urls.count).map(quality) : [self]
    }
}
