// SPDX-License-Identifier: MIT
// Serves images under /images with Hummingbird: /images/SIGNATURE/OPTIONS/plain/URL@FORMAT.

import HTTPTypes
import Hummingbird
import WebImageServer

var configuration = ImageServer.Configuration()
configuration.pathPrefix = "/images"
configuration.allowedSources = ["https://images.example.com/"]
var settings = ImageManager.Configuration.server
settings.downloader.redirectHandler = configuration.redirectHandler
let server = try ImageServer(manager: ImageManager(configuration: settings), configuration: configuration)

/// Passes a request of Hummingbird to the handler.
@Sendable func respond(_ request: Request, _ context: some RequestContext) async -> Response {
    let fields = request.headers.map { (name: $0.name.rawName, value: $0.value) }
    // `string` is the target as the client sent it, which the signature covers.
    let answer = await server.response(
        to: ServerRequest(
            method: request.method.rawValue, target: request.uri.string, headers: HTTPHeaderFields(fields)))
    var headers = HTTPFields()
    for field in answer.headers {
        guard let name = HTTPField.Name(field.name) else { continue }
        headers.append(HTTPField(name: name, value: field.value))
    }
    // Hummingbird requests the next chunk when the client has received the previous one.
    let body = ResponseBody(contentLength: answer.body.count) { writer in
        for chunk in answer.chunks() { try await writer.write(ByteBuffer(bytes: chunk)) }
        try await writer.finish(nil)
    }
    return Response(status: .init(code: answer.statusCode), headers: headers, body: body)
}

let router = Router()
router.on("images/**", method: .get, use: respond)
router.on("images/**", method: .head, use: respond)
var app = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: 8080)))
try await app.runService()
await server.shutdown(deadline: .seconds(20))
