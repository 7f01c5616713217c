// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImagePrograms

/// The hidden command `webimage --generate`, which writes the man pages and the completion scripts for packages, and the
/// tables of the article.
struct GenerateCommand {
    private let console: Console

    init(_ console: Console) { self.console = console }

    func run(_ words: [String]) async -> Int32 {
        guard words.count == 2 else { return usage() }
        do throws(ImageError) {
            if words[0] == "article" {
                try await BlockingWork.run { () throws(ImageError) in
                    let article = String(decoding: try Files.read(words[1]), as: UTF8.self)
                    try Files.write(Data(ArticleTables.updated(article).utf8), to: words[1])
                }
                return ExitStatus.ok
            }
            guard let files = Self.files(words[0]) else { return usage() }
            try await BlockingWork.run { () throws(ImageError) in
                for (name, text) in files {
                    let path = "\(words[1])/\(name)"
                    try Files.makeDirectory((path as NSString).deletingLastPathComponent)
                    try Files.write(Data(text.utf8), to: path)
                }
            }
            return ExitStatus.ok
        } catch {
            console.report(nil, error)
            return ExitStatus.failed
        }
    }

    private func usage() -> Int32 {
        console.report("--generate requires man or completions and a directory, or article and a file")
        return ExitStatus.usage
    }

    /// Returns the names and the texts of the files. The names are those that the shells and man(1) expect.
    private static func files(_ kind: String) -> [(name: String, text: String)]? {
        switch kind {
        case "man": ManualPage.all(version: ProgramInfo.version).map { ($0.fileName, $0.text) }
        case "completions":
            [
                ("bash/webimage", CompletionScript.text(for: .bash)),
                ("zsh/_webimage", CompletionScript.text(for: .zsh)),
                ("fish/webimage.fish", CompletionScript.text(for: .fish)),
            ]
        default: nil
        }
    }
}
