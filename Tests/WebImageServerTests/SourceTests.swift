// SPDX-License-Identifier: MIT

import CHash
import Foundation
import Glibc
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImageServer

/// The handler with a manager that may load from this machine.
func testServer(
    _ change: (inout ImageServer.Configuration) -> Void,
    manager changeManager: (inout ImageManager.Configuration) -> Void = { _ in }
) throws -> ImageServer {
    var settings = ImageManager.Configuration.server
    settings.diskCache = nil
    settings.downloader.addressPolicy = .any
    settings.downloader.allowedPorts = nil
    settings.downloader.proxy = .disabled
    settings.downloader.maxStartsPerSecond = nil
    settings.downloader.retry = .never
    settings.allowedSchemes = ["http", "https", "file"]
    settings.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
    var configuration = ImageServer.Configuration()
    configuration.isOpenProxy = true
    change(&configuration)
    settings.downloader.redirectHandler = configuration.redirectHandler
    changeManager(&settings)
    return try ImageServer(manager: ImageManager(configuration: settings), configuration: configuration)
}

/// A verifier of AWS signatures (version 4), written from the specification of Amazon.
private struct SignatureVerifier {
    let secret: String
    let region: String

    private func digest(_ text: String) -> String {
        var bytes = [UInt8](repeating: 0, count: 32)
        _ = wi_sha256(Array(text.utf8), text.utf8.count, &bytes)
        return hex(bytes)
    }

    private func mac(_ key: [UInt8], _ text: String) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        _ = wi_hmac_sha256(key, key.count, Array(text.utf8), text.utf8.count, &bytes)
        return bytes
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(format: "%02x", $0) }.joined()
    }

    /// Returns the reason why a request isn't signed correctly, or `nil`.
    func problem(_ request: LoopbackServer.Request) -> String? {
        guard let field = request.headers["Authorization"], field.hasPrefix("AWS4-HMAC-SHA256 ") else {
            return "no signature"
        }
        var parts: [String: String] = [:]
        for part in field.dropFirst("AWS4-HMAC-SHA256 ".count).split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            parts[pair[0]] = pair.last
        }
        guard let date = request.headers["X-Amz-Date"], let names = parts["SignedHeaders"],
            let scope = parts["Credential"], let signature = parts["Signature"]
        else { return "parts are missing" }
        let day = String(date.prefix(8))
        guard scope == "AKID/\(day)/\(region)/s3/aws4_request" else { return "wrong scope \(scope)" }
        let signed = names.split(separator: ";").map(String.init)
        guard signed.contains("host"), signed.contains("x-amz-date"), signed.contains("x-amz-content-sha256"),
            signed == signed.sorted()
        else { return "header fields aren't signed: \(names)" }
        let lines = signed.map { name in
            name + ":" + request.headers.values(for: name).joined(separator: ",").trimmingCharacters(in: .whitespaces)
        }
        let canonical = [
            request.method, request.path, request.query ?? "", lines.joined(separator: "\n") + "\n", names,
            request.headers["x-amz-content-sha256"] ?? "",
        ].joined(separator: "\n")
        let text = ["AWS4-HMAC-SHA256", date, "\(day)/\(region)/s3/aws4_request", digest(canonical)]
            .joined(separator: "\n")
        var key = mac(Array("AWS4\(secret)".utf8), day)
        for part in [region, "s3", "aws4_request"] { key = mac(key, part) }
        return hex(mac(key, text)) == signature ? nil : "wrong signature for\n\(canonical)"
    }
}

@Suite("The sources of the image server", .timeLimit(.minutes(3)))
struct SourceTests {
    private let credentials = AWSSignature(accessKeyID: "AKID", secretAccessKey: "s3cr3t", region: "eu-test-1")

