// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageConcurrency

    /// The controllers of all widgets, for events that affect all of them.
    @MainActor
    final class ControllerRegistry {
        static let shared = ControllerRegistry()

        private var entries = WeakTable<ObjectIdentifier, WidgetController, Void>()

        var count: Int { entries.count }
        var all: [WidgetController] { entries.objects }
        /// The managers of all controllers. A manager appears once for each controller that uses it.
        var managers: [ImageManager] { all.map(\.manager) }

        func add(_ controller: WidgetController) {
            entries.insert(controller, for: ObjectIdentifier(controller))
        }

        func remove(_ id: ObjectIdentifier) { entries.remove(id) }
    }
#endif
