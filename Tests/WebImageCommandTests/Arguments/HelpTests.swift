// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@testable import WebImageCommand

@Suite("Pages of the help")
struct HelpTests {
    private static let help = HelpText(width: 80)

    @Test("The overview and each page begin with at least three examples")
    func examplesFirst() throws {
        #expect(HelpText.examples.count == 3)
        #expect(
            Self.help.overview.hasPrefix("webimage — fetch, inspect, and convert web images\n\nExamples:\n  Download"))
        for command in Commands.all {
            #expect(command.examples.count >= 3, "\(command.name)")
            #expect(Set(command.examples).count == command.examples.count, "\(command.name)")
            let parts = Self.help.page(command).split(separator: "\n\n")
            #expect(parts[0] == "Usage: \(HelpText.usage(command))", "\(command.name)")
            #expect(parts[1].replacing("\n", with: " ") == command.summary, "\(command.name)")
            let lines = ["Examples:"] + command.examples.flatMap { ["  \($0.purpose):", "    \($0.line)"] }
            #expect(parts[2] == lines.joined(separator: "\n"), "\(command.name)")
        }
        for topic in HelpTopic.all {
            #expect(topic.examples.count >= 3 && Self.help.page(topic).contains("\n\nExamples:\n"), "\(topic.name)")
        }
    }

    /// Splits a command line at spaces outside of quotation marks. Operators are removed.
    private func words(_ line: String) -> [String] {
        var (words, quote): ([String], Character?) = ([""], nil)
        for character in line {
            if character == quote {
                quote = nil
            } else if quote == nil, "\"'".contains(character) {
                quote = character
            } else if quote == nil, " ()".contains(character) {
                words.append("")
            } else {
                words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }

    @Test("The examples are valid command lines, and those of a command contain it")
    func validExamples() throws {
        let pages: [(String?, [CommandSpec.Example])] =
            [(nil, HelpText.examples)] + HelpTopic.all.map { (nil, $0.examples) }
            + Commands.all.map { ($0.name, $0.examples) }
        for (name, examples) in pages {
            for example in examples {
                var names: [String] = []
                for part in words(example.line).split(separator: "|") where part.contains("webimage") {
                    let start = try #require(part.firstIndex(of: "webimage"))
                    let rest = part[part.index(after: start)...].prefix { $0 != "<" && $0 != ">" }
                    let command = try Commands.command(try #require(rest.first))
                    names.append(command.name)
                    let arguments = try Arguments(Array(rest.dropFirst()), for: command)
                    _ = try arguments.size()
                    _ = try arguments.transformers { path throws(ImageError) in
                        throw .request(.fileNotFound(path: path))
                    }
                    if command.options.contains(.format) { _ = try arguments.encoding(try arguments.format()) }
                }
                #expect(!names.isEmpty && names.contains(name ?? names[0]), "\(example.line)")
            }
        }
    }

    @Test("The help of --quality lists the default quality of each lossy format")
    func defaultQualities() throws {
        let help = try #require(OptionSpec.encoding.first { $0.name == "quality" }?.help)
        #expect(help.hasSuffix("The defaults are jpeg 90, webp 80, avif 70, heic 75, jxl 90."))
        let image = try SampleImages.image(width: 64, height: 48)
        let coders = ImageCoderRegistry.standard
        func data(_ format: ImageFormat, _ quality: Int?) throws -> Data {
            try coders.encode(
                image, as: ImageEncoding(format: format, quality: quality),
                context: ImageProcessingContext())
        }
        for name in ImageFormatName.all {
            let format = try #require(ImageFormat(encodableName: name))
            guard coders.canEncode(format) else { continue }
            if let quality = format.defaultQuality {
                #expect(help.contains("\(name) \(quality)"))
                #expect(try data(format, nil) == data(format, quality), "\(name)")
                #expect(try data(format, nil) != data(format, quality - 5), "\(name)")
            } else {
                #expect(!help.contains("\(name) "))
                #expect(try data(format, nil) == data(format, 5), "\(name)")
            }
        }
    }

    @Test("The page about transformers describes each of them, and the pages of the commands refer to it")
    func transforms() throws {
        let page = Self.help.page(HelpTopic.transforms)
        for name in TransformList.names { #expect(page.contains("\n  \(name)"), "\(name)") }
        for section in HelpTopic.transforms.sections {
            for item in section.items {
                #expect(page.contains("\n  \(item.term)\n"), "\(item.term)")
                #expect(item.meaning.hasSuffix(".") && item.meaning.first?.isLowercase == false, "\(item.term)")
            }
        }
        for command in [Commands.fetch, Commands.convert, Commands.thumbnail] {
            let text = Self.help.page(command).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(text.contains("“webimage help transforms” lists the transformers"), "\(command.name)")
            #expect(!text.contains("smart-crop="), "\(command.name)")
        }
        #expect(Self.help.overview.contains("\n  help transforms  \(HelpTopic.transforms.summary)\n"))
    }

    @Test("The tool prints the page about transformers, and suggests it")
    func tool() async throws {
        let tool = try ToolProcess()
        let page = try await tool.run("help", "transforms")
        #expect(page.status == 0 && page.out == HelpText(width: .max).page(HelpTopic.transforms))
        for words in [["help", "transform"], ["help", "--man", "transfroms"]] {
            let result = try await tool.start(words).result
            #expect(result.status == 64 && result.error.contains("(did you mean transforms?)"), "\(result.error)")
        }
    }
}
