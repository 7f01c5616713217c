// SPDX-License-Identifier: MIT

import CLibFuzzer
import WebImageCore

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
        let format = ImageFormat.sniff(bytes)
        if case .needsMore(let byteCount) = ImageInfo.probe(bytes, isComplete: false) {
            precondition(byteCount > bytes.count, "no progress")
        }
        switch ImageInfo.probe(bytes, isComplete: true) {
        case .needsMore: preconditionFailure("a whole file cannot need more")
        case .found(let probe):
            precondition(format == probe.format, "sniffing and probing disagree")
            precondition(!probe.size.isEmpty && probe.frameCount > 0 && probe.smallestFile >= 0)
        case .failed: break
        }
    }
}
