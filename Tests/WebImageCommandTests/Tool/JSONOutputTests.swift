// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@testable import WebImageCommand

@Suite("JSON output of the commands", .timeLimit(.minutes(5)))
struct JSONOutputTests {
    /// The commands whose objects describe one input each.
    private static let ofOneInput = [
        Commands.fetch, Commands.info, Commands.thumbnail, Commands.convert, Commands.decode, Commands.demo,
    ]

    @Test("The objects of all commands have the common members, in the same order and with the same types")
    func common() throws {
        for command in Commands.all where command.options.contains(.json) {
            let names = command.fields.map(\.name)
            #expect(Set(names).count == names.count && names.first == "command", "\(command.name)")
            #expect(names.contains("status"), "\(command.name)")
            for field in command.fields {
                guard let shared = JSONField.common.first(where: { $0.name == field.name }) else { continue }
                #expect(field.kind == shared.kind, "\(command.name) \(field.name)")
            }
            let expected = JSONField.common.map(\.name)
            if Self.ofOneInput.contains(where: { $0.name == command.name }) {
                #expect(Array(names.prefix(expected.count - 1)) == Array(expected.dropLast()), "\(command.name)")
            }
            // The report of `doctor` can't fail.
            if command.name != Commands.doctor.name { #expect(names.last == "error", "\(command.name)") }
        }
        for command in [Commands.compare, Commands.animate] {
            let names = command.fields.map(\.name)
            #expect(["inputs", "outputs", "notes"].allSatisfy(names.contains), "\(command.name)")
        }
    }

    /// The commands with options that make the processing of each input impossible.
    private static var impossible: [(CommandSpec, [String])] {
        let directory = ["-d", "out"]
        var list: [(CommandSpec, [String])] = [
            (Commands.fetch, []), (Commands.info, []), (Commands.thumbnail, directory),
            (Commands.convert, ["-f", "bmp"] + directory), (Commands.decode, directory), (Commands.compare, []),
            (Commands.animate, ["-o", "c.gif"]),
        ].map { ($0, $1 + ["--cacert", "none.pem"]) }
        list += [
            (Commands.fetch, ["--encryption-key-file", "none.key"]),
            (Commands.fetch, ["--previews", "blurred", "--preview-dir", "a.png/x"]),
        ]
        let name = ImageFormatName.all.first { name in
            ImageFormat(encodableName: name).map { !ImageCoderRegistry.standard.canEncode($0) } ?? false
        }
        if let name {
            list += [Commands.fetch, Commands.thumbnail, Commands.convert].map { ($0, ["-f", name] + directory) }
        }
        return list
    }

    @Test("If no input can be processed, each one has an object with the error")
    func failuresOfAllInputs() async throws {
        let tool = try ToolProcess()
        for name in ["a.png", "b.png"] { try tool.write(try SampleImages.png(), name) }
        for (command, words) in Self.impossible {
            let result = try await tool.start([command.name, "--json", "a.png", "b.png"] + words).result
            // The message isn't repeated for each input.
            #expect(result.status == 1 && result.error.split(separator: "\n").count == 1, "\(words): \(result.error)")
            let (lines, objects) = (result.out.split(separator: "\n"), try result.objects)
            let isOfAll = [Commands.compare, Commands.animate].contains { $0.name == command.name }
            #expect(objects.count == (isOfAll ? 1 : 2), "\(command.name) \(words): \(result.out)")
            for (index, object) in objects.enumerated() {
                try check(object, String(lines[index]), command)
                #expect(object["status"] as? String == "failed" && object["error"] is [String: Any])
                guard !isOfAll else { continue }
                #expect(object["index"] as? Int == index && object["input"] as? String == ["a.png", "b.png"][index])
            }
        }
    }

    @Test("The object of a comparison contains notes about frames and about the score")
    func comparison() async throws {
        let tool = try ToolProcess()
        try tool.write(SampleImages.blinker, "blinker.gif")
        let equal = try await tool.run("compare", "blinker.gif", "blinker.gif", "--json")
        let note = "blinker.gif: only the first of 2 frames is compared"
        #expect(equal.status == 0 && equal.error.contains("note: \(note)\n"), "\(equal.error)")
        #expect(try equal.objects.first?["notes"] as? [String] == [note, note])
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(try SampleImages.jpeg(), "b.jpg")
        let low = try await tool.run("compare", "a.png", "b.jpg", "--json", "--min-score", "100")
        #expect(low.status == 1)
        let notes = try #require(try low.objects.first?["notes"] as? [String])
        #expect(notes.count == 1 && notes[0].hasSuffix(" is less than 100.00") && low.error.contains(notes[0]))
        #expect(try low.objects.first?["status"] as? String == "ok")
    }

    @Test("The object of an import contains the errors of all failed entries")
    func imports() async throws {
        let tool = try ToolProcess()
        try tool.write(Data("words".utf8), "words")
        let words = ["cache", "import", "--json", "--cache-dir", "c"]
        let result = try await tool.start(
            words + ["https://a.example/b.png", "words", "https://a.example/c.png", "none"]
        ).result
        #expect(result.status == 1)
        let failures = try #require(try result.objects.first?["failures"] as? [[String: Any]])
        #expect(failures.count == 2 && failures.allSatisfy { $0["error"] is [String: Any] && $0["input"] is String })
    }

    @Test("The JSON objects of each command have the documented keys, types, and order, also for failures")
    func json() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(try SampleImages.jpeg(), "b.jpg")
        for (command, words) in [
            (Commands.fetch, ["a.png", "none.png"]), (Commands.fetch, ["a.png", "--previews", "blurred"]),
            (Commands.info, ["a.png", "none.png"]), (Commands.info, ["a.png", "--exif"]),
            (Commands.convert, ["a.png", "none.png", "-f", "webp", "-o", "out/"]),
            (Commands.decode, ["a.png", "none.png", "-o", "raw/"]),
            (Commands.thumbnail, ["a.png", "none.png", "-o", "small/"]),
            (Commands.animate, ["a.png", "b.jpg", "-o", "d.gif"]),
            (Commands.animate, ["a.png", "none.png", "-o", "e.gif"]),
            (Commands.compare, ["a.png", "b.jpg", "-o", "d.png"]), (Commands.compare, ["a.png", "none.png"]),
        ] {
            let result = try await tool.start([command.name, "--json"] + words).result
            #expect(result.status == (words.contains("none.png") ? 1 : 0), "\(words): \(result.error)")
            let lines = result.out.split(separator: "\n")
            #expect(!lines.isEmpty)
            for (line, object) in zip(lines, try result.objects) {
                try check(object, String(line), command)
            }
        }
    }

