// SPDX-License-Identifier: MIT

// The program `webimage-serve`, an HTTP server for processed images.

import Foundation
import Glibc
import WebImageConcurrency
import WebImageCore
import WebImageServer
import WebImageStore

func fail(_ message: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data("webimage-serve: \(message)\n".utf8))
    endProcess(status)
}

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.contains("--version") {
    print("webimage-serve \(ProductVersion.current)")
    endProcess(0)
}

#if Server
    if arguments.contains("--help") {
        print(ServeProgram.help)
        endProcess(0)
    }
    signal(SIGPIPE, SIG_IGN)
    // Most results are much smaller than their sources, so large blocks are needed only for a short time. The setting
    // applies to all threads, so it precedes them.
    SystemMemory.prefersSmallHeap()
    do {
        let settings = try ServiceSettings(
            arguments: arguments, environment: ProcessInfo.processInfo.environment,
            readFile: ServiceSettings.text(ofFile:))
        try await ServeProgram.run(settings)
        endProcess(0)
    } catch {
        // EX_CONFIG in sysexits.h.
        fail("\(error)", status: 78)
    }
#else
    // EX_UNAVAILABLE in sysexits.h.
    fail("this build has no HTTP server (build it with the trait Server, package libmicrohttpd-dev)", status: 69)
#endif
