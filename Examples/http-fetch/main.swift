// SPDX-License-Identifier: MIT

// A process that sends HTTP requests for another process. It reads and writes JSON lines and handles any number of
// requests concurrently. Test suites in other languages use it to control the client.
//
//   {"id": 1, "url": "http://…", "method": "GET", "headers": [["Name", "value"]], "body": "base64",
//    "cacheMode": "default", "redirectMode": "follow"}
//   {"id": 1, "status": 200, "headers": [["Name", "value"]], "bodyBase64": "…", "source": "cache", "url": "…",
//    "interim": [{"status": 103, "headers": [["Name", "value"]]}]}
//   {"id": 1, "error": 2005, "message": "…"}
//
// The optional argument is the directory of a disk cache. Without it, the cache is in memory.

import Foundation
import Synchronization
import WebImageHTTPClient

/// A line of input.
private struct Order: Decodable, Sendable {
    var id: Int?
    var url: String
    var method: String?
    var headers: [[String]]?
    var body: String?
    var cacheMode: HTTPCacheMode?
    var redirectMode: HTTPClient.Request.RedirectMode?

    var request: HTTPClient.Request? {
        guard let url = URL(string: url) else { return nil }
        let fields = (headers ?? []).filter { $0.count == 2 }.map { (name: $0[0], value: $0[1]) }
        var request = HTTPClient.Request(
            url: url, method: method ?? "GET", headers: HTTPHeaderFields(fields),
            body: body.flatMap { Data(base64Encoded: $0) } ?? Data())
        request.cacheMode = cacheMode ?? .default
        request.redirectMode = redirectMode ?? .follow
        return request
    }
}

/// A line of output.
private struct Reply: Encodable, Sendable {
    /// An interim response.
    struct Interim: Encodable, Sendable {
        var status: Int
        var headers: [[String]]
    }

    var id: Int?
    var status: Int?
    var headers: [[String]]?
    var bodyBase64: String?
    var source: String?
    var url: String?
    var interim: [Interim]?
    var error: Int?
    var message: String?

    init(_ id: Int?, _ answer: HTTPClient.Response) {
        self.id = id
        status = answer.statusCode
        headers = answer.headers.map { [$0.name, $0.value] }
        bodyBase64 = answer.body.base64EncodedString()
        source = answer.source.rawValue
        url = answer.url.absoluteString
        interim = answer.informationalResponses.map { head in
            Interim(status: head.statusCode, headers: head.headers.map { [$0.name, $0.value] })
        }
    }

    init(_ id: Int?, _ error: ImageError) {
        self.id = id
        self.error = error.code
        message = error.message
    }
}

/// An output that writes whole lines.
private final class Output: Sendable {
    private let lock = Mutex(())

    func write(_ reply: Reply) {
        guard var line = try? JSONEncoder().encode(reply) else { return }
        line.append(10)
        let whole = line
        lock.withLock { _ in try? FileHandle.standardOutput.write(contentsOf: whole) }
    }
}

private func answer(_ line: String, _ client: HTTPClient) async -> Reply {
    guard let order = try? JSONDecoder().decode(Order.self, from: Data(line.utf8)), let request = order.request else {
        return Reply(nil, .request(.invalidURL(line)))
    }
    do throws(ImageError) {
        return Reply(order.id, try await client.fetch(request))
    } catch {
        return Reply(order.id, error)
    }
}

private var configuration = HTTPClient.Configuration()
if CommandLine.arguments.count > 1 {
    configuration.diskCache = try DiskCache(
        configuration: DiskCache.Configuration(directory: URL(filePath: CommandLine.arguments[1])))
}
private let client = HTTPClient(configuration: configuration)
private let output = Output()

// Reading blocks, so read the lines on a dedicated thread.
private let lines = AsyncStream<String> { continuation in
    Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
    }
}
await withTaskGroup(of: Void.self) { group in
    for await line in lines { group.addTask { output.write(await answer(line, client)) } }
}
