// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import Testing
import WebImage
import WebImageCommand
import WebImageCore

@Suite("The webimage commands info, decode, and convert", .timeLimit(.minutes(5)))
struct FileCommandTests {
    @Test("Version, help, and usage errors have their exit statuses")
    func basics() async throws {
        let tool = try ToolProcess()
        for option in ["--version", "-V"] {
            let version = try await tool.run(option).out
            #expect(version.hasPrefix("webimage ") && version.contains("libcurl/") && version.contains("libpng 1."))
            #expect(version.contains("Encodes: jpeg png apng webp gif bmp qoi pgm ppm pam ico"))
        }
        let help = try await tool.run("--help")
        #expect(help.status == 0 && help.out.contains("webimage fetch INPUT"))
        let page = try await tool.run("decode", "--help")
        #expect(page.status == 0 && page.out.contains("--pixel-format rgba8|rgba16|rgb8"))
        for words in [
            [], ["frob"], ["fetch"], ["fetch", "--frob", "x"], ["decode"], ["cache", "frob"], ["help", "frob"],
            ["completion"], ["completion", "csh"], ["info", "a.png", "--color", "blue"],
        ] {
            let result = try await tool.start(words).result
            #expect(result.status == 64, "\(words)")
            #expect(result.out.isEmpty && !result.error.isEmpty)
        }
        for (words, text) in [
            (["fecth", "a.png"], "unknown command “fecth” (did you mean fetch?)"),
            (["help", "convrt"], "unknown command “convrt” (did you mean convert?)"),
            (["help", "--man", "inof"], "unknown command “inof” (did you mean info?)"),
            (["info", "a.png", "--exfi"], "unknown option --exfi (did you mean --exif?)"),
        ] {
            let result = try await tool.start(words).result
            #expect(result.status == 64 && result.error.contains(text), "\(words): \(result.error)")
        }
    }