    private func storage() throws -> LoopbackServer {
        let verifier = SignatureVerifier(secret: "s3cr3t", region: "eu-test-1")
        let image = try TestImages.png(5, width: 64, height: 48)
        return try LoopbackServer { request in
            if request.path == "/images/missing.png" { return .status(404) }
            if let problem = verifier.problem(request) {
                return LoopbackServer.Response(statusCode: 403, body: Data(problem.utf8))
            }
            return LoopbackServer.Response(headers: ["Cache-Control": "max-age=600"], body: image)
        }
    }

    private func status(_ server: ImageServer, _ source: String) async -> Int {
        let name = Data(source.utf8).base64EncodedString().replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "=", with: "")
        return await server.response(to: ServerRequest(target: "/_/rs:fit:32:32/\(name).png")).statusCode
    }

    @Test(
        "Requests to S3-compatible storage have a valid signature",
        arguments: ["a.png", "folder/b c.png", "ü/+&=;@$,'()!*~.png", "a.png?versionId=3HL4kqtJlcpXroDTDmJ.rmSpXd3d"])
    func signature(key: String) async throws {
        let origin = try storage()
        let server = try testServer { $0.s3 = S3Storage(endpoint: origin.url("/"), credentials: credentials) }
        let name = Data("s3://images/\(key)".utf8).base64EncodedString().replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "=", with: "")
        let headers: HTTPHeaderFields = ["traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"]
        let response = await server.response(
            to: ServerRequest(target: "/_/rs:fit:32:32/\(name).png", headers: headers))
        #expect(response.statusCode == 200, "\(String(decoding: response.body, as: UTF8.self))")
        #expect(try ImageInfo(data: response.body).size == PixelSize(width: 32, height: 24))
        #expect(origin.requests.first?.path.hasPrefix("/images/") == true)
    }

    @Test("A wrong secret, a missing object, and forbidden buckets fail, and temporary credentials send their token")
    func refusal() async throws {
        let origin = try storage()
        var storage = S3Storage(endpoint: origin.url("/"), credentials: credentials)
        storage.deniedBuckets = ["private"]
        let server = try testServer { $0.s3 = storage }
        #expect(await status(server, "s3://images/missing.png") == 404)
        let count = origin.requests.count
        for source in [
            "s3://private/a.png", "s3://images", "s3://images/", "s3:///a.png", "s3://a@b/c", "s3://images/../x",
            "s3://images/a?acl",
        ] {
            #expect(await status(server, source) == 404, "\(source)")
        }
        storage.allowedBuckets = ["images"]
        let limited = try testServer { $0.s3 = storage }
        #expect(await status(limited, "s3://others/a.png") == 404)
        #expect(origin.requests.count == count)
        storage.credentials?.secretAccessKey = "wrong"
        let wrong = try testServer { $0.s3 = storage }
        #expect(await status(wrong, "s3://images/a.png") == 502)
        storage.credentials = credentials
        storage.credentials?.sessionToken = "token"
        let temporary = try testServer { $0.s3 = storage }
        #expect(await status(temporary, "s3://images/a.png") == 200)
        #expect(origin.requests.last?.headers["x-amz-security-token"] == "token")
        #expect(await status(try testServer { _ in }, "s3://images/a.png") == 404)
        #expect(!"\(credentials)".contains("s3cr3t"))
    }

    @Test("A redirect of the storage to another origin isn't signed")
    func redirect() async throws {
        let image = try TestImages.png(5)
        let target = try LoopbackServer { _ in LoopbackServer.Response(body: image) }
        let origin = try LoopbackServer { _ in
            LoopbackServer.Response(statusCode: 307, headers: ["Location": "\(target.url("/b.png"))"])
        }
        let server = try testServer { $0.s3 = S3Storage(endpoint: origin.url("/"), credentials: credentials) }
        #expect(await status(server, "s3://images/a.png") == 200)
        #expect(origin.requests.first?.headers["Authorization"] != nil)
        #expect(target.requests.first?.headers["Authorization"] == nil)
        #expect(target.requests.first?.headers["x-amz-content-sha256"] == nil)
    }

    @Test("Redirects lead only to allowed sources, and those of the storage are always followed")
    func allowedRedirects() async throws {
        let image = try TestImages.png(5)
        let target = try LoopbackServer { _ in LoopbackServer.Response(body: image) }
        let origin = try LoopbackServer { request in
            switch request.path {
            case "/away.png": .redirect(to: "\(target.url("/b.png"))")
            case "/images/away.png": .redirect(307, to: "\(target.url("/b.png"))")
            case "/up.png": .redirect(to: "/open/../secret.png")
            case "/inside.png": .redirect(to: "/open/a.png")
            default: LoopbackServer.Response(body: image)
            }
        }
        let own = "http://127.0.0.1:\(origin.port)"
        let server = try testServer {
            $0.allowedSources = ["open/", "away.png", "inside.png", "up.png"].map { "\(own)/\($0)" }
        }
        #expect(await status(server, "\(own)/inside.png") == 200)
        #expect(await status(server, "\(own)/up.png") == 404)
        #expect(await status(server, "\(own)/away.png") == 404)
        #expect(target.requests.isEmpty && !origin.requests.contains { $0.path == "/secret.png" })
        let wide = try testServer { $0.allowedSources = ["\(own)/", "\(target.url("/"))"] }
        #expect(await status(wide, "\(own)/away.png") == 200)
        let storage = try testServer {
            $0.allowedSources = ["s3://"]
            $0.s3 = S3Storage(endpoint: origin.url("/"), credentials: nil)
        }
        #expect(await status(storage, "s3://images/away.png") == 200)
        var settings = try ServiceSettings(
            arguments: ["--allowed-sources=s3://", "--private-addresses", "--allowed-ports=any", "--cache-directory="],
            environment: ["IMGPROXY_USE_S3": "1", "IMGPROXY_S3_ENDPOINT": "\(origin.url("/"))"], readFile: { _ in "" })
        settings.manager.downloader.proxy = .disabled
        let program = try ImageServer(
            manager: ImageManager(configuration: settings.manager), configuration: settings.handler)
        #expect(await status(program, "s3://images/away.png") == 200)
        #expect(try testServer { _ in }.configuration.redirectHandler == nil)
    }

    @Test("The address policy applies to the storage")
    func addressPolicy() async throws {
        let origin = try storage()
        var settings = ImageManager.Configuration.server
        settings.diskCache = nil
        settings.downloader.allowedPorts = nil
        settings.downloader.proxy = .disabled
        settings.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
        var configuration = ImageServer.Configuration()
        configuration.isOpenProxy = true
        configuration.s3 = S3Storage(endpoint: origin.url("/"), credentials: credentials)
        let server = try ImageServer(manager: ImageManager(configuration: settings), configuration: configuration)
        #expect(await status(server, "s3://images/a.png") == 404)
        #expect(origin.requests.isEmpty)
    }

    @Test("The settings of the storage have the names of imgproxy and AWS")
    func settings() throws {
        let read = { (values: [String: String]) throws in
            try ServiceSettings(
                arguments: ["--open-proxy"], environment: values, readFile: { _ in "" })
        }
        #expect(try read([:]).handler.s3 == nil)
        let amazon = try read(["IMGPROXY_USE_S3": "true", "IMGPROXY_S3_REGION": "eu-central-1"]).handler.s3
        #expect(amazon == S3Storage(endpoint: URL(string: "https://s3.eu-central-1.amazonaws.com")!, credentials: nil))
        let own = try read([
            "IMGPROXY_USE_S3": "1", "IMGPROXY_S3_ENDPOINT": "http://minio:9000", "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b", "IMGPROXY_S3_ENDPOINT_USE_PATH_STYLE": "false",
        ]).handler.s3
        #expect(own?.credentials?.region == "us-east-1" && own?.usesPathStyle == false)
        #expect(try own?.url(of: "bucket/k.png").absoluteString == "http://bucket.minio:9000/k.png")
        #expect(throws: ServiceSettings.Invalid.self) { try read(["IMGPROXY_USE_S3": "1", "AWS_ACCESS_KEY_ID": "a"]) }
        #expect(throws: ServiceSettings.Invalid.self) {
            try read(["IMGPROXY_USE_S3": "1", "IMGPROXY_S3_ENDPOINT": "ftp://a"])
        }
    }

    @Test("Symbolic links don't lead out of the local directory, and only regular files are read")
    func localDirectory() async throws {
        let (root, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer { withExtendedLifetime((root, outside)) {} }
        let image = try TestImages.png(5, width: 64, height: 48)
        try image.write(to: URL(filePath: outside.file("secret.png")))
        try FileManager.default.createDirectory(atPath: root.file("folder"), withIntermediateDirectories: false)
        try image.write(to: URL(filePath: root.file("folder/a.png")))
        let files = FileManager.default
        for (name, target) in [
            ("inside.png", "folder/a.png"), ("absolute.png", outside.file("secret.png")), ("directory", outside.path),
            ("up.png", "../" + URL(filePath: outside.path).lastPathComponent + "/secret.png"), ("loop.png", "loop.png"),
            ("self.png", "/proc/self/cwd"), ("back.png", "folder/../folder/a.png"),
        ] {
            try files.createSymbolicLink(atPath: root.file(name), withDestinationPath: target)
        }
        #expect(mkfifo(root.file("pipe.png"), 0o600) == 0)
        let server = try testServer { $0.localDirectory = URL(filePath: root.path) }
        for name in ["folder/a.png", "inside.png", "back.png"] {
            #expect(await status(server, "local:///\(name)") == 200, "\(name)")
        }
        for name in [
            "absolute.png", "up.png", "directory/secret.png", "loop.png", "self.png", "pipe.png", "folder",
            "missing.png", "folder/../../x", "folder/%2e%2e/%2e%2e/x",
        ] {
            #expect(await status(server, "local:///\(name)") == 404, "\(name)")
        }
    }
}

