// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport

@testable import WebImageServer

/// A table of URLs with their responses. Each line contains the options, the format after the URL or `-`, the status code,
/// and for images the size and the format. The source is a PNG file of 64 by 48 pixels.
@Suite("The URLs of the image server", .timeLimit(.minutes(3)))
struct URLTableTests {
    private static let sizes = """
        w:32 png 200 32x24 png
        w:16 png 200 16x12 png
        w:8 png 200 8x6 png
        w:64 png 200 64x48 png
        w:128 png 200 64x48 png
        w:0 png 200 64x48 png
        width:32 png 200 32x24 png
        h:24 png 200 32x24 png
        h:12 png 200 16x12 png
        h:48 png 200 64x48 png
        h:96 png 200 64x48 png
        height:24 png 200 32x24 png
        w:32/h:24 png 200 32x24 png
        w:32/h:12 png 200 16x12 png
        w:16/h:48 png 200 16x12 png
        s:32:24 png 200 32x24 png
        s:32 png 200 32x24 png
        s:0:24 png 200 32x24 png
        s:20:20 png 200 20x15 png
        size:32:24 png 200 32x24 png
        s:128:96:1 png 200 128x96 png
        rs:fit:32:32 png 200 32x24 png
        rs:fit:16:16 png 200 16x12 png
        resize:fit:16:16 png 200 16x12 png
        rs:fit:0:12 png 200 16x12 png
        rs:fill:32:32 png 200 32x32 png
        rs:fill:16:32 png 200 16x32 png
        rs:fill:40:10 png 200 40x10 png
        rs:fill:64:48 png 200 64x48 png
        rs:fill-down:128:64 png 200 64x32 png
        rs:fill-down:32:32 png 200 32x32 png
        rs:force:10:40 png 200 10x40 png
        rs:force:60:10 png 200 60x10 png
        rs:auto:32:24 png 200 32x24 png
        rs:auto:40:10 png 200 40x10 png
        rs:auto:24:32 png 200 24x18 png
        rt:fill/w:20/h:20 png 200 20x20 png
        rt:force/w:20/h:30 png 200 20x30 png
        resizing_type:fit/w:20/h:30 png 200 20x15 png
        w:128/el:1 png 200 128x96 png
        w:128/enlarge:1 png 200 128x96 png
        w:128/el:0 png 200 64x48 png
        rs:fit:128:128:1 png 200 128x96 png
        rs:fill:128:128:1 png 200 128x128 png
        rs:fit:32:32:0:1 png 200 32x32 png
        w:32/h:32/ex:1 png 200 32x32 png
        w:100/h:100/ex:1 png 200 100x100 png
        w:32/h:40/extend:1:no png 200 32x40 png
        w:32/h:32/exar:1 png 200 32x32 png
        dpr:2/w:16 png 200 32x24 png
        dpr:0.5/w:32 png 200 16x12 png
        dpr:3/w:8 png 200 24x18 png
        z:0.5 png 200 32x24 png
        w:32/z:0.5 png 200 16x12 png
        zoom:2/w:16 png 200 32x24 png
        mw:32/w:16 png 200 16x24 png
        mh:24/h:12 png 200 32x12 png
        c:20:10 png 200 20x10 png
        crop:20:10 png 200 20x10 png
        c:0.5:0.5 png 200 32x24 png
        c:32:0 png 200 32x48 png
        c:0:24 png 200 64x24 png
        c:100:100 png 200 64x48 png
        c:20:20/w:10 png 200 10x10 png
        c:20:10:nowe png 200 20x10 png
        c:20:10:soea:2:3 png 200 20x10 png
        c:20:10:fp:0.1:0.9 png 200 20x10 png
        rot:90 png 200 48x64 png
        rot:180 png 200 64x48 png
        rotate:270 png 200 48x64 png
        rot:0 png 200 64x48 png
        rot:90/w:24 png 200 24x32 png
        rot:90/rs:fill:10:20 png 200 10x20 png
        fl:1 png 200 64x48 png
        flip:1:1 png 200 64x48 png
        pd:10 png 200 84x68 png
        pd:5:10 png 200 84x58 png
        pd:1:2:3:4 png 200 70x52 png
        padding:1:2:3 png 200 68x52 png
        w:32/pd:4 png 200 40x32 png
        w:16/dpr:2/pd:4 png 200 48x40 png
        """

    private static let gravities = ["ce", "no", "so", "ea", "we", "noea", "nowe", "soea", "sowe", "fp:0.2:0.9", "sm"]
        .map {
            "rs:fill:16:16/g:\($0) png 200 16x16 png\nc:16:12/gravity:\($0) png 200 16x12 png"
        }.joined(separator: "\n")

