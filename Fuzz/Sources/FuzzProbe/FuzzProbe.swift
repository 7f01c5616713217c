// SPDX-License-Identifier: MIT

import WebImageCore

/// Sniffs and probes `data` as a whole file and as the beginning of one. libFuzzer calls it once per input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProbe(_ data: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let bytes = UnsafeRawBufferPointer(start: data, count: count)
    let format = ImageFormat.sniff(bytes)
    if case .needsMore(let byteCount) = ImageProbe.probe(bytes, isComplete: false) {
        precondition(byteCount > count, "no progress")
    }
    switch ImageProbe.probe(bytes, isComplete: true) {
    case .needsMore: preconditionFailure("a whole file cannot need more")
    case .found(let probe):
        precondition(format == probe.format, "sniffing and probing disagree")
        precondition(!probe.size.isEmpty && probe.frameCount > 0 && probe.smallestFile >= 0)
    case .failed: break
    }
    return 0
}
