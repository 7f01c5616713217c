// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    /// A factory that creates image cells for a GtkListView or a GtkGridView.
    ///
    /// Cells are reused. A cell starts to load when it's bound and cancels its request when it's unbound. Visible cells
    /// have the highest priority, and images ahead in the scrolling direction are prefetched.
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
        /// The prefetcher of the list, or `nil` before ``install(on:)``.
        package private(set) var prefetcher: ListPrefetcher?

        private let makeCell: @MainActor () -> Cell
        private let content: @MainActor (Int) -> ImageListContent
        private let willShow: @MainActor (Cell, Int) -> Void
        private let manager: ImageManager
        private let ahead: ListPrefetcher.Configuration
        private var items: [OpaquePointer: Cell] = [:]
        private var bound: Set<OpaquePointer> = []
        private var scroll: ListScrollObserver?

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
            items[item] = cell
            gtk_list_item_set_child(item, cell.root)
        }

        func bind(_ item: OpaquePointer) {
            guard let cell = items[item] else { return }
            let position = Int(gtk_list_item_get_position(item))
            bound.insert(item)
            willShow(cell, position)
            cell.show(position, content(position))
            scroll?.schedule()
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
            var lowest = Int.max
            var highest = -1
            for item in bound {
                guard let cell = items[item] else { continue }
                let position = Int(gtk_list_item_get_position(item))
                cell.position = position
                let isSeen = isVisible(cell.root, within: widget)
                cell.setVisible(isSeen)
                guard isSeen else { continue }
                lowest = min(lowest, position)
                highest = max(highest, position)
            }
            scroll?.settled(isEmpty: highest < 0)
            let range = highest < 0 ? 0..<0 : lowest..<(highest + 1)
            prefetcher?.update(visibleRange: range)
            guard range != visibleRange else { return }
            visibleRange = range
            onVisibleRangeChange?(range)
        }
    }
#endif
