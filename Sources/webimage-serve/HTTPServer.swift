// SPDX-License-Identifier: MIT

#if Server
    import CLibmicrohttpd
    import CMicrohttpd
    import Foundation
    import Synchronization
    import WebImageConcurrency
    import WebImageServer

    /// An HTTP/1.1 server (GNU libmicrohttpd) in front of a service. This class is thread-safe.
    final class HTTPServer: Sendable {
        /// The reason why the server can't start.
        struct Failure: Error, CustomStringConvertible {
            let description = "libmicrohttpd can’t start the server"
        }

        /// The objects that each exchange uses.
        final class Context: Sendable {
            let service: ImageService
            let watch: ConnectionWatch

            init(service: ImageService, watch: ConnectionWatch) { (self.service, self.watch) = (service, watch) }
        }

        private let service: ImageService
        private let watch: ConnectionWatch
        // Safe: libmicrohttpd locks its daemon, and `stop` takes the pointer once.
        nonisolated(unsafe) private let daemon: UnsafeMutableRawPointer
        private let stopped = Promise<Void>()
        private let isStopping = Atomic<Bool>(false)
        // Safe: the pointer is only passed on.
        nonisolated(unsafe) private let context: UnsafeMutableRawPointer

        /// Starts a server, which owns the socket.
        init(service: ImageService, socket: ListeningSocket, settings: ServiceSettings) throws {
            self.service = service
            guard let watch = ConnectionWatch() else { throw Failure() }
            self.watch = watch
            let usesProxies = !settings.service.trustedProxies.isEmpty
            // Behind a proxy, all clients share its address, so there's no limit for an address by default.
            var http = wi_http_settings(
                socket: socket.descriptor, connections: UInt32(settings.maxConnections),
                connections_per_address: UInt32(settings.maxConnectionsPerClient ?? (usesProxies ? 0 : 256)),
                timeout: UInt32(settings.connectionTimeout),
                threads: UInt32(max(1, min(4, ProcessInfo.processInfo.activeProcessorCount))), memory: 32 << 10)
            let handler: MHD_AccessHandlerCallback = { _, connection, _, method, _, _, size, state in
                HTTPExchange.continue(connection, method, size, state)
            }
            let target:
                @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?)
                    -> UnsafeMutableRawPointer? = { context, text, connection in
                        HTTPExchange.open(context, text, connection)
                    }
            let completed: MHD_RequestCompletedCallback = { _, _, state, code in HTTPExchange.close(state, code) }
            context = Unmanaged.passRetained(Context(service: service, watch: watch)).toOpaque()
            guard
                let daemon = wi_http_start(
                    &http, unsafeBitCast(handler, to: UnsafeMutableRawPointer.self),
                    unsafeBitCast(target, to: UnsafeMutableRawPointer.self),
                    unsafeBitCast(completed, to: UnsafeMutableRawPointer.self), context)
            else {
                Unmanaged<Context>.fromOpaque(context).release()
                throw Failure()
            }
            self.daemon = daemon
        }

        var connectionCount: Int { Int(wi_http_connections(daemon)) }

        /// Waits until the server is stopped.
        func run() async { await stopped.outcome(onCancel: {}) }

        /// Accepts no further connections, waits for the running requests until the deadline, and stops the server.
        /// Requests that run longer have the status 503.
        func shutdown(deadline: Duration) async {
            guard !isStopping.exchange(true, ordering: .acquiringAndReleasing) else { return }
            service.beginDraining()
            let socket = MHD_quiesce_daemon(OpaquePointer(daemon))
            if socket >= 0 { close(socket) }
            await service.drain(deadline: deadline)
            // This call waits for the threads of libmicrohttpd, so it doesn't run on the cooperative pool.
            Thread.detachNewThread { [self] in
                MHD_stop_daemon(OpaquePointer(daemon))
                watch.stop()
                Unmanaged<Context>.fromOpaque(context).release()
                stopped.resolve(())
            }
        }
    }
#endif
