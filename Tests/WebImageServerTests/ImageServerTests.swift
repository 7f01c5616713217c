// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImageServer

@Suite("The handler of the image server", .timeLimit(.minutes(5)))
struct ImageServerTests {
    private static let keys = (key: "6b6579", salt: "73616c74")

    private func server(
        _ change: (inout ImageServer.Configuration) -> Void = { $0.isOpenProxy = true }
    ) throws -> ImageServer {
        var settings = ImageManager.Configuration.server
        settings.diskCache = nil
        settings.downloader.addressPolicy = .any
        settings.downloader.allowedPorts = nil
        settings.downloader.proxy = .disabled
        settings.downloader.maxStartsPerSecond = nil
        settings.allowedSchemes = ["http", "https", "file"]
        settings.memoryPressureMonitor = MemoryPressureMonitor(observesSystem: false)
        var configuration = ImageServer.Configuration()
        change(&configuration)
        settings.downloader.redirectHandler = configuration.redirectHandler
        return try ImageServer(manager: ImageManager(configuration: settings), configuration: configuration)
    }

    private func origin() throws -> LoopbackServer {
        let image = try TestImages.png(5, width: 64, height: 48)
        return try LoopbackServer(routes: [
            "/a.png": LoopbackServer.Response(headers: ["Cache-Control": "max-age=600"], body: image),
            "/text": .ok(Data("secret text".utf8)),
            "/large": .ok(Data(count: ImageLimits.server.maxEncodedBytes + 1)),
        ])
    }

