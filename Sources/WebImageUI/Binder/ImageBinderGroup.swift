// SPDX-License-Identifier: MIT

import WebImage

/// The binders of a view with several slots, which are created on demand. Slots load independently of each other. State
/// changes of the view apply to all of them.
@MainActor
package final class ImageBinderGroup<Slot: Hashable & Sendable> {
    /// The manager that loads the images.
    package let manager: ImageManager
    private var binders: [Slot: ImageBinder] = [:]
    private var allocation: ViewAllocation?
    private var mapped: Bool
    private let showsMissingImage: @MainActor (Slot) -> Bool
    private let show: @MainActor (Slot, ImageBinder.Presentation) -> Void

    /// Creates a group without binders.
    ///
    /// - Parameters:
    ///   - manager: The manager that loads the images. The default is ``ImageManager/shared``.
    ///   - isMapped: Whether the view is on screen. The default is `true`.
    ///   - showsMissingImage: A closure that returns whether an empty slot shows ``ImagePlaceholder/missingImage`` after a
    ///     failure. By default, all slots do.
    ///   - show: A closure that displays content in a slot. It must not capture the group strongly.
    package init(
        manager: ImageManager = .shared, isMapped: Bool = true,
        showsMissingImage: @escaping @MainActor (Slot) -> Bool = { _ in true },
        show: @escaping @MainActor (Slot, ImageBinder.Presentation) -> Void
    ) {
        self.manager = manager
        mapped = isMapped
        self.showsMissingImage = showsMissingImage
        self.show = show
    }

    /// Returns the binder of a slot.
    package subscript(slot: Slot) -> ImageBinder {
        if let binder = binders[slot] { return binder }
        let binder = ImageBinder(
            manager: manager, isVisible: mapped, showsMissingImage: showsMissingImage(slot)
        ) { [show] in show(slot, $0) }
        if let allocation { binder.allocate(allocation) }
        binders[slot] = binder
        return binder
    }

    /// The slots that have a binder.
    package var slots: Set<Slot> { Set(binders.keys) }

    /// Whether the view is on screen.
    package var isMapped: Bool {
        get { mapped }
        set {
            mapped = newValue
            for binder in binders.values { binder.isVisible = newValue }
        }
    }

    /// Sets the bounds of the view, which apply to every slot.
    package func allocate(_ allocation: ViewAllocation) {
        self.allocation = allocation
        for binder in binders.values { binder.allocate(allocation) }
    }

    /// Notifies the binders that the network is available again.
    package func networkReturned() { for binder in binders.values { binder.networkBecameAvailable() } }

    /// Unbinds and removes all binders.
    package func unbindAll() {
        let all = binders.values
        binders = [:]
        for binder in all { binder.unbind() }
    }
}
