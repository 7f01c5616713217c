// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Synchronization
import WebImage
import WebImageConcurrency
import WebImageTesting

/// A server on 127.0.0.1 that serves an album the way web servers do: with validators, freshness lifetimes, some
/// redirects, and some slow connections.
///
/// The server ignores query strings, so any number of URLs lead to the same image. The class is thread-safe.
package final class AlbumServer: Sendable {
    /// The numbers of requests and responses, and the number of bytes sent.
    package struct Traffic: Sendable {
        package var requests = 0
        package var redirects = 0
        package var notModified = 0
        package var bytesSent = 0

        package static func - (left: Traffic, right: Traffic) -> Traffic {
            Traffic(
                requests: left.requests - right.requests, redirects: left.redirects - right.redirects,
                notModified: left.notModified - right.notModified, bytesSent: left.bytesSent - right.bytesSent)
        }
    }

    /// One of this many images is behind a redirect, or on a slow connection.
    private static let redirectEvery = 6
    private static let slowEvery = 5
    /// The transfer time of a slow image, in seconds.
    private static let slowSeconds = 0.8

    private let server: LoopbackServer
    private let responder: AlbumResponder
    /// The URLs of the images, in the order of the album.
    package let urls: [URL]

    /// Reads the images and starts the server. Blocks. Throws ``ImageError/RequestFailure/fileNotFound(path:)`` if an
    /// image can't be read, or ``ImageError/CacheFailure/systemCallFailed(operation:path:errno:)`` if the server can't
    /// open a socket.
    package init(_ album: Album) throws(ImageError) {
        var pictures: [String: ServedImage] = [:]
        var paths: [String] = []
        for (index, entry) in album.entries.enumerated() {
            guard let data = album.data(entry) else {
                throw .request(
                    .fileNotFound(path: album.directory.appending(path: entry.file).path(percentEncoded: false)))
            }
            let path = "/album/\(entry.file)"
            pictures[path] = ServedImage(
                resource: Self.resource(data, entry), isSlow: index % Self.slowEvery == 1 && data.count > 10_000)
            paths.append(index % Self.redirectEvery == 2 ? "/latest/\(entry.file)" : path)
        }
        let desk = AlbumResponder(pictures)
        self.responder = desk
        server = try LoopbackServer { desk.respond(to: $0) }
        urls = paths.map(server.url)
    }

    package var traffic: Traffic {
        var traffic = responder.traffic
        let counters = server.counters
        traffic.requests = counters.requests
        traffic.bytesSent = counters.bytesSent
        return traffic
    }

    /// The simulated network conditions for subsequent responses. By default, the network is unchanged.
    package var behavior: SimulatedNetwork {
        get { responder.behavior }
        set { responder.behavior = newValue }
    }

    /// Returns whether the server responds to requests for a URL.
    package func serves(_ url: URL) -> Bool {
        let own = server.url("/")
        return url.scheme == own.scheme && url.host() == own.host() && url.port == own.port
    }

    /// Closes all connections and stops the server.
    package func stop() { server.stop() }

    /// An image on the server.
    fileprivate struct ServedImage: Sendable {
        let resource: ServerResource
        /// Whether the image is sent over a slow connection.
        let isSlow: Bool

        var slowSpeed: Int? { isSlow ? max(1, Int(Double(resource.body.count) / AlbumServer.slowSeconds)) : nil }
    }

    private static func resource(_ data: Data, _ entry: Album.Entry) -> ServerResource {
        let digest = ContentDigest(of: data)
        return ServerResource(
            body: data, type: mediaType(entry.file),
            etag: "\"\(String(digest.high ^ digest.low, radix: 36))\"",
            lastModified: "Sat, 07 Nov 2026 09:30:00 GMT", cacheControl: "public, max-age=3600")
    }

    /// Returns the media type for the file extension, as web servers do.
    private static func mediaType(_ file: String) -> String {
        let types = ["jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"]
        let end = file.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return types[end] ?? (end == "bmp" ? "image/bmp" : "application/octet-stream")
    }
}

/// The request handler of the server, which counts its responses.
private final class AlbumResponder: Sendable {
    private struct State {
        var traffic = AlbumServer.Traffic()
        var behavior = SimulatedNetwork()
        /// The number of requests for each target since the simulated conditions changed.
        var attempts: [String: Int] = [:]
    }

    private static let timers = DispatchQueue(label: "webimage.album-server")

    private let images: [String: AlbumServer.ServedImage]
    private let state = Lock(State())

    init(_ pictures: [String: AlbumServer.ServedImage]) { self.images = pictures }

    var traffic: AlbumServer.Traffic { state.withLock { $0.traffic } }

    var behavior: SimulatedNetwork {
        get { state.withLock { $0.behavior } }
        set {
            state.withLock {
                $0.behavior = newValue
                $0.attempts = [:]
            }
        }
    }

    func respond(to request: LoopbackServer.Request) -> LoopbackServer.Response {
        let answer = worsened(request, plainResponse(to: request))
        state.withLock {
            if answer.statusCode == 302 { $0.traffic.redirects += 1 }
            if answer.statusCode == 304 { $0.traffic.notModified += 1 }
        }
        return answer
    }

    private func plainResponse(to request: LoopbackServer.Request) -> LoopbackServer.Response {
        if request.path.hasPrefix("/latest/") {
            var answer = LoopbackServer.Response.redirect(
                302, to: "/album/" + request.target.dropFirst("/latest/".count))
            // A redirect without explicit freshness would have to be sent again with every load.
            answer.headers["Cache-Control"] = "max-age=3600"
            return answer
        }
        guard let picture = images[request.path] else { return .status(404) }
        var answer = picture.resource.response(to: request)
        if !answer.body.isEmpty { answer.bytesPerSecond = picture.slowSpeed }
        return answer
    }

    private func worsened(_ request: LoopbackServer.Request, _ answer: LoopbackServer.Response)
        -> LoopbackServer.Response
    {
        let (behaviour, attempt) = state.withLock { state in
            guard state.behavior != SimulatedNetwork() else { return (state.behavior, 0) }
            state.attempts[request.target, default: 0] += 1
            return (state.behavior, state.attempts[request.target] ?? 0)
        }
        guard behaviour != SimulatedNetwork() else { return answer }
        let fate = behaviour.outcome(of: request.target, attempt: attempt)
        var answer = answer
        switch fate.failure {
        case .status: answer = .status(503)
        case .cut where answer.body.count > 1: answer.truncatesBodyAfter = answer.body.count / 2
        case .cut: answer = .status(503)
        case nil: break
        }
        if let speed = behaviour.bytesPerSecond { answer.bytesPerSecond = min(speed, answer.bytesPerSecond ?? speed) }
        if fate.delay > 0 {
            let gate = TestGate()
            answer.headGate = gate
            Self.timers.asyncAfter(deadline: .now() + fate.delay) { gate.open() }
        }
        return answer
    }
}
