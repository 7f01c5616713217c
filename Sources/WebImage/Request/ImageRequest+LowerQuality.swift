// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore

extension ImageRequest {
    /// The URLs of an image in lower qualities, and the conditions under which one of them is loaded.
    public struct LowerQuality: Sendable, Hashable {
        /// The URLs of the image in qualities lower than that of ``ImageRequest/url``, from the highest to the lowest
        /// quality. The default is empty.
        public var urls: [URL]
        /// A Boolean value that indicates whether the request loads the lowest quality on a metered network. The
        /// default is `true`.
        public var isUsedOnMeteredNetworks = true
        /// The range of the throughput in which the request selects a quality in between, in bytes per second, or `nil`
        /// to ignore the throughput.
        ///
        /// A request loads the lowest quality if the ``NetworkConditions/throughput`` is at most the lower bound, and
        /// the highest quality if it's at least the upper bound. Between the bounds, the other qualities divide the range
        /// evenly. Of only two qualities, the request loads the nearer one. If no throughput is measured, it loads the
        /// highest quality. The default is 50,000 to 500,000 bytes per second, as in PINRemoteImage.
        public var throughputRange: ClosedRange<Int>? = 50_000...500_000

        /// Creates options with URLs, from the highest to the lowest quality.
        public init(urls: [URL] = []) { self.urls = urls }

        /// Returns the position of the quality to load. Position 0 is the URL of the request, and position `n` is the
        /// element `n - 1` of ``urls``.
        ///
        /// The rule for the throughput is the one of `PINSpeedRecorder` in PINRemoteImage.
        func position(isMetered: Bool, throughput: Double?) -> Int {
            let lowest = urls.count
            if isMetered, isUsedOnMeteredNetworks { return lowest }
            guard let range = throughputRange, let throughput, !throughput.isNaN, lowest > 0 else { return 0 }
            let (low, high) = (Double(range.lowerBound), Double(range.upperBound))
            if throughput >= high { return 0 }
            if throughput <= low { return lowest }
            let fraction = (throughput - low) / (high - low)
            guard lowest > 1 else { return fraction >= 0.5 ? 0 : lowest }
            // Ranks begin with the lowest quality. Here, neither the lowest nor the highest quality is selected.
            let rank = Int((fraction * Double(lowest - 1)).rounded(.up))
            return lowest - min(max(rank, 1), lowest - 1)
        }
    }

    /// The image in lower qualities, for slow and metered networks.
    ///
    /// The request selects one URL when it starts. On a metered network, this is the last of
    /// ``LowerQuality/urls``. Otherwise, it depends on the measured throughput. If a higher quality is cached and the
    /// cache policy allows its use without contacting the server, the request uses it instead. With the policy
    /// ``CachePolicy/cacheOnly``, it uses the highest cached quality.
    ///
    /// The selected URL replaces ``url``, so it determines the key, and ``ImageResponse/url`` contains it. If
    /// ``CachingOptions/key`` is set, lower qualities have keys derived from it. ``NetworkOptions/alternativeURLs`` apply
    /// to each quality. ``ImageManager/removeCachedImage(for:)`` removes all qualities, ``ImageManager/cachedImage(for:)-(ImageRequest)``
    /// returns the highest one in memory, and ``ImageManager/store(_:data:for:in:)`` stores an image for ``url``. The
    /// default has no URLs.
    public var lowerQuality: LowerQuality {
        get { storage.value.lowerQuality }
        set { change { $0.lowerQuality = newValue } }
    }

    /// A Boolean value that indicates whether the request selects one of several URLs.
    var hasLowerQualities: Bool { !storage.value.lowerQuality.urls.isEmpty }

    /// Returns the request for one quality. Position 0 is the URL of the request.
    func quality(at position: Int) -> ImageRequest {
        var request = self
        request.change { values in
            if position > 0 {
                values.url = values.lowerQuality.urls[position - 1]
                // The same key would serve requests for the highest quality.
                if let key = values.caching.key { values.caching.key = "\(key)|lower quality \(position)" }
            }
            values.lowerQuality.urls = []
        }
        return request
    }

    /// The requests for all qualities, beginning with the highest quality.
    var qualities: [ImageRequest] {
        hasLowerQualities ? (0...lowerQuality.urls.count).map(quality) : [self]
    }
}
