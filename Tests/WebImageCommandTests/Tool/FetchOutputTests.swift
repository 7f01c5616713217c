// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@Suite("The webimage fetch command: Inputs, outputs, and network options", .timeLimit(.minutes(5)))
struct FetchOutputTests {
    @Test("A single image is written to a file or to standard output, unchanged unless an option changes it")
    func single() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.jpeg(), "a.jpg")
        let copied = try await tool.run("fetch", "a.jpg", "-o", "copy.jpg", "--json")
        #expect(try copied.outputs == ["copy.jpg"])
        #expect(try tool.read("copy.jpg") == SampleImages.jpeg())
        let piped = try await tool.run("fetch", "a.jpg", "-o", "-", "-f", "bmp")
        #expect(piped.status == 0 && piped.out.hasPrefix("BM") && !piped.out.contains("1 image"))
        #expect(try await tool.run("fetch", "a.jpg", "-o", "small.png", "-f", "png", "-s", "32").status == 0)
        let small = try ImageInfo(data: try tool.read("small.png"))
        #expect(small.format == .png && small.size == PixelSize(width: 32, height: 24))
        try FileManager.default.createDirectory(atPath: tool.path("two"), withIntermediateDirectories: true)
        for name in ["two/a.jpg", "two/b.jpg"] { try tool.write(try SampleImages.jpeg(), name) }
        let several = try await tool.run("fetch", "two", "-o", "x.jpg")
        #expect(several.status == 64 && several.error.contains("such as “x.jpg/”"))
    }

    @Test("With --no-clobber, existing files are preserved and named in the output")
    func noClobber() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.jpeg(), "a.jpg")
        try tool.write(Data("old".utf8), "copy.jpg")
        let kept = try await tool.run("fetch", "a.jpg", "-o", "copy.jpg", "-n", "--json")
        #expect(try kept.status == 0 && kept.outputs == ["copy.jpg"])
        #expect(try tool.read("copy.jpg") == Data("old".utf8))
        #expect(try await tool.run("fetch", "a.jpg", "-o", "copy.jpg").status == 1)
        #expect(try tool.read("copy.jpg") == Data("old".utf8))
        #expect(try await tool.run("fetch", "a.jpg", "-o", "copy.jpg", "-y").status == 0)
        #expect(try tool.read("copy.jpg") == SampleImages.jpeg())
    }

    @Test("Directories include their images, and standard input is an image")
    func inputs() async throws {
        let tool = try ToolProcess()
        try FileManager.default.createDirectory(atPath: tool.path("photos/deep"), withIntermediateDirectories: true)
        try tool.write(try SampleImages.png(), "photos/a.png")
        try tool.write(try SampleImages.jpeg(), "photos/deep/b.jpg")
        try tool.write(Data("words".utf8), "photos/notes.txt")
        let result = try await tool.run("fetch", "-r", "photos", "-s", "20", "-f", "webp", "-d", "thumbs", "--json")
        #expect(result.status == 0, "\(result.error)")
        #expect(
            Set(try result.outputs) == ["thumbs/a.webp", "thumbs/deep/b.webp"])
        let words = try await tool.run("fetch", "-", "--json", input: "just some words")
        let error = try #require(try words.objects[0]["error"] as? [String: Any])
        #expect(words.status == 1 && (error["case"] as? String)?.hasPrefix("decoding.") == true)
    }

    @Test("Header fields, the user agent, credentials, and cookies reach the server")
    func network() async throws {
        let tool = try ToolProcess()
        let png = try SampleImages.png()
        let server = try LoopbackServer { request in
            guard request.headers["Authorization"] != nil else {
                return .status(401).with { $0.headers["WWW-Authenticate"] = "Basic realm=\"r\"" }
            }
            return .ok(png, contentType: "image/png").with { $0.headers["Set-Cookie"] = "id=7; Max-Age=600" }
        }
        defer { server.stop() }
        let url = server.url("/a.png").absoluteString
        let words = ["-H", "X-Test: yes", "-A", "agent/1", "-u", "me:secret", "--cookie-jar", "jar", "-p", "reload"]
        for round in 0..<2 {
            let result = try await tool.start(["fetch", url] + words).result
            #expect(result.status == 0, "\(result.error)")
            let last = try #require(server.requests.last)
            #expect(last.headers["X-Test"] == "yes" && last.headers["User-Agent"] == "agent/1")
            #expect(last.headers["Authorization"] == "Basic \(Data("me:secret".utf8).base64EncodedString())")
            #expect((last.headers["Cookie"] == "id=7") == (round == 1))
        }
        #expect(String(decoding: try tool.read("jar"), as: UTF8.self).contains("id\t7"))
        #expect(try await tool.run("fetch", "a.png", "-u", "me:secret").status == 64)
    }

    @Test("A file of a network option that can't be used is reported once, before the first connection")
    func networkFiles() async throws {
        let tool = try ToolProcess()
        let server = try LoopbackServer { _ in .status(404) }
        defer { server.stop() }
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(Data("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n".utf8), "c.pem")
        let url = server.url("/a.png").absoluteString
        for (options, message) in [
            (["--cacert", "none.pem"], "--cacert: The file none.pem doesn't exist. (1006)"),
            (["--cacert", "."], "--cacert: The file . can't be read: Is a directory. (1007)"),
            (["--cacert", "a.png"], "--cacert: The file a.png contains no certificate in the PEM format. (1011)"),
            (["--cert", "none.pem"], "--cert: The file none.pem doesn't exist. (1006)"),
            (["--cert", "c.pem", "--key", "none.key"], "--key: The file none.key doesn't exist. (1006)"),
            (
                ["--cert", "c.pem", "--key", "c.pem"],
                "--key: The file c.pem contains no private key in the PEM format. (1011)"
            ),
            (
                ["--cert", "c.pem"],
                "--cert: The file c.pem contains no private key in the PEM format (use --key). (1011)"
            ),
        ] {
            for words in [["fetch", url, url], ["info", url, url], ["convert", url, "x.webp"], ["show", url]] {
                let result = try await tool.start(words + options).result
                #expect(result.status == 1 && result.out.isEmpty, "\(words + options)")
                #expect(result.error == "webimage: \(message)\n", "\(words + options)")
            }
        }
        let jar = try await tool.run("info", url, url, "--cookie-jar", ".")
        #expect(jar.status == 1 && jar.error.split(separator: "\n").count == 1, "\(jar.error)")
        #expect(jar.error.contains("--cookie-jar: ") && jar.error.contains("Is a directory. (1007)"), "\(jar.error)")
        #expect(server.counters.connections == 0)
        let accepted = try await tool.run("fetch", url, "--cacert", "c.pem", "--retry", "0")
        #expect(accepted.error.contains("(2007)"), "\(accepted.error)")
    }

    @Test("Limits apply to every command that reads images")
    func limits() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        for words in [
            ["fetch", "a.png"], ["decode", "a.png", "-y", "-o", "out"], ["convert", "a.png", "b.png", "-y"],
            ["show", "a.png"], ["thumbnail", "a.png", "-y"], ["compare", "a.png", "a.png"],
        ] {
            let pixels = try await tool.start(words + ["--max-pixels", "100"]).result
            #expect(pixels.status == 1 && pixels.error.contains("(600"), "\(words): \(pixels.error)")
            let size = try await tool.start(words + ["--max-filesize", "10"]).result
            #expect(size.status == 1 && size.error.contains("(6001)"), "\(words): \(size.error)")
            #expect(try await tool.start(words + ["--limits", "icon"]).result.status == 0, "\(words)")
        }
    }

    @Test("With --public-only, local servers are rejected but files are read")
    func publicOnly() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        let server = try LoopbackServer(routes: ["/a.png": .ok(try SampleImages.png(), contentType: "image/png")])
        defer { server.stop() }
        let rejected = try await tool.run("fetch", server.url("/a.png").absoluteString, "--public-only")
        #expect(rejected.status == 1 && rejected.error.contains("(2020)"), "\(rejected.error)")
        #expect(try await tool.run("fetch", "a.png", "--public-only").status == 0)
        #expect(server.requests.isEmpty)
    }

    @Test("With --public-only, no spelling of a private address or of a local name is loaded")
    func publicOnlySpellings() async throws {
        let tool = try ToolProcess()
        let server = try LoopbackServer { _ in .status(404) }
        defer { server.stop() }
        let hosts =
            AddressSpellings.notations(of: [127, 0, 0, 1]) + AddressSpellings.embedded([127, 0, 0, 1])
            + AddressSpellings.localNames
        let urls = hosts.filter { $0.utf8.allSatisfy { $0 < 128 } }.map { "http://\($0):\(server.port)/a.png" }
        for command in ["fetch", "info"] {
            let result = try await tool.start([command] + urls + ["--public-only"]).result
            #expect(result.status == 1 && result.error.contains("(2020)"), "\(command): \(result.error)")
        }
        #expect(server.counters.connections == 0)
    }

    @Test("The option --verbose logs every step without secrets")
    func verbose() async throws {
        let tool = try ToolProcess()
        let server = try LoopbackServer(routes: ["/a.png": .ok(try SampleImages.png(), contentType: "image/png")])
        defer { server.stop() }
        let url = server.url("/a.png").absoluteString + "?token=secret"
        let result = try await tool.run("fetch", url, "-v")
        #expect(result.error.contains(" decode ") && !result.error.contains("secret"), "\(result.error)")
    }

    @Test("The option --verbose logs request and response heads, redirects, and retries without secrets")
    func exchanges() async throws {
        let tool = try ToolProcess()
        let png = try SampleImages.png()
        let server = try LoopbackServer { request in
            switch request.path {
            case "/moved.png": LoopbackServer.Response.redirect(302, to: "/a.png?sig=secret")
            case "/a.png": .ok(png, contentType: "image/png")
            default: .status(503).with { $0.headers["Set-Cookie"] = "id=secret" }
            }
        }
        defer { server.stop() }
        let base = server.url("").absoluteString
        for command in [["fetch"], ["info"], ["convert", "-f", "png", "-y", "-o", "x"]] {
            let moved = try await tool.start(
                command + ["\(base)/moved.png?token=secret", "-v", "-A", "agent/7", "-H", "Authorization: secret"]
            ).result
            let lines = moved.error.split(separator: "\n").map(String.init)
            let expected = [
                "> GET \(base)/moved.png?…", "> User-Agent: agent/7", "> Authorization: <redacted>",
                "< HTTP/1.1 302 \(base)/moved.png?…", "< Location: /a.png?…",
                "* redirect to \(base)/a.png?…", "> GET \(base)/a.png?…",
                "< HTTP/1.1 200 \(base)/a.png?…", "< Content-Type: image/png",
            ]
            let exchange = lines.filter { expected.contains($0) }
            for line in expected { #expect(exchange.contains(line), "\(command): \(line) in \(moved.error)") }
            #expect(exchange.filter { $0.contains(base) } == expected.filter { $0.contains(base) })
            #expect(!moved.error.contains("secret"), "\(moved.error)")
            let failed = try await tool.start(command + ["\(base)/none.png", "-v", "--retry", "1"]).result
            #expect(failed.error.contains(/\n\* retry in [0-9]+ ms: The server responded with status 503/))
            #expect(failed.error.matches(of: #/\n> GET /#).count == 2 && !failed.error.contains("secret"))
        }
        let plain = try await tool.run("info", "\(base)/moved.png")
        #expect(plain.status == 0 && plain.error.isEmpty)
    }

    @Test("With --cache-dir, the info command uses the disk cache")
    func sharedCache() async throws {
        let tool = try ToolProcess()
        let response = LoopbackServer.Response.ok(try SampleImages.png(), contentType: "image/png").with {
            $0.headers["Cache-Control"] = "max-age=600"
        }
        let server = try LoopbackServer(routes: ["/a.png": response])
        defer { server.stop() }
        let url = server.url("/a.png").absoluteString
        #expect(try await tool.run("fetch", url, "--cache-dir", "cache", "-q").status == 0)
        let info = try await tool.run("info", url, "--cache-dir", "cache", "--json")
        #expect(try info.objects[0]["input"] as? String == url && info.objects[0]["width"] as? Int == 64)
        #expect(server.requests.count == 1)
    }
}
