// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The original data that a request delivers.
struct DeliveredData: Sendable {
    let data: Data
    /// The record of the data, or `nil` if an interceptor could have replaced it.
    let originalInfo: OriginalInfo?
    let source: ImageResponse.Source

    var result: DeliveredResult { DeliveredResult(source: source, byteCount: data.count) }
}