    @Test("The JSON objects of cache, doctor, and demo have the documented keys, types, and order, also for failures")
    func jsonOfOtherCommands() async throws {
        let tool = try ToolProcess()
        try tool.write(try SampleImages.png(), "a.png")
        try tool.write(Data("words".utf8), "words")
        try tool.write(Data(#"[{"file": "a.png", "title": "A", "kind": "picture"}]"#.utf8), "album/album.json")
        try tool.write(try SampleImages.png(), "album/a.png")
        for (command, words, status) in [
            (Commands.cache, ["path"], Int32(0)), (Commands.cache, ["info", "--cache-dir", "none"], 1),
            (Commands.cache, ["import", "https://a.example/a.png", "a.png", "--cache-dir", "c"], 0),
            (Commands.cache, ["import", "https://a.example/b.png", "words", "--cache-dir", "c"], 1),
            (Commands.cache, ["import", "none", "--cache-dir", "c"], 1),
            (Commands.cache, ["info", "--cache-dir", "c"], 0), (Commands.cache, ["list", "--cache-dir", "c"], 0),
            (Commands.cache, ["show", "https://a.example/a.png", "--cache-dir", "c"], 0),
            (Commands.cache, ["show", "https://a.example/z.png", "--cache-dir", "c"], 1),
            (Commands.cache, ["verify", "--cache-dir", "c"], 0),
            (Commands.cache, ["export", "x", "--cache-dir", "c"], 0),
            (Commands.cache, ["export", "x", "--cache-dir", "c"], 1),
            (Commands.cache, ["trim", "--cache-dir", "c"], 0), (Commands.cache, ["clear", "--cache-dir", "c"], 0),
            (Commands.demo, ["-d", "shown"], 0),
        ] {
            let result = try await tool.start(
                [command.name, "--json"] + words, environment: ["WEBIMAGE_ALBUM": tool.path("album")]
            ).result
            #expect(result.status == status, "\(words): \(result.error)")
            let lines = result.out.split(separator: "\n")
            #expect(!lines.isEmpty, "\(words)")
            for (line, object) in zip(lines, try result.objects) {
                try check(object, String(line), command)
                #expect((object["error"] is NSNull) == (status == 0), "\(line)")
            }
        }
        let doctor = try await tool.run("doctor", "--json")
        try check(try #require(try doctor.objects.first), doctor.out, Commands.doctor)
        for command in Commands.all where command.options.contains(.json) {
            #expect(!command.fields.isEmpty, "\(command.name)")
        }
    }

    private func check(_ object: [String: Any], _ line: String, _ command: CommandSpec) throws {
        let fields = command.fields.filter { !$0.isConditional || object[$0.name] != nil }
        #expect(Set(object.keys) == Set(fields.map(\.name)), "\(command.name)")
        var position = line.startIndex
        for field in fields {
            let range = try #require(line[position...].range(of: "\"\(field.name)\":"), "\(command.name) \(field.name)")
            if !["outputs", "counts", "sections", "failures"].contains(field.name) { position = range.upperBound }
            let value = try #require(object[field.name])
            if value is NSNull {
                #expect(field.isOptional, "\(command.name) \(field.name)")
                continue
            }
            let isRight =
                switch field.kind {
                case .string: value is String
                case .boolean, .number: value is NSNumber
                case .array: value is [Any]
                case .object: value is [String: Any]
                }
            #expect(isRight, "\(command.name) \(field.name)")
        }
    }
}
