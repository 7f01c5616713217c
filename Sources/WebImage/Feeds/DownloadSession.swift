// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageNet

/// A load that delivers its data to subscribers during the download. This class is thread-safe.
final class DownloadSession: Sendable {
    private let feed: DownloadFeed
    private let stream: IncrementalDecodeSource?
    private let number: Int
    private let hasPreviews = Atomic<Bool>(true)
    private let isFinished = Atomic<Bool>(false)
    private let leave: @Sendable () -> Void

    init(
        _ feed: DownloadFeed, _ stream: IncrementalDecodeSource?, _ priority: SharedPriority,
        leave: @escaping @Sendable () -> Void
    ) {
        self.feed = feed
        self.stream = stream
        self.leave = leave
        number = feed.previews.begin(priority)
    }

    func receive(_ report: LoadContext.Report) {
        feed.previews.receive(report, number)
        stream?.receive(report)
    }

    /// Ends the previews. Further calls have no effect.
    func endPreviews() {
        if hasPreviews.exchange(false, ordering: .acquiringAndReleasing) { feed.previews.end(number) }
    }

    /// Finishes the stream after the body is complete and returns the decoders that have received its beginning.
    func finish() async -> [IncrementalDecodeKey: IncrementalDecode] { await stream?.finish() ?? [:] }

    /// Ends the session after the load. Further calls have no effect.
    func end() {
        guard !isFinished.exchange(true, ordering: .acquiringAndReleasing) else { return }
        endPreviews()
        stream?.end()
        leave()
    }
}
