// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// An entry in the output of `cache list`.
package struct CacheRow: Sendable {
    /// The canonical text of the key.
    package var key: String
    /// The source of the data, according to the key.
    package var source: String
    /// The file name of the entry.
    package var name: String
    package var format: String?
    package var bytes: Int
    package var stored: Date
    package var lastAccess: Date
    package var expires: Date?
    package var tags: [String]

    package init(
        key: String, source: String, name: String, format: String?, bytes: Int, stored: Date, lastAccess: Date,
        expires: Date?, tags: [String]
    ) {
        self.key = key
        self.source = URLCredentials.removed(from: source)
        self.name = name
        self.tags = tags
        self.format = format
        self.bytes = bytes
        self.stored = stored
        self.lastAccess = lastAccess
        self.expires = expires
    }

    /// The JSON object for the entry.
    package var json: JSONValue {
        [
            "url": .string(source), "key": .string(key), "fileName": .string(name), "format": JSONValue(format),
            "bytes": .int(bytes), "storedAt": .string(Self.timestamp(stored)),
            "lastAccessedAt": .string(Self.timestamp(lastAccess)),
            "expiresAt": JSONValue(expires.map(Self.timestamp)), "tags": .array(tags.map { .string($0) }),
        ]
    }

    /// Returns the table of all rows, with ages relative to `now`.
    package static func table(_ rows: [CacheRow], now: Date) -> TextTable {
        var table = TextTable([
            .init("URL", shrinksTo: 24), .init("format", omissionOrder: 2), .init("size", isNumeric: true),
            .init("stored", omissionOrder: 1), .init("accessed"), .init("expires", omissionOrder: 3),
        ])
        for row in rows {
            table.add([
                .init(row.source), .init(row.format ?? ""), .init(NumberFormatting.bytes(row.bytes)),
                .init(age(row.stored, now)), .init(age(row.lastAccess, now)),
                .init(row.expires.map { $0 > now ? "in \(duration($0.timeIntervalSince(now)))" : "stale" } ?? "–"),
            ])
        }
        return table
    }

    /// Returns a date in UTC in the ISO 8601 format.
    package static func timestamp(_ date: Date) -> String {
        Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded()).formatted(.iso8601)
    }

    /// Returns an age such as `3 min ago`.
    package static func age(_ date: Date, _ now: Date) -> String {
        let seconds = now.timeIntervalSince(date)
        return seconds < 1 ? "now" : "\(duration(seconds)) ago"
    }

    private static func duration(_ seconds: Double) -> String {
        switch seconds {
        case ..<60: "\(Int(seconds)) s"
        case ..<3_600: "\(Int(seconds / 60)) min"
        case ..<(2 * 86_400): "\(Int(seconds / 3_600)) h"
        case ..<(1_000 * 86_400): "\(Int(seconds / 86_400)) days"
        default: "years"
        }
    }
}
