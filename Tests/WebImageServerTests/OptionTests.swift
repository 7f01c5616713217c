// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@testable import WebImageServer

@Suite("Processing options of URLs", .timeLimit(.minutes(1)))
struct OptionTests {
    private func options(
        _ text: String, _ parser: OptionParser = OptionParser()
    ) throws(ServerFailure) -> ProcessingOptions {
        try parser.options(of: try ServerURL(path: "/_/\(text)/plain/https://a.example/b"))
    }

    private func expected(_ change: (inout ProcessingOptions) -> Void) -> ProcessingOptions {
        var options = ProcessingOptions()
        change(&options)
        return options
    }

    @Test("Sizes, in every notation, have the same effect")
    func sizes() throws {
        let box = expected {
            $0.resizingType = .fill
            $0.width = 300
            $0.height = 200
            $0.enlarges = true
        }
        for text in [
            "rs:fill:300:200:1", "resize:fill:300:200:t", "rt:fill/s:300:200:1", "resizing_type:fill/size:300:200:true",
            "w:300/h:200/el:1/rt:fill", "width:300/height:200/enlarge:1/rs:fill", "w:5/rs:fill:300:200:1",
        ] {
            #expect(try options(text) == box, "\(text)")
        }
        #expect(try options("rs::300") == expected { $0.width = 300 })
        #expect(try options("s::200") == expected { $0.height = 200 })
        #expect(
            try options("rs:fit:10:20:0:1:no:1:2")
                == expected {
                    $0.width = 10
                    $0.height = 20
                    $0.extend.isEnabled = true
                    $0.extend.gravity.kind = .point(0.5, 0)
                    $0.extend.gravity.offsetX = 1
                    $0.extend.gravity.offsetY = 2
                })
        for (name, type) in [
            ("fit", ProcessingOptions.ResizingType.fit), ("fill", .fill), ("fill-down", .fillDown), ("force", .force),
            ("auto", .auto),
        ] {
            #expect(try options("rt:\(name)").resizingType == type)
        }
        #expect(try options("dpr:1.5/mw:10/mh:20/z:2").dpr == 1.5)
        #expect(try options("z:2").zoomY == 2)
        #expect(try options("z:2:3").zoomY == 3)
    }

    @Test("Gravities with offsets, focus points, and smart crops are parsed")
    func gravities() throws {
        let corner = try options("g:soea:10:0.25").gravity
        #expect(corner.kind == .point(1, 1))
        #expect(corner.signX == -1 && corner.signY == -1 && corner.offsetX == 10 && corner.offsetY == 0.25)
        #expect(try options("g:sm").gravity.kind == .smart)
        let focus = try options("g:fp:0.2:0.7").gravity
        #expect(focus.kind == .point(0.2, 0.7) && focus.isFocus)
        let crop = try options("c:100:0.5:nowe:3:4")
        #expect(crop.cropWidth == 100 && crop.cropHeight == 0.5)
        #expect(crop.cropGravity?.kind == .point(0, 0))
        #expect(try options("c:100").cropGravity == nil)
    }

    @Test("Options of pixels, results, and responses are parsed")
    func others() throws {
        let all = try options(
            "pd:1:2/rot:-90/fl:1:0/bg:f00/bl:2.5/sh:0.5/pix:8/t:10:00ff00/q:70/fq:webp:60:avif:50/mb:1000/f:png/sm:0/pg:2"
                + "/skp:svg:gif/cb:x/exp:4000000000/fn:cat%20a/att:1")
        #expect(all.paddingTop == 1 && all.paddingRight == 2 && all.paddingBottom == 1 && all.paddingLeft == 2)
        #expect(all.rotation == 270 && all.flipsHorizontally && !all.flipsVertically)
        #expect(all.background == PixelColor(red: 255, green: 0, blue: 0))
        #expect(all.blur == 2.5 && all.sharpen == 0.5 && all.pixelate == 8)
        #expect(all.trimThreshold == 10 && all.trimColor == PixelColor(red: 0, green: 255, blue: 0))
        #expect(all.quality == 70 && all.formatQuality == [.webp: 60, .avif: 50] && all.maxBytes == 1_000)
        #expect(all.format == .png && !all.stripsMetadata && all.page == 2 && all.skippedFormats == [.svg, .gif])
        #expect(all.expires == 4_000_000_000 && all.filename == "cat a" && all.isAttachment)
        #expect(try options("bg:1:2:3").background == PixelColor(red: 1, green: 2, blue: 3))
        #expect(try options("bg:1:2:3/bg:").background == nil)
        #expect(try options("fn:Y2F0:1").filename == "cat")
        #expect(try options("pd:1:2:3:4").paddingLeft == 4)
        #expect(try options("raw:1").isRaw)
        // The extension wins against the option.
        #expect(try OptionParser().options(of: ServerURL(path: "/_/f:png/plain/a@webp")).format == .webp)
    }

    @Test(
        "Invalid and unsupported options are rejected with 404 and a reason",
        arguments: [
            "w:a", "w:-1", "w:1.5", "w:1:2", "h:99999999", "rs:big", "rs:fit:1:2:3:4:5:6:7:8:9", "dpr:0", "dpr:-1",
            "dpr:nan",
            "dpr:0x1p3", "dpr:inf", "z:0", "g:up", "g:fp:2:0", "g:fp:1", "g:obj:face", "g:no:a", "c:a", "c:-1", "pd:-1",
            "t:300", "t:1:zzz", "t:1::1:1:1", "rot:45", "rot:a", "bg:red", "bg:1:2", "bg:256:0:0", "bl:-1", "sh:a",
            "pix:-1",
            "q:101", "fq:webp", "fq:xyz:1", "mb:-1", "f:xyz", "f:", "pg:-1", "skp:xyz", "exp:a", "fn:", "fn:***:1",
            "ar:0", "scp:0", "wm:2", "wm:1:ch", "wm:1:ce:0:0:-1", "eth:1", "msr:1", "maf:1", "br:10", "aq:ssim",
            "nothing:1", "pr:none",
            "W:1",
            "ex:1:sm",
        ])
    func invalid(text: String) {
        do throws(ServerFailure) {
            let result = try options(text)
            // An empty format means none, as in imgproxy's other options.
            if text != "f:" { Issue.record("\(result)") }
        } catch {
            #expect(error.statusCode == 404)
            #expect(error.reason.hasSuffix("."), "\(error.reason)")
        }
    }

    @Test("A quality of a format applies if the URL or the source determines that format")
    func formatQuality() throws {
        func quality(_ text: String, _ format: ImageFormat?) throws -> Int? {
            try ProcessingPlan(source: URL(filePath: "/"), options: options(text), format: format).encoding.quality
        }
        #expect(try quality("fq:jpeg:20", nil) == 20 && quality("fq:jpeg:20:webp:30/q:40", nil) == 20)
        #expect(try quality("fq:webp:20/q:40", nil) == 40 && quality("fq:webp:20", nil) == 80)
        #expect(try quality("fq:webp:20/q:40", .webp) == 20 && quality("fq:webp:20/q:40", .avif) == 40)
    }

    @Test("Presets apply in order, contain each other, and end recursions")
    func presets() throws {
        var parser = OptionParser()
        try parser.addPreset("default=q:50")
        try parser.addPreset("small=w:100/pr:webp")
        try parser.addPreset("webp=f:webp/pr:small")
        let small = try options("pr:small", parser)
        #expect(small.width == 100 && small.format == .webp && small.quality == 50)
        #expect(try options("pr:small/w:50/q:60", parser).width == 50)
        #expect(throws: ServerFailure.self) { try options("pr:large", parser) }
        for text in ["x", "x=", "x=w:a", "x=w", "x=nothing:1", "=w:1"] {
            #expect(throws: ServerFailure.self, "\(text)") { try parser.addPreset(text) }
        }
        parser.allowedOptions = ["pr", "w"]
        #expect(try options("pr:webp/w:9", parser).format == .webp)
        #expect(throws: ServerFailure.self) { try options("h:9", parser) }
        parser.allowsOnlyPresets = true
        #expect(throws: ServerFailure.self) { try options("w:9", parser) }
    }

    @Test("If only presets are allowed, the part after the signature names them, in every form of the URL")
    func onlyPresets() throws {
        var parser = OptionParser()
        try parser.addPreset("thumb=w:100")
        try parser.addPreset("blurry=bl:5")
        parser.allowsOnlyPresets = true
        // These names concern options only.
        parser.allowedOptions = ["w"]
        let parsed = { (path: String) in
            let url = try ServerURL(path: path, allowsOnlyPresets: true)
            #expect(url.source == "https://a.example/b", "\(path)")
            return try parser.options(of: url)
        }
        let base64 = "aHR0cHM6Ly9hLmV4YW1wbGUvYg"
        for end in ["plain/https://a.example/b@png", "\(base64).png", "\(base64.prefix(8))/\(base64.dropFirst(8)).png"]
        {
            #expect(
                try parsed("/_/thumb:blurry/\(end)")
                    == expected {
                        ($0.width, $0.blur, $0.format) = (100, 5, .png)
                    })
            #expect(try parsed("/_/pr:thumb:blurry/\(end)") == (try parsed("/_/thumb:blurry/\(end)")))
            #expect(
                try parsed("/_/thumb/\(end)")
                    == expected {
                        ($0.width, $0.format) = (100, .png)
                    })
            #expect(throws: ServerFailure.self) { try parsed("/_/w:100/\(end)") }
            #expect(throws: ServerFailure.self) { try parsed("/_/thumb/w:100/\(end)") }
            #expect(throws: ServerFailure.self) { try parsed("/_/thumb:/\(end)") }
            #expect(throws: ServerFailure.self) { try parsed("/_/missing/\(end)") }
        }
        // Without presets, only the preset “default” applies.
        #expect(try parsed("/_/plain/https://a.example/b") == ProcessingOptions())
        #expect(try parsed("/_/\(base64)") == ProcessingOptions())
        #expect(try ServerURL(path: "/s/thumb/plain/a", allowsOnlyPresets: true).signedPath == "/thumb/plain/a")
        // If options are allowed, the same path is a base64 URL that isn’t valid.
        #expect(throws: ServerFailure.self) { try ServerURL(path: "/_/thumb/plain/https://a.example/b") }
    }

    @Test("URLs of random bytes are parsed or rejected", arguments: 0..<20)
    func random(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let words = [
            "rs", ":", "/", "plain", "fill", "1", "0.5", "g", "fp", "sm", "@", ".", "%41", "%", "-", "\u{e9}", "c",
            "fn",
        ]
        for _ in 0..<2_000 {
            let count = Int.random(in: 0..<20, using: &random)
            let path = "/" + (0..<count).map { _ in words.randomElement(using: &random) ?? "" }.joined()
            guard let url = try? ServerURL(path: path) else { continue }
            #expect(!url.source.isEmpty)
            guard let options = try? OptionParser().options(of: url) else { continue }
            let geometry = ResizeGeometry(of: PixelSize(width: 640, height: 480), options)
            #expect(geometry.scaled.width > 0 && geometry.cropped.height > 0 && geometry.extended.width > 0)
        }
    }
}
