// SPDX-License-Identifier: MIT

import Foundation
import WebImageCommand
import WebImagePrograms

/// A program that a command starts instead of the tool, so that the tool itself doesn't load the libraries of the
/// program. The program is in the same directory as the tool.
struct SiblingProgram {
    /// The name of the program, such as `webimage-gallery`.
    let name: String
    /// The remedy if the program can't be started.
    let remedy: String

    static let gallery = SiblingProgram(
        name: "webimage-gallery", remedy: "install webimage-gallery, or build it with “make gallery”")
    static let serve = SiblingProgram(
        name: "webimage-serve",
        remedy: "install the package webimage-server, or build the program with “swift build --product webimage-serve "
            + "--traits Server”")

    /// Replaces the process with the program. This method returns only if the program can't be started. The console
    /// reports the failure.
    func run(_ words: [String], _ console: Console) -> Int32 {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: name).path(percentEncoded: false)
        var vector = ([program] + words).map { strdup(FileNameText.cString($0)) } + [nil]
        defer { for copy in vector { free(copy) } }
        // The other program would inherit ignored and blocked signals.
        for number in [SIGINT, SIGTERM, SIGPIPE] { signal(number, SIG_DFL) }
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
        execv(program, &vector)
        let reason = String(cString: strerror(errno))
        console.report("can’t start \(program): \(reason) (\(remedy))")
        return ExitStatus.unavailable
    }
}
