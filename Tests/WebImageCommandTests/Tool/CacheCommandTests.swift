// SPDX-License-Identifier: MIT

import Foundation
import Testing

@Suite("The webimage cache command", .timeLimit(.minutes(5)))
struct CacheCommandTests {
    private func filled() async throws -> ToolProcess {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(try SampleImages.jpeg(), "b.jpg")
        try tool.write(Data("https://two.example/b.jpg b.jpg\n# nothing\n".utf8), "list")
        let first = try await run(tool, "import", "https://www.one.example/a.png", "a.png", "--tag", "blue", "--json")
        #expect(first.status == 0)
        #expect(try first.objects[0]["imported"] as? Int == 1)
        #expect(try await run(tool, "import", "-i", "list").out.hasPrefix("1 imported"))
        return tool
    }

    private func run(_ tool: ToolProcess, _ words: String...) async throws -> ToolProcess.Result {
        try await tool.start(["cache"] + words + ["--cache-dir", "kept"]).result
    }

    private func urls(_ result: ToolProcess.Result) throws -> [String] {
        try result.objects.compactMap { $0["url"] as? String }
    }

    @Test("Imported images are loaded from the cache without a network")
    func imported() async throws {
        let tool = try await filled()
        let url = "https://two.example/b.jpg"
        let loaded = try await tool.run("fetch", url, "-p", "cache-only", "--cache-dir", "kept", "--json")
        #expect(loaded.status == 0)
        let info = try await run(tool, "info", "--json")
        #expect(try info.objects[0]["entries"] as? Int == 2)
        #expect(try info.objects[0]["hits"] as? Int == 1)
        // Before the index is loaded, a lookup for a list of variants may count as a miss.
        #expect(try #require(try info.objects[0]["hitRate"] as? Double) >= 0.5)
        #expect(try await run(tool, "info").out.contains(/hit rate +[0-9.]+% \(1 hits, [01] misses\)/))
    }

