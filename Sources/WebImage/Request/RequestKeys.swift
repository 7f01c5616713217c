// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// The keys of one request: what identifies its bytes, the picture decoded from them, and that picture after each
/// transformer. The digest that finds the final picture in memory is there at once; the keys themselves are made when
/// something but memory is asked. Thread-safe.
final class RequestKeys: Sendable {
    /// What the manager adds to a request to identify its bytes.
    struct Source {
        /// The application's key, the URL, or the URL and the version of a file.
        let text: String
        /// Hash of the network options that decide what is sent and accepted; nil where all are as usual.
        var access: String?
        /// Whether `text` contains a file version that was not read just now.
        var isUnverifiedFile = false
    }

    private struct Made {
        let data: CacheKey
        let steps: [CacheKey]
    }

    /// Digest of ``final``.
    let digest: CacheKey.Digest
    private let text: KeyText
    /// Where the text of the bytes' key ends.
    private let dataEnd: Int
    /// Where the text of the decoded picture's key ends.
    private let decodedEnd: Int
    private let identities: [String]
    private let made = Lock<Made?>(nil)

    init(_ request: ImageRequest, source: Source, identities: [String]) {
        (text, dataEnd, decodedEnd) = Self.text(request, source, identities)
        self.identities = identities
        digest = text.digest(upTo: text.bytes.count)
    }

    /// Digest of the final key, for those who need nothing else.
    static func digest(_ request: ImageRequest, source: Source, identities: [String]) -> CacheKey.Digest {
        let text = text(request, source, identities).0
        return text.digest(upTo: text.bytes.count)
    }

    /// Identifies the original bytes.
    var data: CacheKey { keys.data }
    /// `data` and all that changes pixels at decode.
    var decoded: CacheKey { keys.steps[0] }
    /// `decoded` and the transformers; `steps[0]` is `decoded`, the last one is the final key.
    var steps: [CacheKey] { keys.steps }
    /// What the keys of all pictures of these bytes begin with.
    var allPictures: CacheKey { data.appending([KeyText.decoding.description]) }
    /// Identifies what memory holds: the last step.
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
    ) -> (KeyText, dataEnd: Int, decodedEnd: Int) {
        var text = KeyText(capacity: 96 + source.text.utf8.count + 64 * identities.count)
        text.append(source, request)
        let dataEnd = text.bytes.count
        text.append(decoding: request)
        let decodedEnd = text.bytes.count
        for identity in identities { text.append(named: "transform", identity) }
        return (text, dataEnd, decodedEnd)
    }
}
