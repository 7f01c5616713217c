// SPDX-License-Identifier: MIT

import WebImageCore

/// The forms in which servers receive the priority of a request.
extension RequestPriority {
    /// The value of the `Priority` header field (RFC 9218), or `nil` for the default priority, which isn't sent.
    ///
    /// The responses aren't incremental, because an image that is complete is more useful than parts of several images.
    /// 7 is the urgency of background tasks.
    var fieldValue: String? {
        switch self {
        case .veryLow: "u=7"
        case .low: "u=5"
        case .normal: nil
        case .high: "u=2"
        case .veryHigh: "u=1"
        }
    }

    /// The weight of the HTTP/2 stream (RFC 7540, section 5.3.2), from 1 to 256. 16 is the default of the protocol.
    ///
    /// RFC 9113 deprecates weights, but libcurl can change the priority of a running stream only in this form. It has no
    /// function that sends the PRIORITY_UPDATE frames of RFC 9218.
    var streamWeight: Int {
        switch self {
        case .veryLow: 1
        case .low: 4
        case .normal: 16
        case .high: 64
        case .veryHigh: 256
        }
    }
}