    @Test("The list command sorts and filters")
    func list() async throws {
        let tool = try await filled()
        #expect(
            try urls(try await run(tool, "list", "--sort", "host", "--json"))
                == ["https://two.example/b.jpg", "https://www.one.example/a.png"])
        #expect(
            try urls(try await run(tool, "list", "--sort", "age", "--json"))
                == ["https://www.one.example/a.png", "https://two.example/b.jpg"])
        #expect(try urls(try await run(tool, "list", "-g", "*.jpg", "--json")) == ["https://two.example/b.jpg"])
        #expect(try await run(tool, "list", "--sort", "use").status == 64)
        #expect(try await run(tool, "verify", "--sort", "age").status == 64)
    }

    @Test("The show command describes one entry, found by its URL, key, or file name")
    func show() async throws {
        let tool = try await filled()
        let shown = try await run(tool, "show", "https://www.one.example/a.png", "--json").objects[0]
        #expect(shown["readable"] as? Bool == true)
        #expect(shown["tags"] as? [String] == ["blue"])
        #expect(shown["format"] as? String == "png")
        let name = try #require(shown["fileName"] as? String)
        let key = try #require(shown["key"] as? String)
        #expect(try await run(tool, "show", String(name.prefix(12)), "--json").objects[0]["key"] as? String == key)
        #expect(try await run(tool, "show", key).out.contains(/\ntags +blue\n/))
        #expect(try await run(tool, "show", "nothing").status == 1)
        #expect(try await run(tool, "show").status == 64)
    }

    @Test("The clear command removes only the entries that the options select")
    func clear() async throws {
        let tool = try await filled()
        #expect(try await run(tool, "clear", "--older-than", "1d", "--json").objects[0]["removed"] as? Int == 0)
        #expect(
            try await run(tool, "clear", "--host", "two.example", "--tag", "blue").out.hasPrefix("Removed 0 entries"))
        #expect(try await run(tool, "clear", "--host", "ONE.example").out.hasPrefix("Removed 1 entry"))
        #expect(try await run(tool, "clear", "--glob", "*.gif").out.hasPrefix("Removed 0 entries"))
        #expect(try await run(tool, "clear", "--older-than", "0s").out.hasPrefix("Removed 1 entry"))
        #expect(try await run(tool, "clear", "--older-than", "soon").status == 64)
    }

    @Test("The trim command removes old entries, and the report counts the removed and the remaining entries")
    func trim() async throws {
        let tool = try await filled()
        #expect(try await run(tool, "trim", "--max-age", "1d").out.contains("; 2 entries ("))
        let trimmed = try await run(tool, "trim", "--max-size", "0", "--json").objects[0]
        #expect(trimmed["removed"] as? Int == 2 && trimmed["freedBytes"] as? Int ?? 0 > 0)
        #expect(try await run(tool, "list", "--max-age", "1d").status == 64)
    }

    @Test("A cache directory that doesn't exist is an error if the user specified it")
    func missingDirectory() async throws {
        let tool = try ToolProcess()
        for action in ["info", "list", "verify", "trim", "clear"] {
            let result = try await run(tool, action)
            #expect(result.status == 1 && result.error.contains("doesn’t exist"), "\(action)")
        }
        #expect(try await run(tool, "path").status == 0)
        #expect(!FileManager.default.fileExists(atPath: tool.path("kept")))
        #expect(try await tool.run("cache", "list").out == "The cache is empty.\n")
    }

    @Test(
        "In a read-only directory, actions that change the cache fail",
        .enabled(if: FileManager.default.fileExists(atPath: "/sys/devices")))
    func readOnly() async throws {
        let tool = try ToolProcess()
        // Not even root can create files in this directory, which belongs to root.
        for action in ["clear", "trim"] {
            let result = try await tool.run("cache", action, "--cache-dir", "/sys/devices")
            #expect(result.status == 1, "\(action)")
            #expect(result.error.contains("Writing failed for /sys/devices"), "\(result.error)")
        }
    }

    @Test("With a key file, the cache is encrypted, and an export requires --decrypt")
    func encrypted() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(Data((String(repeating: "0f", count: 32) + "\n").utf8), "key")
        try tool.write(Data(repeating: 1, count: 32), "other-key")
        let url = "https://secret.example/a.png"
        func mode(_ permissions: Int, _ name: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: tool.path(name))
        }
        func run(_ words: String..., key: String = "key") async throws -> ToolProcess.Result {
            try await tool.start(words + ["--cache-dir", "kept", "--encryption-key-file", key]).result
        }
        try mode(0o640, "key")
        let shared = try await run("cache", "import", url, "a.png")
        #expect(shared.status == 1)
        #expect(shared.error.contains("other users can access key (mode 0640, but 0600 is required)"))
        #expect(!FileManager.default.fileExists(atPath: tool.path("kept")))
        try mode(0o600, "key")
        try mode(0o400, "other-key")
        #expect(try await run("cache", "import", url, "a.png").status == 0)
        let files = try FileManager.default.subpathsOfDirectory(atPath: tool.path("kept"))
        for name in files {
            let data = FileManager.default.contents(atPath: tool.path("kept/\(name)"))
            #expect(data?.range(of: Data("secret.example".utf8)) == nil, "\(name)")
        }
        let fetched = try await run("fetch", url, "-p", "cache-only", "--json")
        #expect(fetched.status == 0)
        #expect(try await run("fetch", url, "-p", "cache-only", key: "other-key").status == 1)
        #expect(try await run("cache", "list", "--json").objects[0]["url"] as? String == url)
        #expect(try await run("cache", "export", "out").status == 1)
        #expect(try await run("cache", "export", "out", "--decrypt").status == 0)
        #expect(try await run("cache", "list", "--decrypt").status == 64)
        try tool.write(Data("short".utf8), "bad-key")
        try mode(0o600, "bad-key")
        for command in ["cache list", "fetch \(url)"] {
            let words = command.split(separator: " ").map(String.init) + ["--cache-dir", "kept"]
            let result = try await tool.start(words + ["--encryption-key-file", "bad-key"]).result
            #expect(result.status == 1)
            #expect(result.error.contains("bad-key has 5 bytes, but 32 bytes or 64 hexadecimal digits are required"))
            #expect(!result.error.contains("short"))
        }
    }

    @Test("An export is imported into another cache, and files that aren't images are rejected")
    func transfer() async throws {
        let tool = try await filled()
        let exported = try await run(tool, "export", "out", "--json")
        #expect(try exported.objects[0]["exported"] as? Int == 2)
        #expect(try await run(tool, "export", "out").status == 1)
        let other = try await tool.run("cache", "import", "out", "--cache-dir", "other", "--json")
        #expect(other.status == 0)
        #expect(try other.objects[0]["imported"] as? Int == 2)
        #expect(try await tool.run("cache", "verify", "--cache-dir", "other").status == 0)
        try tool.write(Data("text".utf8), "text")
        let refused = try await tool.run("cache", "import", "https://a.example/", "text", "--cache-dir", "other")
        #expect(refused.status == 1)
        #expect(refused.error.contains("text"))
        #expect(try await tool.run("cache", "import", "a", "b", "c", "--cache-dir", "other").status == 64)
        #expect(try await run(tool, "export", "bundle", "--as", "entries").status == 0)
        #expect(FileManager.default.fileExists(atPath: tool.path("bundle/blobs")))
    }
}
