// SPDX-License-Identifier: MIT
// Serves images under /images with Vapor: /images/SIGNATURE/OPTIONS/plain/URL@FORMAT.

import Vapor
import WebImageServer

/// Passes the requests of Vapor to the handler.
struct ImageRoutes: RouteCollection {
    let server: ImageServer

    func boot(routes: any RoutesBuilder) throws {
        routes.on(.GET, "images", .catchall, use: respond)
        routes.on(.HEAD, "images", .catchall, use: respond)
    }

    func respond(to request: Request) async throws -> Response {
        let fields = request.headers.map { (name: $0.name, value: $0.value) }
        // `string` is the target as the client sent it, which the signature covers.
        let answer = await server.response(
            to: ServerRequest(
                method: request.method.rawValue, target: request.url.string, headers: HTTPHeaderFields(fields)))
        let headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        // The stream requests the next chunk when the client has received the previous one.
        let body = Response.Body(
            managedAsyncStream: { writer in
                for chunk in answer.chunks() { try await writer.writeBuffer(ByteBuffer(bytes: chunk)) }
            }, count: answer.body.count)
        return Response(status: .init(statusCode: answer.statusCode), headers: headers, body: body)
    }
}

let app = try await Application.make(.detect())
var configuration = ImageServer.Configuration()
configuration.pathPrefix = "/images"
configuration.allowedSources = ["https://images.example.com/"]
var settings = ImageManager.Configuration.server
settings.downloader.redirectHandler = configuration.redirectHandler
let manager = ImageManager(configuration: settings)
let server = try ImageServer(manager: manager, configuration: configuration)
try app.register(collection: ImageRoutes(server: server))
try await app.execute()
await server.shutdown(deadline: .seconds(20))
await manager.shutdown()
try await app.asyncShutdown()
