// SPDX-License-Identifier: MIT

import WebImage

/// Fetches the pictures of a list ahead of where it is scrolled to, and gives up what is not ahead any more. For list
/// widgets of any kind: tell it what is visible. ``ImageListFactory`` and ``ImageFlowBox`` have one of their own.
@MainActor
public final class ListPrefetcher {
    /// How far ahead.
    public struct Configuration: Sendable {
        /// Pictures fetched ahead, in visible ranges: 1 is as many as are visible. Default 1.
        public var pages = 1.0
        /// Pictures fetched ahead at most. Default 64.
        public var limit = 64
        /// Pictures fetched at the same time. Default 4.
        public var concurrency = 4
        /// Where to. Default memory.
        public var destination = PrefetchDestination.memory

        /// The defaults.
        public init() {}
        /// Nothing is fetched ahead.
        public static var none: Configuration {
            var configuration = Configuration()
            configuration.limit = 0
            return configuration
        }
    }

    /// What is visible and what was started.
    public private(set) var window: PrefetchWindow
    private let prefetcher: ImagePrefetcher
    private let destination: PrefetchDestination
    private let request: @MainActor (Int) -> ImageRequest?
    private var tasks: [Int: PrefetchTask] = [:]

    /// A prefetcher for a list of `count` pictures. `request` gives the very request of the picture at a position that the
    /// view will make, size included; nil for none.
    public init(
        count: Int = 0, manager: ImageManager = .shared, _ configuration: Configuration = Configuration(),
        request: @escaping @MainActor (Int) -> ImageRequest?
    ) {
        window = PrefetchWindow(count: count, pages: configuration.pages, limit: configuration.limit)
        prefetcher = ImagePrefetcher(manager) { $0.concurrency = max(1, configuration.concurrency) }
        destination = configuration.destination
        self.request = request
    }

    isolated deinit { prefetcher.cancelAll() }

    /// Tells what is visible now.
    public func show(_ visible: Range<Int>) { perform(window.show(visible)) }

    /// Tells that the list is another one now: everything is given up.
    public func reset(count: Int) { perform(window.reset(count: count)) }

    /// Pictures that are being fetched.
    public var running: Int { tasks.values.count { !$0.isOver } }

    private func perform(_ change: PrefetchWindow.Change) {
        for position in change.drop { tasks.removeValue(forKey: position)?.cancel() }
        for position in change.start {
            guard let request = request(position) else { continue }
            tasks[position] = prefetcher.prefetch([request], to: destination)
        }
    }
}
