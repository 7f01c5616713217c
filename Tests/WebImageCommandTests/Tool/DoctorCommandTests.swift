// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageCommand

@Suite("The webimage doctor command", .timeLimit(.minutes(5)))
struct DoctorCommandTests {
    private func checks(_ result: ToolProcess.Result, _ section: String) throws -> [String: [String: Any]] {
        let sections = try #require(try result.objects[0]["sections"] as? [[String: Any]])
        let checks = try #require(sections.first { $0["id"] as? String == section }?["checks"] as? [[String: Any]])
        return Dictionary(checks.map { ($0["id"] as? String ?? "", $0) }, uniquingKeysWith: { $1 })
    }

    @Test("The report contains all sections, and the exit status agrees with the status of the report")
    func report() async throws {
        let tool = try ToolProcess()
        let result = try await tool.run("doctor", "--json")
        let status = try result.objects[0]["status"] as? String
        #expect(result.status == (status == "unsafe" ? 1 : 0), "\(result.out)")
        let sections = try #require(try result.objects[0]["sections"] as? [[String: Any]])
        #expect(
            sections.map { $0["id"] as? String } == [
                "libraries", "transport", "traits", "limits", "isolation", "cache", "system",
            ])
        let libraries = try checks(result, "libraries")
        for name in ["libjpeg-turbo", "libpng", "libwebp", "lcms2", "libcurl", "zlib", "zstd", "brotli", "sqlite"] {
            let detail = try #require(libraries[name]?["detail"] as? String, "\(name)")
            #expect(detail.contains(/^[0-9]+\.[0-9]+/), "\(name): \(detail)")
        }
        #expect(try checks(result, "cache")["directory"]?["status"] as? String == "ok")
        // The command creates nothing.
        #expect(!FileManager.default.fileExists(atPath: tool.path("cache-home")))
        let text = try await tool.run("doctor")
        #expect(text.out.contains("Cache directory\n") && text.out.contains(KnownVulnerability.tableDate))
        #expect(text.status == result.status)
    }

    @Test("The checks of the server find valid and invalid settings, servers, and addresses")
    func server() async throws {
        let tool = try ToolProcess()
        let key = String(repeating: "a1", count: 32)
        let good = tool.path("good.conf")
        try tool.write(
            Data("IMGPROXY_KEY=\(key)\nIMGPROXY_SALT=\(key)\nIMGPROXY_BIND=127.0.0.1:0\n".utf8), "good.conf")
        let result = try await tool.run("doctor", "--server", "--config", good, "--json")
        #expect(try checks(result, "configuration")["settings"]?["status"] as? String == "ok", "\(result.out)")
        #expect(try checks(result, "access")["keys"]?["status"] as? String == "ok")
        #expect(try checks(result, "address")["address"]?["status"] as? String == "ok")
        #expect(try checks(result, "memcached")["servers"]?["detail"] as? String == "none")
        for section in ["sources", "server-limits", "server-cache", "nginx", "isolation", "libraries", "system"] {
            #expect(try !checks(result, section).isEmpty, "\(section)")
        }
        let bad = tool.path("bad.conf")
        try tool.write(
            Data(
                """
                WEBIMAGE_OPEN_PROXY=1
                IMGPROXY_KEY=00
                IMGPROXY_SALT=00
                WEBIMAGE_PRIVATE_ADDRESSES=1
                IMGPROXY_BIND=unix:/nowhere/socket
                WEBIMAGE_MEMCACHED_SERVERS=127.0.0.1:1
                IMGPROXY_LOCAL_FILESYSTEM_ROOT=/nowhere
                """.utf8), "bad.conf")
        let unsafe = try await tool.run("doctor", "--server", "--config", bad, "--json")
        #expect(unsafe.status == 1)
        for (section, id) in [
            ("access", "open-proxy"), ("access", "keys"), ("sources", "addresses"), ("sources", "local"),
            ("address", "address"), ("memcached", "server"), ("configuration", "file"),
        ] {
            #expect(try checks(unsafe, section)[id]?["status"] as? String == "unsafe", "\(section) \(id)")
        }
        // The file contains keys, so only its owner and the group of the server may read it.
        #expect(chmod(good, 0o640) == 0)
        let closed = try await tool.run("doctor", "--server", "--config", good, "--json")
        #expect(try checks(closed, "configuration")["file"]?["status"] as? String == "ok")
        let refused = try await tool.run("doctor", "--server", "--json")
        #expect(refused.status == 1)
        #expect(try checks(refused, "configuration")["settings"]?["status"] as? String == "unsafe")
        #expect(try await tool.run("doctor", "--nginx", "x").status == 64)
    }

    @Test("A cache directory that other users can write to is unsafe")
    func writableDirectory() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        let stored = try await tool.run("cache", "import", "https://a.example/a.png", "a.png", "--cache-dir", "kept")
        #expect(stored.status == 0)
        let sound = try checks(try await tool.run("doctor", "--cache-dir", "kept", "--json"), "cache")
        #expect(sound["permissions"]?["status"] as? String == "ok")
        #expect(sound["index"]?["status"] as? String == "ok")
        #expect((sound["index"]?["detail"] as? String)?.contains("1 entry") == true)
        #expect(chmod(tool.path("kept"), 0o777) == 0)
        let result = try await tool.run("doctor", "--cache-dir", "kept", "--json")
        #expect(result.status == 1)
        #expect(try checks(result, "cache")["permissions"]?["status"] as? String == "unsafe")
    }

    @Test("Operands are rejected")
    func usage() async throws {
        let tool = try ToolProcess()
        let result = try await tool.run("doctor", "now")
        #expect(result.status == 64 && result.error.contains("unexpected argument “now”"))
    }
}
