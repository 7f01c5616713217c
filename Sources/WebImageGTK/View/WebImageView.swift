// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore

    /// Pictures from the network in a widget of GTK:
    ///
    /// ```swift
    /// let picture = gtk_picture_new()!
    /// WebImageView(of: picture)?.load(url)
    /// ```
    ///
    /// A handle: what it tells lives with the widget, and all views of one widget are the same. Loading begins when the widget
    /// is on the screen and has a size, a picture in memory is drawn in the very frame, and what was bound before can not show
    /// any more. When the widget goes, so does all of it.
    @MainActor
    public struct WebImageView {
        let controller: WidgetController

        /// The view of a GtkPicture, GtkImage, GtkButton or GtkMenuButton. A button keeps what it holds, beside its picture.
        ///
        /// - Parameters:
        ///   - widget: the widget; it keeps the view, not the other way round.
        ///   - manager: who loads. Default nil: the manager of the widget's view, ``ImageManager/shared`` where it is new. Another
        ///     one than before unbinds all.
        /// - Returns: nil for widgets of other classes; see ``init(of:manager:show:)``.
        public init?(of widget: UnsafeMutablePointer<GtkWidget>, manager: ImageManager? = nil) {
            if let controller = WidgetController.of(widget) {
                self.init(controller, manager)
                return
            }
            guard let (chrome, fit) = WidgetKind.chrome(for: widget) else { return nil }
            self.init(WidgetController(widget, manager ?? .shared, chrome), nil)
            controller.look.fit = fit
        }

        /// The view of any other widget: an image button of an app's own, an avatar, a drawing area.
        ///
        /// - Parameters:
        ///   - widget: the widget; it keeps the view and the closure.
        ///   - manager: as in ``init(of:manager:)``.
        ///   - show: puts a GdkPaintable where the widget shows pictures. Called when the view is made, and again only when it gets
        ///     another manager: the paintable changes by itself. Not called where the widget has a view already. It must not
        ///     hold the widget.
        public init(
            of widget: UnsafeMutablePointer<GtkWidget>, manager: ImageManager? = nil,
            show: @escaping @MainActor (_ paintable: OpaquePointer) -> Void
        ) {
            if let controller = WidgetController.of(widget) {
                self.init(controller, manager)
                return
            }
            self.init(WidgetController(widget, manager ?? .shared, PaintableChrome(show)), nil)
            _ = controller.stage(.image)
        }

        init(_ controller: WidgetController, _ manager: ImageManager? = nil) {
            self.controller = controller
            if let manager { controller.use(manager) }
        }

        /// The widget.
        public var widget: UnsafeMutablePointer<GtkWidget> { controller.widget }
        /// Who loads.
        public var manager: ImageManager { controller.manager }

        // MARK: - Loading

        /// Shows the picture for `request` from now on, and no other one any more. Nil is for a slot without a URL.
        ///
        /// - Parameters:
        ///   - request: what is loaded; where it has no size, the widget's place times its scale factor is.
        ///   - slot: which picture of the widget. Default the picture itself; buttons have more, see ``ImageSlot/image(_:)``.
        ///   - options: placeholder, transition, and the rest.
        ///   - goal: how far the picture has to come before `completion` gets it. A widget that cannot be seen is not waited
        ///     for. Default ``LoadGoal/loaded``.
        ///   - completion: called once, with the picture or with why there is none; with ``RequestError/cancelled`` where another
        ///     load took its place before.
        /// - Returns: the binding's number, as in ``BinderSnapshot/generation``.
        @discardableResult
        public func load(
            _ request: ImageRequest?, slot: ImageSlot = .image, options: BindingOptions,
            until goal: LoadGoal = .loaded, completion: ImageBinder.Completion? = nil
        ) -> Int {
            controller.bind(request, slot, options, until: goal, completion)
        }

        /// Shows the picture for `request` from now on, `placeholder` until it is there.
        @discardableResult
        public func load(
            _ request: ImageRequest?, placeholder: Placeholder = .empty, transition: Transition = .none,
            slot: ImageSlot = .image, completion: ImageBinder.Completion? = nil
        ) -> Int {
            load(
                request, slot: slot, options: BindingOptions(placeholder: placeholder, transition: transition),
                completion: completion)
        }

        /// Shows the picture at `url` from now on, `placeholder` until it is there.
        @discardableResult
        public func load(
            _ url: URL?, placeholder: Placeholder = .empty, transition: Transition = .none, slot: ImageSlot = .image,
            completion: ImageBinder.Completion? = nil
        ) -> Int {
            load(
                url.map { ImageRequest($0) }, placeholder: placeholder, transition: transition, slot: slot,
                completion: completion)
        }

        /// Shows the picture for `request` and waits until it has been drawn. Cancelling the calling Swift task clears the slot,
        /// unless something else was loaded into it.
        ///
        /// - Parameters:
        ///   - request: as in ``load(_:slot:options:until:completion:)``.
        ///   - slot: as there.
        ///   - options: as there.
        ///   - goal: how far the picture has to come; ``LoadGoal/transitioned`` waits for its transition too. A widget that
        ///     cannot be seen is not waited for: there it ends as with ``LoadGoal/loaded``. Default ``LoadGoal/shown``.
        /// - Throws: why there is no picture; ``RequestError/cancelled`` where another load took its place or the widget went.
        @discardableResult
        public func loadAndWait(
            _ request: ImageRequest, slot: ImageSlot = .image, options: BindingOptions = BindingOptions(),
            until goal: LoadGoal = .shown
        ) async throws(ImageError) -> ImageResponse {
            try await controller.bindAndWait(request, slot, options, until: goal)
        }

        /// Ends what is loaded into `slot` and empties it. Lists call it when a row is unbound.
        public func clear(_ slot: ImageSlot = .image) { controller.unbind(slot) }

        /// ``clear(_:)`` for all slots.
        public func clearAll() { for slot in controller.binders.slots { controller.unbind(slot) } }

        /// Tries again what failed, in all slots.
        public func retry() { controller.binders.retry() }

        /// Changes how soon the picture of a slot is wanted.
        public func setPriority(_ priority: RequestPriority, slot: ImageSlot = .image) {
            controller.binder(slot).setPriority(priority)
        }

        // MARK: - What can be seen

        /// How far a slot is, and what it shows.
        public func snapshot(_ slot: ImageSlot = .image) -> BinderSnapshot { controller.binder(slot).snapshot }

        /// Calls `action` after every change of ``snapshot(_:)``, instead of the action before; nil ends it. The widget keeps
        /// the action, which must not hold the widget.
        public func onChange(_ slot: ImageSlot = .image, _ action: (@MainActor (BinderSnapshot) -> Void)?) {
            controller.observers[slot] = action
        }

        /// ``snapshot(_:)`` now and after every change; see ``ImageBinder/changes``.
        public func changes(_ slot: ImageSlot = .image) -> AsyncStream<BinderSnapshot> {
            controller.binder(slot).changes
        }

        /// The player of the animation that a slot shows; nil for stills. It is another one for every picture.
        public func player(_ slot: ImageSlot = .image) -> AnimationPlayer? { controller.stages[slot]?.player }

        /// The GdkPaintable that draws a slot, for showing it in a second place. It lives as long as the widget.
        public func paintable(_ slot: ImageSlot = .image) -> OpaquePointer? {
            _ = controller.stage(slot)
            return controller.paintables[slot]?.pointer
        }
    }
#endif
