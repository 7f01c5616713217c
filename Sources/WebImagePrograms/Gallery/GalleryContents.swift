// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand

/// The images of the gallery, with the current filter and order.
package struct GalleryContents: Sendable, Hashable {
    /// The order in which images are shown.
    package enum Order: String, Sendable, CaseIterable {
        case original = "none"
        case name
        case source = "url"

        /// The title in the user interface.
        package var title: String {
            switch self {
            case .original: "Original Order"
            case .name: "Name"
            case .source: "URL"
            }
        }
    }

    /// All images, in the original order.
    package private(set) var items: [GalleryItem]
    package var order = Order.original { didSet { if order != oldValue { update() } } }
    /// The search text. The gallery shows only images whose title or source contains every word, ignoring case.
    package var filter = "" { didSet { if filter != oldValue { update() } } }
    /// The images that match the filter, in the current order.
    package private(set) var visibleItems: [GalleryItem]

    package init(_ items: [GalleryItem] = []) {
        self.items = items
        visibleItems = items
    }

    /// Adds images after the existing ones, and skips images that already exist. Returns the items for these URLs, both
    /// new and existing.
    @discardableResult
    package mutating func add(_ urls: [URL]) -> [GalleryItem] {
        var known = Dictionary(items.map { ($0.url, $0) }) { first, _ in first }
        let result = urls.map { url in
            if let item = known[url] { return item }
            let item = GalleryItem(number: items.count, url: url)
            items.append(item)
            known[url] = item
            return item
        }
        update()
        return result
    }

    /// Returns the position at which `item` is shown, or `nil` if the filter hides it.
    package func index(of item: GalleryItem) -> Int? { visibleItems.firstIndex(of: item) }

    /// A description of the number of images, without a period.
    package var summary: String {
        let all = "\(NumberFormatting.grouped(items.count)) Image\(items.count == 1 ? "" : "s")"
        return visibleItems.count == items.count ? all : "\(NumberFormatting.grouped(visibleItems.count)) of \(all)"
    }

    private mutating func update() {
        let words = filter.lowercased().split(whereSeparator: \.isWhitespace)
        visibleItems =
            words.isEmpty
            ? items
            : items.filter { item in
                let text = "\(item.title) \(item.detail)".lowercased()
                return words.allSatisfy { text.contains($0) }
            }
        switch order {
        case .original: break
        case .name: visibleItems.sort { Self.before(($0.title, $0.number), ($1.title, $1.number)) }
        case .source: visibleItems.sort { Self.before(($0.detail, $0.number), ($1.detail, $1.number)) }
        }
    }

    private static func before(_ left: (String, Int), _ right: (String, Int)) -> Bool {
        switch left.0.localizedStandardCompare(right.0) {
        case .orderedAscending: true
        case .orderedDescending: false
        case .orderedSame: left.1 < right.1
        }
    }
}
