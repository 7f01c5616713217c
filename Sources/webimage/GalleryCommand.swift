// SPDX-License-Identifier: MIT

import Foundation
import WebImageCommand
import WebImagePrograms

/// The command `webimage gallery`. It replaces the process with the `webimage-gallery` program in the same directory,
/// so that the tool itself doesn't load GTK.
struct GalleryCommand {
    private let console: Console

    init(_ console: Console) { self.console = console }

    /// Starts the program with the words after the command's name. This method returns only if the program can't be
    /// started.
    func run(_ words: [String]) -> Int32 {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "webimage-gallery").path(percentEncoded: false)
        var vector = ([program] + words).map { strdup($0) } + [nil]
        defer { for copy in vector { free(copy) } }
        // The other program would inherit ignored and blocked signals.
        for number in [SIGINT, SIGTERM, SIGPIPE] { signal(number, SIG_DFL) }
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
        execv(program, &vector)
        let reason = String(cString: strerror(errno))
        console.report("can’t start \(program): \(reason) (to build it, run “make gallery”)")
        return ExitStatus.unavailable
    }
}
