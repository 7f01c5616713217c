// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCore
    import WebImageUI

    /// A handle that loads and shows images in a GTK widget:
    ///
    /// ```swift
    /// let picture = gtk_picture_new()!
    /// WebImageView(for: picture)?.load(url)
    /// ```
    ///
    /// The state of the view is stored with the widget, so all views of a widget are equivalent. Loading starts when
    /// the widget is visible and has a size. An image in the memory cache is drawn in the same frame. A late result of
    /// a previous request never appears. When the widget is destroyed, its requests are canceled and its state is
    /// released.
    @MainActor
    public struct WebImageView {
        let controller: WidgetController

        /// Creates the view of a GtkPicture, GtkImage, GtkButton, or GtkMenuButton. A button keeps its existing child
        /// next to the image.
        ///
        /// - Parameters:
        ///   - widget: The widget. It retains the state of the view, and the view doesn't retain the widget.
        ///   - manager: The manager that loads images. The default is `nil`, which means the current manager of the
        ///     widget's view, or ``ImageManager/shared`` if the widget has no view. If the manager changes, all slots
        ///     are unbound.
        /// - Returns: `nil` if the widget has another class. For other widgets, pass `setPaintable`.
        public init?(for widget: UnsafeMutablePointer<GtkWidget>, manager: ImageManager? = nil) {
            if let controller = WidgetController.of(widget) {
                self.init(controller, manager)
                return
            }
            guard let (adapter, fit) = WidgetKind.adapter(for: widget) else { return nil }
            self.init(WidgetController(widget, manager ?? .shared, adapter), nil)
            controller.appearance.fit = fit
        }

        /// Creates the view of any other widget, such as a custom image button, an avatar, or a drawing area.
        ///
        /// A GtkPicture shows the paintable in its full bounds, and ``contentFit`` determines the fit of the image in them,
        /// as in the initializer without `setPaintable`. If the paintable is for a descendant of `widget`, such as a
        /// GtkPicture in a box, set the content fit of the descendant to `GTK_CONTENT_FIT_FILL`.
        ///
        /// - Parameters:
        ///   - widget: The widget. It retains the state of the view and the closure.
        ///   - manager: The manager that loads images, as in the initializer without `setPaintable`.
        ///   - setPaintable: A closure that sets a GdkPaintable as the image of the widget. It's called when the view
        ///     is created, and again only if the manager changes or if the widget shows the image of another state (see
        ///     ``ImageSlot/image(_:)``), because the paintable updates itself. It isn't called if the widget already has a
        ///     view. It must not capture the widget strongly.
        public init(
            for widget: UnsafeMutablePointer<GtkWidget>, manager: ImageManager? = nil,
            setPaintable: @escaping @MainActor (_ paintable: OpaquePointer) -> Void
        ) {
            if let controller = WidgetController.of(widget) {
                self.init(controller, manager)
                return
            }
            self.init(WidgetController(widget, manager ?? .shared, PaintableAdapter(setPaintable)), nil)
            if let fit = WidgetKind.takePictureFit(widget) { controller.appearance.fit = fit }
            _ = controller.renderer(.image)
        }

        init(_ controller: WidgetController, _ manager: ImageManager? = nil) {
            self.controller = controller
            if let manager { controller.use(manager) }
        }

        /// The widget of the view.
        public var widget: UnsafeMutablePointer<GtkWidget> { controller.widget }
        /// The manager that loads images.
        public var manager: ImageManager { controller.manager }

        // MARK: - Loading

        /// Binds a slot to a request, which replaces the slot's previous request.
        ///
        /// - Parameters:
        ///   - request: The request to load, or `nil` for a slot without an image. If the request has no size, the size
        ///     of the widget multiplied by its scale factor is used.
        ///   - options: The options of the binding, such as the placeholder and the transition.
        ///   - slot: The slot of the widget. The default is the main image. For the slots of buttons, see
        ///     ``ImageSlot/image(_:)``.
        ///   - point: The stage that the image must reach before `completion` is called with it. If the widget isn't
        ///     visible, the image doesn't need to reach it. The default is
        ///     ``WebImageView/CompletionPoint/loaded``.
        ///   - completion: A closure that's called once, with the image or with the error. The error is
        ///     ``ImageError/cancelled`` if another load replaces this one.
        /// - Returns: The number of the binding, as in ``ImageBinder/Presentation/bindingID``.
        @discardableResult
        public func load(
            _ request: ImageRequest?, options: ImageViewOptions, slot: ImageSlot = .image,
            until point: WebImageView.CompletionPoint = .loaded,
            completion: (@MainActor (Result<ImageResponse, ImageError>) -> Void)? = nil
        ) -> Int {
            controller.bind(request, slot, options, until: point, completion)
        }

        /// Binds a slot to a request and shows `placeholder` until the image is loaded.
        @discardableResult
        public func load(
            _ request: ImageRequest?, placeholder: ImagePlaceholder = .empty, transition: ImageTransition = .none,
            slot: ImageSlot = .image, completion: (@MainActor (Result<ImageResponse, ImageError>) -> Void)? = nil
        ) -> Int {
            load(
                request, options: ImageViewOptions(placeholder: placeholder, transition: transition), slot: slot,
                completion: completion)
        }

        /// Binds a slot to the image at `url` and shows `placeholder` until the image is loaded.
        @discardableResult
        public func load(
            _ url: URL?, placeholder: ImagePlaceholder = .empty, transition: ImageTransition = .none,
            slot: ImageSlot = .image, completion: (@MainActor (Result<ImageResponse, ImageError>) -> Void)? = nil
        ) -> Int {
            load(
                url.map { ImageRequest(url: $0) }, placeholder: placeholder, transition: transition, slot: slot,
                completion: completion)
        }

        /// Loads and shows the image for a request, and returns after it was drawn.
        ///
        /// Canceling the current task clears the slot unless something else was loaded into it.
        ///
        /// - Parameters:
        ///   - request: The request to load, as in ``load(_:options:slot:until:completion:)``.
        ///   - options: The options of the binding. By default, they have their default values.
        ///   - slot: The slot of the widget. The default is the main image.
        ///   - point: The stage that the image must reach before this method returns.
        ///     ``WebImageView/CompletionPoint/transitionFinished`` also waits for the transition. If the widget isn't
        ///     visible, this method returns when the image is loaded. The default is
        ///     ``WebImageView/CompletionPoint/displayed``.
        /// - Throws: An ``ImageError`` if the image can't be loaded. The error is
        ///   ``ImageError/cancelled`` if another load replaces this one or if the widget is destroyed.
        @discardableResult
        public func loadAndWait(
            _ request: ImageRequest, options: ImageViewOptions = ImageViewOptions(), slot: ImageSlot = .image,
            until point: WebImageView.CompletionPoint = .displayed
        ) async throws(ImageError) -> ImageResponse {
            try await controller.bindAndWait(request, slot, options, until: point)
        }

        /// Cancels the load of a slot and clears its content. Lists call this method when they unbind a row.
        public func clear(_ slot: ImageSlot = .image) { controller.unbind(slot) }

        /// Cancels the load of a slot and keeps its content.
        ///
        /// The load completes with ``ImageError/cancelled``, and ``retry()`` restarts it. See ``ImageBinder/cancel()``.
        /// If the image is already loaded and waits to be drawn, the load completes with the same error, but the next
        /// frame shows the image, so there's nothing to restart.
        public func cancel(_ slot: ImageSlot = .image) { controller.cancel(slot) }

        /// Retries the failed loads of all slots, and restarts the loads after ``cancel(_:)``.
        public func retry() { controller.retry(controller.binders.slots) }

        /// Changes the priority of the request of a slot.
        public func setPriority(_ priority: RequestPriority, for slot: ImageSlot = .image) {
            controller.binder(slot).setPriority(priority)
        }

        /// Sets a progress object of the application that follows the loads of a slot, as described at
        /// ``ImageBinder/progress``.
        ///
        /// The object remains if the manager changes. The widget retains it until `nil` or another object replaces it.
        public func setProgress(_ progress: Progress?, for slot: ImageSlot = .image) {
            _ = controller.binder(slot)
            controller.progressObjects[slot] = progress
        }

        /// Returns the progress object of a slot, or `nil` if none was set.
        public func progress(for slot: ImageSlot = .image) -> Progress? { controller.progressObjects[slot] }

        // MARK: - State

        /// A Boolean value that indicates whether the widget shows the images of ``ButtonState/active`` in any state except
        /// ``ButtonState/disabled``, for example because its row is selected. The default is `false`.
        public var isHighlighted: Bool {
            get { controller.isHighlighted }
            nonmutating set { controller.isHighlighted = newValue }
        }

        /// Returns the slot that the widget currently shows at the position of `slot`.
        ///
        /// In a state without its own image, it's the slot of another state. For example,
        /// `request(of: displayedSlot())` is the request of the visible image of a button.
        ///
        /// - Parameter slot: The slot of any state, such as ``ImageSlot/background``. The default is the main image.
        public func displayedSlot(for slot: ImageSlot = .image) -> ImageSlot {
            controller.displayedSlot(at: slot.normalSlot) ?? slot.normalSlot
        }

        /// Returns the state and the content of a slot.
        public func snapshot(of slot: ImageSlot = .image) -> ImageBinder.Snapshot { controller.binder(slot).snapshot }

        /// Returns the request that a slot is bound to, or `nil` if it isn't bound or has no URL. See
        /// ``ImageBinder/Snapshot/request``.
        public func request(of slot: ImageSlot = .image) -> ImageRequest? { snapshot(of: slot).request }

        /// Returns the request whose image a slot displays, or `nil` if the slot displays no image or a placeholder. See
        /// ``ImageBinder/Snapshot/displayedRequest``.
        public func displayedRequest(of slot: ImageSlot = .image) -> ImageRequest? {
            snapshot(of: slot).displayedRequest
        }

        /// Returns the image that a slot displays, or `nil` if the slot displays no image or a placeholder. See
        /// ``ImageBinder/displayedImage``.
        public func displayedImage(of slot: ImageSlot = .image) -> DecodedImage? {
            controller.binder(slot).displayedImage
        }

        /// Sets a closure that's called after every change of ``snapshot(of:)``.
        ///
        /// The closure replaces the previous one, and `nil` removes it. The widget retains the closure, which must not
        /// capture the widget strongly.
        public func onChange(of slot: ImageSlot = .image, _ handler: (@MainActor (ImageBinder.Snapshot) -> Void)?) {
            controller.observers[slot] = handler
        }

        /// Returns a stream that delivers the current ``snapshot(of:)`` and then every change. See
        /// ``ImageBinder/snapshots``.
        public func snapshots(of slot: ImageSlot = .image) -> AsyncStream<ImageBinder.Snapshot> {
            controller.binder(slot).snapshots
        }

        /// Returns the player of the animation in a slot, or `nil` for a still image. Every image has its own player.
        public func player(for slot: ImageSlot = .image) -> AnimationPlayer? { controller.renderers[slot]?.player }

        /// Returns the GdkPaintable that draws a slot, so that you can show it in another widget. It's valid for the
        /// lifetime of the widget.
        public func paintable(for slot: ImageSlot = .image) -> OpaquePointer? {
            _ = controller.renderer(slot)
            return controller.paintables[slot]?.pointer
        }
    }
#endif
