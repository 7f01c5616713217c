// SPDX-License-Identifier: MIT

import CLibFuzzer
@_spi(Fuzzing) import WebImageCore

@main
enum FuzzProbe {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        _ = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            FuzzProbe.check(UnsafeRawBufferPointer(start: data, count: size))
            return 0
        }
    }

    /// Sniffs and probes `bytes` as a whole file and as the beginning of one.
    static func check(_ bytes: UnsafeRawBufferPointer) {
        precondition(ImageInfo.isProbedConsistently(bytes), "sniffing and probing disagree")
    }
}
