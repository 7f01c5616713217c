// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import WebImageCore

@Suite("Accessible descriptions in XMP")
struct XMPDescriptionsTests {
    private static let iptc = "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"

    /// Returns a packet with `content` in its description element.
    static func packet(_ content: String, attributes: String = "", prefix: String = "Iptc4xmpCore") -> [UInt8] {
        Array(
            """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:\(prefix)="\(iptc)" \(attributes)>\(content)</rdf:Description>
            </rdf:RDF></x:xmpmeta><?xpacket end="w"?>
            """.utf8)
    }

    @Test("The text for x-default is selected, and entities are expanded")
    func languages() {
        let found = XMPDescriptions(
            packet: Self.packet(
                """
                <Iptc4xmpCore:AltTextAccessibility><rdf:Alt>
                <rdf:li xml:lang="de">Ein Leuchtturm</rdf:li>
                <rdf:li xml:lang='X-Default'>A lighthouse &amp; &#x201C;the&#8221; sea &lt;3 &unknown;</rdf:li>
                </rdf:Alt></Iptc4xmpCore:AltTextAccessibility>
                <!-- <Iptc4xmpCore:ExtDescrAccessibility>no</Iptc4xmpCore:ExtDescrAccessibility> -->
                <Iptc4xmpCore:ExtDescrAccessibility><rdf:Alt><rdf:li xml:lang="de">Am <![CDATA[<Abend>]]>
                \u{202E}im\tHerbst</rdf:li></rdf:Alt></Iptc4xmpCore:ExtDescrAccessibility>
                """))
        #expect(found.alternativeText == "A lighthouse & “the” sea <3 &unknown;")
        #expect(found.extendedDescription == "Am <Abend> im Herbst")
    }

    @Test("The namespace counts, and not its prefix")
    func prefixes() {
        let text = "<p:AltTextAccessibility><rdf:Alt><rdf:li>Yes</rdf:li></rdf:Alt></p:AltTextAccessibility>"
        #expect(XMPDescriptions(packet: Self.packet(text, prefix: "p")).alternativeText == "Yes")
        #expect(XMPDescriptions(packet: Self.packet(text, prefix: "q")).alternativeText == nil)
    }

    @Test("A property can be an attribute")
    func attribute() {
        let found = XMPDescriptions(
            packet: Self.packet("", attributes: "Iptc4xmpCore:AltTextAccessibility=\"Two &gt; one\""))
        #expect(found == XMPDescriptions(alternativeText: "Two > one"))
    }

    @Test(
        "Invalid packets have no descriptions",
        arguments: [
            "", "Accessibility", "<a Accessibility", "<a b=\"Accessibility", "<!--Accessibility",
            "<![CDATA[Accessibility",
            "<?Accessibility", "</", "<Accessibility/", "<<<=''>/Accessibility=&#xFFFFFFFF;",
        ])
    func invalid(text: String) {
        #expect(XMPDescriptions(packet: Array(text.utf8)) == XMPDescriptions())
    }

    @Test("Long texts are truncated, and huge packets with many tags are read in linear time")
    func long() {
        let item = "<rdf:li>\(String(repeating: "long ", count: 2_000))</rdf:li>"
        let open = "<Iptc4xmpCore:AltTextAccessibility>"
        let found = XMPDescriptions(packet: Self.packet("\(open)\(item)</Iptc4xmpCore:AltTextAccessibility>"))
        #expect(found.alternativeText?.count == XMPDescriptions.maxLength)
        let many = String(repeating: "<rdf:li a='&amp;' b>&amp;", count: 40_000)
        let first = XMPDescriptions(packet: Self.packet("\(open)<rdf:li>One</rdf:li>\(many)"))
        #expect(first.alternativeText == "One")
    }

    @Test("Random changes of a packet never crash", arguments: 0..<8)
    func changes(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        let packet = Self.packet(
            "<Iptc4xmpCore:AltTextAccessibility><rdf:Alt><rdf:li xml:lang='x'>A&#65;</rdf:li></rdf:Alt>"
                + "</Iptc4xmpCore:AltTextAccessibility>")
        let marks = Array("<>/='\"&;!-[]?# :".utf8)
        for _ in 0..<500 {
            var changed = packet
            for _ in 0...random(6) {
                let place = random(changed.count)
                switch random(3) {
                case 0: changed[place] = marks[random(marks.count)]
                case 1: changed.remove(at: place)
                default: changed.removeLast(random(changed.count))
                }
                if changed.isEmpty { break }
            }
            let found = XMPDescriptions(packet: changed)
            #expect((found.alternativeText?.count ?? 0) <= XMPDescriptions.maxLength)
        }
    }
}

extension XMPDescriptions {
    fileprivate init(alternativeText: String? = nil) {
        self.init(packet: [])
        self.alternativeText = alternativeText
    }
}
