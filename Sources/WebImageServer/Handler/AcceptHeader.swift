// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The media types that a client accepts (RFC 9110, section 12.5.1).
package struct AcceptHeader: Sendable, Hashable {
    private struct Range: Sendable, Hashable {
        var type: String
        var subtype: String
        var quality: Int
    }

    private let ranges: [Range]

    /// Parses an `Accept` header field. Invalid members are ignored. `nil` means that the client sends no such field.
    package init(_ text: String?) {
        let members = (text ?? "").utf8.count <= 4_096 ? (text ?? "").split(separator: ",") : []
        ranges = members.compactMap { member in
            let parts = member.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
            let names = (parts.first ?? "").split(separator: "/", omittingEmptySubsequences: false)
            guard names.count == 2, !names[0].isEmpty, !names[1].isEmpty else { return nil }
            var quality = 1_000
            for part in parts.dropFirst() where part.hasPrefix("q=") {
                guard let value = Self.quality(part.dropFirst(2)) else { return nil }
                quality = value
            }
            return Range(type: String(names[0]), subtype: String(names[1]), quality: quality)
        }
    }

    /// Returns a weight in thousandths, or `nil` if the text isn't valid.
    private static func quality(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 5, text.utf8.allSatisfy({ "0123456789.".utf8.contains($0) }),
            let value = Double(text), (0...1).contains(value)
        else { return nil }
        return Int((value * 1_000).rounded())
    }

    /// Returns the weight of a media type in thousandths, by the most specific range that contains it.
    ///
    /// - Parameter isExplicit: Whether ranges with wildcards are ignored.
    package func weight(of mediaType: String, isExplicit: Bool = false) -> Int {
        let names = mediaType.split(separator: "/").map(String.init)
        guard names.count == 2 else { return 0 }
        var best: (rank: Int, quality: Int) = (-1, 0)
        for range in ranges {
            let rank: Int
            if range.type == names[0], range.subtype == names[1] {
                rank = 2
            } else if !isExplicit, range.type == names[0], range.subtype == "*" {
                rank = 1
            } else if !isExplicit, range.type == "*", range.subtype == "*" {
                rank = 0
            } else {
                continue
            }
            if rank > best.rank { best = (rank, range.quality) }
        }
        return best.quality
    }

    /// Returns the format for a client, or `nil` if the source and its content determine the format.
    ///
    /// Modern formats must be named, because many clients send wildcards and can't display these formats. The first
    /// format in `preferred` wins among those with the highest weight, unless JPEG or PNG has a higher one. If no format
    /// wins and the client accepts only one of JPEG and PNG, the result is this format.
    package func format(preferred: [ImageFormat]) -> ImageFormat? {
        var best: (format: ImageFormat, weight: Int)?
        for format in preferred {
            guard let mediaType = format.mimeType else { continue }
            let weight = weight(of: mediaType, isExplicit: true)
            if weight > best?.weight ?? 0 { best = (format, weight) }
        }
        // A client can prefer a classic format by a higher weight, also with a wildcard.
        let (jpeg, png) = (self.weight(of: "image/jpeg"), self.weight(of: "image/png"))
        if let best, best.weight >= max(jpeg, png) { return best.format }
        guard (jpeg > 0) != (png > 0) else { return nil }
        return jpeg > 0 ? .jpeg : .png
    }
}
