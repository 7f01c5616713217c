// SPDX-License-Identifier: MIT

#if GTK
    import WebImage

    /// The controllers of all widgets, for what concerns all of them.
    @MainActor
    final class LivingControllers {
        static let shared = LivingControllers()

        private struct Weak {
            weak var controller: WidgetController?
        }

        private var entries: [ObjectIdentifier: Weak] = [:]

        var count: Int { entries.count }
        var all: [WidgetController] { entries.values.compactMap(\.controller) }
        /// Who loads for them, each manager as often as it is used.
        var managers: [ImageManager] { all.map(\.manager) }

        func add(_ controller: WidgetController) {
            entries[ObjectIdentifier(controller)] = Weak(controller: controller)
        }

        func remove(_ id: ObjectIdentifier) { entries[id] = nil }
    }
#endif
