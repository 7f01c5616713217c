// SPDX-License-Identifier: MIT
// Runs the image handler as a service of ServiceLifecycle, which shuts it down gracefully after SIGTERM.

import Logging
import ServiceLifecycle
import WebImageServer

/// The handler as a service. Add your HTTP server to the same group, after this service, so that it stops first.
struct ImageService: Service {
    let server: ImageServer
    let manager: ImageManager

    func run() async throws {
        await withGracefulShutdownHandler {
            await server.run()
        } onGracefulShutdown: {
            Task { await server.shutdown(deadline: .seconds(20)) }
        }
        await manager.shutdown()
    }
}

var configuration = ImageServer.Configuration()
configuration.allowedSources = ["https://images.example.com/"]
var settings = ImageManager.Configuration.server
settings.downloader.redirectHandler = configuration.redirectHandler
let manager = ImageManager(configuration: settings)
let server = try ImageServer(manager: manager, configuration: configuration)
let group = ServiceGroup(
    configuration: .init(
        services: [.init(service: ImageService(server: server, manager: manager))],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: .init(label: "images")))
try await group.run()
