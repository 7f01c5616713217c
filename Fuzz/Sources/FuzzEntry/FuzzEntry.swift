// SPDX-License-Identifier: MIT

import CLibFuzzer
@_spi(Fuzzing) import WebImageStore

@main
enum FuzzEntry {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        let seed = EntryFuzzing.seed
        precondition(seed.withUnsafeBytes { EntryFuzzing.roundTrip($0) })
        _ = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            let bytes = UnsafeRawBufferPointer(start: data, count: size)
            precondition(EntryFuzzing.roundTrip(bytes), "what was read cannot be written and read again")
            // Behind a valid header most mutations reach the sections.
            let whole = EntryFuzzing.seed.prefix(48) + bytes
            precondition([UInt8](whole).withUnsafeBytes { EntryFuzzing.roundTrip($0) })
            return 0
        }
    }
}
