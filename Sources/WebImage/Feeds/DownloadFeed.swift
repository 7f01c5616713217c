// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// A download, shared by its load and all requests that wait for it.
final class DownloadFeed: Sendable {
    private struct DecodeRequest {
        let plan: RequestPlan
        var count: Int
    }

    let previews: PreviewSource
    private let requests = Lock<[IncrementalDecodeKey: DecodeRequest]>([:])

    init(_ renderer: PreviewRenderer) { previews = PreviewSource(renderer) }

    /// The plans of the requests that decode during the download, one for each image.
    var plans: [RequestPlan] { requests.withLock { $0.values.map(\.plan) } }

    func add(_ plan: RequestPlan) {
        requests.withLock { $0[IncrementalDecodeKey(plan), default: DecodeRequest(plan: plan, count: 0)].count += 1 }
    }

    func remove(_ key: IncrementalDecodeKey) {
        requests.discard { requests -> DecodeRequest? in
            requests[key]?.count -= 1
            guard let request = requests[key], request.count <= 0 else { return nil }
            return requests.removeValue(forKey: key)
        }
    }
}

/// A request's subscription to a running download.
struct FeedSubscription: Sendable {
    let feed: DownloadFeed
    let listener: (id: Int, task: ImageTask)?
    let decode: IncrementalDecodeKey?
    let leave: @Sendable () -> Void

    /// Ends the subscription. Call this method exactly once.
    func end() {
        if let listener {
            listener.task.call(whenHeard: nil)
            feed.previews.remove(listener.id)
        }
        if let decode { feed.remove(decode) }
        leave()
    }
}
