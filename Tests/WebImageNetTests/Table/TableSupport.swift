// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet

/// The result of one load and the counters of its server.
struct Outcome {
    var result: Result<LoadResponse, ImageError>
    var requests: Int
    var connections: Int

    var body: Data? { try? result.get().body }
    var error: ImageError? {
        if case .failure(let error) = result { return error }
        return nil
    }
    var network: ImageError.NetworkFailure? { error?.network }
    var reason: ImageError.NetworkFailure.Reason? { network?.reason }
}

/// Loads `/a` from a server that responds with `handler`.
func outcome(
    _ downloader: ImageDownloader = makeDownloader(), _ change: (inout LoadRequest) -> Void = { _ in },
    handler: @escaping LoopbackServer.Handler
) async throws -> Outcome {
    let server = try LoopbackServer(respond: handler)
    var request = LoadRequest(url: server.url("/a"))
    change(&request)
    let result: Result<LoadResponse, ImageError>
    do throws(ImageError) {
        result = .success(try await downloader.load(request, context: LoadContext()))
    } catch {
        result = .failure(error)
    }
    return Outcome(
        result: result, requests: server.counters.requests, connections: server.counters.connections)
}

/// Loads from a server that responds to every request with `response`.
func outcome(
    _ response: LoopbackServer.Response, _ downloader: ImageDownloader = makeDownloader(),
    _ change: (inout LoadRequest) -> Void = { _ in }
) async throws -> Outcome {
    try await outcome(downloader, change) { _ in response }
}

/// Returns a response that consists of the unmodified head lines and the body.
func rawResponse(_ lines: [String], _ body: String = "", ending: LoopbackServer.Response.Ending = .close)
    -> LoopbackServer.Response
{
    .raw(Data((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8), ending: ending)
}
