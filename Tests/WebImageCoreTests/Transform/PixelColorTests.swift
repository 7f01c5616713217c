// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@Suite("Colors")
struct PixelColorTests {
    @Test(
        "A color is read from three, six, or eight hexadecimal digits of any letter case",
        arguments: [
            ("#fff", PixelColor.white), ("#000000", PixelColor.black), ("#00000000", PixelColor.clear),
            ("#1aF", PixelColor(red: 0x11, green: 0xAA, blue: 0xFF)),
            ("#1a2B3c", PixelColor(red: 0x1A, green: 0x2B, blue: 0x3C)),
            ("#1A2b3C80", PixelColor(red: 0x1A, green: 0x2B, blue: 0x3C, alpha: 0x80)),
        ])
    func digits(_ text: String, _ expected: PixelColor) {
        #expect(PixelColor(hex: text) == expected)
    }

    @Test(
        "Text in another form isn't a color",
        arguments: [
            "", "#", "fff", "#ff", "#ffff", "#fffff", "#fffffff", "#fffffffff", "#ggg", " #fff", "#fff ", "#-12",
            "#٣٣٣", "white", "##fff",
        ])
    func others(_ text: String) {
        #expect(PixelColor(hex: text) == nil)
    }
}
