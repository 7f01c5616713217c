// SPDX-License-Identifier: MIT

import Foundation
import WebImageCommand
import WebImagePrograms

/// `webimage gallery`: gives the process over to the program beside this one, so that the tool itself never loads GTK.
struct GalleryCommand {
    private let console: Console

    init(_ console: Console) { self.console = console }

    /// Returns only where there is no such program. `words` are what stands behind the command's name.
    func run(_ words: [String]) -> Int32 {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "webimage-gallery").path(percentEncoded: false)
        var vector = ([program] + words).map { strdup($0) } + [nil]
        defer { for copy in vector { free(copy) } }
        // What the tool ignores and blocks would stay so in the other program.
        for number in [SIGINT, SIGTERM, SIGPIPE] { signal(number, SIG_DFL) }
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
        execv(program, &vector)
        let reason = String(cString: strerror(errno))
        console.report("cannot start \(program): \(reason); “make gallery” builds it (libgtk-4-dev, trait GTK)")
        return ExitStatus.unavailable
    }
}
