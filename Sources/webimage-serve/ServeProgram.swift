// SPDX-License-Identifier: MIT

#if Server
    import Dispatch
    import Foundation
    import Synchronization
    import Glibc
    import WebImageConcurrency
    import WebImageServer

    /// The parts of the program and their order.
    enum ServeProgram {
        static var help: String {
            let lines = ServiceSettings.table.map { setting in
                "  \(setting.option)\n      \(setting.help)\n      \(setting.name)"
            }
            return """
                usage: webimage-serve [--option=value ...]
                       webimage-serve --help | --version

                Serves processed images at the URLs of imgproxy. Each setting is an option, an environment variable, and
                a line KEY=VALUE of the file of --config. Options have precedence over the environment, which has
                precedence over the file.

                \(lines.joined(separator: "\n"))
                """
        }

        /// Serves until SIGTERM or SIGINT.
        static func run(_ settings: ServiceSettings) async throws {
            let missingHelper = settings.manager.missingHelperReason
            if let missingHelper, settings.manager.decoding.isolation == .required {
                throw ServiceSettings.Invalid(
                    "WEBIMAGE_ISOLATION: images can’t be decoded in a helper process, because \(missingHelper) (install "
                        + "webimage-decoder next to the program, or set WEBIMAGE_ISOLATION=auto)")
            }
            // The helper starts while this process creates its parts.
            settings.manager.startHelper()
            let signals = StopSignals()
            let log = ServiceLog(descriptor: STDOUT_FILENO)
            defer { log.flush() }
            let metrics = ServiceMetrics()
            var configuration = settings.manager
            configuration.observers.append(metrics)
            let tier = try SharedTier(settings)
            configuration.cacheTiers += tier.tiers
            let manager = ImageManager(configuration: configuration)
            let handler = try ImageServer(manager: manager, configuration: settings.handler)
            if let missingHelper { log.add("helper process unavailable", ["reason": missingHelper]) }
            if let error = manager.diskCacheError { log.add("disk cache unavailable", ["reason": error.message]) }

            let environment = ProcessInfo.processInfo.environment
            let socket = try ListeningSocket.inherited(environment) ?? ListeningSocket.open(settings.address)
            let current = CurrentServer()
            var options = settings.service
            options.eventLog = log
            options.extraMetrics = { Self.gauges(current.server.withLock { $0 }, tier) }
            let service = ImageService(
                handler: handler, configuration: options, metrics: metrics, log: settings.logsRequests ? log : nil)
            let server = try HTTPServer(service: service, socket: socket, settings: settings)
            current.server.withLock { $0 = server }
            log.add("listening", ["address": socket.address, "pid": "\(getpid())"])

            signals.onSignal {
                log.add("draining", ["seconds": "\(settings.drainTimeout)"])
                Task { await server.shutdown(deadline: .seconds(settings.drainTimeout)) }
            }
            await server.run()
            current.server.withLock { $0 = nil }
            await manager.shutdown()
            log.add("stopped")
        }

        private static func gauges(_ server: HTTPServer?, _ tier: SharedTier) -> [ServiceMetrics.Gauge] {
            [ServiceMetrics.Gauge("webimage_connections", server?.connectionCount ?? 0)] + tier.gauges
        }
    }

    /// The running server, which the metrics describe.
    private final class CurrentServer: Sendable {
        let server = Lock<HTTPServer?>(nil)
    }

    /// The signals that stop the program. A second signal ends it immediately.
    final class StopSignals: Sendable {
        private struct State {
            var isStopping = false
            var action: (@Sendable () -> Void)?
        }

        private let state = Lock(State())
        // Safe: dispatch sources can be used from any thread (dispatch_source_create(3)), and this array only retains them.
        nonisolated(unsafe) private let sources: [any DispatchSourceSignal]

        init() {
            let queue = DispatchQueue(label: "webimage-serve.signals")
            sources = [SIGTERM, SIGINT].map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
            for number in [SIGTERM, SIGINT] { signal(number, SIG_IGN) }
            for source in sources {
                source.setEventHandler { [weak self] in self?.stop() }
                source.resume()
            }
        }

        /// Sets the action of the first signal, which runs immediately if the signal has arrived.
        func onSignal(_ action: @escaping @Sendable () -> Void) {
            let isLate = state.withLock { state in
                state.action = action
                return state.isStopping
            }
            if isLate { action() }
        }

        private func stop() {
            let (isSecond, action) = state.withLock { state in
                defer { state.isStopping = true }
                return (state.isStopping, state.action)
            }
            if isSecond { _exit(1) }
            action?()
        }
    }
#endif
