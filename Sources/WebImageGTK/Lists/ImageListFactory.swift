// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    /// A factory that creates image cells for a GtkListView or a GtkGridView.
    ///
    /// Cells are reused. A cell starts to load when its distance from the visible area is at most the length of that area,
    /// and cancels its request when it's unbound. Before that, it shows an image only if it's in memory. Visible cells have
    /// the highest priority, the middle ones first, and images ahead in the scrolling direction are prefetched.
    ///
    /// While the list scrolls so fast that images wouldn't arrive while they're visible, cells whose images aren't in
    /// memory show only their placeholders. If the speed decreases steadily, as after a gesture, the factory predicts where
    /// the list will come to rest. It prefetches the images there and as many of those before as the network delivers in
    /// time.
    ///
    /// ```swift
    /// let factory = ImageListFactory(
    ///     makeCell: { ImageListCell(width: 160, height: 160)! },
    ///     content: { position in
    ///         ImageListContent(ImageRequest(url: urls[position], size: .fill(width: 160, height: 160)))
    ///     })
    /// factory.install(on: gridView)
    /// ```
    ///
    /// The list retains the factory.
    @MainActor
    public final class ImageListFactory<Cell: ImageListCell>: ListItemHandler {
        /// The range of visible positions.
        public private(set) var visibleRange: Range<Int> = 0..<0
        /// A closure that's called after ``visibleRange`` changes. The default is `nil`.
        public var onVisibleRangeChange: (@MainActor (Range<Int>) -> Void)?
        /// A closure that's called when the image of a cell can't be loaded, with the cell, its position, and the error. It
        /// isn't called for canceled loads, nor for positions without a request. The default is `nil`.
        public var onFailure: (@MainActor (Cell, Int, ImageError) -> Void)?
        /// The prefetcher of the list, or `nil` before ``install(on:)``.
        package private(set) var prefetcher: ListPrefetcher?

        /// A closure that returns the time of the current frame, in seconds, instead of the frame clock of the list, so that
        /// tests don't depend on the time that frames take. The default is `nil`.
        var frameClock: (@MainActor () -> Double)? {
            didSet { scroll?.clock = frameClock }
        }

        private let makeCell: @MainActor () -> Cell
        private let content: @MainActor (Int) -> ImageListContent
        private let willShow: @MainActor (Cell, Int) -> Void
        private let manager: ImageManager
        private let ahead: ListPrefetcher.Configuration
        private var items: [OpaquePointer: Cell] = [:]
        private var bound: Set<OpaquePointer> = []
        private var scroll: ListScrollObserver?
        private var forecast = ScrollForecast()
        /// The current flight, or `nil` if the list rests or moves slowly.
        private var flight: ScrollForecast.Flight?
        /// The positions at which the flight ends. The range is empty if they're unknown.
        private var landing: Range<Int> = 0..<0
        /// The first loads, which begin before the list is visible, by their positions, or `nil` after it was visible.
        private var initialLoads: [Int: ImageTask]? = [:]

        /// Creates a factory. To use it, call ``install(on:)``.
        ///
        /// - Parameters:
        ///   - manager: The manager that prefetches images. The cells should load their images with the same manager.
        ///     The default is ``ImageManager/shared``.
        ///   - prefetching: The configuration of the prefetcher. Only requests that have a size are prefetched.
        ///   - makeCell: A closure that creates a cell. The list uses a few more cells than are visible.
        ///   - content: A closure that returns the content for a position of the list's model.
        ///   - willShow: A closure that updates the other contents of a cell before its image is requested. The default
        ///     closure does nothing.
        public init(
            manager: ImageManager = .shared, prefetching: ListPrefetcher.Configuration = .init(),
            makeCell: @escaping @MainActor () -> Cell, content: @escaping @MainActor (Int) -> ImageListContent,
            willShow: @escaping @MainActor (Cell, Int) -> Void = { _, _ in }
        ) {
            self.manager = manager
            self.ahead = prefetching
            self.makeCell = makeCell
            self.content = content
            self.willShow = willShow
        }

        /// Shows these cells in a GtkListView or GtkGridView.
        ///
        /// - Returns: `false` if `view` is another object or if the factory is already installed. In that case, this
        ///   method does nothing.
        @discardableResult
        public func install(on view: OpaquePointer) -> Bool {
            guard scroll == nil, let scroll = ListScrollObserver(view), let factory = ListItemSignals.factory(self)
            else {
                return false
            }
            GTKMainLoop.install()
            self.scroll = scroll
            prefetcher = ListPrefetcher(count: scroll.count, manager: manager, configuration: ahead) {
                [weak self] position in
                self?.requestAhead(position)
            }
            scroll.onSettle = { [weak self] in self?.settle() }
            scroll.onItemsChange = { [weak self] in self?.prefetcher?.reset(count: self?.scroll?.count ?? 0) }
            scroll.setFactory(factory)
            g_object_unref(UnsafeMutableRawPointer(factory))
            return true
        }

        /// The cells that show a position, ordered by position.
        public var cells: [(position: Int, cell: Cell)] {
            bound.compactMap { item in items[item].map { (Int(gtk_list_item_get_position(item)), $0) } }
                .sorted { $0.0 < $1.0 }
        }

        /// Returns the cell at a position, or `nil` if the position is too far from the visible range to have a cell.
        public func cell(at position: Int) -> Cell? {
            bound.first { Int(gtk_list_item_get_position($0)) == position }.flatMap { items[$0] }
        }

        /// Reloads the content of all cells.
        ///
        /// Call this method after a change that the model of the list doesn't report.
        public func reload() {
            prefetcher?.reset(count: scroll?.count ?? 0)
            for item in bound { bind(item) }
            scroll?.schedule()
        }

        // MARK: - Items

        func setUp(_ item: OpaquePointer) {
            let cell = makeCell()
            cell.didFail = { [weak self, weak cell] error in
                if let cell, let position = cell.position { self?.onFailure?(cell, position, error) }
            }
            items[item] = cell
            gtk_list_item_set_child(item, cell.root)
        }

        func bind(_ item: OpaquePointer) {
            guard let cell = items[item] else { return }
            let position = Int(gtk_list_item_get_position(item))
            bound.insert(item)
            willShow(cell, position)
            let shown = content(position)
            load(shown.request, at: position)
            // GTK binds about 200 rows before their size is known, and most of them may never be seen. The layout of a reused
            // row is also that of its former position, so no load starts before the next layout.
            cell.show(position, shown)
            scroll?.schedule()
        }

        /// Starts one of the loads that begin before the list is visible. The view joins it when it's visible.
        private func load(_ request: ImageRequest?, at position: Int) {
            guard let loads = initialLoads, loads.count < ahead.initialCount, loads[position] == nil, let request,
                request.size != nil
            else { return }
            initialLoads?[position] = manager.load(request)
        }

        /// Cancels the first loads that no visible cell has joined.
        private func endInitialLoads(visibleRange: Range<Int>) {
            for (position, task) in initialLoads ?? [:] where !visibleRange.contains(position) { task.cancel() }
            initialLoads = nil
        }

        func unbind(_ item: OpaquePointer) {
            bound.remove(item)
            items[item]?.showNothing()
        }

        func tearDown(_ item: OpaquePointer) {
            bound.remove(item)
            items[item] = nil
        }

        // MARK: - Scrolling

        /// Returns the request to prefetch. Cells that GTK keeps outside of the visible area aren't mapped, so they
        /// don't load their images themselves.
        private func requestAhead(_ position: Int) -> ImageRequest? {
            guard let request = content(position).request, request.size != nil else { return nil }
            return request
        }

        private func settle() {
            guard let widget = scroll?.widget else { return }
            forecastRest()
            let isAcross = scroll?.isAcross == true
            var lowest = Int.max
            var highest = -1
            for item in bound {
                guard let cell = items[item] else { continue }
                let position = Int(gtk_list_item_get_position(item))
                cell.position = position
                let place = place(of: cell.root, within: widget)
                let isVisible = place?.isVisible == true
                if isWithinReach(place), loadsInFlight(position) { cell.startDeferred() }
                // The middle half of the visible area is central.
                cell.setVisible(isVisible, isCentral: place.map { (isAcross ? $0.x : $0.y) <= 0.25 } ?? false)
                guard isVisible else { continue }
                lowest = min(lowest, position)
                highest = max(highest, position)
            }
            scroll?.settled(isEmpty: highest < 0)
            let range = highest < 0 ? 0..<0 : lowest..<(highest + 1)
            if !range.isEmpty { endInitialLoads(visibleRange: range) }
            prefetcher?.update(
                visibleRange: range, landing: flight == nil ? nil : landing, reach: reach, rate: flight?.rate)
            guard range != visibleRange else { return }
            visibleRange = range
            onVisibleRangeChange?(range)
        }

        /// Returns whether the distance of a cell from the visible area is at most the length of that area.
        private func isWithinReach(_ place: RelativePlace?) -> Bool {
            place.map { $0.x <= 1.5 && $0.y <= 1.5 } ?? false
        }

        /// Returns whether the cell at `position` loads its image, which is the case if the image can arrive in time.
        private func loadsInFlight(_ position: Int) -> Bool {
            flight == nil || landing.contains(position) || prefetcher?.window.isStarted(position) == true
        }

        /// Updates the prediction of the scroll position at rest. While the list moves, every frame is observed.
        private func forecastRest() {
            guard let scroll, let extent = scroll.extent, extent.upper > 0 else { return }
            forecast.record(extent.value, at: scroll.frameTime, visibleLength: extent.page)
            // An image that is visible for twice the time of its load is there for half of the time.
            flight = forecast.flight(
                visibleLength: extent.page,
                loadingTime: prefetcher?.pace.map { $0.latency * 2 } ?? ScrollForecast.shortestDwell)
            landing = 0..<0
            if let rest = flight?.landing {
                let count = Double(scroll.count)
                let first = min(max(rest, 0), max(0, extent.upper - extent.page)) / extent.upper * count
                let length = extent.page / extent.upper * count
                // The prediction is off by some rows, and the first and the last row are only partly visible.
                let margin = length / 4
                landing = Int(max(0, first - margin))..<Int(min(count, first + length + margin).rounded(.up))
            }
            if forecast.isMoving { scroll.schedule() }
        }

        /// The factor for the number of images to prefetch, which grows by one for each visible length that the list
        /// scrolls in a quarter of a second.
        private var reach: Double {
            guard let extent = scroll?.extent, extent.page > 0 else { return 1 }
            return (1 + abs(forecast.speed) * ScrollForecast.shortestDwell / extent.page).rounded(.up)
        }
    }
#endif
