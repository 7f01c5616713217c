// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import WebImage

    /// An object that forwards the events of GLib's monitors: memory warnings to the managers, the return of the
    /// network to the views, and metered connections to prefetchers.
    @MainActor
    final class SystemMonitors {
        static let shared = SystemMonitors()

        /// The period, in seconds, within which views retry failed loads after the network returns. Each view chooses a
        /// random delay.
        var retrySpread = 2.0
        private var connection: IdleCallback?
        private var memory: OpaquePointer?
        private var network: OpaquePointer?
        private var isAvailable = true

        /// Connects the monitors when the loop is idle, and after one second at the latest. The monitors may access the
        /// system bus, so they aren't connected immediately. Further calls do nothing.
        func start() {
            guard connection == nil else { return }
            connection = IdleCallback(latest: 1_000) { SystemMonitors.shared.connectAll() }
        }

        private func connectAll() {
            if let monitor = g_memory_monitor_dup_default() {
                memory = monitor
                let warned: @convention(c) (OpaquePointer?, GMemoryMonitorWarningLevel, gpointer?) -> Void = {
                    _, level, _ in
                    MainActor.assumeIsolated { SystemMonitors.shared.memoryWarning(Int(level.rawValue)) }
                }
                connect(
                    UnsafeMutableRawPointer(monitor), "low-memory-warning", unsafeBitCast(warned, to: GCallback.self),
                    nil)
            }
            guard let monitor = g_network_monitor_get_default() else { return }
            network = monitor
            isAvailable = g_network_monitor_get_network_available(monitor) != 0
            if g_network_monitor_get_network_metered(monitor) != 0 { ImagePrefetcher.isNetworkMetered = true }
            let changed: @convention(c) (OpaquePointer?, gboolean, gpointer?) -> Void = { _, available, _ in
                MainActor.assumeIsolated { SystemMonitors.shared.network(isAvailable: available != 0) }
            }
            connect(
                UnsafeMutableRawPointer(monitor), "network-changed", unsafeBitCast(changed, to: GCallback.self), nil)
            let metered: @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void = { monitor, _, _ in
                let isMetered = monitor.map { g_network_monitor_get_network_metered($0) != 0 } ?? false
                ImagePrefetcher.isNetworkMetered = isMetered
            }
            connect(
                UnsafeMutableRawPointer(monitor), "notify::network-metered", unsafeBitCast(metered, to: GCallback.self),
                nil)
        }

        /// Reports a warning level of GMemoryMonitor: 50 is low, 100 is medium, and 255 is critical.
        func memoryWarning(_ level: Int) {
            var notified: Set<ObjectIdentifier> = []
            for manager in ControllerRegistry.shared.managers
            where notified.insert(ObjectIdentifier(manager.configuration.memoryPressureMonitor)).inserted {
                manager.configuration.memoryPressureMonitor.report(gMemoryMonitorWarningLevel: level)
            }
        }

        func network(isAvailable: Bool) {
            let returns = isAvailable && !self.isAvailable
            self.isAvailable = isAvailable
            guard returns else { return }
            for controller in ControllerRegistry.shared.all {
                controller.networkReturned(afterSeconds: .random(in: 0...max(0, retrySpread)))
            }
        }
    }
#endif
