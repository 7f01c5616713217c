// SPDX-License-Identifier: MIT

// The program `webimage-gallery`, which `webimage gallery` executes. The code is synchronous, because after an `await`
// the main actor would no longer be on the main thread of the process.

import Foundation
import WebImageConcurrency
import WebImagePrograms

#if GTK
    endProcess(GalleryProgram.run(Array(CommandLine.arguments.dropFirst())))
#else
    FileHandle.standardError.write(
        Data(
            ("webimage: This build has no GTK support. "
                + "Build it with “make gallery” (package libgtk-4-dev, trait GTK).\n").utf8))
    endProcess(ExitStatus.unavailable)
#endif
