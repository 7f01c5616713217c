// SPDX-License-Identifier: MIT

// `webimage-gallery`, which `webimage gallery` becomes. Synchronous from top to bottom: after an `await` the main actor
// would not be on the process's main thread any more.

import Foundation
import WebImagePrograms

#if GTK
    exit(GalleryProgram.run(Array(CommandLine.arguments.dropFirst())))
#else
    FileHandle.standardError.write(
        Data("webimage: this gallery was built without GTK; “make gallery” builds it (libgtk-4-dev, trait GTK)\n".utf8))
    exit(ExitStatus.unavailable)
#endif
