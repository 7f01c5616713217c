// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The keys of one request. They identify the original data, the decoded image, and the image after each transformer.
///
/// The initializer computes only the digest for the memory lookup. The keys themselves are created on demand because
/// only the other tiers need them. This class is thread-safe.
final class RequestKeys: Sendable {
    /// The values that the manager adds to a request to identify its data.
    struct Source {
        /// The application's key, the URL, or the URL and the version of a file.
        let text: String
        /// The hash of the network options that affect the sent request or the accepted response. `nil` means default
        /// options.
        var access: String?
        /// Whether `text` contains a file version that was read earlier and can be outdated.
        var isUnverifiedFile = false
    }

    private struct Made {
        let data: CacheKey
        let steps: [CacheKey]
    }

    /// The digest of ``final``.
    let digest: CacheKey.Digest
    let access: String?
    private let text: CacheKeyBuilder
    /// The end of the data key in the text.
    private let dataEnd: Int
    /// The end of the decoded image's key in the text.
    private let decodedEnd: Int
    private let identities: [String]
    private let made = Lock<Made?>(nil)

    init(_ request: ImageRequest, source: Source, identities: [String]) {
        (text, dataEnd, decodedEnd) = Self.text(request, source, identities)
        self.identities = identities
        access = source.access
        digest = text.digest(upTo: text.bytes.count)
    }

    init(_ other: RequestKeys, _ request: ImageRequest, identities: [String]) {
        var text = CacheKeyBuilder(other.text, upTo: other.dataEnd)
        text.append(decoding: request)
        dataEnd = other.dataEnd
        decodedEnd = text.bytes.count
        for identity in identities { text.append(named: "transform", identity) }
        self.text = text
        self.identities = identities
        access = other.access
        digest = text.digest(upTo: text.bytes.count)
    }

    static func digest(_ request: ImageRequest, source: Source, identities: [String]) -> CacheKey.Digest {
        let text = text(request, source, identities).0
        return text.digest(upTo: text.bytes.count)
    }

    var data: CacheKey { keys.data }
    /// The key of the decoded image: `data` and all options that affect the decoded pixels.
    var decoded: CacheKey { keys.steps[0] }
    /// The keys of all steps: `decoded` first, then one key after each transformer. The last one is the final key.
    var steps: [CacheKey] { keys.steps }
    /// The common prefix of the keys of all images that are decoded from this data.
    var allImages: CacheKey { data.appending([CacheKeyBuilder.decoding.description]) }
    /// The key of the image in the memory cache, which is the last step.
    var final: CacheKey { keys.steps[keys.steps.count - 1] }

    private var keys: Made {
        if let known = made.withLock({ $0 }) { return known }
        var steps = [text.key(upTo: decodedEnd)]
        for identity in identities { steps.append(steps[steps.count - 1].appending(["transform", identity])) }
        let fresh = Made(data: text.key(upTo: dataEnd), steps: steps)
        made.withLock { $0 = fresh }
        return fresh
    }

    private static func text(
        _ request: ImageRequest, _ source: Source, _ identities: [String]
    ) -> (CacheKeyBuilder, dataEnd: Int, decodedEnd: Int) {
        var text = CacheKeyBuilder(capacity: 96 + source.text.utf8.count + 64 * identities.count)
        text.append(source, request)
        let dataEnd = text.bytes.count
        text.append(decoding: request)
        let decodedEnd = text.bytes.count
        for identity in identities { text.append(named: "transform", identity) }
        return (text, dataEnd, decodedEnd)
    }
}
