// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@testable import WebImageCommand

@Suite("Help, man pages, and completions of the command table", .timeLimit(.minutes(5)))
struct CommandTableTests {
    /// The names of all pages of the help.
    private static let names = Commands.all.map(\.name) + HelpTopic.all.map(\.name)

    private static func isInstalled(_ program: String) -> Bool {
        ["/usr/bin", "/bin", "/usr/local/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// Runs a program in the directory of the tool, and returns its status and its output.
    private func run(_ program: String, _ words: [String], in tool: ToolProcess) async throws -> (Int32, String) {
        let process = try ChildProcess(
            program, words, in: tool.directory,
            environment: ["PATH": "/usr/bin:/bin", "HOME": tool.path("home"), "MANWIDTH": "80", "LC_ALL": "C.UTF-8"],
            output: .file("program.out"), error: nil)
        let status = await process.end()
        return (status, String(decoding: try tool.read("program.out"), as: UTF8.self))
    }

    @Test("The generated files are the man pages and the scripts that the tool prints")
    func generated() async throws {
        let tool = try ToolProcess()
        #expect(try await tool.run("--generate", "man", "man").status == 0)
        #expect(try await tool.run("--generate", "completions", "completions").status == 0)
        #expect(try tool.files("man") == (["webimage.1"] + Self.names.map { "webimage-\($0).1" }).sorted())
        #expect(try tool.files("completions") == ["bash/webimage", "fish/webimage.fish", "zsh/_webimage"])
        let page = try await tool.run("help", "--man", "fetch").out
        #expect(try Data(page.utf8) == tool.read("man/webimage-fetch.1"))
        let topic = try await tool.run("help", "--man", "transforms").out
        #expect(try Data(topic.utf8) == tool.read("man/webimage-transforms.1"))
        let overview = try await tool.run("help", "--man").out
        #expect(try Data(overview.utf8) == tool.read("man/webimage.1"))
        for words in [["--generate"], ["--generate", "html", "x"], ["help", "--man", "frob"]] {
            #expect(try await tool.start(words).result.status == 64, "\(words)")
        }
    }

    @Test("Each man page describes exactly the options of its command, with their help texts")
    func pages() {
        for command in Commands.all {
            let page = ManualPage.page(command, version: "1").text
            let lines = page.split(separator: "\n").map(String.init)
            let described = lines.filter { $0.hasPrefix("\\fB\\-") }
            #expect(described.count == command.options.count, "\(command.name)")
            for option in command.options {
                let name = "\\fB\\-\\-\(option.name.replacing("-", with: "\\-"))\\fR"
                #expect(described.filter { $0.contains(name) }.count == 1, "\(command.name) --\(option.name)")
            }
            #expect(page.utf8.allSatisfy { $0 < 128 }, "\(command.name)")
            for field in command.fields { #expect(page.contains("\\fB\(field.name)\\fR"), "\(command.name)") }
        }
        let overview = ManualPage.page(nil, version: "1").text
        for name in Self.names { #expect(overview.contains("\\fBwebimage\\-\(name)\\fR(1)")) }
        for status in HelpText.exitStatuses { #expect(overview.contains("\\fB\(status.status)\\fR")) }
    }

    @Test(
        "The man pages have no warnings",
        arguments: [("mandoc", ["-Tlint", "-Wwarning"]), ("groff", ["-ww", "-man", "-z", "-Tutf8"])])
    func lint(_ program: String, _ options: [String]) async throws {
        guard Self.isInstalled(program) else { try Test.cancel("\(program) isn't installed.") }
        let tool = try ToolProcess()
        for page in ManualPage.all(version: "1.2.3") {
            try tool.write(Data(page.text.utf8), page.fileName)
            let (status, output) = try await run(program, options + [page.fileName], in: tool)
            #expect(status == 0 && output.isEmpty, "\(page.fileName): \(output)")
        }
    }

    @Test("Completion scripts contain every command and every option", arguments: CompletionScript.Shell.allCases)
    func completion(_ shell: CompletionScript.Shell) async throws {
        let tool = try ToolProcess()
        let script = try await tool.run("completion", shell.rawValue)
        #expect(script.status == 0 && script.error.isEmpty)
        for command in Commands.all {
            #expect(script.out.contains(command.name))
            for option in command.options {
                #expect(script.out.contains(shell == .fish ? "-l \(option.name)" : "--\(option.name)"))
            }
        }
    }

    @Test("The bash script completes commands, options, values, and files")
    func bash() async throws {
        guard Self.isInstalled("bash") else { try Test.cancel("bash isn't installed.") }
        let tool = try ToolProcess()
        try tool.write(Data(CompletionScript.text(for: .bash).utf8), "webimage.bash")
        try tool.write(try SampleImages.png(), "photo.png")
        func completions(_ words: [String]) async throws -> Set<String> {
            let list = words.map { "'\($0)'" }.joined(separator: " ")
            let code =
                "source webimage.bash; COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); _webimage; "
                + "printf '%s\\n' \"${COMPREPLY[@]}\""
            return Set(try await run("bash", ["-c", code], in: tool).1.split(separator: "\n").map(String.init))
        }
        #expect(try await completions(["webimage", "th"]) == ["thumbnail"])
        for command in Commands.all {
            let found = try await completions(["webimage", command.name, "--"])
            let names = command.options.flatMap { [$0.name] + $0.aliases }.map { "--\($0)" }
            #expect(found == Set(names), "\(command.name)")
        }
        #expect(try await completions(["webimage", "help", ""]) == Set(Self.names + ["--man"]))
        #expect(try await completions(["webimage", "fetch", "--timeo"]) == ["--timeout"])
        #expect(try await completions(["webimage", "info", "@pho"]) == ["@photo.png"])
        #expect(try await completions(["webimage", "thumbnail", "--smartcrop", "s"]) == ["smart"])
        #expect(try await completions(["webimage", "thumbnail", "--crop", "s"]) == ["smart"])
        #expect(try await completions(["webimage", "thumbnail", "--crop", "=", "s"]) == ["smart"])
        #expect(try await completions(["webimage", "cache", "ver"]) == ["verify"])
        #expect(try await completions(["webimage", "info", "pho"]) == ["photo.png"])
        #expect(try await completions(["webimage", "fetch", "--jobs", ""]).isEmpty)
        // A list of transformers, which bash splits at equals signs.
        let all = Set(TransformList.completions)
        for command in ["convert", "fetch", "thumbnail"] {
            #expect(try await completions(["webimage", command, "a.png", "-t", ""]) == all)
        }
        #expect(all.contains("blur=") && all.contains("circle"))
        #expect(try await completions(["webimage", "convert", "-t", "smart"]) == ["smart-crop="])
        #expect(try await completions(["webimage", "convert", "--transform", "=", "cir"]) == ["circle"])
        #expect(try await completions(["webimage", "convert", "-t", "circle,gray"]) == ["circle,grayscale"])
        #expect(try await completions(["webimage", "convert", "-t", "blur", "=", "8,vig"]) == ["8,vignette"])
        let long = ["webimage", "convert", "--transform", "=", "blur", "=", "8,circle,sep"]
        #expect(try await completions(long) == ["8,circle,sepia"])
        #expect(try await completions(["webimage", "convert", "-t", "blur", "=", ""]).isEmpty)
        #expect(try await completions(["webimage", "convert", "-t", "circle,overlay", "=", "pho"]) == ["photo.png"])
        #expect(try await completions(["webimage", "info", "-t", "photo"]) == ["photo.png"])
    }

    @Test("The zsh script can be read, and describes each option of the help once")
    func zsh() async throws {
        guard Self.isInstalled("zsh") else { try Test.cancel("zsh isn't installed.") }
        let tool = try ToolProcess()
        try tool.write(Data(CompletionScript.text(for: .zsh).utf8), "_webimage")
        // The stub prints the specifications that the function passes to the completion system.
        let code = """
            _arguments() { print -rl -- "$@" }; _describe() { print -rl -- "${(P@)2}" }; compdef() { :; }
            source ./_webimage; words=(webimage "$1" x); CURRENT=3; _webimage
            """
        let help = try await run("zsh", ["-f", "-c", code, "zsh", "help"], in: tool).1
        #expect(help.contains("\ntransforms:\(HelpTopic.transforms.summary)\n"), "\(help)")
        for command in Commands.all {
            let (status, output) = try await run("zsh", ["-f", "-c", code, "zsh", command.name], in: tool)
            #expect(status == 0, "\(output)")
            let names = output.split(separator: "\n").filter { $0.hasPrefix("*--") }.map { line in
                String(line.dropFirst(3).prefix { $0.isLetter || $0 == "-" })
            }
            let expected = command.options.flatMap { [$0.name] + $0.aliases }
            #expect(names.sorted() == expected.sorted(), "\(command.name)")
            let hasTransformers = output.contains(":transformer:_webimage_transformers\n")
            #expect(hasTransformers == command.options.contains(.transform), "\(command.name)")
        }
        let list = "_values() { print -rl -- \"$@\" }; _webimage_transformers"
        let values = try await run("zsh", ["-f", "-c", "\(code)\n\(list)", "zsh", "none"], in: tool).1
        for spec in TransformSpec.all {
            #expect(values.contains("\n\(spec.name)["), "\(spec.name)")
        }
        #expect(values.hasPrefix("-s\n,\ntransformer\n") && values.contains("\ncircle[") && values.contains("]::"))
        #expect(values.contains("\noverlay[") && values.contains(":_files\n"), "\(values)")
    }

    @Test("The fish script completes commands, options, and values")
    func fish() async throws {
        guard Self.isInstalled("fish") else { try Test.cancel("fish isn't installed.") }
        let tool = try ToolProcess()
        try tool.write(Data(CompletionScript.text(for: .fish).utf8), "webimage.fish")
        func completions(_ line: String) async throws -> [String] {
            let code = "source webimage.fish; complete -C'\(line)'"
            return try await run("fish", ["--no-config", "-c", code], in: tool).1.split(separator: "\n").map {
                String($0.prefix { $0 != "\t" })
            }
        }
        #expect(try await completions("webimage thumb") == ["thumbnail"])
        for command in Commands.all {
            let found = try await completions("webimage \(command.name) --")
            let names = command.options.flatMap { [$0.name] + $0.aliases }.map { "--\($0)" }
            #expect(Set(found) == Set(names), "\(command.name)")
        }
        #expect(try await completions("webimage thumbnail --crop sm") == ["smart"])
        #expect(try await completions("webimage cache ver") == ["verify"])
        for (line, expected) in [
            ("convert -t smart", ["smart-crop="]), ("thumbnail a.png -t circle,gray", ["circle,grayscale"]),
            ("fetch -t blur=8,vig", ["blur=8,vignette"]), ("convert --transform=cir", ["--transform=circle"]),
            ("convert --transform=blur=8,sep", ["--transform=blur=8,sepia"]),
        ] {
            #expect(try await completions("webimage \(line)") == expected, "\(line)")
        }
        #expect(try await Set(completions("webimage convert -t ")) == Set(TransformList.completions))
        try tool.write(try SampleImages.png(), "photo.png")
        #expect(try await completions("webimage cache pho").isEmpty)
        #expect(try await completions("webimage help thumb") == ["thumbnail"])
        #expect(try await completions("webimage help transf") == ["transforms"])
        #expect(try await completions("webimage help pho").isEmpty)
    }

    @Test("The tables of the article are those of the command table")
    func article() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Documentation/WebImage.docc/Articles/CommandLine.md"
        ).standardizedFileURL
        let text = try String(contentsOf: file, encoding: .utf8)
        #expect(ArticleTables.updated(text) == text, "Run “make article”.")
        for name in ArticleTables.names { #expect(text.contains("\n<!-- table: \(name) -->\n"), "\(name)") }
        #expect(ArticleTables.updated("<!-- table: frob -->\n\n| a |\n") == "<!-- table: frob -->\n\n| a |\n")
    }

    @Test("An empty line separates a table of the article from the text after it")
    func separation() {
        let table = ArticleTables.updated("<!-- table: commands -->")
        #expect(table.hasSuffix(" |"))
        for separation in ["\n", "\n\n"] {
            #expect(ArticleTables.updated(table + separation + "Text.\n") == table + "\n\nText.\n")
        }
        #expect(ArticleTables.updated("<!-- table: commands -->\n\nText.\n") == table + "\n\nText.\n")
        #expect(ArticleTables.updated(table + "\n") == table + "\n")
    }

    @Test("The help page of each command lists exactly the options of the table")
    func help() async throws {
        let tool = try ToolProcess()
        for command in Commands.all {
            let page = try await tool.run("help", command.name)
            #expect(page.status == 0)
            let options = page.out.split(separator: "\n").compactMap { line in
                line.firstMatch(of: /^  (?:-., |    )--([a-z-]+)/).map { String($0.1) }
            }
            for example in command.examples { #expect(page.out.contains("    \(example.line)\n"), "\(command.name)") }
            #expect(options == command.sections.flatMap { $0.options.map(\.name) }, "\(command.name)")
        }
    }
}