    @Test("The info command describes the header and continues after a failure")
    func info() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(Data("<!DOCTYPE html><html></html>".utf8), "b.png")
        try tool.write(try SampleImages.jpeg(width: 30, height: 20), "c.jpg")
        let result = try await tool.run("info", "--json", "a.png", "b.png", "c.jpg", "missing.png")
        #expect(result.status == 1)
        let objects = try result.objects
        #expect(objects.map { $0["input"] as? String } == ["a.png", "b.png", "c.jpg", "missing.png"])
        #expect(objects.map { $0["status"] as? String } == ["ok", "failed", "ok", "failed"])
        #expect(objects[0]["width"] as? Int == 64 && objects[0]["storedHeight"] as? Int == 48)
        #expect(objects[0]["bitDepth"] as? Int == 8 && objects[0]["frameDurations"] as? [Int] == [])
        #expect(objects[0]["orientation"] as? Int == 1 && objects[0]["frames"] as? Int == 1)
        #expect(objects[2]["format"] as? String == "jpeg")
        let codes = objects.map { ($0["error"] as? [String: Any])?["code"] as? Int }
        #expect(codes == [nil, 4003, nil, 1006])
        #expect((objects[3]["error"] as? [String: Any])?["case"] as? String == "request.fileNotFound")
        #expect(result.error.split(separator: "\n").count == 2 && result.error.contains("missing.png"))
        let human = try await tool.run("info", "a.png")
        #expect(human.status == 0 && human.out.contains("64 × 48 pixels"))
    }

    @Test("The info command prints the resolution, the chroma subsampling, and the estimated quality")
    func infoDetails() async throws {
        let tool = try ToolProcess()
        let image = try SampleImages.image(width: 30, height: 20)
        var jpeg = try image.encoded(as: .jpeg(quality: 77))
        // The unit and the numbers of JFIF, which is the first segment.
        jpeg.replaceSubrange(13..<18, with: [1, 1, 0x2C, 0, 0x96])
        try tool.write(jpeg, "a.jpg")
        try tool.write(try image.encoded(as: .bmp), "a.bmp")
        try tool.write(try image.encoded(as: .png), "a.png")
        let text = try await tool.run("info", "a.jpg").out
        #expect(text.contains(/encoding +chroma 4:2:0, estimated quality 77\n/), "\(text)")
        #expect(text.contains(/resolution +300 × 150 dpi\n/), "\(text)")
        #expect(try await tool.run("info", "a.bmp").out.contains(/resolution +72 dpi\n/))
        let objects = try await tool.run("info", "--json", "a.jpg", "a.png").objects
        #expect(objects[0]["horizontalResolution"] as? Double == 300)
        #expect(objects[0]["verticalResolution"] as? Double == 150)
        #expect(objects[0]["chromaSubsampling"] as? String == "4:2:0" && objects[0]["estimatedQuality"] as? Int == 77)
        for name in ["horizontalResolution", "verticalResolution", "chromaSubsampling", "estimatedQuality"] {
            #expect(objects[1][name] is NSNull, "\(name)")
        }
    }

    @Test("The info command reports an image whose checksums are wrong")
    func damagedInfo() async throws {
        let tool = try ToolProcess()
        var damaged = try SampleImages.png()
        // The last byte of the checksum of the pixels, before the end chunk.
        damaged[damaged.count - 13] ^= 1
        try tool.write(damaged, "a.png")
        try tool.write(try SampleImages.png(), "b.png")
        let result = try await tool.run("info", "--json", "a.png", "b.png")
        #expect(result.status == 0)
        let notes = try result.objects.map { $0["notes"] as? [String] }
        #expect(notes == [["the data is truncated or corrupt"], []])
        let human = try await tool.run("info", "a.png")
        #expect(human.status == 0 && human.out.contains("truncated or corrupt"))
    }

    @Test("The decode command writes packed rows and prints the size")
    func decode() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 10, height: 6), "a.png")
        let full = try await tool.run("decode", "a.png", "-o", "full.rgba")
        #expect(full.status == 0 && full.out == "10 6 full.rgba\n")
        #expect(try tool.read("full.rgba") == Data(SampleImages.image(width: 10, height: 6).pixels.packedBytes()))
        let small = try await tool.run("decode", "--size", "5x", "a.png", "-o", "small.rgba")
        #expect(small.out == "5 3 small.rgba\n")
        #expect(try tool.read("small.rgba").count == 5 * 3 * 4)
        let wide = try await tool.run("decode", "a.png", "--pixel-format", "rgba16", "-o", "wide")
        #expect(try wide.status == 0 && tool.read("wide").count == 10 * 6 * 8)
        let opaque = try await tool.run("decode", "a.png", "--pixel-format", "rgb8", "-o", "opaque")
        #expect(try opaque.status == 0 && tool.read("opaque").count == 10 * 6 * 3)
        let piped = try await tool.run("decode", "a.png", "--size", "1x1")
        #expect(piped.status == 0 && piped.error == "1 1\n")
        #expect(try await tool.run("decode", "a.png", "--frames", "0,0", "-o", "twice").status == 0)
        #expect(try tool.read("twice").count == 2 * 10 * 6 * 4)
        let frame = try await tool.run("decode", "a.png", "--frames", "1", "-o", "frame.rgba")
        #expect(frame.status == 1 && frame.error.contains("(1008)"))
    }

    @Test("The decode command writes files of Netpbm if the name of the output ends with their extension")
    func decodeNetpbm() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 10, height: 6), "a.png")
        let pixels = try SampleImages.image(width: 10, height: 6).pixels
        for (name, signature) in [("a.ppm", "P6\n10 6\n255\n"), ("a.pam", "P7\nWIDTH 10\n"), ("a.pgm", "P5\n10 6\n")] {
            let result = try await tool.run("decode", "a.png", "-o", name)
            #expect(result.status == 0 && result.out == "10 6 \(name)\n")
            #expect(try tool.read(name).starts(with: Data(signature.utf8)))
        }
        #expect(try DecodedImage(data: tool.read("a.pam")).pixels.packedBytes() == pixels.packedBytes())
        let json = try await tool.run("decode", "a.png", "--frames", "0,0", "-o", "{name}-{n}.ppm", "--json").out
        #expect(json.contains("\"format\":\"ppm\""), "\(json)")
        #expect(try tool.read("a-1.ppm").count == 2 * (12 + 10 * 6 * 3))
        for name in ["a.bmp", "b.JPG", "{name}.webp", "a.pbm", "a.svg"] {
            let result = try await tool.run("decode", "a.png", "-o", name)
            #expect(
                result.status == 64 && result.error.contains("--output: decode can’t write"), "\(name): \(result.error)"
            )
        }
        #expect(try await tool.run("decode", "a.png", "-o", "a.raw").status == 0)
        #expect(try tool.read("a.raw") == Data(pixels.packedBytes()))
    }

    @Test("A missing file, a directory, and a file without data have specific error codes")
    func unreadable() async throws {
        let tool = try ToolProcess()
        try tool.write(Data(), "empty.png")
        try tool.write(Data(), "texts/a.txt")
        for (name, code) in [("missing.png", 1006), ("texts", 1011), ("empty.png", 4001)] {
            let result = try await tool.run("decode", name, "-o", "out")
            #expect(result.status == 1 && result.error.contains("(\(code))"), "\(name): \(result.error)")
        }
    }

    @Test("A named pipe and a device are rejected immediately, and standard input is read", .timeLimit(.minutes(1)))
    func specialFiles() async throws {
        let tool = try ToolProcess()
        #expect(mkfifo(tool.path("pipe"), 0o600) == 0)
        for name in ["pipe", "/dev/zero"] {
            let calls = [
                ["info", name], ["decode", name, "-o", "out"], ["convert", name, "out.png"], ["show", name],
            ]
            for words in calls {
                let result = try await tool.start(words).result
                #expect(result.status == 1, "\(words)")
                #expect(result.error.contains("isn't a regular file"), "\(words): \(result.error)")
            }
        }
        #expect(try await tool.run("info", "-", input: "").error.contains("(4001)"))
    }

    @Test("The convert command selects the format by the extension and reads standard input")
    func convert() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(width: 40, height: 20), "a.png")
        #expect(try await tool.run("convert", "a.png", "b.jpg", "--size", "20x20", "--quality", "80").status == 0)
        #expect(try ImageInfo(data: try tool.read("b.jpg")).size == PixelSize(width: 20, height: 10))
        #expect(try await tool.run("convert", "a.png", "b.webp").status == 0)
        #expect(ImageFormat(sniffing: try tool.read("b.webp")) == .webp)
        #expect(try await tool.run("convert", "a.png", "b.xyz").status == 64)
        #expect(try await tool.run("convert", "a.png", "b.jpg", "--quality", "101").status == 64)
        let refused = try await tool.run("convert", "a.png", "none/b.jpg")
        #expect(refused.status == 1 && refused.error.contains("(3003)"))
        let text = try await tool.run("convert", "-", "c.png", input: "just some words")
        #expect(text.status == 1 && text.error.contains("(4003)"))
    }

    @Test("The convert command never overwrites an input, not even with --overwrite")
    func convertInPlace() async throws {
        let tool = try ToolProcess()
        let (first, second) = (try SampleImages.png(), try SampleImages.jpeg())
        try tool.write(first, "a.png")
        try tool.write(second, "b.jpg")
        for directory in [".", tool.path("")] {
            let refused = try await tool.run("convert", "-y", "-d", directory, "-f", "png", "a.png")
            #expect(refused.status == 1 && refused.error.contains("a.png is an input"), "\(refused.error)")
        }
        // The name of the output of the first image is that of the second image.
        try tool.write(second, "a.jpg")
        #expect(try await tool.run("convert", "-y", "a.jpg", "a.png", "-d", ".", "-f", "png").status == 1)
        #expect(try tool.read("a.png") == first)
        #expect(try await tool.run("convert", "-d", ".", "-f", "webp", "b.jpg", "a.png").status == 0)
        #expect(ImageFormat(sniffing: try tool.read("a.webp")) == .webp)
    }

    @Test("The convert command writes many files to a directory, in the format of --format")
    func convertMany() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "in/a.png")
        try tool.write(try SampleImages.jpeg(), "in/deep/b.jpg")
        try tool.write(Data("words".utf8), "in/notes.txt")
        try tool.write(try SampleImages.png(), "c.png")
        let result = try await tool.run("convert", "-r", "-d", "out", "-f", "webp", "in", "c.png", "missing.png")
        #expect(result.status == 1 && result.error.contains("missing.png"))
        #expect(result.error.split(separator: "\n").count == 1)
        #expect(try tool.files("out") == ["a.webp", "c.webp", "deep/b.webp"])
        #expect(ImageFormat(sniffing: try tool.read("out/deep/b.webp")) == .webp)
        #expect(try await tool.run("convert", "-d", "out%d", "-f", "bmp", "c.png").status == 0)
        #expect(ImageFormat(sniffing: try tool.read("out%d/c.bmp")) == .bmp)
        #expect(try await tool.run("convert", "-d", "out", "c.png").status == 64)
        #expect(try await tool.run("convert", "c.png", "-").status == 64)
        let piped = try await tool.run("convert", "c.png", "-", "-f", "bmp")
        #expect(piped.status == 0 && piped.out.hasPrefix("BM"))
    }

    @Test("The info command prints the EXIF tags on request")
    func exif() async throws {
        let tool = try ToolProcess()
        var block = ExifBlock.only(.up)
        block.main.append(ExifBlock.Entry(tag: 0x0110, kind: 2, count: 4, bytes: Array("X100".utf8)))
        let time: [UInt8] = block.isBigEndian ? [0, 0, 0, 1, 0, 0, 0, 60] : [1, 0, 0, 0, 60, 0, 0, 0]
        block.photo.append(ExifBlock.Entry(tag: 0x829A, kind: 5, count: 1, bytes: time))
        let pixels = try SampleImages.image(width: 20, height: 20).pixels
        let image = DecodedImage(
            pixels: pixels, metadata: ImageMetadata(storedSize: pixels.size, exif: block.serialized()))
        try tool.write(
            try ImageCoderRegistry.standard.encode(
                image, as: ImageEncoding(format: .jpeg).with(\.metadata, .keep), context: ImageProcessingContext()),
            "a.jpg")
        let tags = try #require(
            try await tool.run("info", "a.jpg", "--exif", "--json").objects[0]["exif"] as? [String: String])
        #expect(tags["Model"] == "X100" && tags["ExposureTime"] == "1/60")
        #expect(try await tool.run("info", "a.jpg", "--exif").out.contains(/Model +X100\n/))
        #expect(try await tool.run("info", "a.jpg", "--json").objects[0]["exif"] == nil)
    }

    @Test("With --color always, output to a pipe has colors, and --quiet prints only errors")
    func colorAndQuiet() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        #expect(try await tool.run("info", "a.png", "--color", "always").out.contains("\u{1B}[1m"))
        #expect(try await !tool.run("info", "a.png").out.contains("\u{1B}"))
        let quiet = try await tool.run("info", "-q", "a.png", "missing.png")
        #expect(quiet.out.isEmpty && quiet.error.split(separator: "\n").count == 1)
    }

    @Test("An interrupt signal ends a decode that waits for its input")
    func interruption() async throws {
        let tool = try ToolProcess()
        let pipe = Pipe()
        let running = try tool.start(["decode", "-", "-o", "out"], inputPipe: pipe)
        // The data doesn't fit in the buffer of the pipe, so writing ends only when the tool reads. The tool never
        // receives the end of the data.
        let writer = pipe.fileHandleForWriting
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "pipe").async {
                continuation.resume(with: Result { try writer.write(contentsOf: Data(count: 256 << 10)) })
            }
        }
        defer { try? writer.close() }
        running.send(SIGINT)
        #expect(try await running.result.status == 130)
    }

    @Test("If the reader closes the pipe, the tool ends silently")
    func closedPipe() async throws {
        let tool = try ToolProcess()
        let result = try await tool.start(["--help"], closesOutput: true).result
        #expect(result.status == 141)
        #expect(result.error.isEmpty)
    }
}
