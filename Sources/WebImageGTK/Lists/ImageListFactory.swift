// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage

    /// Cells with pictures for GtkListView and GtkGridView: recycled, loaded when they come, given up when they go, what can be
    /// seen first, and what lies ahead in the direction of scrolling fetched before it is there.
    ///
    /// ```swift
    /// let factory = ImageListFactory(
    ///     makeCell: { ImageListCell(pictureOfWidth: 160, height: 160)! },
    ///     content: { position in ImageListContent(ImageRequest(urls[position], size: .fill(width: 160, height: 160))) })
    /// factory.install(on: gridView)
    /// ```
    ///
    /// The list keeps the factory.
    @MainActor
    public final class ImageListFactory<Cell: ImageListCell>: ListItemHandler {
        /// Positions that can be seen.
        public private(set) var visible: Range<Int> = 0..<0
        /// Called when ``visible`` has changed. Default nil.
        public var onVisibleChange: (@MainActor (Range<Int>) -> Void)?
        /// Fetches ahead; nil before ``install(on:)``.
        public private(set) var prefetcher: ListPrefetcher?

        private let makeCell: @MainActor () -> Cell
        private let content: @MainActor (Int) -> ImageListContent
        private let willShow: @MainActor (Cell, Int) -> Void
        private let manager: ImageManager
        private let ahead: ListPrefetcher.Configuration
        private var items: [OpaquePointer: Cell] = [:]
        private var bound: Set<OpaquePointer> = []
        private var scroll: ListScroll?

        /// A factory that is not installed yet.
        ///
        /// - Parameters:
        ///   - manager: who fetches ahead; cells should load with the same one. Default ``ImageManager/shared``.
        ///   - ahead: how far ahead pictures are fetched; only those whose requests have a size are.
        ///   - makeCell: makes one of the cells, of which there are some more than can be seen.
        ///   - content: what is shown at a position of the list's model.
        ///   - willShow: sets what else a cell shows, before its picture is asked for. Default nothing.
        public init(
            manager: ImageManager = .shared, ahead: ListPrefetcher.Configuration = .init(),
            makeCell: @escaping @MainActor () -> Cell, content: @escaping @MainActor (Int) -> ImageListContent,
            willShow: @escaping @MainActor (Cell, Int) -> Void = { _, _ in }
        ) {
            self.manager = manager
            self.ahead = ahead
            self.makeCell = makeCell
            self.content = content
            self.willShow = willShow
        }

        /// Makes `view`, a GtkListView or GtkGridView, show these cells.
        ///
        /// - Returns: false for any other object; nothing was done then.
        @discardableResult
        public func install(on view: OpaquePointer) -> Bool {
            guard scroll == nil, let scroll = ListScroll(view), let factory = ListItemSignals.factory(self) else {
                return false
            }
            GTKMainLoop.install()
            self.scroll = scroll
            prefetcher = ListPrefetcher(count: scroll.count, manager: manager, ahead) { [weak self] position in
                self?.requestAhead(position)
            }
            scroll.onSettle = { [weak self] in self?.settle() }
            scroll.onItemsChange = { [weak self] in self?.prefetcher?.reset(count: self?.scroll?.count ?? 0) }
            scroll.setFactory(factory)
            g_object_unref(UnsafeMutableRawPointer(factory))
            return true
        }

        /// The cells that show something, by position.
        public var cells: [(position: Int, cell: Cell)] {
            bound.compactMap { item in items[item].map { (Int(gtk_list_item_get_position(item)), $0) } }
                .sorted { $0.0 < $1.0 }
        }

        /// The cell at a position; nil where that is far from what can be seen.
        public func cell(at position: Int) -> Cell? {
            bound.first { Int(gtk_list_item_get_position($0)) == position }.flatMap { items[$0] }
        }

        /// Asks for the content of all cells again; for changes that the list's model does not tell.
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

        /// Cells that GTK keeps beyond what is visible are not on the screen, and do not load by themselves.
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
            prefetcher?.show(range)
            guard range != visible else { return }
            visible = range
            onVisibleChange?(range)
        }
    }
#endif
