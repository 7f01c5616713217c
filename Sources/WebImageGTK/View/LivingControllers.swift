// SPDX-License-Identifier: MIT

#if GTK
    import WebImage
    import WebImageConcurrency

    /// The controllers of all widgets, for what concerns all of them.
    @MainActor
    final class LivingControllers {
        static let shared = LivingControllers()

        private var entries = WeakTable<ObjectIdentifier, WidgetController, Void>()

        var count: Int { entries.count }
        var all: [WidgetController] { entries.objects }
        /// Who loads for them, each manager as often as it is used.
        var managers: [ImageManager] { all.map(\.manager) }

        func add(_ controller: WidgetController) {
            entries.insert(controller, for: ObjectIdentifier(controller))
        }

        func remove(_ id: ObjectIdentifier) { entries.remove(id) }
    }
#endif
