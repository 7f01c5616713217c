// SPDX-License-Identifier: MIT

import Foundation
import WebImageConcurrency
import WebImageCore
import WebImageStore

/// A prefetcher that loads images before they're needed, from lists or sequences, a few at a time.
///
/// The prefetcher skips images that are already cached. If a visible request needs an image that is being prefetched,
/// it joins the work and raises its priority. When the visible request leaves, the priority falls again. While visible
/// requests of the same manager are in flight, the prefetcher starts no requests, which leaves the connections and
/// threads to them. After a quarter of a second, it loads one image at a time. It also starts no requests
/// under memory pressure or on a metered network. Running requests always continue.
///
/// This class is thread-safe. Releasing a prefetcher doesn't stop its lists.
public final class ImagePrefetcher: Sendable {
    /// The settings of a prefetcher.
    public struct Configuration: Sendable {
        /// The maximum number of images to prefetch at the same time. The default is 6.
        public var maxConcurrentRequests = 6
        /// The time after the last visible request until the prefetcher uses its full concurrency again. The default
        /// is 0.1 seconds.
        public var resumeDelay = Duration.milliseconds(100)
        /// The destination of lists without one. The default is memory.
        public var destination = ImagePrefetcher.Destination.memoryCache
        /// The priority of lists without one. The default is very low. Under memory pressure, the memory cache evicts
        /// unused prefetched images first, regardless of their priority.
        public var priority = RequestPriority.veryLow
        /// A Boolean value that indicates whether the prefetcher starts no requests on metered networks. The default is
        /// `true`.
        public var pausesOnMeteredNetworks = true
        /// The source that reports whether the network is metered. The default is `nil`, which means
        /// ``ImageManager/Configuration/networkConditions`` of the manager.
        package var network: NetworkConditions?

        /// Creates a configuration with the default values.
        public init() {}
    }

    /// A Boolean value that indicates whether the network is metered, which is ``NetworkConditions/isMetered`` of
    /// ``NetworkConditions/shared``.
    ///
    /// The application or WebImageGTK sets it, for example from the NetworkManager property `Metered`. Prefetchers start
    /// no requests on a metered network unless ``Configuration/pausesOnMeteredNetworks`` is `false`. They have reacted to
    /// a change when the setter returns. The default is `false`. You can use the property from any thread.
    public static var isNetworkMetered: Bool {
        get { NetworkConditions.shared.isMetered }
        set { NetworkConditions.shared.isMetered = newValue }
    }

    let core: PrefetchRunner
    private let configuration: Configuration
    private let network: NetworkConditions
    private let pressure: MemoryPressureObservation
    private let observation: Int?

    /// Creates a prefetcher for a manager with changes to the default settings.
    package convenience init(manager: ImageManager = .shared, _ configure: (inout Configuration) -> Void) {
        var configuration = Configuration()
        configure(&configuration)
        self.init(manager: manager, configuration: configuration)
    }

    /// Creates a prefetcher.
    ///
    /// - Parameters:
    ///   - manager: The manager that loads the images. The default is ``ImageManager/shared``.
    ///   - configuration: The settings. The default is a configuration with the default values.
    public init(manager: ImageManager = .shared, configuration: Configuration = Configuration()) {
        self.configuration = configuration
        let core = PrefetchRunner(
            manager, concurrency: configuration.maxConcurrentRequests, resumeDelay: configuration.resumeDelay)
        self.core = core
        let source = manager.configuration.memoryPressureMonitor
        pressure = source.observe { event in core.set(.memory, event.level.pausesPrefetch) }
        core.set(.memory, source.level.pausesPrefetch)
        let network = configuration.network ?? manager.configuration.networkConditions
        self.network = network
        guard configuration.pausesOnMeteredNetworks else {
            observation = nil
            return
        }
        observation = network.follow { core.set(.metered, $0) }
    }

    deinit {
        if let observation { network.stopObserving(observation) }
        // Remove the holds, because nothing else could remove them later.
        for hold in PrefetchStateMachine.SuspensionReason.allCases { core.set(hold, false) }
        core.release()
    }

    /// Prefetches the images for requests, in this order, with the sizes and transformers of the requests and the
    /// priority of the list.
    @discardableResult
    public func prefetch(
        _ requests: some Sequence<ImageRequest>, to destination: ImagePrefetcher.Destination? = nil,
        priority: RequestPriority? = nil
    ) -> PrefetchTask {
        core.add(
            Array(requests), isOpen: false, destination ?? configuration.destination, priority ?? configuration.priority
        ).0
    }

    /// Prefetches the images at URLs, in this order, with the default options and the priority of the list.
    ///
    /// - Parameters:
    ///   - urls: The URLs of the images.
    ///   - destination: The destination of the images. The default is `nil`, which means that of the configuration.
    ///   - priority: The priority of the list. The default is `nil`, which means that of the configuration.
    /// - Returns: The handle of the list.
    @discardableResult
    public func prefetch(
        _ urls: some Sequence<URL>, to destination: ImagePrefetcher.Destination? = nil,
        priority: RequestPriority? = nil
    ) -> PrefetchTask {
        prefetch(urls.map { ImageRequest(url: $0) }, to: destination, priority: priority)
    }

    /// Prefetches the images for a sequence of requests.
    ///
    /// The prefetcher reads from the sequence only as many requests as it's about to start. If the sequence throws an
    /// error, the list ends after the requests that were read before.
    @discardableResult
    public func prefetch<Requests: AsyncSequence & Sendable>(
        contentsOf requests: Requests, to destination: ImagePrefetcher.Destination? = nil,
        priority: RequestPriority? = nil
    ) -> PrefetchTask where Requests.Element == ImageRequest {
        let (task, list) = core.add(
            [], isOpen: true, destination ?? configuration.destination, priority ?? configuration.priority)
        let reader = Task.detached(priority: .utility) { [core] in
            do {
                for try await request in requests where await !core.feed(request, to: list) { break }
            } catch {
                // The requests that were read before the error are prefetched anyway.
            }
            core.close(list)
        }
        core.follow(reader, of: list)
        return task
    }

    /// A Boolean value that indicates whether the prefetcher is paused. A paused prefetcher starts no requests, but
    /// running requests continue.
    public var isPaused: Bool {
        get { core.suspensionReasons.contains(.paused) }
        set { core.set(.paused, newValue) }
    }

    /// A Boolean value that indicates whether the prefetcher currently starts no requests because it's paused, under
    /// memory pressure, or on a metered network.
    public var isSuspended: Bool { !core.suspensionReasons.isEmpty }

    /// The current progress of all lists together.
    public var currentProgress: ImagePrefetcher.Progress { core.progress.value }

    /// The current progress of all lists together and the progress after every change. A slow subscriber receives only the
    /// most recent value. The stream ends when the prefetcher is released and its lists are finished.
    public var progress: AsyncStream<ImagePrefetcher.Progress> { core.progressStream }

    /// The speed of the recent loads, or `nil` if it isn't known yet.
    package var pace: PrefetchPace? { core.pace }

    /// Loads up to `concurrency` images at the same time, even if visible requests are in flight. `nil` restores the
    /// configuration. The views of lists use this method if they need the images within a second or so.
    package func setUrgent(concurrency: Int?) { core.setUrgent(concurrency: concurrency) }

    /// The number of lists that aren't finished.
    package var listCount: Int { core.listCount }

    /// Cancels all lists immediately. Work that visible requests share continues.
    public func cancelAll() { core.cancelAll() }
}
