// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage
    import WebImageUI

    /// A controller that fills a GtkFlowBox with cells that show images.
    ///
    /// A flow box has a child widget for each position. A cell loads its image when it scrolls into the visible area.
    /// It releases the image when there are more cells between it and the visible area than are visible.
    ///
    /// The flow box retains this object. If you create a second object for the same flow box, the flow box releases the
    /// first one, which removes its cells. For thousands of images, use a GtkGridView with an ``ImageListFactory``
    /// instead.
    @MainActor
    public final class ImageFlowBox<Cell: ImageListCell> {
        /// The range of visible positions.
        public private(set) var visibleRange: Range<Int> = 0..<0
        /// All cells, ordered by position.
        public private(set) var cells: [Cell] = []
        /// A closure that's called when the image of a cell can't be loaded, with the cell, its position, and the error. It
        /// isn't called for canceled loads, nor for positions without a request. The default is `nil`.
        public var onFailure: (@MainActor (Cell, Int, ImageError) -> Void)?
        /// The prefetcher for the positions outside of the visible range.
        package private(set) var prefetcher: ListPrefetcher?

        private let box: OpaquePointer
        private let makeCell: @MainActor () -> Cell
        private let content: @MainActor (Int) -> ImageListContent
        private let willShow: @MainActor (Cell, Int) -> Void
        private var scroll: FlowBoxScrollObserver?

        /// Creates `count` cells and adds them to a GtkFlowBox.
        ///
        /// - Parameters:
        ///   - flowBox: The GtkFlowBox.
        ///   - count: The number of cells.
        ///   - manager: The manager that prefetches images. The cells should load their images with the same manager.
        ///     The default is ``ImageManager/shared``.
        ///   - prefetching: The configuration of the prefetcher. Only requests that have a size are prefetched.
        ///   - makeCell: A closure that creates a cell.
        ///   - content: A closure that returns the content for a position.
        ///   - willShow: A closure that updates the other contents of a cell. It's called when a cell is created and
        ///     when the cell becomes visible. The default closure does nothing.
        /// - Returns: `nil` if `flowBox` isn't a GtkFlowBox.
        public init?(
            _ flowBox: OpaquePointer, count: Int, manager: ImageManager = .shared,
            prefetching: ListPrefetcher.Configuration = .init(), makeCell: @escaping @MainActor () -> Cell,
            content: @escaping @MainActor (Int) -> ImageListContent,
            willShow: @escaping @MainActor (Cell, Int) -> Void = { _, _ in }
        ) {
            guard WidgetKind.isA(UnsafeMutableRawPointer(flowBox), gtk_flow_box_get_type()) else { return nil }
            GTKMainLoop.install()
            box = flowBox
            self.makeCell = makeCell
            self.content = content
            self.willShow = willShow
            prefetcher = ListPrefetcher(count: 0, manager: manager, configuration: prefetching) {
                [weak self] position in
                guard let self, cells.indices.contains(position), cells[position].position == nil else { return nil }
                let request = self.content(position).request
                return request?.size == nil ? nil : request
            }
            scroll = FlowBoxScrollObserver(flowBox, owner: self) { [weak self] in self?.settle($0) }
            resize(to: count)
        }

        isolated deinit { if scroll?.isDestroyed == false { removeCells(from: 0) } }

        /// The number of cells. Setting it reloads the content of all cells. A negative number means 0.
        public var count: Int {
            get { cells.count }
            set { resize(to: newValue) }
        }

        private func resize(to count: Int) {
            for cell in cells { cell.showNothing() }
            removeCells(from: max(0, count))
            while cells.count < count {
                let cell = makeCell()
                cell.didFail = { [weak self, weak cell] error in
                    if let cell, let position = cell.position { self?.onFailure?(cell, position, error) }
                }
                willShow(cell, cells.count)
                cells.append(cell)
                gtk_flow_box_insert(box, cell.root, -1)
            }
            visibleRange = 0..<0
            prefetcher?.reset(count: cells.count)
            scroll?.schedule()
        }

        private func removeCells(from position: Int) {
            while cells.count > position {
                let cell = cells.removeLast()
                if let child = gtk_widget_get_parent(cell.root) { gtk_flow_box_remove(box, child) }
            }
        }

        private func settle(_ viewport: UnsafeMutablePointer<GtkWidget>) {
            let seen = cells.indices.filter { place(of: cells[$0].root, within: viewport)?.isVisible == true }
            visibleRange = seen.first.map { $0..<((seen.last ?? $0) + 1) } ?? 0..<0
            // Keep the images of as many cells on both sides, so that they're available immediately when the user
            // scrolls back.
            let kept =
                visibleRange.isEmpty
                ? visibleRange
                : (visibleRange.lowerBound - visibleRange.count)..<(visibleRange.upperBound + visibleRange.count)
            for (position, cell) in cells.enumerated() {
                if visibleRange.contains(position) {
                    if cell.position == nil {
                        willShow(cell, position)
                        cell.show(position, content(position), defers: false)
                    }
                } else if !kept.contains(position), cell.position != nil {
                    cell.showNothing()
                }
                if cell.position != nil { cell.setVisible(visibleRange.contains(position)) }
            }
            prefetcher?.update(visibleRange: visibleRange)
        }
    }

    /// The connection between a flow box and the scrolled window that contains it.
    @MainActor
    private final class FlowBoxScrollObserver {
        private let box: UnsafeMutablePointer<GtkWidget>
        private var follower: ScrollObserver?
        private var handlers: [gulong] = []
        private(set) var isDestroyed = false

        private static var key: String { "webimage-flow-box" }

        /// Creates an object that follows the scrolling of `box`. The flow box retains `owner`.
        init(
            _ box: OpaquePointer, owner: AnyObject,
            _ settled: @escaping @MainActor (UnsafeMutablePointer<GtkWidget>) -> Void
        ) {
            let raw = UnsafeMutableRawPointer(box)
            let widget = raw.assumingMemoryBound(to: GtkWidget.self)
            self.box = widget
            g_object_set_data_full(
                raw.assumingMemoryBound(to: GObject.self), Self.key, Unmanaged.passRetained(owner).toOpaque(),
                { data in
                    if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
                })
            follower = ScrollObserver(widget) { settled(FlowBoxScrollObserver.viewport(of: widget)) }
            let mapped: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                FlowBoxScrollObserver.isolated(data) { $0.follow() }
            }
            let destroyed: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                FlowBoxScrollObserver.isolated(data) { $0.letGo() }
            }
            let data = Unmanaged.passUnretained(self).toOpaque()
            handlers = [
                // The flow box is inside its scrolled window by the time it's mapped.
                connect(raw, "map", unsafeBitCast(mapped, to: GCallback.self), data),
                connect(raw, "destroy", unsafeBitCast(destroyed, to: GCallback.self), data),
            ]
            if gtk_widget_get_mapped(widget) != 0 { follow() }
        }

        // The widget outlives this object if another owner replaced this object's owner.
        isolated deinit {
            guard !isDestroyed else { return }
            for handler in handlers { g_signal_handler_disconnect(UnsafeMutableRawPointer(box), handler) }
            follower?.stop()
        }

        nonisolated private static func isolated(_ data: gpointer?, _ body: @MainActor (FlowBoxScrollObserver) -> Void)
        {
            guard let data else { return }
            let scroll = Unmanaged<FlowBoxScrollObserver>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body(scroll) }
        }

        func schedule() { if !isDestroyed { follower?.schedule() } }

        private func follow() {
            guard !isDestroyed, let window = Self.scrolledWindow(of: box) else { return schedule() }
            follower?.follow([gtk_scrolled_window_get_hadjustment(window), gtk_scrolled_window_get_vadjustment(window)])
        }

        private func letGo() {
            isDestroyed = true
            follower?.stop()
            follower = nil
        }

        private static func scrolledWindow(of box: UnsafeMutablePointer<GtkWidget>) -> OpaquePointer? {
            gtk_widget_get_ancestor(box, gtk_scrolled_window_get_type()).map { OpaquePointer($0) }
        }

        /// Returns the widget whose bounds are the visible area: the scrolled window, or the flow box if there's none.
        private static func viewport(of box: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GtkWidget> {
            gtk_widget_get_ancestor(box, gtk_scrolled_window_get_type()) ?? box
        }
    }
#endif