    @Test("A handler without key, allowed sources, or permission can't be created")
    func openProxy() throws {
        #expect(throws: ImageServer.ConfigurationError.self) { try server { _ in } }
        #expect(throws: ImageServer.ConfigurationError.self) {
            try server { $0.localDirectory = URL(filePath: "/tmp") }
        }
        #expect(throws: ImageServer.ConfigurationError.self) {
            try server {
                $0.isOpenProxy = true
                $0.presets = ["a=w:x"]
            }
        }
        _ = try server { $0.allowedSources = ["https://a.example/"] }
        _ = try server { $0.signingKeys = [URLSigningKey(key: "00", salt: "00")].compactMap { $0 } }
    }

    @Test("A handler with allowed sources needs the redirect handler, unless all sources are local")
    func redirectHandler() throws {
        var settings = ImageManager.Configuration.server
        settings.diskCache = nil
        let manager = ImageManager(configuration: settings)
        var configuration = ImageServer.Configuration()
        for sources in [["https://a.example/"], ["s3://"], ["local:///", "*"]] {
            configuration.allowedSources = sources
            #expect(throws: ImageServer.ConfigurationError.self) {
                try ImageServer(manager: manager, configuration: configuration)
            }
        }
        configuration.allowedSources = ["local:///"]
        _ = try ImageServer(manager: manager, configuration: configuration)
    }

    @Test("The delay that another server requests is passed on to the client")
    func delay() async throws {
        let origin = try LoopbackServer(routes: [
            "/busy.png": .status(429).with { $0.headers["Retry-After"] = "31" }, "/other.png": .status(403),
        ])
        let server = try server()
        let busy = await server.response(to: ServerRequest(target: "/_/plain/\(origin.url("/busy.png"))@png"))
        #expect(busy.statusCode == 503 && busy.headers["Retry-After"] == "31")
        let other = await server.response(to: ServerRequest(target: "/_/plain/\(origin.url("/other.png"))@png"))
        #expect(other.statusCode == 502 && other.headers["Retry-After"] == nil)
    }

    @Test("An image is loaded, resized, encoded, and sent with its header fields")
    func image() async throws {
        let (server, origin) = (try server(), try origin())
        let path = "/_/rs:fit:32:32/fn:cat/plain/\(origin.url("/a.png"))@png"
        let response = await server.response(to: ServerRequest(target: path + "?x=1"))
        #expect(response.statusCode == 200)
        #expect(response.headers["Content-Type"] == "image/png")
        #expect(response.headers["Cache-Control"] == "public, max-age=31536000")
        #expect(response.headers["Content-Disposition"] == "inline; filename=\"cat.png\"")
        #expect(response.headers["Content-Length"] == "\(response.body.count)")
        #expect(response.headers["Vary"] == nil)
        let image = try ImageInfo(data: response.body)
        #expect(image.size == PixelSize(width: 32, height: 24))
        #expect(Data(response.chunks(of: 100).flatMap { $0 }) == response.body)
        #expect(response.chunks(of: 100).allSatisfy { (1...100).contains($0.count) })

        let head = await server.response(to: ServerRequest(method: "HEAD", target: path))
        #expect(head.statusCode == 200 && head.body.isEmpty)
        #expect(head.headers["Content-Length"] == "\(response.body.count)")
        #expect(origin.requests.count == 1)
    }

    @Test("The header field Accept selects the format by weight and preference")
    func negotiation() async throws {
        let server = try server {
            $0.isOpenProxy = true
            $0.negotiatedFormats = [.webp, .gif]
        }
        let origin = try origin()
        for (accept, type) in [
            ("image/webp,*/*", "image/webp"), ("image/webp;q=0.5, image/gif", "image/gif"), ("*/*", "image/png"),
            ("image/webp;q=0,image/*", "image/png"), ("image/webp;q=0.5,image/png", "image/png"),
            ("IMAGE/WEBP ; Q=0.3", "image/webp"), ("image/webp;q=x", "image/png"),
            ("image/gif,image/webp", "image/webp"),
            // A wildcard includes JPEG and PNG, whose weight is then higher.
            ("image/*;q=1, image/webp;q=0.1", "image/png"), ("*/*, image/webp;q=0.9", "image/png"),
            ("image/*;q=0.1, image/webp;q=0.1", "image/webp"),
            // Only one of JPEG and PNG is acceptable.
            ("image/jpeg", "image/jpeg"), ("image/png", "image/png"), ("image/jpeg;q=0,image/png", "image/png"),
            ("image/png;q=0,*/*;q=0.1", "image/jpeg"), ("image/webp;q=0.5, image/jpeg", "image/jpeg"),
            // None of the formats is acceptable, so the source keeps its format.
            ("text/html", "image/png"), ("", "image/png"),
        ] {
            let response = await server.response(
                to: ServerRequest(
                    target: "/_/w:10/plain/\(origin.url("/a.png"))", headers: ["Accept": accept]))
            #expect(response.statusCode == 200)
            #expect(response.headers["Content-Type"] == type, "\(accept)")
            #expect(response.headers["Vary"] == "Accept")
        }
    }

    @Test("Without a format and without Accept, JPEG, PNG, and GIF keep their format, and other formats don't")
    func sourceFormats() async throws {
        let coders = ImageCoderRegistry.standard
        let opaque = DecodedImage(pixels: try TestImages.pixels(3, width: 20, height: 10))
        let clear = DecodedImage(pixels: try PixelBuffer.filled(with: .clear, size: PixelSize(width: 20, height: 10)))
        var routes: [String: LoopbackServer.Response] = [:]
        for (path, image, encoding) in [
            ("/a.jpg", opaque, ImageEncoding.jpeg), ("/a.png", opaque, .png), ("/a.gif", opaque, .gif),
            ("/a.webp", opaque, .webp), ("/clear.webp", clear, .webp), ("/clear.png", clear, .png),
        ] {
            routes[path] = LoopbackServer.Response(
                headers: ["Cache-Control": "max-age=600"], body: try coders.encode(image, as: encoding))
        }
        let (origin, server) = (try LoopbackServer(routes: routes), try server())
        for (path, type) in [
            ("/a.jpg", "image/jpeg"), ("/a.png", "image/png"), ("/a.gif", "image/gif"), ("/a.webp", "image/jpeg"),
            ("/clear.webp", "image/png"), ("/clear.png", "image/png"),
        ] {
            for options in ["w:10", "q:50"] {
                let response = await server.response(
                    to: ServerRequest(target: "/_/\(options)/plain/\(origin.url(path))"))
                #expect(response.headers["Content-Type"] == type, "\(path) \(options)")
            }
        }
        // JPEG contains no transparency.
        let extended = await server.response(
            to: ServerRequest(target: "/_/rs:fit:20:20:0:1/plain/\(origin.url("/a.jpg"))"))
        #expect(extended.headers["Content-Type"] == "image/png")
    }

    @Test("Larger results are scaled down, and the limits of the manager remain")
    func maximum() async throws {
        let origin = try origin()
        let server = try server {
            $0.isOpenProxy = true
            $0.maxResultDimension = 100
        }
        let url = origin.url("/a.png")
        for (options, size) in [
            ("w:3000", PixelSize(width: 64, height: 48)), ("w:3000/el:1", PixelSize(width: 100, height: 75)),
            ("pd:30", PixelSize(width: 100, height: 87)), ("rs:fill:900:300:1", PixelSize(width: 100, height: 33)),
        ] {
            let response = await server.response(to: ServerRequest(target: "/_/\(options)/plain/\(url)@png"))
            #expect(try ImageInfo(data: response.body).size == size, "\(options)")
        }
    }

    @Test("Client hints are defaults that the URL replaces")
    func hints() async throws {
        let server = try server {
            $0.isOpenProxy = true
            $0.usesClientHints = true
        }
        let origin = try origin()
        let width = { (options: String, headers: HTTPHeaderFields) async throws -> Int in
            let response = await server.response(
                to: ServerRequest(target: "/_/\(options)/plain/\(origin.url("/a.png"))", headers: headers))
            #expect(response.headers["Vary"] == "Accept, Sec-CH-DPR, Sec-CH-Width, Save-Data")
            return try ImageInfo(data: response.body).size.width
        }
        #expect(try await width("w:10", ["Sec-CH-DPR": "2"]) == 20)
        let fixed = await server.response(to: ServerRequest(target: "/_/w:10/plain/\(origin.url("/a.png"))@png"))
        #expect(fixed.headers["Vary"] == "Sec-CH-DPR, Sec-CH-Width, Save-Data")
        #expect(fixed.headers["Accept-CH"] == "Sec-CH-DPR, Sec-CH-Width")
        #expect(try await width("w:10/dpr:3", ["Sec-CH-DPR": "2"]) == 30)
        #expect(try await width("w:10", ["Sec-CH-DPR": "2", "Save-Data": "on"]) == 10)
        #expect(try await width("q:80", ["Sec-CH-DPR": "2", "Sec-CH-Width": "40"]) == 40)
        #expect(try await width("w:10", ["Sec-CH-DPR": "nan", "Sec-CH-Width": "-1"]) == 10)
    }

    @Test("Conditional and partial requests have the responses of RFC 9110")
    func conditions() async throws {
        let (server, origin) = (try server(), try origin())
        let target = "/_/w:10/plain/\(origin.url("/a.png"))@png"
        let send = { (headers: HTTPHeaderFields) in
            await server.response(to: ServerRequest(target: target, headers: headers))
        }
        let whole = await send([:])
        let tag = try #require(whole.headers["ETag"])
        for text in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
            let response = await send(["If-None-Match": text])
            #expect(response.statusCode == 304 && response.body.isEmpty, "\(text)")
            #expect(response.headers["ETag"] == tag && response.headers["Cache-Control"] != nil)
        }
        #expect(await send(["If-None-Match": "\"x\""]).statusCode == 200)
        let count = whole.body.count
        for (range, expected) in [("bytes=0-9", 0..<10), ("bytes=5-", 5..<count), ("bytes=-4", (count - 4)..<count)] {
            let response = await send(["Range": range])
            #expect(response.statusCode == 206)
            #expect(Data(response.body) == Data(whole.body)[expected])
            #expect(
                response.headers["Content-Range"] == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/\(count)")
            #expect(response.headers["Content-Length"] == "\(expected.count)")
        }
        #expect(await send(["Range": "bytes=\(count)-"]).statusCode == 416)
        #expect(await send(["Range": "bytes=0-1,3-4"]).statusCode == 200)
        #expect(await send(["Range": "bytes=0-1", "If-Range": "\"x\""]).statusCode == 200)
        #expect(await send(["Range": "bytes=0-1", "If-Range": tag]).statusCode == 206)
    }

    @Test("Failures have a status and a reason without the source URL")
    func failures() async throws {
        let origin = try origin()
        let server = try server {
            $0.signingKeys = [URLSigningKey(key: Self.keys.key, salt: Self.keys.salt)].compactMap { $0 }
            $0.trustedSignatures = ["_"]
            $0.allowedSources = ["http://127.0.0.1:*/"]
            $0.maxResultDimension = 0
        }
        let base = "http://127.0.0.1:\(origin.port)"
        for (target, status) in [
            ("/x/plain/\(base)/a.png", 403), ("/_/plain/\(base)/missing", 404), ("/_/plain/\(base)/text", 422),
            ("/_/plain/\(base)/large", 422),
            ("/_/plain/http://localhost:\(origin.port)/a.png", 404), ("/_/plain/ftp://127.0.0.1/a", 404),
            ("/_/plain/local:///etc/passwd", 404), ("/_/wm:1/plain/\(base)/a.png", 404),
            ("/_/exp:1000/plain/\(base)/a.png", 404), ("/_/pd:1000000/plain/\(base)/a.png", 422),
            ("/_/plain/\(base)/a.png@pdf", 404), ("/", 404), ("/favicon.ico", 404),
        ] {
            let response = await server.response(to: ServerRequest(target: target))
            #expect(response.statusCode == status, "\(target)")
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(!text.contains("127.0.0.1") && !text.contains("secret"), "\(text)")
            #expect(response.headers["Cache-Control"] == "no-store")
        }
        let post = await server.response(to: ServerRequest(method: "POST", target: "/_/plain/\(base)/a.png"))
        #expect(post.statusCode == 405 && post.headers["Allow"] == "GET, HEAD")
        #expect(await server.response(to: ServerRequest(target: "/health")).statusCode == 200)
    }

    @Test("A missing or suspended helper process isn't the fault of the source")
    func helperFailures() {
        func failure(_ reason: ImageError.DecodingFailure.Reason) -> ServerFailure {
            ServerFailure(.decoding(ImageError.DecodingFailure(reason)))
        }
        let missing = failure(.isolationUnavailable("no helper is installed"))
        #expect(missing.statusCode == 500 && missing.retryAfter == nil && missing.reason.contains("4012"))
        let suspended = failure(.decoderSuspended(crashCount: 5, seconds: 60))
        #expect(
            suspended.statusCode == 503 && suspended.retryAfter == .seconds(60) && suspended.reason.contains("4013"))
        #expect(failure(.unknownFormat).statusCode == 422)
    }

    @Test("Local files are read below the directory only")
    func localFiles() async throws {
        let directory = try TemporaryDirectory()
        try TestImages.png(1, width: 20, height: 10).write(to: URL(filePath: directory.file("a b.png")))
        let server = try server {
            $0.allowedSources = ["local:///"]
            $0.localDirectory = URL(filePath: directory.path)
        }
        let good = await server.response(to: ServerRequest(target: "/_/plain/local:///a%20b.png@png"))
        #expect(good.statusCode == 200)
        for path in [
            "local:///../etc/passwd", "local:///..%2fetc/passwd", "local:///a/../../x", "local:///", "local:///.",
        ] {
            #expect(await server.response(to: ServerRequest(target: "/_/plain/\(path)")).statusCode == 404, "\(path)")
        }
        try Data(count: ImageLimits.server.maxEncodedBytes + 1).write(to: URL(filePath: directory.file("large")))
        let large = await server.response(to: ServerRequest(target: "/_/plain/local:///large"))
        let reason = String(decoding: large.body, as: UTF8.self)
        #expect(large.statusCode == 422 && reason.contains("\(ImageLimits.server.maxEncodedBytes)"), "\(reason)")
        #expect(!reason.contains(directory.path))
    }

    @Test("The logged path has the prefix of the server, and no query")
    func loggedPaths() throws {
        let server = try server {
            $0.isOpenProxy = true
            $0.pathPrefix = "/img"
            $0.trustedSignatures = ["word"]
        }
        for (target, expected) in [
            ("/img/word/w:1/plain/http://u:p@a/b%3Fc?d", "/img/…/w:1/plain/http://a/b"),
            ("/img/info/word/plain/http://a/b?c", "/img/info/…/plain/http://a/b"), ("/other?x", "/other"),
            ("/img/health", "/img/health"),
        ] {
            #expect(server.loggedPath(of: ServerRequest(target: target)) == expected, "\(target)")
        }
    }

    @Test("Raw sources are sent unchanged, and information is sent as JSON")
    func rawAndInformation() async throws {
        let (server, origin) = (try server(), try origin())
        let raw = await server.response(to: ServerRequest(target: "/_/raw:1/plain/\(origin.url("/a.png"))"))
        #expect(try raw.body == TestImages.png(5, width: 64, height: 48))
        for (options, size) in [("skp:png:gif/w:10", 64), ("skp:gif/w:10", 10), ("skp:png/w:10/f:webp", 10)] {
            let response = await server.response(
                to: ServerRequest(target: "/_/\(options)/plain/\(origin.url("/a.png"))"))
            #expect(try ImageInfo(data: response.body).size.width == size, "\(options)")
        }
        let info = await server.response(to: ServerRequest(target: "/info/_/plain/\(origin.url("/a.png"))"))
        let object = try JSONSerialization.jsonObject(with: info.body) as? [String: Any]
        #expect(object?["width"] as? Int == 64 && object?["height"] as? Int == 48)
        #expect(object?["format"] as? String == "png" && object?["size"] as? Int == raw.body.count)
        #expect(object?["frames"] as? Int == 1 && object?["orientation"] as? Int == 1)
    }

    @Test("Animations remain animated up to the maximum number of frames, and otherwise the first frame is the result")
    func animations() async throws {
        let frames = try (1...3).map { number in
            (pixels: try TestImages.pixels(number, width: 40, height: 20), duration: Duration.milliseconds(50))
        }
        let file = try ImageCoderRegistry.standard.encode(
            DecodedImage(animation: ImageAnimation(frames: frames, loopCount: 0)), as: .gif,
            context: ImageProcessingContext())
        let origin = try LoopbackServer(routes: [
            "/a.gif": LoopbackServer.Response(headers: ["Cache-Control": "max-age=600"], body: file)
        ])
        for (limit, options, count) in [
            (1, "w:20", 1), (3, "w:20", 3), (10, "w:20", 3), (10, "rs:fill:10:10/rot:90", 3), (2, "w:20", 1),
            (10, "w:20/t:10", 1), (10, "rs:fill:10:10/g:sm", 1), (10, "w:20/pg:1", 1),
        ] {
            let server = try testServer({ _ in }, manager: { $0.limits.maxFrames = limit })
            let formats = ["gif", "webp", "png", "avif", "jpg"].filter { name in
                ImageFormat(fileExtension: name).map { server.manager.configuration.coders.canEncode($0) } ?? false
            }
            for format in formats {
                let response = await server.response(
                    to: ServerRequest(target: "/_/\(options)/plain/\(origin.url("/a.gif"))@\(format)"))
                try #require(response.statusCode == 200, "\(String(decoding: response.body, as: UTF8.self))")
                let image = try ImageCoderRegistry.standard.decode(response.body, context: ImageProcessingContext())
                let isStill = ["jpg", "png"].contains(format)
                #expect(image.frameCount == (isStill ? 1 : count), "\(limit) \(options) \(format)")
                #expect(image.size.width <= 20 && image.size.height <= 20)
            }
        }
        let settings = try ServiceSettings(
            arguments: ["--open-proxy", "--max-animation-frames=60"], environment: [:], readFile: { _ in "" })
        #expect(settings.manager.limits.maxFrames == 60)
    }

    @Test("An empty source has the status 422")
    func emptySource() async throws {
        let origin = try LoopbackServer(routes: ["/a.png": .ok(Data())])
        let response = await (try testServer { _ in }).response(
            to: ServerRequest(target: "/_/plain/\(origin.url("/a.png"))@png"))
        #expect(response.statusCode == 422 && String(decoding: response.body, as: UTF8.self).contains("empty"))
    }

    @Test("Results of local files have the date of the last change, by which clients revalidate them")
    func localDates() async throws {
        let root = try TemporaryDirectory()
        defer { withExtendedLifetime(root) {} }
        let path = root.file("a.png")
        try TestImages.png(5).write(to: URL(filePath: path))
        let server = try testServer { $0.localDirectory = URL(filePath: root.path) }
        let send = { (headers: HTTPHeaderFields) in
            await server.response(to: ServerRequest(target: "/_/w:10/plain/local:///a.png@png", headers: headers))
        }
        // A file that was just written can change again in the same second.
        try FileManager.default.setAttributes([.modificationDate: Date() + 60], ofItemAtPath: path)
        #expect(await send([:]).headers["Last-Modified"] == nil)
        let date = Date(timeIntervalSince1970: 1_500_000_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        let response = await send([:])
        #expect(response.statusCode == 200 && response.headers["Last-Modified"] == HTTPDate.format(date))
        #expect(await send(["If-Modified-Since": HTTPDate.format(date)]).statusCode == 304)
        #expect(await send(["If-Modified-Since": HTTPDate.format(date - 1)]).statusCode == 200)
    }

    @Test("Patterns of sources match beginnings, and an asterisk matches no slash")
    func patterns() {
        for (text, pattern, expected) in [
            ("https://a.example/x", "https://a.example/", true),
            ("https://a.example.evil/x", "https://a.example/", false),
            ("https://b.a.example/x", "https://*.a.example/", true),
            ("https://evil/b.a.example/", "https://*.a.example/", false),
            ("https://a/1/x", "https://a/*/x", true), ("https://a/1/2/x", "https://a/*/x", false), ("x", "", true),
            ("", "x", false), ("aaab", "*a*b", true), ("https://evil?.a.example/", "https://*.a.example/", false),
            ("https://evil#.a.example/", "https://*.a.example/", false),
            ("https://evil@x.a.example/", "https://*.a.example/", false),
            ("https://evil\\.a.example/", "https://*.a.example/", false),
        ] {
            #expect(ServerSources.matches(text, pattern) == expected, "\(text) \(pattern)")
        }
    }

    @Test("A source URL must match a pattern as written and after it was parsed")
    func parsedPatterns() throws {
        var sources = ServerSources()
        sources.patterns = [
            "https://a.example/my images/", "https://*.b.example/", "https://*/c/", "HTTPS://\u{e4}.example/",
        ]
        for (text, expected) in [
            ("https://a.example/my images/a%20b c.png", "https://a.example/my%20images/a%20b%20c.png"),
            ("https://x.b.example/a\\b.png", "https://x.b.example/a/b.png"),
            ("https://x.b.example/d/../e.png", "https://x.b.example/e.png"),
            ("https://d/c/%zz", "https://d/c/%25zz"), ("HTTPS://\u{e4}.example/a b", "https://xn--4ca.example/a%20b"),
        ] {
            #expect(try sources.source(of: text).url.absoluteString == expected, "\(text)")
        }
        for text in [
            "https:///c/c.png", "https:///\tc/c.png", "https://a.example/my images/../secret.png",
            "https://a.example/my images/..\\secret.png", "https://a.example/my images/%2e%2E/secret.png",
            "https://x.b.example\\@a.example/", " https://x.b.example/", "https://x.b.example:99999/",
        ] {
            #expect(throws: ServerFailure.self, "\(text)") { try sources.source(of: text) }
        }
    }

    @Test("File names can't break the header field")
    func fileNames() {
        let name = { ContentDisposition.filename($0, URL(filePath: "/x/y.jpg"), .png) }
        #expect(name(nil) == "filename=\"y.png\"")
        #expect(name("a\"\r\n/b\\") == "filename=\"a_b.png\"; filename*=UTF-8''a%22b.png")
        #expect(name("é") == "filename=\"_.png\"; filename*=UTF-8''%C3%A9.png")
        #expect(name("//") == "filename=\"image.png\"")
    }

    @Test(
        "URLs of the Python package imgproxy work",
        .enabled(if: PythonClient.isAvailable, "the Python package imgproxy isn't installed (pip install imgproxy)"))
    func pythonClient() async throws {
        let origin = try origin()
        let server = try server {
            $0.signingKeys = [URLSigningKey(key: Self.keys.key, salt: Self.keys.salt)].compactMap { $0 }
        }
        let source = "http://127.0.0.1:\(origin.port)/a.png"
        let code = """
            from imgproxy import ImgProxy
            sign = dict(key='\(Self.keys.key)', salt='\(Self.keys.salt)')
            print(ImgProxy('\(source)', width=16, height=16, resizing_type='fill', extension='png', **sign)())
            print(ImgProxy('\(source)', width=32, **sign)('pd:2', 'f:webp'))
            """
        let paths = try await PythonClient.lines(of: code)
        try #require(paths.count == 2)
        let fill = await server.response(to: ServerRequest(target: paths[0]))
        #expect(fill.statusCode == 200 && fill.headers["Content-Type"] == "image/png")
        #expect(try ImageInfo(data: fill.body).size == PixelSize(width: 16, height: 16))
        let padded = await server.response(to: ServerRequest(target: paths[1]))
        #expect(padded.statusCode == 200 && padded.headers["Content-Type"] == "image/webp")
        #expect(try ImageInfo(data: padded.body).size == PixelSize(width: 36, height: 28))
        #expect(await server.response(to: ServerRequest(target: paths[0] + "x")).statusCode == 403)
    }
}

/// The Python package `imgproxy`, which creates URLs.
private enum PythonClient {
    static let isAvailable: Bool = {
        guard
            let process = try? ChildProcess(
                "python3", ["-c", "import imgproxy"], in: FileManager.default.temporaryDirectory, output: "/dev/null")
        else { return false }
        return process.wait() == 0
    }()

    static func lines(of code: String) async throws -> [String] {
        let directory = try TemporaryDirectory()
        let process = try ChildProcess(
            "python3", ["-c", code], in: URL(filePath: directory.path), output: .file("output"),
            error: .file("/dev/null"))
        #expect(await process.end() == 0)
        return try String(contentsOfFile: directory.file("output"), encoding: .utf8).split(separator: "\n").map(
            String.init)
    }
}
