// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import Synchronization
import WebImage

/// The handle of a list that is prefetched.
public final class SDWebImagePrefetchToken: SDWebImageOperation {
    /// The URLs of the list.
    public let urls: [URL]
    private let task: PrefetchTask

    init(_ urls: [URL], _ task: PrefetchTask) {
        self.urls = urls
        self.task = task
    }

    /// Cancels the list. Its completion closure isn’t called.
    public func cancel() { task.cancel() }
}

/// A prefetcher, which contains an `ImagePrefetcher`.
public final class SDWebImagePrefetcher: Sendable {
    private struct State {
        var maxConcurrent = 3
        var options: SDWebImageOptions = .lowPriority
        var prefetcher: ImagePrefetcher?
    }

    /// A closure with the numbers of finished URLs and of all URLs.
    public typealias ProgressBlock = @MainActor @Sendable (_ finished: UInt, _ total: UInt) -> Void
    /// A closure with the numbers of finished URLs and of failed URLs.
    public typealias CompletionBlock = @MainActor @Sendable (_ finished: UInt, _ skipped: UInt) -> Void

    /// The prefetcher of ``SDWebImageManager/shared``.
    public static let shared = SDWebImagePrefetcher(imageManager: .shared)

    /// The manager.
    public let manager: SDWebImageManager
    private let state = Mutex(State())

    /// Creates a prefetcher.
    public init(imageManager manager: SDWebImageManager) { self.manager = manager }

    /// The maximum number of images that load at the same time. The default is 3. Set it before the first list.
    public var maxConcurrentPrefetchCount: UInt {
        get { UInt(state.withLock { $0.maxConcurrent }) }
        set { state.withLock { $0.maxConcurrent = Int(newValue) } }
    }

    /// The options of lists without their own options. The default is ``SDWebImageOptions/lowPriority``.
    public var options: SDWebImageOptions {
        get { state.withLock { $0.options } }
        set { state.withLock { $0.options = newValue } }
    }

    /// Prefetches a list of images.
    @discardableResult
    public func prefetchURLs(
        _ urls: [URL]?, progress progressBlock: ProgressBlock?, completed completionBlock: CompletionBlock?
    ) -> SDWebImagePrefetchToken? {
        prefetchURLs(urls, options: options, context: nil, progress: progressBlock, completed: completionBlock)
    }

    /// Prefetches a list of images.
    @discardableResult
    public func prefetchURLs(_ urls: [URL]?) -> SDWebImagePrefetchToken? {
        prefetchURLs(urls, progress: nil, completed: nil)
    }

    /// Prefetches a list of images with options.
    @discardableResult
    public func prefetchURLs(
        _ urls: [URL]?, options: SDWebImageOptions, context: SDWebImageContext?, progress progressBlock: ProgressBlock?,
        completed completionBlock: CompletionBlock?
    ) -> SDWebImagePrefetchToken? {
        guard let urls, !urls.isEmpty else {
            onMain { completionBlock?(0, 0) }
            return nil
        }
        let requests = urls.compactMap { manager.request(for: $0, options: options, context: context) }
        let rejected = UInt(urls.count - requests.count)
        let priority: RequestPriority = options.contains(.highPriority) ? .high : .low
        let task = prefetcher.prefetch(requests, priority: priority)
        Task { @MainActor in
            for await progress in task.progress {
                progressBlock?(UInt(progress.finishedCount) + rejected, UInt(urls.count))
            }
            let result = await task.result
            guard result.cancelledCount == 0 else { return }
            completionBlock?(UInt(urls.count), UInt(result.failures.count) + rejected)
        }
        return SDWebImagePrefetchToken(urls, task)
    }

    /// Cancels all lists.
    public func cancelPrefetching() { state.withLock { $0.prefetcher }?.cancelAll() }

    /// Not available.
    @available(*, unavailable, message: "Use the closures of prefetchURLs(_:progress:completed:).")
    public var delegate: Any? { nil }

    private var prefetcher: ImagePrefetcher {
        state.withLock { state in
            if let prefetcher = state.prefetcher { return prefetcher }
            var configuration = ImagePrefetcher.Configuration()
            configuration.maxConcurrentRequests = max(1, state.maxConcurrent)
            let prefetcher = ImagePrefetcher(manager: .shared, configuration: configuration)
            state.prefetcher = prefetcher
            return prefetcher
        }
    }
}
