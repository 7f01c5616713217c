// SPDX-License-Identifier: MIT

/// The binders of a view with several slots, which are created on demand. Slots load independently of each other. State
/// changes of the view apply to all of them.
@MainActor
public final class ImageBinderGroup {
    /// The manager that loads the images.
    public let manager: ImageManager
    private var binders: [ImageSlot: ImageBinder] = [:]
    private var allocation: ViewAllocation?
    private var mapped: Bool
    private let show: @MainActor (ImageSlot, ImageBinder.Presentation) -> Void

    /// Creates a set without binders.
    ///
    /// - Parameters:
    ///   - manager: The manager that loads the images. The default is ``ImageManager/shared``.
    ///   - isMapped: A Boolean value that indicates whether the view is on screen. The default is `true`.
    ///   - show: A closure that displays content in a slot. It must not capture the set strongly.
    public init(
        manager: ImageManager = .shared, isMapped: Bool = true,
        show: @escaping @MainActor (ImageSlot, ImageBinder.Presentation) -> Void
    ) {
        self.manager = manager
        mapped = isMapped
        self.show = show
    }

    /// Returns the binder of a slot.
    public subscript(slot: ImageSlot) -> ImageBinder {
        if let binder = binders[slot] { return binder }
        let binder = ImageBinder(manager: manager, isVisible: mapped) { [show] in show(slot, $0) }
        if let allocation { binder.allocate(allocation) }
        binders[slot] = binder
        return binder
    }

    /// The slots that have a binder.
    public var slots: Set<ImageSlot> { Set(binders.keys) }

    /// A Boolean value that indicates whether the view is on screen.
    public var isMapped: Bool {
        get { mapped }
        set {
            mapped = newValue
            for binder in binders.values { binder.isVisible = newValue }
        }
    }

    /// Sets the bounds of the view, which apply to every slot.
    public func allocate(_ allocation: ViewAllocation) {
        self.allocation = allocation
        for binder in binders.values { binder.allocate(allocation) }
    }

    /// Retries the failed loads.
    public func retry() { for binder in binders.values { binder.retry() } }

    /// Notifies the binders that the network is available again.
    public func networkReturned() { for binder in binders.values { binder.networkBecameAvailable() } }

    /// Unbinds and removes all binders.
    public func unbindAll() {
        let all = binders.values
        binders = [:]
        for binder in all { binder.unbind() }
    }
}
