// SPDX-License-Identifier: MIT

// The helper process of isolated decoding. Programs that use WebImage start it. It's of no use on its own.

import Foundation
import Glibc
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageIsolation

/// Loads what the libraries load at their first use, because the process can't open files later.
func prepare(_ kind: HelperKind) {
    switch kind {
    case .core: return
    case .raster: return CodecLibraries.loadForRasterFormats()
    case .vector: CodecLibraries.loadForVectorFormats()
    }
    // An image without text loads the modules for embedded images, but starts no thread for fonts.
    let pixel =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    let document = """
        <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="1" height="1">\
        <image width="1" height="1" xlink:href="data:image/png;base64,\(pixel)"/></svg>
        """
    _ = try? ImageCoderRegistry.standard.decode(Data(document.utf8))
}

endProcess(HelperMain.run(CommandLine.arguments, coders: { .standard }, prepare: prepare))
