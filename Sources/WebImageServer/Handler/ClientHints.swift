// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The client hints of a request. Invalid values are ignored.
struct ClientHints: Sendable, Hashable {
    static let names = ["Sec-CH-DPR", "Sec-CH-Width", "Save-Data"]

    /// The number of device pixels per CSS pixel, or `nil`.
    var dpr: Double?
    /// The width of the image in device pixels, or `nil`.
    var width: Int?
    var savesData = false

    init(_ headers: HTTPHeaderFields) {
        dpr = headers["Sec-CH-DPR"].flatMap(Double.init).flatMap { (0.1...8).contains($0) ? $0 : nil }
        width = headers["Sec-CH-Width"].flatMap { Int($0) }.flatMap { (1...16_384).contains($0) ? $0 : nil }
        savesData = headers["Save-Data"]?.lowercased() == "on"
    }
}

extension ProcessingOptions {
    /// Applies client hints as defaults, which the options of the URL replace.
    mutating func apply(_ hints: ClientHints) {
        // A client that saves data gets one pixel per CSS pixel and a lower quality.
        if let ratio = hints.dpr, !hints.savesData { dpr = ratio }
        if let pixels = hints.width { width = max(1, Int((Double(pixels) / (hints.dpr ?? 1)).rounded())) }
        if hints.savesData { quality = 50 }
    }
}