    private static let effects = """
        bg:ff0000 png 200 64x48 png
        bg:255:0:0 png 200 64x48 png
        background:fff png 200 64x48 png
        bl:1 png 200 64x48 png
        blur:2.5/w:32 png 200 32x24 png
        sh:1 png 200 64x48 png
        sharpen:0.5/w:32 png 200 32x24 png
        pix:8 png 200 64x48 png
        pixelate:3/w:32 png 200 32x24 png
        q:50 jpg 200 64x48 jpeg
        quality:0 jpg 200 64x48 jpeg
        fq:jpeg:30:webp:20 jpg 200 64x48 jpeg
        format_quality:webp:20 webp 200 64x48 webp
        w:32/mb:100000 jpg 200 32x24 jpeg
        max_bytes:100000 webp 200 64x48 webp
        f:webp - 200 64x48 webp
        format:gif - 200 64x48 gif
        ext:jpg - 200 64x48 jpeg
        f:webp gif 200 64x48 gif
        w:8 - 200 8x6 png
        w:32 jpg 200 32x24 jpeg
        w:32 jpeg 200 32x24 jpeg
        w:32 webp 200 32x24 webp
        w:32 gif 200 32x24 gif
        w:32 bmp 200 32x24 bmp
        sm:1 jpg 200 64x48 jpeg
        strip_metadata:0 jpg 200 64x48 jpeg
        kcr:0 jpg 200 64x48 jpeg
        keep_copyright:1 jpg 200 64x48 jpeg
        scp:1 png 200 64x48 png
        ar:1 png 200 64x48 png
        cb:abc png 200 64x48 png
        cachebuster:123/w:32 png 200 32x24 png
        fn:name png 200 64x48 png
        filename:bmFtZQ:1 png 200 64x48 png
        att:1 png 200 64x48 png
        return_attachment:0 png 200 64x48 png
        exp:4102444800 png 200 64x48 png
        raw:1 - 200 64x48 png
        raw:1/w:10 - 200 64x48 png
        skp:png/w:16 - 200 64x48 png
        skp:gif/w:16 png 200 16x12 png
        pg:0 png 200 64x48 png
        pr:thumb png 200 20x20 png
        preset:thumb png 200 20x20 png
        pr:thumb/w:10/h:10 png 200 10x10 png
        pr:thumb:soft png 200 20x20 png
        """

    private static let failures = """
        w:x png 404
        w:-1 png 404
        h:x png 404
        s:1:x png 404
        rs:foo:1:1 png 404
        rt:foo png 404
        dpr:-1 png 404
        dpr:x png 404
        z:x png 404
        g:xx png 404
        g:fp:x:1 png 404
        c:x:1 png 404
        c:-1:1 png 404
        t:x png 404
        pd:-1 png 404
        pd:x png 404
        rot:45 png 404
        rot:x png 404
        bg:zz png 404
        bg:1:2 png 404
        bl:x png 404
        bl:-1 png 404
        sh:x png 404
        pix:x png 404
        wm:1 png 404
        q:101 png 404
        q:-1 png 404
        q:x png 404
        fq:jpeg png 404
        fq:foo:10 png 404
        mb:x png 404
        f:foo png 404
        w:10 foo 404
        pg:x png 404
        exp:1 png 404
        exp:x png 404
        pr:missing png 404
        unknown:1 png 404
        enforce_thumbnail:1 png 404
        max_src_resolution:1 png 404
        max_animation_frames:2 png 404
        brightness:10 png 404
        """

    @Test("Each URL has the expected status, size, and format")
    func table() async throws {
        let root = try TemporaryDirectory()
        defer { withExtendedLifetime(root) {} }
        try TestImages.png(5, width: 64, height: 48).write(to: URL(filePath: root.file("a.png")))
        let server = try testServer {
            $0.localDirectory = URL(filePath: root.path)
            $0.presets = ["thumb=rs:fill:20:20", "soft=bl:1"]
        }
        let rows = [Self.sizes, Self.gravities, Self.effects, Self.failures].flatMap { $0.split(separator: "\n") }
        #expect(rows.count >= 150 && Set(rows).count == rows.count)
        for row in rows {
            let words = row.split(separator: " ").map(String.init)
            let suffix = words[1] == "-" ? "" : "@\(words[1])"
            let response = await server.response(
                to: ServerRequest(target: "/_/\(words[0])/plain/local:///a.png\(suffix)"))
            #expect("\(response.statusCode)" == words[2], "\(row): \(response.statusCode)")
            if words.count == 5, response.statusCode == 200 {
                let info = try ImageInfo(data: response.body)
                #expect("\(info.size.width)x\(info.size.height)" == words[3], "\(row): \(info.size)")
                #expect(info.format.rawValue == words[4], "\(row): \(info.format.rawValue)")
                #expect(response.headers["Content-Type"] == info.format.mimeType, "\(row)")
            } else if response.statusCode != 200 {
                #expect(response.headers["Content-Type"]?.hasPrefix("text/plain") == true && !response.body.isEmpty)
            }
        }
    }
}
