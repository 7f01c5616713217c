// SPDX-License-Identifier: MIT

/// The binders of a view with several slots, made when they are first asked for. Slots load independently of each other;
/// what happens to the view happens to all of them.
@MainActor
public final class BinderSet {
    /// Who loads.
    public let manager: ImageManager
    private var binders: [ImageSlot: ImageBinder] = [:]
    private var allocation: ViewAllocation?
    private var mapped: Bool
    private let show: @MainActor (ImageSlot, Presentation) -> Void

    /// A set without binders.
    ///
    /// - Parameters:
    ///   - manager: who loads. Default ``ImageManager/shared``.
    ///   - isMapped: whether the view is on the screen. Default true.
    ///   - show: shows in a slot what it is given. It must not hold the set.
    public init(
        manager: ImageManager = .shared, isMapped: Bool = true,
        show: @escaping @MainActor (ImageSlot, Presentation) -> Void
    ) {
        self.manager = manager
        mapped = isMapped
        self.show = show
    }

    /// The binder of a slot.
    public subscript(slot: ImageSlot) -> ImageBinder {
        if let binder = binders[slot] { return binder }
        let binder = ImageBinder(manager: manager, isMapped: mapped) { [show] in show(slot, $0) }
        if let allocation { binder.allocate(allocation) }
        binders[slot] = binder
        return binder
    }

    /// Slots that have a binder.
    public var slots: Set<ImageSlot> { Set(binders.keys) }

    /// Whether the view is on the screen.
    public var isMapped: Bool {
        get { mapped }
        set {
            mapped = newValue
            for binder in binders.values { binder.isMapped = newValue }
        }
    }

    /// Tells the place that the view, and with it every slot, has.
    public func allocate(_ allocation: ViewAllocation) {
        self.allocation = allocation
        for binder in binders.values { binder.allocate(allocation) }
    }

    /// Tries again what failed.
    public func retry() { for binder in binders.values { binder.retry() } }

    /// Tells that the network is back.
    public func networkReturned() { for binder in binders.values { binder.networkReturned() } }

    /// Unbinds and forgets all binders.
    public func unbindAll() {
        let all = binders.values
        binders = [:]
        for binder in all { binder.unbind() }
    }
}
