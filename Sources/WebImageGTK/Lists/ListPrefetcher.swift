// SPDX-License-Identifier: MIT

import WebImage

/// An object that prefetches the images ahead of the visible range of a list.
///
/// It cancels prefetches that are no longer ahead. Use it with list widgets of any kind by reporting the visible range.
/// ``ImageListFactory`` and ``ImageFlowBox`` create their own prefetcher.
@MainActor
public final class ListPrefetcher {
    /// The options of a list prefetcher.
    public struct Configuration: Sendable {
        /// The maximum number of images to prefetch, as a multiple of the number of visible images.
        ///
        /// With the default of 1, as many images are prefetched as are visible, and more while the list scrolls.
        public var pages = 1.0
        /// The maximum number of images to prefetch. The default is 64.
        ///
        /// While a list flies to a position that is known, up to eight times as many are prefetched before this position.
        public var maxCount = 64
        /// The maximum number of concurrent prefetches. The default is 6.
        ///
        /// In a flight, up to four times as many run at the same time if the network is fast.
        public var maxConcurrentRequests = 6
        /// The number of images that an ``ImageListFactory`` starts to load when its first cells are bound, before the
        /// list is visible.
        ///
        /// They open the connections and arrive while the window is laid out. As soon as the list is visible, those that
        /// aren't visible are canceled. The default is 6. With 0, no image loads before the list is visible.
        public var initialCount = 6
        /// The cache to which images are prefetched. The default is the memory cache.
        public var destination = ImagePrefetcher.Destination.memoryCache

        /// Creates a configuration with the default values.
        public init() {}
        /// A configuration that disables prefetching.
        public static var disabled: Configuration {
            var configuration = Configuration()
            configuration.maxCount = 0
            configuration.initialCount = 0
            return configuration
        }
    }

    /// The visible range and the positions whose prefetch was started.
    package private(set) var window: PrefetchWindow
    private let prefetcher: ImagePrefetcher
    private let destination: ImagePrefetcher.Destination
    private let request: @MainActor (Int) -> ImageRequest?
    private let concurrency: Int
    private var urgentConcurrency: Int?
    private var tasks: [Int: PrefetchTask] = [:]

    /// Creates a prefetcher for a list of `count` images.
    ///
    /// `request` returns the request for the image at a position, or `nil` if there's none. It must be the same request
    /// that the view creates, including its size.
    public init(
        count: Int = 0, manager: ImageManager = .shared, configuration: Configuration = Configuration(),
        request: @escaping @MainActor (Int) -> ImageRequest?
    ) {
        window = PrefetchWindow(count: count, pages: configuration.pages, limit: configuration.maxCount)
        var settings = ImagePrefetcher.Configuration()
        concurrency = min(max(1, configuration.maxConcurrentRequests), 1_000)
        settings.maxConcurrentRequests = max(1, configuration.maxConcurrentRequests)
        prefetcher = ImagePrefetcher(manager: manager, configuration: settings)
        destination = configuration.destination
        self.request = request
    }

    isolated deinit { prefetcher.cancelAll() }

    /// Updates the visible range.
    public func update(visibleRange visible: Range<Int>) { perform(window.show(visible)) }

    /// Updates the visible range of a list that scrolls, as described at
    /// ``PrefetchWindow/show(_:landing:reach:plan:isLoaded:)``. `rate` is the rate at which the speed decreases, or `nil`
    /// if the list isn't in flight to a known landing.
    func update(visibleRange visible: Range<Int>, landing: Range<Int>?, reach: Double, rate: Double?) {
        let plan = rate.map { FlightPlan(rate: $0, pace: pace ?? FlightPlan.initialPace) }
        setUrgent(plan.map { $0.concurrency * concurrency / 6 })
        let tasks = tasks
        perform(
            window.show(visible, landing: landing, reach: reach, plan: plan) { tasks[$0]?.isFinished == true })
    }

    /// The speed of the recent prefetches, or `nil` if it isn't known yet.
    var pace: PrefetchPace? { prefetcher.pace }

    /// In a flight, the images are needed within a second or so, so prefetches don't wait for visible requests.
    private func setUrgent(_ concurrency: Int?) {
        guard concurrency != urgentConcurrency else { return }
        urgentConcurrency = concurrency
        prefetcher.setUrgent(concurrency: concurrency)
    }

    /// Cancels all prefetches and starts over with a list of `count` images.
    public func reset(count: Int) { perform(window.reset(count: count)) }

    /// The number of prefetches that are in progress.
    public var runningCount: Int { tasks.values.count { !$0.isFinished } }

    private func perform(_ change: PrefetchWindow.Change) {
        for position in change.drop { tasks.removeValue(forKey: position)?.cancel() }
        for position in change.start {
            guard let request = request(position) else { continue }
            tasks[position] = prefetcher.prefetch([request], to: destination)
        }
    }
}
