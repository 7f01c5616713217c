// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImage
import WebImageMemcached
import WebImageServer

/// The targets of the image server and of values in memcached.
enum ServerTargets {
    private static let base64 = "aHR0cHM6Ly9hLmV4YW1wbGUvYi5qcGc"

    static let targets = [
        FuzzTarget(
            text: "server-url", maxLength: 512,
            seeds: [
                "/_/rs:fill:300:200:1:1:no:1:2/g:fp:0.2:0.7/plain/https://a.example/b%3Fc.jpg@webp",
                "/_/c:100:0.5:nowe:3:4/t:10:00ff00/pd:1:2:3:4/rot:-90/fl:1:1/bg:1:2:3/\(base64).png",
                "/_/bl:2/sh:1/pix:8/q:70/fq:webp:60/mb:1000/pg:2/skp:svg/exp:4000000000/fn:Y2F0:1/att:1/\(base64)",
                "/_/rs:fill-down:30:20/z:2:3/dpr:1.5/mw:10/mh:20/exar:1:so/pr:small/plain/local:///a",
            ],
            dictionary: ["/", ":", "plain/", "@", ".", "rs", "g", "sm", "fp", "c", "0.5", "-1", "%", "pr:small"],
            run: url),
        FuzzTarget(
            text: "accept", maxLength: 256,
            seeds: ["image/avif,image/webp;q=0.8,*/*;q=0.1", "IMAGE/PNG ; Q=1.000"],
            dictionary: ["image/", "webp", "*/*", ";q=", "0.5", ",", "/"], run: accept),
        FuzzTarget(
            text: "memcached-server", maxLength: 128,
            seeds: ["a.example", "10.0.0.1:11300", "[::1]:11300", "::1"], dictionary: ["[", "]", ":", "65535"],
            run: server),
    ]

    private static let parser: OptionParser = {
        var parser = OptionParser()
        try? parser.addPreset("small=w:100/pr:small")
        return parser
    }()

    private static func url(_ text: String) {
        do throws(ServerFailure) {
            let url = try ServerURL(path: text)
            require(!url.source.isEmpty, "The source is empty.")
            let options = try parser.options(of: url)
            for (width, height) in [(1, 1), (640, 480), (3, 16_384)] {
                let geometry = ResizeGeometry(of: PixelSize(width: width, height: height), options)
                for size in [geometry.scaled, geometry.cropped, geometry.extended] {
                    require(size.width > 0 && size.height > 0, "A size is empty.")
                }
                require(
                    geometry.cropped.width <= geometry.scaled.width
                        && geometry.cropped.height <= geometry.scaled.height,
                    "The result is larger than the image.")
                let origin = options.gravity.origin(
                    of: geometry.cropped, in: geometry.scaled, pixelRatio: geometry.pixelRatio)
                require(
                    origin.x >= 0 && origin.x + geometry.cropped.width <= geometry.scaled.width,
                    "The result is outside of the image.")
            }
            require(!ServerTransformer(options).identifier.isEmpty, "The transformer has no identity.")
        } catch {
            require(error.statusCode == 404 && !error.reason.isEmpty, "A failure has no reason.")
        }
    }

    private static func accept(_ text: String) {
        let header = AcceptHeader(text)
        for type in ["image/webp", "image/png", "a/b"] {
            require((0...1_000).contains(header.weight(of: type)), "A weight is out of range.")
            require(header.weight(of: type) == AcceptHeader(text).weight(of: type), "A weight isn't deterministic.")
        }
        let format = header.format(preferred: [.avif, .webp])
        // JPEG and PNG don't have to be offered, because a client can accept only one of them.
        require(format.map { [.avif, .webp, .jpeg, .png].contains($0) } ?? true, "A format wasn't offered.")
        if let trace = TraceContext(text) {
            let child = trace.child()
            require(TraceContext(child.header) == child && child.traceID == trace.traceID, "A child isn't valid.")
        }
        let proxies = [AddressRange("unix")].compactMap { $0 }
        let client = ClientAddress.address(peer: "unix", headers: ["X-Forwarded-For": text], trusted: proxies)
        require(client == "unix" || AddressRange(client) != nil, "A client isn't an address.")
        let settings = try? ServiceSettings(arguments: ["--config=x", "--open-proxy"], environment: [:]) { _ in text }
        require(settings.map { $0.handler.isOpenProxy } ?? true, "An option has no precedence.")
    }

    private static func server(_ text: String) {
        guard let server = MemcachedServer(text) else { return }
        require(MemcachedServer(server.description) == server, "A server changes when it's parsed again.")
    }
}

FuzzProgram.main(ServerTargets.targets)
