// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Command lines")
struct ArgumentsTests {
    private static let policies = ["http", "reload"]

    private func arguments(_ words: String..., for command: CommandSpec = Commands.load) throws -> Arguments {
        try Arguments(words, for: command)
    }

    private func message(_ words: [String], for command: CommandSpec = Commands.load) -> String? {
        do throws(UsageError) {
            _ = try LoadOptions(try Arguments(words, for: command), policies: Self.policies) {
                path throws(ImageError) in
                throw .request(.fileNotFound(path: path))
            }
            return nil
        } catch {
            return error.message
        }
    }

    @Test("Options and operands can be in any order")
    func anyOrder() throws {
        let read = try arguments("a", "--json", "b", "-o", "dir", "--size=10x20", "c")
        #expect(read.operands == ["a", "b", "c"])
        #expect(read.has("json"))
        #expect(read.last("output") == "dir")
        #expect(read.last("size") == "10x20")
    }

    @Test("After two dashes, all arguments are operands, and a single dash is an operand")
    func operandsOnly() throws {
        let read = try arguments("-", "--", "--json", "-q")
        #expect(read.operands == ["-", "--json", "-q"])
        #expect(!read.has("json"))
    }

    @Test("Short options can be combined, and long options can be abbreviated while they're unique")
    func abbreviations() throws {
        let read = try arguments("-qc", "4", "--js", "a")
        #expect(read.has("quiet") && read.has("json"))
        #expect(read.last("concurrency") == "4")
    }

    @Test("The last value of a repeated option is used")
    func repeated() throws {
        #expect(try arguments("-c", "1", "-c", "2").last("concurrency") == "2")
    }

    @Test(
        "Each invalid command line causes a specific error message",
        arguments: [
            (["--frob"], "unknown option --frob"),
            (["a", "--frob=1"], "unknown option --frob"),
            (["-x"], "unknown option -x"),
            (["--output"], "--output: the value is missing (use --output DIR)"),
            (["-o"], "--output: the value is missing (use --output DIR)"),
            (["--json=1"], "--json: this option doesn’t take a value"),
            (["--c", "1"], "--c: the option is ambiguous (use --cache or --concurrency)"),
            ([], "missing URL"),
            (["a", "-c", "0"], "--concurrency: “0” isn’t valid (use a whole number from 1 to 1000)"),
            (["a", "-c", "x"], "--concurrency: “x” isn’t valid (use a whole number from 1 to 1000)"),
            (["a", "-p", "x"], "--policy: “x” isn’t valid (use one of http, reload)"),
            (["a", "-f", "gif", "-o", "x"], "--format: “gif” isn’t valid (use one of jpeg, png, webp)"),
            (["a", "-f", "png"], "--format can only be used with --output"),
            (["a", "-s", "x"], "--size: “x” isn’t a size (use WxH in pixels, such as 320x240)"),
        ])
    func refused(_ words: [String], _ expected: String) {
        #expect(message(words) == expected)
    }

    @Test("A size consists of two lengths, of which one can be omitted")
    func sizes() throws {
        #expect(try arguments("-s", "320x240").size() == .fit(width: 320, height: 240))
        #expect(try arguments("-s", "320X").size() == .fit(width: 320))
        #expect(try arguments("-s", "x240").size() == .fit(height: 240))
        #expect(try arguments("a").size() == nil)
        for wrong in ["0x1", "-1x2", "1x2x3", "1.5x2", "12", "99999999999999999999x1", "٣x٣"] {
            #expect(throws: UsageError.self) { try arguments("--size=\(wrong)").size() }
        }
    }

    @Test(
        "Sizes in bytes accept binary and decimal units",
        arguments: [("0", 0), ("500", 500), ("64KiB", 65_536), ("2m", 2 << 20), ("1GB", 1_000_000_000), ("7b", 7)])
    func bytes(_ text: String, _ count: Int) throws {
        #expect(try arguments("--size", text, for: Commands.cache).bytes("size") == count)
    }

    @Test("Invalid and too large byte sizes are rejected", arguments: ["", "x", "-1", "9999999999GiB", "1.5M"])
    func wrongBytes(_ text: String) {
        #expect(throws: UsageError.self) { try arguments("--size=\(text)", for: Commands.cache).bytes("size") }
    }

    @Test("Command lines are parsed independently on any thread")
    func concurrently() async {
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let read = try? Arguments(["x", "-c", "\(index)", "--json", "y"], for: Commands.load)
                    return read?.last("concurrency") == "\(index)" && read?.operands == ["x", "y"]
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test("The help lists every option at any width", arguments: [40, 80, 200])
    func help(_ width: Int) {
        let help = HelpText(width: width)
        for command in Commands.all {
            let page = help.page(command)
            for option in command.options { #expect(page.contains("--\(option.name)")) }
            #expect(help.overview.contains(command.name))
        }
        #expect(HelpText.usage(Commands.demo) == "webimage demo [option…]")
    }

    @Test("Extensions name formats", arguments: [("a.JPG", ImageFormat.jpeg), ("x/y.webp", .webp), ("a.b.png", .png)])
    func extensions(_ name: String, _ format: ImageFormat) {
        #expect(ImageFormat(fileName: name) == format)
    }

    @Test("Other file names select no format", arguments: ["a", "a.txt", "dir.png/a", ""])
    func noExtension(_ name: String) {
        #expect(ImageFormat(fileName: name) == nil)
    }
}
