// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImage
import WebImageCommand
import WebImageTestSupport
import WebImageTesting

@Suite("Inputs and outputs of the webimage commands", .timeLimit(.minutes(5)))
struct InputOutputTests {
    /// Returns a tool with `a.png`, `b.jpg`, and the directory `in` with images in a subdirectory.
    private func tool() throws -> ToolProcess {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(try SampleImages.jpeg(), "b.jpg")
        try tool.write(try SampleImages.png(), "in/c.png")
        try tool.write(try SampleImages.jpeg(), "in/deep/d.jpg")
        try tool.write(try SampleImages.jpeg(), "in/.hidden/e.jpg")
        try tool.write(Data("words".utf8), "in/notes.txt")
        return tool
    }

    @Test(
        "Every command accepts files, directories, patterns, lists, and standard input",
        arguments: ["info", "fetch", "convert", "decode", "thumbnail", "show"])
    func inputs(_ command: String) async throws {
        let tool = try tool()
        try tool.write(Data("# a list\n\nb.jpg\nin\n".utf8), "list")
        let output = ["convert": ["-f", "png", "-o", "out/"], "decode": ["-o", "out/"], "thumbnail": ["-o", "out/"]]
        func count(_ words: [String], input: String = "") async throws -> Int {
            try? FileManager.default.removeItem(atPath: tool.path("out"))
            let isShow = command == "show"
            let result = try await tool.start(
                [command] + words + (output[command] ?? []) + (isShow ? ["-s", "8x1"] : ["--json"]), input: input
            ).result
            #expect(result.status == 0, "\(words): \(result.error)")
            // Without a terminal, an image is one line after its name.
            return isShow ? result.out.split(separator: "\n").count : try result.objects.count
        }
        let per = command == "show" ? 2 : 1
        #expect(try await count(["a.png"]) == 1)
        #expect(try await count(["in"]) == 1)
        #expect(try await count(["-r", "in"]) == 2 * per)
        #expect(try await count(["-r", "in", "*.png", "b.jp?"]) == 4 * per)
        #expect(try await count(["@list"]) == 2 * per)
        #expect(try await count(["@-"], input: "a.png\nb.jpg\n") == 2 * per)
        #expect(try await count(["-i", "list", "a.png", "-j", "1"]) == 3 * per)
        let none = try await tool.start([command, "*.xyz"] + (output[command] ?? [])).result
        #expect(none.status == 1 && none.error.split(separator: "\n").count == 1, "\(none.error)")
        let twice = try await tool.start([command, "-", "@-"] + (output[command] ?? [])).result
        #expect(twice.status == 64)
    }

    @Test("Open pipes and lists with a byte order mark are inputs, and every command prints the version")
    func streams() async throws {
        let tool = try tool()
        for command in ["info", "fetch"] {
            let result = try await tool.start([command, "/dev/stdin", "--json"], inputPipe: try filled()).result
            #expect(result.status == 0, "\(command): \(result.error)")
            #expect(try result.objects.first?["width"] as? Int == 64)
            let version = try await tool.run(command, "--version")
            #expect(version.status == 0 && version.out.hasPrefix("webimage "))
        }
        try tool.write(Data([0xEF, 0xBB, 0xBF]) + Data("a.png\r\n".utf8), "list")
        #expect(try await tool.run("info", "@list").status == 0)
    }

