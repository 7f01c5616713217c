// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageIsolation

FuzzProgram.main([
    FuzzTarget("helper-body", maxLength: 2_048, seeds: Bodies.seeds, run: Bodies.run),
    FuzzTarget(
        "helper-message", maxLength: 512,
        seeds: { [Data(MessageHead(.image, request: 1).serialized(NumberBody(3).body))] }
    ) { bytes in
        guard let (head, body) = try? MessageHead.parse(Array(bytes)) else { return }
        require(head.bodyCount <= UInt64(MessageHead.maxBody), "A body is too large.")
        require(head.bodyCount == 0 || body.isEmpty, "A message has two bodies.")
        require(head.serialized(body) == Array(bytes), "A message changes if it’s written.")
    },
])
