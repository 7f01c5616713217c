// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension Sample {
    private static func svg(_ name: String, _ text: String, _ width: Int, _ height: Int) -> Sample {
        Sample(name, ByteBuilder().text(text), svgProbe(width, height))
    }

    private static func svgProbe(_ width: Int, _ height: Int) -> ImageInfo {
        ImageInfo(format: .svg, storedSize: size(width, height), hasAlpha: true)
    }

    private static func packed(_ name: String, _ base64: String) -> Sample {
        Sample(name, ByteBuilder().joined(Data(base64Encoded: base64) ?? Data()), svgProbe(192, 38))
    }

    private static func wide(_ text: String, bigEndian: Bool) -> ByteBuilder {
        text.utf16.reduce(ByteBuilder()) { bigEndian ? $0.big(Int($1), 2) : $0.little(Int($1), 2) }
    }

    private static let prolog = """
        <?xml version="1.0" encoding="utf-8"?>
        <!-- made by <svg> "hand", don't ask -->
        <!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/>" [
          <!ENTITY ns "http://ns/"> <!-- isn't ] it > -->
        ]>
        """

    static let markup = [
        svg("SVG in pixels", #"<svg width="20px" height = '10'/>"#, 20, 10),
        svg("SVG in inches and points", #"<svg width="1in" height="36pt" viewBox="0 0 1 1">"#, 96, 48),
        svg("SVG in centimetres and picas", #"<svg width="2.54cm" height="1e1pc"></svg>"#, 96, 160),
        svg("SVG with a view box only", #"<svg viewBox="-5,-5 120.4 80"/>"#, 120, 80),
        svg("SVG in percent with a view box", #"<svg width="100%" height="50%" viewBox="0 0 12 8"/>"#, 12, 8),
        svg("SVG with one side and a view box", #"<svg height="5em" width="40" viewBox="0 0 10 20"/>"#, 40, 80),
        svg("SVG in the default font size", #"<svg width="2em" height="3ex"/>"#, 32, 24),
        svg("SVG in its own font size", #"<svg width="2em" height="4ex" font-size="20"/>"#, 40, 40),
        svg(
            "SVG in the font size of its style",
            #"<svg font-size="30" width="2rem" height="3em" style="fill:red; Font-Size: 10px !important">"#, 20, 30),
        svg("SVG in a relative font size", #"<svg width="2em" height="1em" font-size="150%"/>"#, 48, 24),
        svg(
            "SVG in the font size of a shorthand",
            #"<svg style="font:700 20px/2 serif" width="1em" height="4ch"/>"#, 20, 40),
        svg(
            "SVG in an invalid font size",
            #"<svg font-size="-3px" style="font-size" width="1em" height="2em"/>"#, 16, 32),
        svg("SVG without any size", "<svg>", 300, 150),
        svg("SVG after a prolog with a prefix", prolog + #"<s:svg xmlns:s="&ns;" width="8" height="9" />"#, 8, 9),
        Sample(
            "SVG with a byte order mark", ByteBuilder().raw(0xEF, 0xBB, 0xBF).text(#" <svg width="8" height="9">"#),
            svgProbe(8, 9)),
        Sample(
            "SVG in UTF-16 LE",
            ByteBuilder().raw(0xFF, 0xFE).joined(wide(#"<svg title="ȥ" width="8" height="9">"#, bigEndian: false)),
            svgProbe(8, 9)),
        Sample(
            "SVG in UTF-16 BE without mark", wide(#"<svg width="8" height="9">"#, bigEndian: true), svgProbe(8, 9)),
        packed(
            "SVG in gzip, stored",
            "H4sIAAAAAAAEAwFVAKr/PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIyaW4iIGhlaWdodD0i"
                + "MTBtbSIgdmlld0JveD0iMCAwIDEgMSIvPtJs1i1VAAAA"),
        packed(
            "SVG in gzip, fixed codes",
            "H4sIAAAAAAACA7MpLktXqMjNySu2VcooKSmw0tcvLy/XKzfWyy9K1zcyMDDQB6pQUijPTCnJsFUyysxTUshIzUzPKLFVMjTIzVVS"
                + "KMtMLXfKr7BVMlAwUDBUMFTStwMA0mzWLVUAAAA="),
        packed(
            "SVG in gzip, codes of its own",
            "H4sIAAAAAAACA3WTSw6DMAxE9z2F6z3ECeFXAZV6k0ogiFSggohw/KZdd3aR7fH4OXJzP+cXHcO2u3VpWafC9+7SXJOEwrr1Qm6n"
                + "adgGei49+d/rG9cgbkG8Rn0KkDA5SGRIYZFHgYaqEIUWyG2gxlrICOlriA/5TQ41FfLJjIXbhD8Jd2At1FTIJzdotrxEPAXcQQE1"
                + "JfQp4WzVX54kiWewHyPF+1j2lifv3zelQghpyNJ1G5URERUrmILr/dSycQvHNm6cfLwkmWemww3hsZ4tCwlp0qy6D2JkVg5yAwAA"
        ),
        Sample(
            "PDF", ByteBuilder().text("%PDF-1.7\n1 0 obj<</Type/Page/MediaBox [ 0 0 200.5 100 ]>>endobj\n%%EOF"),
            ImageInfo(format: .pdf, storedSize: size(201, 100), hasAlpha: true, frameCountIsExact: false)),
        Sample(
            "PDF after junk, without a media box", ByteBuilder().zeros(900).text("%PDF-1.4\n%%EOF"),
            ImageInfo(format: .pdf, storedSize: size(612, 792), hasAlpha: true, frameCountIsExact: false)),
    ]
}
