// SPDX-License-Identifier: MIT

import CLibFuzzer
import Foundation
import WebImageCore

@main
enum FuzzExif {
    static func main() {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        _ = LLVMFuzzerRunDriver(&count, &arguments) { data, size in
            _ = ImageOrientation(exif: Data(UnsafeRawBufferPointer(start: data, count: size)))
            return 0
        }
    }
}