    /// Returns a pipe that contains an image.
    private func filled() throws -> Pipe {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: try SampleImages.png())
        try pipe.fileHandleForWriting.close()
        return pipe
    }

    @Test("Original data in a file whose name has another extension is noted")
    func extensions() async throws {
        let tool = try tool()
        let result = try await tool.run("fetch", "b.jpg", "-o", "x.png", "--json")
        #expect(result.status == 0 && result.error.contains("note: b.jpg: x.png contains jpeg data (use -f png"))
        #expect((try result.objects.first?["notes"] as? [String])?.count == 1)
        for words in [["b.jpg", "-o", "y.jpeg"], ["b.jpg", "-o", "z.png", "-f", "png"]] {
            let result = try await tool.start(["fetch"] + words).result
            #expect(result.status == 0 && !result.error.contains("note"), "\(result.error)")
        }
    }

    @Test("A dash as the output of convert, decode, and thumbnail writes to standard output")
    func standardOutput() async throws {
        let tool = try tool()
        let pixels = try SampleImages.image(width: 64, height: 48).pixels.packedBytes()
        for (words, prefix) in [
            (["convert", "-", "-f", "bmp", "-"], "BM"), (["convert", "a.png", "-f", "bmp", "-o", "-"], "BM"),
            (["thumbnail", "a.png", "-f", "bmp", "-o", "-"], "BM"), (["fetch", "a.png", "-f", "bmp", "-o", "-"], "BM"),
            (["compare", "a.png", "a.png", "-f", "bmp", "-o", "-"], "BM"),
        ] {
            let result = try await tool.start(words, inputFile: "a.png").result
            #expect(result.status == 0 && result.out.hasPrefix(prefix), "\(words): \(result.error)")
        }
        let decoded = try await tool.start(["decode", "-", "-o", "-"], inputFile: "a.png").result
        #expect(decoded.bytes == Data(pixels) && decoded.error == "64 48\n")
        #expect(try !FileManager.default.contentsOfDirectory(atPath: tool.path("")).contains("-"))
    }

    @Test("Existing files are errors, are overwritten with -y, and are skipped with -n")
    func existing() async throws {
        let tool = try tool()
        for words in [
            ["convert", "a.png", "-o", "x"], ["thumbnail", "a.png", "-o", "x"], ["decode", "a.png", "-o", "x"],
            ["fetch", "a.png", "-o", "x"], ["compare", "a.png", "b.jpg", "-o", "x"],
        ] {
            let isRaw = ["decode", "fetch"].contains(words[0])
            let words = words + (isRaw ? [] : ["-f", "png"])
            try tool.write(Data("old".utf8), "x")
            let refused = try await tool.start(words).result
            #expect(refused.status == 1 && refused.error.contains("The file x exists. Use -y"), "\(refused.error)")
            #expect(refused.error.split(separator: "\n").filter { $0.hasPrefix("webimage:") }.count == 1)
            #expect(try tool.read("x") == Data("old".utf8))
            if words[0] != "compare" {
                #expect(try await tool.start(words + ["-n"]).result.status == 0, "\(words)")
                #expect(try tool.read("x") == Data("old".utf8))
            }
            #expect(try await tool.start(words + ["-y"]).result.status == 0, "\(words)")
            #expect(try tool.read("x") != Data("old".utf8))
        }
    }

    @Test("A file that can't be written is a failure with the reason of the operating system")
    func unwritable() async throws {
        let tool = try tool()
        for (words, text) in [
            (["convert", "a.png", "none/x.webp"], "none/x.webp: No such file or directory. (3003)"),
            (["convert", "a.png", "a.png/x.webp"], "a.png/x.webp: Not a directory. (3003)"),
            (["compare", "a.png", "a.png", "-o", "in"], "in: Is a directory. (3003)"),
            (["fetch", "a.png", "--trace", "in", "-q"], "in: Is a directory. (3003)"),
            (["fetch", "a.png", "-d", "b.jpg"], "b.jpg: Not a directory. (3003)"),
            (["decode", "a.png", "-d", "b.jpg/deep"], "b.jpg/deep: Not a directory. (3003)"),
            (["fetch", "a.png", "--previews", "blurred", "--preview-dir", "b.jpg/x"], "b.jpg/x: Not a directory."),
            (["fetch", "a.png", "-q", "-c", "none/jar"], "none/jar: No such file or directory. (3003)"),
        ] {
            let result = try await tool.start(words).result
            #expect(result.status == 1 && result.error.contains(text), "\(words): \(result.error)")
        }
    }

    @Test("A read-only file system is a failure with its reason", .enabled(if: SmallDisk.isPermitted))
    func readOnly() async throws {
        let tool = try tool()
        let disk = try #require(SmallDisk(bytes: 256 << 10))
        #expect(disk.setReadOnly(true))
        for words in [["convert", "a.png", "\(disk.path)/x.bmp"], ["fetch", "a.png", "-d", "\(disk.path)/x"]] {
            let result = try await tool.start(words).result
            #expect(result.status == 1 && result.error.contains("Read-only file system"), "\(words): \(result.error)")
        }
    }

    @Test("A file that is overwritten keeps its mode, and a symbolic link remains")
    func access() async throws {
        let tool = try tool()
        for words in [
            ["convert", "a.png", "-f", "png", "-o"], ["thumbnail", "a.png", "-f", "png", "-o"],
            ["decode", "a.png", "-o"], ["fetch", "a.png", "-o"], ["compare", "a.png", "b.jpg", "-o"],
            ["fetch", "a.png", "--trace"],
        ] {
            for name in ["x", "link", "dangling"] { unlink(tool.path(name)) }
            try tool.write(Data("old".utf8), "x")
            #expect(chmod(tool.path("x"), 0o640) == 0 && symlink("x", tool.path("link")) == 0)
            #expect(symlink("new", tool.path("dangling")) == 0)
            for name in ["link", "dangling"] {
                unlink(tool.path("new"))
                let overwrites = words.last == "-o" && name == "link" ? ["-y"] : []
                let result = try await tool.start(words + [name] + overwrites).result
                #expect(result.status == 0, "\(words) \(name): \(result.error)")
                let target = name == "link" ? "x" : "new"
                #expect(try FileManager.default.destinationOfSymbolicLink(atPath: tool.path(name)) == target)
                #expect(try tool.read(target).count > 3, "\(words) \(name)")
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: tool.path("x"))
            #expect(attributes[.posixPermissions] as? Int == 0o640, "\(words)")
        }
    }

    @Test("For several images, the output must be a directory, and its name must not be that of a file")
    func directories() async throws {
        let tool = try tool()
        for command in ["convert", "thumbnail", "fetch"] {
            let refused = try await tool.run(command, "a.png", "b.jpg", "-f", "png", "-o", "out.png")
            #expect(refused.status == 64 && refused.error.contains("“out.png/”"), "\(refused.error)")
            #expect(!FileManager.default.fileExists(atPath: tool.path("out.png")))
        }
        for words in [
            ["convert", "a.png", "in/c.png", "b.jpg"], ["fetch", "a.png", "b.jpg", "-o", "list"],
            ["decode", "a.png", "b.jpg"], ["convert", "a.png", "b.jpg", "-", "-f", "png"],
            ["thumbnail", "in", "-o", "-"],
        ] {
            try tool.write(Data(), "list")
            let refused = try await tool.start(words).result
            #expect(refused.status == 64 && refused.error.contains("several inputs can’t be written to"), "\(words)")
            #expect(refused.error.contains("--output-dir"), "\(words): \(refused.error)")
        }
        let unclear = try await tool.run("convert", "a.png", "b.jpg")
        #expect(unclear.status == 1 && unclear.error.contains("“b.jpg” is the output"), "\(unclear.error)")
        #expect(unclear.error.contains("use --output-dir") && unclear.error.contains("The file b.jpg exists."))
        #expect(try tool.read("b.jpg") == SampleImages.jpeg())
        #expect(try await tool.run("convert", "a.png", "b.jpg", "out.d/", "-f", "qoi").status == 0)
        #expect(try tool.files("out.d") == ["a.qoi", "b.qoi"])
        #expect(try await tool.run("convert", "a.png", "none/x.webp").error.contains("No such file or directory"))
    }

    @Test("Placeholders name the outputs, two inputs can't have the same output, and the tool prints what it wrote")
    func templates() async throws {
        let tool = try tool()
        let result = try await tool.run(
            "convert", "-r", "in", "a.png", "-s", "32", "-o", "t/{n}-{name}-{width}x{height}.webp")
        #expect(result.status == 0)
        #expect(try tool.files("t") == ["1-c-32x24.webp", "2-d-32x24.webp", "3-a-32x24.webp"])
        #expect(result.out.contains("in/deep/d.jpg → t/2-d-32x24.webp (32 × 24 pixels, "))
        let same = try await tool.run("convert", "a.png", "b.jpg", "-j", "1", "-o", "same{format}.png")
        #expect(same.status == 1 && same.error.contains("also the output of another input"))
        // The first input has the path, even if a later one is finished earlier.
        try tool.write(try SampleImages.png(width: 1_200, height: 900), "large.png")
        for command in ["convert", "thumbnail", "fetch", "decode"] {
            let output = "one{dir}.\(command == "decode" ? "rgba" : "png")"
            let claimed = try await tool.run(command, "large.png", "a.png", "-j", "2", "-o", output, "-y", "--json")
            let states = try claimed.objects.sorted { $0["index"] as? Int ?? 0 < $1["index"] as? Int ?? 0 }
            #expect(states.map { $0["status"] as? String } == ["ok", "failed"], "\(command): \(claimed.out)")
        }
        let outside = try await tool.run(
            "convert", "../\(tool.directory.lastPathComponent)/a.png", "-o", "deep/{dir}/x.webp")
        #expect(outside.status == 0, "\(outside.error)")
        #expect(try tool.files("deep") == ["\(tool.directory.lastPathComponent)/x.webp"])
        #expect(try await tool.run("convert", "a.png", "-o", "{what}.png").status == 64)
    }

    @Test("Thumbnails are written next to the images or to the same tree, in every format that can be written")
    func thumbnails() async throws {
        let tool = try tool()
        for _ in 0..<2 {
            let result = try await tool.run("thumbnail", "-r", "in", "-s", "16", "-y", "--json")
            #expect(try result.status == 0 && result.objects.count == 2)
        }
        #expect(
            try tool.files("in") == [
                ".hidden/e.jpg", "c.png", "deep/d.jpg", "deep/tn_d.jpg", "notes.txt", "tn_c.jpg",
            ])
        #expect(try ImageInfo(data: tool.read("in/tn_c.jpg")).size == PixelSize(width: 16, height: 12))
        for (size, crop, width, height) in [
            ("16x16", "smart", 16, 16), ("16x16", "center", 16, 16), ("16x16^", "none", 16, 16),
            ("x12", "none", 16, 12),
            ("16x8!", "none", 16, 8), ("12x20", "entropy", 12, 20),
        ] {
            let words = ["thumbnail", "a.png", "-s", size, "--crop", crop, "-o", "sized.png", "-y"]
            #expect(try await tool.start(words).result.status == 0, "\(words)")
            let found = try ImageInfo(data: tool.read("sized.png")).size
            #expect(found == PixelSize(width: width, height: height), "\(words)")
        }
        for name in ["jpg", "png", "webp", "gif", "bmp", "qoi", "ppm", "pgm", "pam", "ico", "tiff", "avif", "jxl"] {
            guard let format = ImageFormat(fileName: "a.\(name)"), ImageCoderRegistry.standard.canEncode(format) else {
                continue
            }
            #expect(try await tool.run("thumbnail", "a.png", "-f", name, "-o", "f/").status == 0, "\(name)")
        }
        #expect(try tool.files("f").contains("a.jpg"))
        #expect(try await tool.run("thumbnail", "b.jpg", "-o", "small_%s.webp").status == 0)
        #expect(ImageFormat(sniffing: try tool.read("small_b.webp")) == .webp)
    }

    @Test("A full disk is a failure with its reason, and leaves no file", .enabled(if: SmallDisk.isPermitted))
    func fullDisk() async throws {
        let tool = try tool()
        let disk = try #require(SmallDisk(bytes: 256 << 10))
        #expect(disk.fill())
        for words in [
            ["convert", "a.png", "\(disk.path)/x.bmp"], ["decode", "a.png", "-o", "\(disk.path)/x"],
            ["thumbnail", "a.png", "-o", "\(disk.path)/x.bmp"], ["fetch", "a.png", "-o", "\(disk.path)/x"],
        ] {
            let result = try await tool.start(words).result
            #expect(result.status == 1 && result.error.contains("No space left on device"), "\(words): \(result.error)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["filler"], "\(words)")
        }
    }

    @Test("A full device as standard output is a failure with its reason")
    func fullDevice() async throws {
        let tool = try tool()
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        for words in [
            ["info", "a.png"], ["convert", "a.png", "-", "-f", "png"], ["decode", "a.png"], ["--help"],
            ["cache", "info"],
        ] {
            let result = try await tool.start(words, outputHandle: full).result
            #expect(result.status == 1, "\(words)")
            #expect(result.error.contains("standard output: No space left on device"), "\(words): \(result.error)")
        }
    }

    @Test("Without a standard output, writing to it is a failure, and no other file receives the output")
    func closedOutput() async throws {
        let tool = try tool()
        for words in [
            ["info", "a.png"], ["convert", "a.png", "-", "-f", "png"], ["decode", "a.png"], ["--help"],
            ["fetch", "a.png", "--cache-dir", "cache"],
        ] {
            let result = try await tool.start(words, shell: ">&-").result
            #expect(result.status == 1, "\(words)")
            #expect(result.error.contains("standard output: Bad file descriptor"), "\(words): \(result.error)")
        }
        let quiet = try await tool.start(["fetch", "a.png", "-o", "x", "-q"], shell: "<&- >&- 2>&-").result
        #expect(try quiet.status == 0 && tool.read("x") == SampleImages.png())
        let input = try await tool.start(["info", "-"], shell: "<&-").result
        #expect(input.status == 1 && input.error.contains("Bad file descriptor"), "\(input.error)")
    }

    @Test("If standard output can't be written, the command isn't called interrupted", arguments: [true, false])
    func endOfOutput(_ isFull: Bool) async throws {
        let tool = try tool()
        let full = isFull ? FileHandle(forWritingAtPath: "/dev/full") : nil
        let result = try await tool.start(
            ["convert", "a.png", "b.jpg", "-f", "webp", "-o", "out/"], closesOutput: !isFull, outputHandle: full
        ).result
        #expect(result.status == (isFull ? 1 : 141))
        #expect(!result.error.contains("Interrupted") && result.error.isEmpty == !isFull, "\(result.error)")
    }

    /// Returns the names of the files in a directory as bytes.
    private func rawNames(_ path: String) -> Set<[UInt8]> {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: Set<[UInt8]> = []
        while let entry = readdir(directory) {
            let start = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = UnsafeRawPointer(entry).advanced(by: start)
            let count = strlen(name.assumingMemoryBound(to: CChar.self))
            names.insert(Array(UnsafeRawBufferPointer(start: name, count: count)))
        }
        return names.subtracting([Array(".".utf8), Array("..".utf8)])
    }

    @Test("Files whose names aren't valid UTF-8 are inputs and outputs of all commands")
    func rawNames() async throws {
        let tool = try tool()
        let png = try SampleImages.png()
        let raw = "\"$(printf 'caf\\351.png')\""
        try tool.write(png, "raw/plain.png")
        let name = Array("raw/caf".utf8) + [0xE9] + Array(".png".utf8)
        let path = Array(tool.path("raw").utf8) + name.dropFirst(3)
        #expect(rename(tool.path("raw/plain.png"), path.map { CChar(bitPattern: $0) } + [0]) == 0)
        for (words, shell) in [
            (["info", "--json"], "raw/\(raw)"), (["info", "--json", "raw"], ""),
            (["info", "--json", "raw/*.png"], ""), (["info", "--json", "@list"], ""),
            (["fetch", "--json"], "raw/\(raw)"), (["fetch", "--json", "-r", "raw"], ""),
        ] {
            try tool.write(Data(name), "list")
            let result = try await tool.start(words, shell: shell).result
            #expect(result.status == 0, "\(words): \(result.error)")
            let object = try #require(try result.objects.first)
            #expect(object["width"] as? Int == 64 && object["input"] as? String == "raw/caf\u{FFFD}.png", "\(words)")
        }
        let stem = Array("caf".utf8) + [0xE9]
        for (words, shell, output) in [
            (["convert", "raw", "-f", "webp", "-o", "out/"], "", stem + Array(".webp".utf8)),
            (["thumbnail", "raw", "-f", "png", "-o", "out/{name}-t.{format}"], "", stem + Array("-t.png".utf8)),
            (["fetch", "raw", "-d", "out", "-y"], "", stem + Array(".png".utf8)),
            (["decode"], "raw/\(raw) -o out/\"$(printf '\\377')\"", [0xFF]),
            (["compare", "a.png"], "raw/\(raw) -o out/\"$(printf '\\376.png')\"", [0xFE] + Array(".png".utf8)),
        ] {
            let result = try await tool.start(words, shell: shell).result
            #expect(result.status == 0, "\(words): \(result.error)")
            #expect(rawNames(tool.path("out")).contains(output), "\(words): \(result.out)")
            #expect(!result.out.unicodeScalars.contains { $0.properties.generalCategory == .privateUse }, "\(words)")
        }
        #expect(try await tool.start(["show"], shell: "raw/\(raw)").result.status == 0)
        let missing = try await tool.start(["info"], shell: "\(raw)").result
        #expect(missing.status == 1 && missing.error.contains("The file caf\u{FFFD}.png doesn't exist. (1006)"))
    }

    @Test("The URL of a local server without a scheme is loaded with HTTP and a note")
    func localServer() async throws {
        let tool = try tool()
        let server = try LoopbackServer(routes: ["/a": .ok(try SampleImages.png(), contentType: "image/png")])
        defer { server.stop() }
        for command in ["info", "fetch"] {
            let result = try await tool.run(command, "127.0.0.1:\(server.port)/a", "--json")
            #expect(result.status == 0 && result.error.contains("note: "), "\(result.error)")
            #expect(result.error.contains("doesn’t exist, so http:// is added"), "\(result.error)")
        }
    }

    @Test("A URL without a scheme is loaded with HTTPS and a note, which names no query")
    func notes() async throws {
        let tool = try tool()
        let proxy = ["--retry", "0", "-x", "127.0.0.1:9"]
        for words in [["info"], ["fetch"], ["convert", "-f", "png", "-o", "x"]] {
            let result = try await tool.start(words + ["a.example:9/a.png?token=secret"] + proxy).result
            #expect(result.status == 1)
            #expect(result.error.contains("note: the file “a.example:9/a.png” doesn’t exist, so https:// is added"))
            #expect(!result.error.contains("secret") && !result.out.contains("secret"))
            #expect(result.error.split(separator: "\n").filter { $0.hasSuffix("(2019)") }.count == 1, "\(result.error)")
        }
    }

    @Test("Options of curl and their long forms apply to every command that loads")
    func network() async throws {
        let tool = try tool()
        let png = try SampleImages.png()
        let server = try LoopbackServer { request in
            request.headers["X-Key"] == "7" ? .ok(png, contentType: "image/png") : .status(403)
        }
        defer { server.stop() }
        let url = server.url("/a.png").absoluteString
        for words in [
            ["fetch", url], ["info", url], ["show", url], ["decode", url], ["convert", url, "c.webp"],
            ["thumbnail", url, "-o", "t.jpg"], ["compare", url, "a.png"],
        ] {
            let options = ["-H", "X-Key: 7", "--timeout", "20", "--no-limits", "--retry", "1", "-A", "me", "--noproxy"]
            let result = try await tool.start(words + options).result
            #expect(result.status == 0, "\(words): \(result.error)")
            #expect(server.requests.last?.headers["User-Agent"] == "me")
        }
    }

    @Test("An interrupted conversion says what it wrote, and leaves no incomplete file")
    func interruption() async throws {
        let tool = try tool()
        let server = try LoopbackServer { _ in
            .ok(Data(count: 1_000), contentType: "image/png").with { $0.stallsBodyAfter = 20 }
        }
        defer { server.stop() }
        let running = try tool.start(
            ["convert", "a.png", server.url("/b.png").absoluteString, "-f", "webp", "-o", "out/", "-j", "2"])
        await untilTrue { (try? tool.files("out")) == ["a.webp"] && server.requests.count == 1 }
        running.send(SIGINT)
        let result = try await running.result
        #expect(
            result.status == 130
                && result.error == """
                    Interrupted. 1 file of 2 images was written and kept. Unfinished downloads begin again.

                    """
        )
        #expect(try tool.files("out") == ["a.webp"])
    }

    @Test("The compare command prints the score and the PSNR, writes the difference, and checks a minimum")
    func compare() async throws {
        let tool = try tool()
        let result = try await tool.run("compare", "a.png", "b.jpg", "-o", "d.png", "--json")
        let object = try #require(try result.objects.first)
        #expect(result.status == 0 && object["isEqual"] as? Bool == false && object["command"] as? String == "compare")
        #expect(try #require(object["psnr"] as? Double) > 20 && object["ssimulacra2"] is Double)
        #expect(try result.outputs == ["d.png"] && ImageInfo(data: tool.read("d.png")).format == .png)
        #expect(try await tool.run("compare", "a.png", "a.png", "--min-score", "100").status == 0)
        let low = try await tool.run("compare", "a.png", "b.jpg", "--min-score", "99.99")
        #expect(low.status == 1 && low.error.contains("is less than 99.99"))
        try tool.write(try SampleImages.png(width: 20, height: 20), "small.png")
        let sizes = try await tool.run("compare", "a.png", "small.png")
        #expect(sizes.status == 1 && sizes.error.contains("64 × 48 and 20 × 20 pixels"))
    }
}
