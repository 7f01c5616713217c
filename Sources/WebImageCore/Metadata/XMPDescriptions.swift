// SPDX-License-Identifier: MIT

import Foundation

/// The descriptions of an image for people who can't see it, as an XMP packet contains them (IPTC Photo Metadata Standard
/// 2021.1, sections “Alt Text (Accessibility)” and “Extended Description (Accessibility)”).
package struct XMPDescriptions: Sendable, Hashable {
    /// The short description (`Iptc4xmpCore:AltTextAccessibility`), or `nil` if the packet has none.
    package var alternativeText: String?
    /// The long description (`Iptc4xmpCore:ExtDescrAccessibility`), or `nil` if the packet has none.
    package var extendedDescription: String?

    /// The maximum length of a description, in characters. Longer descriptions are truncated.
    package static let maxLength = 4_096

    private static let namespace = "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    /// Reads the descriptions of a packet.
    ///
    /// Both properties are lists of texts in several languages. This initializer selects the one for `x-default`, and
    /// otherwise the first one. It skips what it doesn't recognize. The packet is UTF-8.
    package init(packet: [UInt8]) {
        guard packet.count <= XMPPacket.maxBytes, Self.mayContainDescriptions(packet) else { return }
        var reader = Reader()
        var scanner = MarkupScanner(packet)
        while let token = scanner.next() { reader.read(token) }
        alternativeText = Self.text(reader.alternatives[.alternativeText])
        extendedDescription = Self.text(reader.alternatives[.extendedDescription])
    }

    /// Returns whether a packet contains the end of the names of the properties. Most packets don't, and this search is
    /// much faster than the scanner.
    private static func mayContainDescriptions(_ packet: [UInt8]) -> Bool {
        let name: StaticString = "Accessibility"
        return packet.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            let last = bytes.count - name.utf8CodeUnitCount
            var place = 0
            while place <= last, let found = memchr(start + place, Int32(name.utf8Start[0]), last - place + 1) {
                if memcmp(found, name.utf8Start, name.utf8CodeUnitCount) == 0 { return true }
                place = UnsafeRawPointer(found) - start + 1
            }
            return false
        }
    }

    /// Returns the selected text without control characters and characters that reorder text.
    private static func text(_ alternatives: [Alternative]?) -> String? {
        guard let alternatives, let first = alternatives.first else { return nil }
        let chosen = alternatives.first { $0.language == "x-default" } ?? first
        let scalars = chosen.text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: " "
            default: scalar
            }
        }
        var text = String(String.UnicodeScalarView(scalars))
        text = text.split(separator: " ").joined(separator: " ")
        return text.isEmpty ? nil : String(text.prefix(maxLength))
    }

    private enum Property: Hashable { case alternativeText, extendedDescription }

    private struct Alternative {
        var language: String?
        var text = ""
    }

    /// Finds the properties in the tokens of a packet.
    private struct Reader {
        private(set) var alternatives: [Property: [Alternative]] = [:]
        /// The namespaces by prefix. Declarations apply until the end of the packet, because packets declare each prefix
        /// once.
        private var namespaces: [String: String] = [:]
        /// The property whose element is open, with the number of its open descendants.
        private var open: (property: Property, depth: Int)?

        mutating func read(_ token: MarkupScanner.Token) {
            switch token {
            case .start(let name, let attributes, let isEmpty): start(name, attributes, isEmpty: isEmpty)
            case .end:
                guard let element = open else { return }
                open = element.depth == 0 ? nil : (element.property, element.depth - 1)
            case .text(let text):
                guard let property = open?.property, let last = alternatives[property]?.indices.last else { return }
                alternatives[property]?[last].text += text
            }
        }

        private mutating func start(
            _ name: String, _ attributes: [(name: String, value: String)], isEmpty: Bool
        ) {
            for (name, value) in attributes where name.hasPrefix("xmlns:") {
                namespaces[String(name.dropFirst(6))] = value
            }
            // A property without languages can be an attribute of its subject.
            for (name, value) in attributes {
                if let property = property(name) { alternatives[property, default: []].append(.init(text: value)) }
            }
            if let element = open {
                if isItem(name) {
                    let language = attributes.first { $0.name == "xml:lang" }?.value.lowercased()
                    alternatives[element.property, default: []].append(Alternative(language: language))
                }
                if !isEmpty { open?.depth += 1 }
            } else if !isEmpty, let property = property(name) {
                open = (property, 0)
            }
        }

        private func property(_ name: String) -> Property? {
            let parts = name.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, namespaces[String(parts[0])] == XMPDescriptions.namespace else { return nil }
            return switch parts[1] {
            case "AltTextAccessibility": .alternativeText
            case "ExtDescrAccessibility": .extendedDescription
            default: nil
            }
        }

        private func isItem(_ name: String) -> Bool {
            let parts = name.split(separator: ":", maxSplits: 1)
            return parts.count == 2 && parts[1] == "li" && namespaces[String(parts[0])] == XMPDescriptions.rdf
        }
    }
}
