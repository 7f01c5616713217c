// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage

    /// Pictures in a GtkFlowBox. A flow box has a child for everything, so its children load when they come into the visible
    /// part of what scrolls around it, and give their pictures back when they are more than as much again away.
    ///
    /// The flow box keeps this object. A second one for the same flow box takes its place: the first one lets go of the flow
    /// box, and its cells are removed with it. For thousands of pictures a GtkGridView with an ``ImageListFactory`` is the better
    /// widget.
    @MainActor
    public final class ImageFlowBox<Cell: ImageListCell> {
        /// Positions that can be seen.
        public private(set) var visible: Range<Int> = 0..<0
        /// All cells, by position.
        public private(set) var cells: [Cell] = []
        /// Fetches ahead.
        public private(set) var prefetcher: ListPrefetcher?

        private let box: OpaquePointer
        private let makeCell: @MainActor () -> Cell
        private let content: @MainActor (Int) -> ImageListContent
        private let willShow: @MainActor (Cell, Int) -> Void
        private var scroll: FlowScroll?

        /// Fills `flowBox`, a GtkFlowBox, with `count` cells.
        ///
        /// - Parameters:
        ///   - flowBox: the widget.
        ///   - count: cells.
        ///   - manager: who fetches ahead; cells should load with the same one. Default ``ImageManager/shared``.
        ///   - ahead: how far ahead pictures are fetched; only those whose requests have a size are.
        ///   - makeCell: makes a cell.
        ///   - content: what is shown at a position.
        ///   - willShow: sets what else a cell shows, when it is made and when it comes into view. Default nothing.
        /// - Returns: nil for what is no GtkFlowBox.
        public init?(
            _ flowBox: OpaquePointer, count: Int, manager: ImageManager = .shared,
            ahead: ListPrefetcher.Configuration = .init(), makeCell: @escaping @MainActor () -> Cell,
            content: @escaping @MainActor (Int) -> ImageListContent,
            willShow: @escaping @MainActor (Cell, Int) -> Void = { _, _ in }
        ) {
            guard WidgetKind.isA(UnsafeMutableRawPointer(flowBox), gtk_flow_box_get_type()) else { return nil }
            GTKMainLoop.install()
            box = flowBox
            self.makeCell = makeCell
            self.content = content
            self.willShow = willShow
            prefetcher = ListPrefetcher(count: 0, manager: manager, ahead) { [weak self] position in
                guard let self, cells.indices.contains(position), cells[position].position == nil else { return nil }
                let request = self.content(position).request
                return request?.size == nil ? nil : request
            }
            scroll = FlowScroll(flowBox, owner: self) { [weak self] in self?.settle($0) }
            setCount(count)
        }

        isolated deinit { if scroll?.isGone == false { removeCells(from: 0) } }

        /// Changes the number of cells; all of them ask for their content again.
        public func setCount(_ count: Int) {
            for cell in cells { cell.showNothing() }
            removeCells(from: max(0, count))
            while cells.count < count {
                let cell = makeCell()
                willShow(cell, cells.count)
                cells.append(cell)
                gtk_flow_box_insert(box, cell.root, -1)
            }
            visible = 0..<0
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
            let seen = cells.indices.filter { isVisible(cells[$0].root, within: viewport) }
            visible = seen.first.map { $0..<((seen.last ?? $0) + 1) } ?? 0..<0
            // As many again at both ends keep their pictures, so that a step back shows them at once.
            let kept =
                visible.isEmpty ? visible : (visible.lowerBound - visible.count)..<(visible.upperBound + visible.count)
            for (position, cell) in cells.enumerated() {
                if visible.contains(position) {
                    if cell.position == nil {
                        willShow(cell, position)
                        cell.show(position, content(position))
                    }
                } else if !kept.contains(position), cell.position != nil {
                    cell.showNothing()
                }
                if cell.position != nil { cell.setVisible(visible.contains(position)) }
            }
            prefetcher?.show(visible)
        }
    }

    /// What scrolls around a flow box.
    @MainActor
    private final class FlowScroll {
        private let box: UnsafeMutablePointer<GtkWidget>
        private var follower: ScrollFollower?
        private var handlers: [gulong] = []
        /// Whether the widget was destroyed.
        private(set) var isGone = false

        private static var key: String { "webimage-flow-box" }

        /// The box keeps `owner`.
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
            follower = ScrollFollower(widget) { settled(FlowScroll.viewport(of: widget)) }
            let mapped: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                FlowScroll.isolated(data) { $0.follow() }
            }
            let destroyed: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
                FlowScroll.isolated(data) { $0.letGo() }
            }
            let data = Unmanaged.passUnretained(self).toOpaque()
            handlers = [
                // Only then it is known what scrolls around it.
                connect(raw, "map", unsafeBitCast(mapped, to: GCallback.self), data),
                connect(raw, "destroy", unsafeBitCast(destroyed, to: GCallback.self), data),
            ]
            if gtk_widget_get_mapped(widget) != 0 { follow() }
        }

        // Another owner may have taken the place of this one's while the widget lives on.
        isolated deinit {
            guard !isGone else { return }
            for handler in handlers { g_signal_handler_disconnect(UnsafeMutableRawPointer(box), handler) }
            follower?.stop()
        }

        nonisolated private static func isolated(_ data: gpointer?, _ body: @MainActor (FlowScroll) -> Void) {
            guard let data else { return }
            let scroll = Unmanaged<FlowScroll>.fromOpaque(data).takeUnretainedValue()
            MainActor.assumeIsolated { body(scroll) }
        }

        func schedule() { if !isGone { follower?.schedule() } }

        private func follow() {
            guard !isGone, let window = Self.scrolledWindow(of: box) else { return schedule() }
            follower?.follow([gtk_scrolled_window_get_hadjustment(window), gtk_scrolled_window_get_vadjustment(window)])
        }

        private func letGo() {
            isGone = true
            follower?.stop()
            follower = nil
        }

        private static func scrolledWindow(of box: UnsafeMutablePointer<GtkWidget>) -> OpaquePointer? {
            gtk_widget_get_ancestor(box, gtk_scrolled_window_get_type()).map { OpaquePointer($0) }
        }

        /// The widget whose bounds are what can be seen: the scrolled window, else the box itself.
        private static func viewport(of box: UnsafeMutablePointer<GtkWidget>) -> UnsafeMutablePointer<GtkWidget> {
            gtk_widget_get_ancestor(box, gtk_scrolled_window_get_type()) ?? box
        }
    }
#endif
