// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCommand

@Suite("Output names")
struct OutputPlanTests {
    private func plan(_ output: String?, directory: String? = nil, isSingle: Bool = false) throws -> OutputPlan? {
        try OutputPlan(
            output: output, directory: directory, isSingle: isSingle, existing: .fail, isDirectory: { $0 == "there.d" },
            isFile: { $0 == "file" })
    }

    private var facts: OutputFacts {
        var facts = OutputFacts(name: "photo", directory: "in/x", folder: "x", index: 4, count: 120)
        (facts.width, facts.height, facts.fileExtension) = (64, 48, "webp")
        return facts
    }

    @Test(
        "For one image, the output is a file unless it's an existing directory or ends with a slash",
        arguments: [
            ("out", "out"), ("out.png", "out.png"), ("out/", "out/x/photo.webp"), ("there.d", "there.d/x/photo.webp"),
            ("-", "-"), ("/", "/x/photo.webp"),
        ])
    func single(_ output: String, _ path: String) throws {
        #expect(try plan(output, isSingle: true)?.path(facts) == path)
    }

    @Test(
        "For several images, the output is a directory, and a name with an extension is rejected",
        arguments: [("out", "out/x/photo.webp"), ("out.png/", "out.png/x/photo.webp"), ("a.b/c", "a.b/c/x/photo.webp")])
    func several(_ output: String, _ path: String) throws {
        #expect(try plan(output)?.path(facts) == path)
    }

    @Test(
        "Outputs that can't be used for several inputs are usage errors that name --output-dir",
        arguments: [
            (
                "out.png",
                "several inputs can’t be written to the file “out.png” (use --output-dir, a directory such as “out.png/”, "
                    + "or a name with {name} or {n})"
            ),
            (
                "file",
                "several inputs can’t be written to the file “file” (use --output-dir, or a name with {name} or {n})"
            ),
            ("-", "several inputs can’t be written to standard output (use --output-dir)"),
            ("", "--output: the name is empty (use a file, a directory, or -)"),
        ])
    func rejected(_ output: String, _ message: String) {
        #expect(throws: UsageError(message)) { try plan(output) }
    }

    @Test("--output-dir is always a directory, and no option means no output")
    func directory() throws {
        #expect(try plan(nil, directory: "out.png", isSingle: true)?.path(facts) == "out.png/x/photo.webp")
        #expect(try plan(nil) == nil)
    }

    @Test(
        "Placeholders are replaced, and numbers have leading zeros",
        arguments: [
            ("{name}.{format}", "photo.webp"), ("{n}-{width}x{height}.png", "005-64x48.png"),
            ("{dir}/tn_{name}.jpg", "in/x/tn_photo.jpg"), ("{name}{name}", "photophoto"),
        ])
    func placeholders(_ template: String, _ path: String) throws {
        let plan = try #require(try plan(template))
        #expect(plan.path(facts) == path)
        #expect(plan.needsSize == template.contains("width"))
    }

    @Test("A name in a placeholder can't lead to another directory")
    func safeNames() throws {
        var facts = facts
        facts.name = "../../etc/passwd"
        #expect(try plan("out/{name}.png")?.path(facts) == "out/.._.._etc_passwd.png")
        facts.name = ".."
        #expect(try plan("out/{name}/a.png")?.path(facts) == "out/_/a.png")
    }

    @Test("The directory of an input can't lead out of the directory of the output")
    func safeDirectories() throws {
        var facts = facts
        facts.name = "a"
        for (directory, path) in [
            ("../x", "out/x/a.png"), ("/etc/x", "out/etc/x/a.png"), ("b/../../c", "out/b/c/a.png"),
            ("..", "out/./a.png"), ("sub", "out/sub/a.png"),
        ] {
            facts.directory = directory
            #expect(try plan("out/{dir}/{name}.png")?.path(facts) == path)
        }
        facts.directory = "../x"
        #expect(try plan("{dir}/{name}.png")?.path(facts) == "../x/a.png")
    }

    @Test("Unknown placeholders and unbalanced braces are usage errors", arguments: ["{size}", "{name", "a}", "{}"])
    func unknown(_ template: String) {
        #expect(throws: UsageError.self) { try plan(template) }
    }

    @Test("The extension of the output names the format")
    func formats() throws {
        #expect(try plan("{n}.avif")?.format == .avif)
        #expect(try plan("a.jpg", isSingle: true)?.format == .jpeg)
        #expect(try plan("{name}.{format}")?.format == nil)
        #expect(try plan("out/")?.format == nil)
    }

    @Test("Secrets are removed from the inputs in records, and paths don't change")
    func redaction() {
        #expect(InputLabel.redacted("a b/c?d=1.png") == "a b/c?d=1.png")
        #expect(InputLabel.redacted("https://u:p@a.example/b?x=1&token=2&z#f") == "https://a.example/b?x=…&token=…&…")
        #expect(InputLabel.redacted("data:image/png;base64,AAAA") == "data:image/png;base64,…")
    }
}