@Suite("Watermarks and copyright of the image server", .timeLimit(.minutes(2)))
struct WatermarkTests {
    /// An opaque image of one color.
    private func image(_ color: PixelColor, _ width: Int, _ height: Int) throws -> Data {
        let pixels = try PixelBuffer.filled(with: color, size: PixelSize(width: width, height: height))
        return try ImageCoderRegistry.standard.encode(DecodedImage(pixels: pixels), as: .png)
    }

    private func pixels(_ options: String, opacity: Double = 1) async throws -> PixelBuffer {
        let root = try TemporaryDirectory()
        defer { withExtendedLifetime(root) {} }
        try image(PixelColor(red: 0, green: 0, blue: 255), 100, 80).write(to: URL(filePath: root.file("a.png")))
        let mark = try image(PixelColor(red: 255, green: 0, blue: 0), 20, 10)
        let server = try testServer {
            $0.localDirectory = URL(filePath: root.path)
            $0.watermark = ServerWatermark(data: mark, opacity: opacity)
        }
        let response = await server.response(to: ServerRequest(target: "/_/\(options)/plain/local:///a.png@png"))
        try #require(response.statusCode == 200, "\(String(decoding: response.body, as: UTF8.self))")
        return try ImageCoderRegistry.standard.decode(response.body).pixels
    }

