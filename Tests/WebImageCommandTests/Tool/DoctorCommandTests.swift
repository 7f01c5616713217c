// SPDX-License-Identifier: MIT

import Foundation
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
