// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageStore

/// Fetches pictures before they are wanted: lists or sequences, a few at a time, behind everything that is visible.
///
/// What is there already is skipped. A visible request for a picture that is being fetched joins the work and raises its
/// priority in place; when it leaves, the priority falls back. While visible requests of the same manager are under way, one
/// picture is fetched at a time, so that connections and threads are theirs. Nothing is started while memory is short or the network
/// is metered; what runs goes on. Thread-safe. Releasing it lets its lists run on.
public final class ImagePrefetcher: Sendable {
    /// Settings of a prefetcher.
    public struct Configuration: Sendable {
        /// Pictures fetched at the same time. Default 6.
        public var concurrency = 6
        /// Seconds after the last visible request until so many are fetched at the same time again; meanwhile it is one.
        /// Default 0.1.
        public var restSeconds = 0.1
        /// Where pictures are fetched to unless a list says otherwise. Default memory.
        public var destination = PrefetchDestination.memory
        /// Priority of the requests unless a list says otherwise. Default very low: what memory holds of it is the first to
        /// leave when memory is short.
        public var priority = RequestPriority.veryLow
        /// Whether nothing is started on metered networks. Default true.
        public var waitsOnMeteredNetworks = true
        /// Who knows whether the network is metered. Default ``NetworkConditions/shared``.
        public var network = NetworkConditions.shared

        /// The defaults.
        public init() {}
    }

    let core: PrefetchCore
    private let configuration: Configuration
    private let pressure: MemoryPressureObservation
    private let observation: Int?

    /// Creates a prefetcher on `manager`; `configure` changes the default settings.
    public init(_ manager: ImageManager = .shared, _ configure: (inout Configuration) -> Void = { _ in }) {
        var configuration = Configuration()
        configure(&configuration)
        self.configuration = configuration
        let core = PrefetchCore(
            manager, concurrency: configuration.concurrency, restSeconds: configuration.restSeconds)
        self.core = core
        let source = manager.configuration.memoryPressure
        pressure = source.observe { event in core.set(.memory, event.level.pausesPrefetch) }
        core.set(.memory, source.level.pausesPrefetch)
        let network = configuration.network
        guard configuration.waitsOnMeteredNetworks else {
            observation = nil
            return
        }
        observation = network.follow { core.set(.metered, $0) }
    }

    deinit {
        if let observation { configuration.network.stopObserving(observation) }
        // Nobody would end them any more.
        for hold in PrefetchTable.Hold.allCases { core.set(hold, false) }
    }

    /// Fetches `requests` ahead, in this order. Sizes and transformers as in the requests; their priority is the list's.
    @discardableResult
    public func prefetch(
        _ requests: [ImageRequest], to destination: PrefetchDestination? = nil, priority: RequestPriority? = nil
    ) -> PrefetchTask {
        core.add(
            requests, isOpen: false, destination ?? configuration.destination, priority ?? configuration.priority
        ).0
    }

    /// Fetches what `requests` gives, asking for no more than is about to be started. A sequence that throws ends the list
    /// with what it gave.
    @discardableResult
    public func prefetch<Requests: AsyncSequence & Sendable>(
        contentsOf requests: Requests, to destination: PrefetchDestination? = nil, priority: RequestPriority? = nil
    ) -> PrefetchTask where Requests.Element == ImageRequest {
        let (task, list) = core.add(
            [], isOpen: true, destination ?? configuration.destination, priority ?? configuration.priority)
        let reader = Task.detached(priority: .utility) { [core] in
            do {
                for try await request in requests where await !core.feed(request, to: list) { break }
            } catch {
                // What came before is fetched all the same.
            }
            core.close(list)
        }
        core.follow(reader, of: list)
        return task
    }

    /// While true, nothing is started; what runs goes on.
    public var isPaused: Bool {
        get { core.holds.contains(.paused) }
        set { core.set(.paused, newValue) }
    }

    /// Whether nothing is started at present: paused, memory short, or the network metered.
    public var isHeld: Bool { !core.holds.isEmpty }

    /// Lists that are not over.
    public var listCount: Int { core.listCount }

    /// Gives all lists up, at once. What visible requests wait for as well goes on.
    public func cancelAll() { core.cancelAll() }
}
