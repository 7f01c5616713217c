// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageTesting

/// Serves an album on 127.0.0.1 as web servers do: validators, freshness, some redirects, some slow lines.
final class AlbumServer: Sendable {
    /// What was asked and sent.
    struct Traffic: Sendable {
        var requests = 0
        var redirects = 0
        var notModified = 0
        var bytesSent = 0

        static func - (left: Traffic, right: Traffic) -> Traffic {
            Traffic(
                requests: left.requests - right.requests, redirects: left.redirects - right.redirects,
                notModified: left.notModified - right.notModified, bytesSent: left.bytesSent - right.bytesSent)
        }
    }

    /// Every so many pictures one is behind a redirect, one on a slow line.
    private static let redirectEvery = 6
    private static let slowEvery = 5
    /// Seconds that a slow picture takes.
    private static let slowSeconds = 0.8

    private let server: LoopbackServer
    private let tally: Tally
    /// The URL of each picture, in the order of the album.
    let urls: [URL]

    /// Reads the pictures and starts. Blocks.
    ///
    /// - Throws: 3003 where no socket can be had.
    init(_ album: Album) throws(ImageError) {
        var resources: [String: ServerResource] = [:]
        var slow: Set<String> = []
        var paths: [String] = []
        for (index, entry) in album.entries.enumerated() {
            guard let data = album.data(entry) else {
                throw .request(
                    .fileNotFound(path: album.folder.appending(path: entry.file).path(percentEncoded: false)))
            }
            let path = "/album/\(entry.file)"
            resources[path] = Self.resource(data, entry)
            if index % Self.slowEvery == 1, data.count > 10_000 { slow.insert(path) }
            paths.append(index % Self.redirectEvery == 2 ? "/latest/\(entry.file)" : path)
        }
        let tally = Tally()
        self.tally = tally
        let (served, slowPaths) = (resources, slow)
        server = try LoopbackServer { request in
            let answer = Self.answer(request, served, slow: slowPaths)
            tally.count(answer.status)
            return answer
        }
        urls = paths.map(server.url)
    }

    var traffic: Traffic {
        var traffic = tally.value
        let counters = server.counters
        traffic.requests = counters.requests
        traffic.bytesSent = counters.bytesSent
        return traffic
    }

    func stop() { server.stop() }

    private static func answer(
        _ request: RecordedRequest, _ resources: [String: ServerResource], slow: Set<String>
    ) -> ServerResponse {
        if request.path.hasPrefix("/latest/") {
            return .redirect(302, to: "/album/" + request.path.dropFirst("/latest/".count))
        }
        guard let resource = resources[request.path] else { return .status(404) }
        var answer = resource.response(to: request)
        if slow.contains(request.path), !answer.body.isEmpty {
            answer.bytesPerSecond = max(1, Int(Double(answer.body.count) / slowSeconds))
        }
        return answer
    }

    private static func resource(_ data: Data, _ entry: Album.Entry) -> ServerResource {
        let digest = ContentDigest(of: data)
        return ServerResource(
            body: data, type: mediaType(entry.file),
            etag: "\"\(String(digest.high ^ digest.low, radix: 36))\"",
            lastModified: "Sat, 07 Nov 2026 09:30:00 GMT", cacheControl: "public, max-age=3600")
    }

    /// By the extension alone, as web servers do.
    private static func mediaType(_ file: String) -> String {
        let types = ["jpg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp"]
        let end = file.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return types[end] ?? (end == "bmp" ? "image/bmp" : "application/octet-stream")
    }
}

/// Statuses that the server gave.
private final class Tally: Sendable {
    private let state = Lock(AlbumServer.Traffic())

    var value: AlbumServer.Traffic { state.withLock { $0 } }

    func count(_ status: Int) {
        state.withLock {
            if status == 302 { $0.redirects += 1 }
            if status == 304 { $0.notModified += 1 }
        }
    }
}
