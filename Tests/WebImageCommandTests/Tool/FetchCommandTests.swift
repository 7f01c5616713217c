// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

@Suite("The webimage commands fetch, cache, and demo", .timeLimit(.minutes(5)))
struct FetchCommandTests {
    private func server() throws -> LoopbackServer {
        let png = ServerResource(
            body: try SampleImages.png(), type: "image/png", etag: "\"1\"", cacheControl: "max-age=600")
        let jpeg = ServerResource(body: try SampleImages.jpeg(), type: "image/jpeg", cacheControl: "max-age=600")
        return try LoopbackServer { request in
            switch request.path {
            case "/a/photo.png": png.response(to: request)
            case "/b/photo.jpg": jpeg.response(to: request)
            case "/page.png": .ok(Data("<!DOCTYPE html><html></html>".utf8), contentType: "text/html")
            case "/stalled.png": png.response(to: request).with { $0.stallsBodyAfter = 20 }
            case "/unnamed.png": .ok(png.body, contentType: "image/png").with { $0.stallsBodyAfter = 20 }
            default: .status(404)
            }
        }
    }

    @Test("Without libcurl, cached images load, and downloads fail with the reason")
    func missingLibrary() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let url = server.url("/a/photo.png").absoluteString
        #expect(try await tool.run("fetch", url).status == 0)
        for name in ["libcurl.so.4", "libcurl-gnutls.so.4"] { try tool.write(Data("no library".utf8), "lib/\(name)") }
        let environment = ["LD_LIBRARY_PATH": tool.path("lib")]
        let cached = try await tool.run("fetch", url, "--json", environment: environment)
        #expect(cached.status == 0)
        #expect(try cached.objects.first?["source"] as? String == "diskCache")
        let failed = try await tool.run(
            "fetch", server.url("/b/photo.jpg").absoluteString, "--json", environment: environment)
        #expect(failed.status == 1)
        let error = try #require(try failed.objects.first?["error"] as? [String: Any])
        #expect(error["code"] as? Int == 2099)
        #expect((error["message"] as? String)?.contains("libcurl.so.4") == true, "\(error)")
        let report = try await tool.run("doctor", environment: environment)
        #expect(report.status == 1 && report.out.contains("libcurl can't be loaded"))
    }

    @Test("URLs on the command line and in lists keep their escapes and are stored under the URL that is loaded")
    func escapedURLs() async throws {
        let tool = try ToolProcess()
        let png = try SampleImages.png()
        let server = try LoopbackServer { _ in
            .ok(png, contentType: "image/png").with { $0.headers["Cache-Control"] = "max-age=600" }
        }
        defer { server.stop() }
        let base = server.url("").absoluteString
        try tool.write(Data("\(base)/x%2Fy z.png?t=[%20] \n\(base)\\100%\\a.png\n".utf8), "list")
        let result = try await tool.run("fetch", "\(base)/a%20b c.png", "@list", "-j", "1", "--cache-dir", "kept")
        #expect(result.status == 0, "\(result.error)")
        let targets = ["/a%20b%20c.png", "/x%2Fy%20z.png?t=%5B%20%5D", "/100%25/a.png"]
        #expect(server.requests.map(\.target).sorted() == targets.sorted())
        let again = try await tool.run("fetch", "\(base)/a%20b%20c.png", "--cache-dir", "kept", "--json")
        #expect(try again.objects.first?["source"] as? String == "diskCache")
        #expect(try await tool.run("cache", "show", "\(base)/a%20b c.png", "--cache-dir", "kept").status == 0)
    }

    @Test("Images are loaded from the network, then from disk, and then revalidated")
    func origins() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let url = server.url("/a/photo.png").absoluteString
        for (words, origin) in [
            ([], "network"), ([], "diskCache"), (["--cache-policy", "refresh"], "revalidated"),
            (["-p", "reload"], "network"),
        ] {
            let result = try await tool.start(["fetch", url, "--json"] + words).result
            let object = try #require(try result.objects.first)
            #expect(result.status == 0)
            #expect(object["source"] as? String == origin)
            #expect(object["status"] as? String == "ok")
            #expect(object["width"] as? Int == 64 && object["format"] as? String == "png")
            let timings = try #require(object["timings"] as? [String: Double])
            #expect(Set(timings.keys) == ["disk", "load", "decode", "transform", "total"])
        }
        let missing = try await tool.run("fetch", url, "-p", "cache-only", "--cache-dir", "other", "--json")
        #expect(missing.status == 1)
        let error = try #require(try missing.objects[0]["error"] as? [String: Any])
        #expect(error["code"] as? Int == 3001 && error["case"] as? String == "cache.notInCache")
        let notFound = try await tool.run("fetch", server.url("/none.png?token=x").absoluteString, "--json")
        let object = try #require(try notFound.objects.first)
        let failure = try #require(object["error"] as? [String: Any])
        #expect(failure["case"] as? String == "network.unacceptableStatusCode")
        #expect(failure["httpStatus"] as? Int == 404)
        #expect((object["input"] as? String)?.hasSuffix("/none.png?token=…") == true)
        #expect(!notFound.out.contains("token=x") && !notFound.error.contains("token"))
    }

    @Test("No command prints the user names and passwords of URLs")
    func credentials() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let address = "http://horse:staple@127.0.0.1:\(server.url("/").port ?? 0)"
        for (words, status) in [
            (["fetch", "\(address)/a/photo.png", "--json"], Int32(0)), (["fetch", "\(address)/a/photo.png"], 0),
            (["fetch", "\(address)/a/photo.png", "--trace", "trace.json"], 0),
            (["fetch", "\(address)/none.png"], 1), (["fetch", "\(address)/none.png", "--json"], 1),
            (["fetch", "\(address)"], 1), (["fetch", "http://horse:staple@a b/", "--json"], 1),
            (["info", "\(address)/a/photo.png"], 0), (["info", "\(address)/none.png", "--json"], 1),
            (["show", "\(address)/a/photo.png"], 0), (["show", "\(address)/none.png"], 1),
            (["cache", "list"], 0), (["cache", "list", "--json"], 0),
            (["cache", "show", "\(address)/a/photo.png"], 0), (["cache", "show", "\(address)/other"], 1),
        ] {
            let result = try await tool.start(words).result
            #expect(result.status == status, "\(words)")
            for text in [result.out, result.error] {
                #expect(!text.contains("horse") && !text.contains("staple"), "\(words): \(text)")
            }
        }
        #expect(!String(decoding: try tool.read("trace.json"), as: UTF8.self).contains("staple"))
    }

    @Test("No command prints the query of a URL, also as JSON, and without a scheme")
    func queries() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        try tool.write(try SampleImages.png(), "a.png")
        let url = server.url("/none.png").absoluteString + "?t=SECRET"
        let bare = "user:hunter2@127.0.0.1:9/a.png?sig=SECRET"
        for input in [url, bare] {
            for words in [
                ["fetch", input], ["info", input], ["decode", input, "-o", "x"], ["convert", input, "x.webp"],
                ["thumbnail", input], ["compare", input, "a.png"],
            ] {
                for options in [["--json", "--retry", "0"], ["--retry", "0"]] {
                    let result = try await tool.start(words + options).result
                    #expect(result.status == 1, "\(words): \(result.error)")
                    for text in [result.out, result.error] {
                        #expect(!text.contains("SECRET") && !text.contains("hunter2"), "\(words): \(text)")
                        #expect(!text.contains("……") && !text.contains("URL scheme"), "\(words): \(text)")
                    }
                    guard options.count == 3 else { continue }
                    let error = try #require(try result.objects.first?["error"] as? [String: Any])
                    #expect((error["message"] as? String)?.isEmpty == false)
                }
            }
        }
        let missing = try await tool.run("info", url, "--json")
        let error = try #require(try missing.objects.first?["error"] as? [String: Any])
        #expect((error["message"] as? String)?.contains("/none.png?…]") == true, "\(error)")
        let data = try await tool.run("info", "data:image/png;base64,AAAA")
        #expect(data.error.contains("data:…: ") && !data.error.contains("……"), "\(data.error)")
    }

    @Test("Messages name options and system errors in words")
    func words() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 64, height: 48), "a.png")
        try FileManager.default.createDirectory(atPath: tool.path("empty"), withIntermediateDirectories: true)
        for (words, text) in [
            (["info", "nope"], "nope: The file nope doesn't exist. (1006)"),
            (["info", "empty"], "empty: The directory contains no images (use -r for its subdirectories). (1011)"),
            (["decode", "a.png", "--max-pixels", "9"], "Use --max-pixels or --no-limits. (60"),
            (["cache", "import", "nope", "--cache-dir", "c"], "Opening failed for "),
            (["compare", "a.png", "a.png", "-o", "a.png"], "Use -y to overwrite it. (3003)"),
            (["fetch", "http://127.0.0.1:9/x.png", "--retry", "1"], "Earlier failures: can't connect to the server"),
        ] {
            let result = try await tool.start(words).result
            #expect(result.status == 1 && result.error.contains(text), "\(words): \(result.error)")
            #expect(!result.error.contains("`") && !result.error.contains("openat2"), "\(result.error)")
        }
    }

    @Test("The --trace option records all stages without query strings")
    func trace() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let url = server.url("/a/photo.png").absoluteString + "?token=secret"
        _ = try await tool.run("fetch", url, "--trace", "first.json", "--quiet")
        #expect(!String(decoding: try tool.read("first.json"), as: UTF8.self).contains("secret"))
        let other = server.url("/a/photo.png").absoluteString
        #expect(try await tool.run("fetch", other, "--trace", "out.json", "--quiet").status == 0)
        let data = try tool.read("out.json")
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let events = try #require(document["traceEvents"] as? [[String: Any]])
        let names = Set(events.compactMap { $0["ph"] as? String == "X" ? $0["name"] as? String : nil })
        #expect(names.isSuperset(of: ["request", "load", "transfer", "decode"]))
        #expect(try await tool.run("fetch", other, "--trace", "no/such/folder.json", "--quiet").status == 1)
    }

    @Test("Failures are reported with their codes and don't stop other loads")
    func failures() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        try tool.write(try SampleImages.png(), "local.png")
        let list = ["/page.png", "/none.png", "/a/photo.png"].map { server.url($0).absoluteString }
        try tool.write(Data("local.png\n".utf8), "list")
        #expect(
            try await tool.run("fetch", "-i", "list", "--json").objects.map { $0["source"] as? String } == ["local"])
        let result = try await tool.run(
            "fetch", "-i", "-", "local.png", "nothing", "frob://x/y",
            input: "# images\n\n" + list.joined(separator: "\n"))
        #expect(result.status == 1)
        let lines = result.out.split(separator: "\n").map(String.init)
        #expect(lines.count == 8)
        #expect(lines[1].contains("local") && lines[2].hasSuffix("failed (1006): the file doesn't exist"))
        #expect(lines[3].hasSuffix("failed (1003): no loader supports the URL scheme “frob”"))
        #expect(lines[4].contains("failed (4003): the data is html, not an image"))
        #expect(lines[5].hasSuffix("failed (2007): the server responded with status 404"))
        #expect(lines[6].contains("network"))
        #expect(lines[7].contains("6 images: 1 from the network, 1 local, 4 failed"))
        for code in ["(1006)", "(1003)", "(4003)", "(2007)"] {
            #expect(result.error.split(separator: "\n").filter { $0.contains(code) }.count == 1, "\(code)")
        }
        let quiet = try await tool.run("fetch", list[1], list[2], "--quiet")
        #expect(quiet.out.isEmpty && quiet.status == 1)
        #expect(quiet.error.split(separator: "\n").count == 1)
    }

    @Test("If the output is piped, each image is reported once")
    func reportedOnce() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(try SampleImages.jpeg(), "b.jpg")
        let table = try await tool.run("fetch", "a.png", "b.jpg")
        #expect(table.error.isEmpty && table.out.split(separator: "\n").count == 4, "\(table.error)")
        let files = try await tool.run("fetch", "a.png", "b.jpg", "-d", "out")
        #expect(files.error.isEmpty && files.out.matches(of: /out\/b.jpg/).count == 1, "\(files.error)")
        let objects = try await tool.run("fetch", "a.png", "b.jpg", "--json")
        #expect(try objects.error.isEmpty && objects.objects.count == 2)
        // Standard output contains the image, so standard error contains its line.
        let piped = try await tool.run("fetch", "a.png", "-o", "-")
        #expect(try piped.bytes == SampleImages.png() && piped.error.split(separator: "\n").count == 1)
        #expect(piped.error.hasPrefix("a.png: png 64×48, local, "), "\(piped.error)")
    }

    @Test("Original files are written unchanged and resized images are encoded, with safe and unique names")
    func output() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let urls = ["/a/photo.png", "/b/photo.jpg"].map { server.url($0).absoluteString }
        let first = try await tool.start(["fetch", "--output-dir", "out", "--json"] + urls).result
        #expect(first.status == 0)
        #expect(try tool.read("out/photo.png") == SampleImages.png())
        #expect(try tool.read("out/photo-2.jpg") == SampleImages.jpeg())
        #expect(Set(try first.outputs) == ["out/photo.png", "out/photo-2.jpg"])
        let second = try await tool.start(["fetch", "-d", "webp", "--format", "webp", "-s", "32x"] + urls).result
        #expect(second.status == 0)
        for name in ["webp/photo.webp", "webp/photo-2.webp"] {
            let probe = try ImageInfo(data: try tool.read(name))
            #expect(probe.format == .webp && probe.size == PixelSize(width: 32, height: 24))
        }
    }

    @Test("The cache commands report, list, verify, trim, and clear the entries")
    func cache() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let empty = try await tool.run("cache", "info", "--json")
        #expect(try empty.objects[0]["entries"] as? Int == 0)
        #expect(!FileManager.default.fileExists(atPath: tool.path("kept")))
        let urls = ["/a/photo.png", "/b/photo.jpg"].map { server.url($0).absoluteString }
        #expect(try await tool.start(["fetch", "--cache-dir", "kept", "-q"] + urls).result.status == 0)
        #expect(try await tool.run("cache", "path", "--cache-dir", "kept").out == tool.path("kept") + "\n")
        #expect(try await tool.run("cache", "info", "--cache-dir", "kept", "--json").objects[0]["entries"] as? Int == 2)
        let listed = try await tool.run("cache", "list", "--cache-dir", "kept", "--json").objects
        #expect(Set(listed.compactMap { $0["url"] as? String }) == Set(urls))
        let table = try await tool.run("cache", "list", "--cache-dir", "kept")
        #expect(table.out.split(separator: "\n").count == 3)
        #expect(try await tool.run("cache", "verify", "--cache-dir", "kept").status == 0)
        try damageOneEntry(in: tool.directory.appending(path: "kept"))
        let verified = try await tool.run("cache", "verify", "--cache-dir", "kept", "--json")
        #expect(verified.status == 1)
        #expect(try verified.objects[0]["corrupt"] as? Int == 1)
        #expect(try await tool.run("cache", "verify", "--cache-dir", "kept").status == 0)
        let trimmed = try await tool.run("cache", "trim", "--max-size", "0", "--cache-dir", "kept", "--json")
        #expect(try trimmed.objects[0]["removed"] as? Int == 1)
        #expect(try await tool.run("cache", "clear", "--cache-dir", "kept").out.hasPrefix("Removed 0 entries"))
    }

    private func damageOneEntry(in cache: URL) throws {
        let files = try #require(FileManager.default.enumerator(at: cache, includingPropertiesForKeys: nil))
        let body = try SampleImages.png()
        for case let file as URL in files {
            guard var data = try? Data(contentsOf: file), let range = data.range(of: body) else { continue }
            data[range.lowerBound + 40] ^= 0xFF
            try data.write(to: file)
            return
        }
        Issue.record("no entry contains the image")
    }

    @Test("SIGINT and SIGTERM cancel, keep the cache valid, and exit with 130 and 143")
    func interruption() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let urls = ["/a/photo.png", "/stalled.png"].map { server.url($0).absoluteString }
        for (round, signal) in [SIGINT, SIGTERM].enumerated() {
            let cache = "cache-\(round)"
            let earlier = server.requests.count
            let running = try tool.start(["fetch", "--json", "--cache-dir", cache] + urls)
            // The tool handles signals once it has sent its requests.
            await untilTrue {
                Set(server.requests.dropFirst(earlier).map(\.path)) == ["/a/photo.png", "/stalled.png"]
            }
            running.send(signal)
            let result = try await running.result
            #expect(result.status == 128 + signal)
            let message = /Interrupted\. [01] of 2 images (was|were) loaded\. (.*)\n/
            let match = try #require(try message.wholeMatch(in: result.error), "\(result.error)")
            try check(String(match.2), tool, cache)
            #expect(try result.objects.allSatisfy { $0["input"] as? String != urls[1] })
            #expect(try await tool.run("cache", "verify", "--cache-dir", cache).status == 0)
        }
    }

    /// Compares the text about partial downloads with the files in the cache.
    private func check(_ text: String, _ tool: ToolProcess, _ cache: String) throws {
        let parts = ((try? tool.files("\(cache)/partial")) ?? []).filter { $0.hasSuffix(".part") }
        switch parts.count {
        case 0: #expect(text == "Unfinished downloads begin again.")
        case 1: #expect(text == "1 partial download is kept and will be resumed.")
        default: Issue.record("There are \(parts.count) partial downloads.")
        }
    }

    @Test("An interrupted download is resumed by the next command, even if it's small")
    func resuming() async throws {
        let tool = try ToolProcess()
        let png = try SampleImages.png()
        let server = try LoopbackServer { request in
            if let range = request.headers["Range"], let start = Int(range.filter(\.isNumber)) {
                var response = LoopbackServer.Response.ok(Data(png.dropFirst(start)), contentType: "image/png")
                response.statusCode = 206
                response.headers["ETag"] = "\"1\""
                response.headers["Content-Range"] = "bytes \(start)-\(png.count - 1)/\(png.count)"
                return response
            }
            return .ok(png, contentType: "image/png").with {
                if request.path == "/a.png" { $0.headers["ETag"] = "\"1\"" }
                $0.stallsBodyAfter = 40
            }
        }
        defer { server.stop() }
        let url = server.url("/a.png").absoluteString
        for words in [
            ["fetch"], ["info"], ["show"], ["decode", "-o", "x", "-y"], ["convert", "-o", "x.webp", "-y"],
        ] {
            var isKept = false
            // The signal can arrive before the first byte of the body.
            for attempt in 0..<50 where !isKept {
                let cache = "\(words[0])-\(attempt)"
                let earlier = server.requests.count
                let running = try tool.start(words + [url, "--cache-dir", cache])
                await untilTrue { server.requests.count == earlier + 1 }
                running.send(SIGINT)
                let result = try await running.result
                #expect(result.status == 130)
                let last = try #require(result.error.split(separator: "\n").last { $0.hasPrefix("Interrupted.") })
                isKept = !((try? tool.files("\(cache)/partial")) ?? []).isEmpty
                let message =
                    isKept ? "1 partial download is kept and will be resumed." : "Unfinished downloads begin again."
                #expect(last.hasSuffix(message), "\(words): \(last)")
                guard isKept else { continue }
                let again = try await tool.start(words + [url, "--cache-dir", cache]).result
                #expect(again.status == 0, "\(words): \(again.error)")
                #expect(server.requests.last?.headers["Range"] == "bytes=40-", "\(words)")
            }
            #expect(isKept, "\(words)")
        }
    }

    @Test("An interrupted command without a cache says that its downloads begin again")
    func beginningAgain() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let url = server.url("/unnamed.png").absoluteString
        for (words, text) in [
            (["fetch", url], "The image wasn’t loaded."), (["info", url], "The image wasn’t read."),
            (["show", url], "The image wasn’t shown."), (["compare", url, url], "The images weren’t compared."),
            (["convert", url, "x.webp", "--cache-dir", "c"], "No file was written."),
            (["thumbnail", url], "No file was written."),
        ] {
            let earlier = server.requests.count
            let running = try tool.start(words)
            await untilTrue { server.requests.count > earlier }
            running.send(SIGINT)
            let result = try await running.result
            #expect(result.status == 130 && result.out.isEmpty, "\(words)")
            #expect(
                result.error.hasSuffix("Interrupted. \(text) Unfinished downloads begin again.\n"), "\(result.error)")
        }
    }

    @Test("A full disk for the cache is reported", .enabled(if: SmallDisk.isPermitted))
    func fullCache() async throws {
        let tool = try ToolProcess()
        let server = try server()
        defer { server.stop() }
        let disk = try #require(SmallDisk(bytes: 512 << 10))
        let url = server.url("/a/photo.png").absoluteString
        let cache = "\(disk.path)/c"
        // The directory and the index exist before the disk is full.
        #expect(try await tool.run("fetch", url, "-q", "--cache-dir", cache).status == 0)
        #expect(disk.fill())
        let other = server.url("/b/photo.jpg").absoluteString
        let failed = try await tool.run("fetch", other, "-q", "--cache-dir", cache)
        #expect(failed.status == 1 && failed.error.contains("No space left on device"), "\(failed.error)")
        let written = try await tool.run("fetch", other, "-o", "x", "--cache-dir", cache)
        #expect(written.status == 0, "\(written.error)")
        #expect(written.error.contains("note: ") && written.error.contains("No space left on device"))
        let info = try await tool.run("info", other, "--cache-dir", cache)
        #expect(info.status == 0 && info.error.contains("note: "), "\(info.error)")
    }

    @Test("The demo shows every source of an image and draws a contact sheet")
    func demo() async throws {
        let tool = try ToolProcess()
        try album(tool, failingAs: "decode")
        let environment = ["WEBIMAGE_ALBUM": tool.path("album")]
        let result = try await tool.run("demo", "--output-dir", "shown", environment: environment)
        #expect(result.status == 0, "\(result.error)")
        for words in [
            "2 from the network, 1 failed", "2 from memory, 1 failed", "2 from disk, 1 failed",
            "2 revalidated, 1 failed",
        ] {
            #expect(result.out.contains(words))
        }
        #expect(result.out.contains("2 not modified (304)"))
        let sheet = try tool.read("shown/contact-sheet.png")
        #expect(try ImageInfo(data: sheet).format == .png)
        try album(tool, failingAs: "limit")
        let surprised = try await tool.run("demo", "--output-dir", "shown", environment: environment)
        #expect(surprised.status == 1 && surprised.error.contains("family “limit”"))
        let missing = try await tool.run("demo", environment: ["WEBIMAGE_ALBUM": tool.path("nowhere")])
        #expect(missing.status == 1 && missing.error.contains("no album at"))
    }

    private func album(_ tool: ToolProcess, failingAs family: String) throws {
        try FileManager.default.createDirectory(atPath: tool.path("album"), withIntermediateDirectories: true)
        try tool.write(try SampleImages.png(), "album/a.png")
        try tool.write(try SampleImages.jpeg(), "album/b.jpg")
        try tool.write(Data("<!DOCTYPE html><html></html>".utf8), "album/c.jpg")
        let list = """
            [{"file": "a.png", "title": "A", "kind": "picture"}, {"file": "b.jpg", "title": "B", "kind": "picture"},
            {"file": "c.jpg", "title": "C", "kind": "broken", "expect": "\(family)"}]
            """
        try tool.write(Data(list.utf8), "album/album.json")
    }
}