    /// Returns the rectangle of the pixels that contain red.
    private func redArea(_ pixels: PixelBuffer) -> (x: Int, y: Int, width: Int, height: Int, count: Int) {
        var (left, top, right, bottom, count) = (Int.max, Int.max, -1, -1, 0)
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where (pixels.pixel(x: x, y: y)?.red ?? 0) > 100 {
                (left, top, right, bottom) = (min(left, x), min(top, y), max(right, x), max(bottom, y))
                count += 1
            }
        }
        return count == 0 ? (0, 0, 0, 0, 0) : (left, top, right - left + 1, bottom - top + 1, count)
    }

    @Test(
        "The position, the offsets, and the scale place the watermark",
        arguments: [
            ("wm:1", 40, 35, 20, 10), ("wm:1:nowe:3:4", 3, 4, 20, 10), ("wm:1:soea:3:4", 77, 66, 20, 10),
            ("wm:1:ea:0:0", 80, 35, 20, 10), ("wm:1:ce:0:0:0.5", 25, 28, 50, 25), ("wm:1:nowe:0.1:0.1", 10, 8, 20, 10),
        ])
    func placement(_ options: String, x: Int, y: Int, width: Int, height: Int) async throws {
        let area = redArea(try await pixels(options))
        #expect(abs(area.y - y) <= 1 && area.x == x && area.width == width && area.height == height, "\(area)")
    }

    @Test("The opacities of the URL and of the configuration are multiplied, and zero draws nothing")
    func opacity() async throws {
        let half = try #require(try await pixels("wm:0.5", opacity: 0.5).pixel(x: 50, y: 40))
        #expect((60...68).contains(Int(half.red)) && (187...195).contains(Int(half.blue)), "\(half)")
        #expect(redArea(try await pixels("wm:0")).count == 0)
    }

    @Test("Tiles that are drawn in one pass have the pixels of one overlay for each tile")
    func tiles() throws {
        let context = ImageProcessingContext(limits: .server)
        let opaque = try TestImages.pixels(3, width: 50, height: 40)
        let clear = try PixelBuffer.filled(
            with: PixelColor(red: 9, green: 90, blue: 200, alpha: 77), size: PixelSize(width: 50, height: 40))
        let mark = try StandardTransformer.overlay(
            try TestImages.pixels(7, width: 6, height: 5), in: PixelRect(x: 1, y: 1, width: 6, height: 5), opacity: 0.6
        ).transform(
            try PixelBuffer.filled(
                with: PixelColor(red: 250, green: 0, blue: 30, alpha: 128), size: PixelSize(width: 9, height: 7)),
            context: context)
        let grid = [-7, -3, 4, 11, 36, 39, 40].flatMap { y in [-9, -8, 0, 5, 20, 45, 49, 50].map { (x: $0, y: y) } }
        for image in [opaque, clear] {
            for opacity in [0.13, 0.5, 1] {
                for places in [grid, [(x: 3, y: 4)], [(x: -1, y: -1)], [(x: 50, y: 0)], []] {
                    var expected = image
                    for place in places {
                        let rect = PixelRect(x: place.x, y: place.y, width: mark.width, height: mark.height)
                        expected = try StandardTransformer.overlay(mark, in: rect, opacity: opacity)
                            .transform(expected, context: context)
                    }
                    let result = try image.drawTiles(mark, at: places, opacity: opacity, context: context)
                    let (drawn, wanted) = (result.withUnsafeBytes { Data($0) }, expected.withUnsafeBytes { Data($0) })
                    #expect(drawn == wanted && result.isOpaque == expected.isOpaque, "\(opacity) \(places.count)")
                }
            }
        }
    }

    @Test("Repeated watermarks cover the image with the distances")
    func repetition() async throws {
        #expect(redArea(try await pixels("wm:1:re")).count == 100 * 80)
        // 4 columns of 20 pixels in steps of 30, and 4 rows of 10 pixels in steps of 20.
        #expect(redArea(try await pixels("wm:1:re:10:10")).count == (20 * 3 + 10) * 40)
    }

    @Test("Without a configured watermark, the option is rejected, and an invalid watermark isn't accepted")
    func refusal() async throws {
        let server = try testServer { _ in }
        let response = await server.response(to: ServerRequest(target: "/_/wm:1/plain/http://127.0.0.1:1/"))
        #expect(response.statusCode == 404)
        #expect(String(decoding: response.body, as: UTF8.self).contains("watermark"))
        #expect(throws: ImageServer.ConfigurationError.self) {
            try testServer { $0.watermark = ServerWatermark(data: Data("no image".utf8)) }
        }
    }

    /// Returns a JPEG file of 64 by 48 pixels with a camera, an author, and a copyright.
    private func photographWithRights() throws -> Data {
        var block = ExifBlock()
        for (tag, text) in [(0x010F, "Camera"), (0x013B, "Author"), (0x8298, "(c) Owner")] {
            block.main.append(.init(tag: tag, kind: 2, count: text.utf8.count + 1, bytes: Array(text.utf8) + [0]))
        }
        let photo = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: try PixelBuffer.filled(with: .black, size: PixelSize(width: 64, height: 48))),
            as: .jpeg(quality: 80))
        return try #require(JPEGFile.replacingMetadata(of: photo, exif: block.serialized(), xmp: nil))
    }

    /// Returns the texts of the main EXIF directory of a response by their tags.
    private func texts(_ server: ImageServer, _ target: String) async throws -> [Int: String] {
        let response = await server.response(to: ServerRequest(target: target))
        try #require(response.statusCode == 200)
        let exif = ImageMetadata.embedded(in: response.body).exif
        let fields = exif.flatMap { ExifBlock([UInt8]($0)) }?.main.filter { $0.kind == 2 } ?? []
        return Dictionary(uniqueKeysWithValues: fields.map { ($0.tag, String(decoding: $0.bytes, as: UTF8.self)) })
    }

    private static let rights = [0x013B: "Author\0", 0x8298: "(c) Owner\0"]

    @Test(
        "By default, results contain the author and the copyright of the source, which is requested once",
        arguments: ["jpg", "png", "webp"])
    func rights(format: String) async throws {
        let photograph = try photographWithRights()
        let origin = try LoopbackServer(routes: [
            "/a.jpg": LoopbackServer.Response(headers: ["Cache-Control": "max-age=600"], body: photograph)
        ])
        let server = try testServer { _ in }
        for options in ["w:32", "w:32/q:50", "rs:fill:20:20/blur:1"] {
            let texts = try await texts(server, "/_/\(options)/plain/\(origin.url("/a.jpg"))@\(format)")
            #expect(texts == Self.rights, "\(options)")
            // The second processing of the same size uses the image in memory.
            #expect(origin.requests.count == (options.hasPrefix("w") ? 1 : 2))
        }
    }

    @Test("The configuration and the URL determine which metadata remains")
    func copyright() async throws {
        let root = try TemporaryDirectory()
        defer { withExtendedLifetime(root) {} }
        try photographWithRights().write(to: URL(filePath: root.file("a.jpg")))
        let server = try testServer { $0.localDirectory = URL(filePath: root.path) }
        let strict = try testServer {
            $0.localDirectory = URL(filePath: root.path)
            $0.keepsCopyright = false
        }
        let tags = { (options: String, server: ImageServer) async throws -> Set<Int> in
            Set(try await texts(server, "/_/\(options)/plain/local:///a.jpg@jpg").keys)
        }
        #expect(try await tags("w:32", strict).isEmpty)
        #expect(try await tags("w:32/kcr:1", strict) == [0x013B, 0x8298])
        #expect(try await tags("w:32", server) == [0x013B, 0x8298])
        #expect(try await tags("w:32/kcr:0", server).isEmpty)
        #expect(try await tags("w:32/sm:0", server).isSuperset(of: [0x010F, 0x013B, 0x8298]))
        #expect(try await tags("kcr:1", server) == [0x013B, 0x8298])
        let generous = try testServer {
            $0.localDirectory = URL(filePath: root.path)
            $0.stripsMetadata = false
        }
        #expect(try await tags("w:32", generous).isSuperset(of: [0x010F, 0x013B, 0x8298]))
        #expect(try await tags("w:32/sm:1", generous) == [0x013B, 0x8298])
    }
}
