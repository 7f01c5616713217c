// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

FuzzProgram.main([
    FuzzTarget("probe", maxLength: 20_000, seeds: FixtureFiles.images) { bytes in
        precondition(ImageInfo.isProbedConsistently(bytes), "Sniffing and probing disagree.")
    },
    FuzzTarget("exif", maxLength: 2_048) { _ = ImageOrientation(exif: Data($0)) },
])
