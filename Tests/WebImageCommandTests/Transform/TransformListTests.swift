// SPDX-License-Identifier: MIT

import Testing
import WebImageCore
import WebImageTestSupport

@testable import WebImageCommand

@Suite("Lists of transformers")
struct TransformListTests {
    private func read(_ text: String) throws(TransformListError) -> [any ImageTransformer] {
        try TransformList(text) { path throws(ImageError) in throw .request(.fileNotFound(path: path)) }.transformers
    }

    private func identities(_ text: String) throws -> [String] { try read(text).map(\.identifier) }

    @Test("Transformers are parsed in order, with or without values")
    func order() throws {
        let expected: [any ImageTransformer] = [.resize(width: 200, height: 200), .blur(radius: 8), .circle]
        #expect(
            try identities("resize=200x200,blur=8,circle").map { $0.prefix(5) } == ["resiz", "blur(", "circl"])
        #expect(try identities("resize=200x200")[0] == expected[0].identifier)
        #expect(try identities("circle")[0] == expected[2].identifier)
        #expect(try identities("flip=both,flip=both").count == 2)
    }

    static let same: [(String, any ImageTransformer)] = [
        ("resize=9x", .resize(width: 9)), ("resize=9x8:exact", .resize(width: 9, height: 8, mode: .exactly)),
        ("resize=x9:fill", .resize(height: 9, mode: .fill)),
        ("resize=50%", .resize(.scaled(width: 0.5, height: 0.5), upscales: false)),
        ("resize=50%x12.5%", .resize(.scaled(width: 0.5, height: 0.125), upscales: false)),
        ("crop=3x4", .crop(width: 3, height: 4)), ("crop=3x4:top", .crop(width: 3, height: 4, anchor: .top)),
        ("crop=3x4:1:-2.5", .crop(x: 1, y: -2.5, width: 3, height: 4)),
        ("smart-crop=3x4", .smartCrop(width: 3, height: 4)),
        ("smart-crop=3x4:entropy", .smartCrop(width: 3, height: 4, strategy: .entropy)),
        ("canvas=3x4", .canvas(width: 3, height: 4)),
        (
            "canvas=3x4:original:bottom-right:white",
            .canvas(width: 3, height: 4, mode: .original, anchor: .bottomTrailing, background: .white)
        ),
        (
            "canvas=3x4:fill:top:black:upscale",
            .canvas(width: 3, height: 4, mode: .fill, anchor: .top, background: .black, upscales: true)
        ),
        ("trim", .trim()), ("trim=0.5", .trim(tolerance: 0.5)),
        ("trim=0.1:white", .trim(tolerance: 0.1, color: .white)),
        ("rounded-corners=4", .roundedCorners(radius: 4)),
        ("rounded-corners=25%", .roundedCorners(radiusFraction: 0.25)),
        (
            "rounded-corners=50%:top-left:2:white",
            .roundedCorners(radiusFraction: 0.5, corners: .topLeading, border: .init(width: 2, color: .white))
        ),
        (
            "rounded-corners=4:top-left+bottom-right",
            .roundedCorners(radius: 4, corners: [.topLeading, .bottomTrailing])
        ),
        ("rounded-corners=4:2:white", .roundedCorners(radius: 4, border: .init(width: 2, color: .white))),
        ("rounded-corners=4:all:2", .roundedCorners(radius: 4, border: .init(width: 2, color: .black))),
        ("circle=2:#f00", .circle(border: .init(width: 2, color: PixelColor(red: 255, green: 0, blue: 0)))),
        ("border=2", .border(width: 2, color: .black)),
        ("border=2:white:outside", .border(width: 2, color: .white, placement: .outside)),
        ("flip=vertical", .flip(.vertical)), ("rotate=-15", .rotate(degrees: -15)),
        ("rotate=15:clip:black", .rotate(degrees: 15, mode: .clip, background: .black)),
        ("pad=3", .pad(3)),
        ("pad=1:2:3:4:white", .pad(.init(top: 1, leading: 2, bottom: 3, trailing: 4), color: .white)),
        ("inset=2", .inset(2)), ("blur=dark", .blur(.dark)), ("blur=extra-light", .blur(.extraLight)),
        ("blur=tinted:#00f", .blur(.tinted(PixelColor(red: 0, green: 0, blue: 255)))),
        ("blur=3:0.5:white", .blur(radius: 3, saturation: 0.5, tint: .white)),
        ("blur=3:1:white:multiply", .blur(radius: 3, tint: .white, tintBlendMode: .multiply)),
        ("sharpen", .sharpen()), ("sharpen=2:3:0.1", .sharpen(amount: 2, radius: 3, threshold: 0.1)),
        ("vignette", .vignette()), ("vignette=1:0.2:white", .vignette(strength: 1, start: 0.2, color: .white)),
        ("tint=black", .tint(.black)),
        ("tint=#11223344:multiply", .tint(PixelColor(red: 17, green: 34, blue: 51, alpha: 68), blendMode: .multiply)),
        ("saturation=-1", .saturation(-1)), ("brightness=1.5", .brightness(1.5)), ("contrast=0", .contrast(0)),
        ("grayscale", .grayscale(1)), ("sepia=0.5", .sepia(0.5)), ("invert", .invert(1)),
        ("hue-rotation=90", .hueRotation(degrees: 90)),
        (
            "color-matrix=1:0:0:0:0:0:1:0:0:0:0:0:1:0:0:0:0:0:1:0.5",
            .colorMatrix(ColorMatrix(alpha: .init(alpha: 1, constant: 0.5)))
        ),
    ]

    @Test("Every transformer is supported", arguments: same.indices)
    func known(_ index: Int) throws {
        let (text, transformer) = Self.same[index]
        #expect(try identities(text) == [transformer.identifier])
    }

    @Test("Anchors, corners, and blend modes have names in kebab case, and their former names have the same effect")
    func kebabCase() throws {
        let anchors: [(String, [String], StandardTransformer.Anchor)] = [
            ("top-left", ["top-leading", "topLeading"], .topLeading), ("top", [], .top),
            ("top-right", ["top-trailing", "topTrailing"], .topTrailing), ("left", ["leading"], .leading),
            ("center", [], .center), ("right", ["trailing"], .trailing),
            ("bottom-left", ["bottom-leading", "bottomLeading"], .bottomLeading), ("bottom", [], .bottom),
            ("bottom-right", ["bottom-trailing", "bottomTrailing"], .bottomTrailing),
        ]
        #expect(TransformSpec.anchors.list == anchors.map(\.0))
        let corners: [StandardTransformer.Anchor: StandardTransformer.Corners] = [
            .topLeading: .topLeading, .topTrailing: .topTrailing, .bottomLeading: .bottomLeading,
            .bottomTrailing: .bottomTrailing,
        ]
        #expect(TransformSpec.corners.list == ["top-left", "top-right", "bottom-left", "bottom-right"])
        for (name, aliases, anchor) in anchors {
            for name in [name] + aliases {
                let crop = StandardTransformer.crop(width: 3, height: 4, anchor: anchor)
                #expect(try identities("crop=3x4:\(name)") == [crop.identifier], "\(name)")
                let canvas = StandardTransformer.canvas(width: 3, height: 4, anchor: anchor)
                #expect(try identities("canvas=3x4:fit:\(name)") == [canvas.identifier], "\(name)")
                #expect(try identities("overlay=a:\(name)") == identities("overlay=a:\(anchor.rawValue)"), "\(name)")
                guard let corner = corners[anchor] else {
                    #expect(throws: TransformListError.self) { try identities("rounded-corners=1:\(name)") }
                    continue
                }
                let rounded = StandardTransformer.roundedCorners(radius: 1, corners: corner)
                #expect(try identities("rounded-corners=1:\(name)") == [rounded.identifier], "\(name)")
            }
        }
        let modes: [(String, ImageBlendMode)] = [
            ("normal", .normal), ("multiply", .multiply), ("screen", .screen), ("overlay", .overlay),
            ("darken", .darken), ("lighten", .lighten), ("color-dodge", .colorDodge), ("color-burn", .colorBurn),
            ("hard-light", .hardLight), ("soft-light", .softLight), ("difference", .difference),
            ("exclusion", .exclusion), ("source-atop", .sourceAtop), ("source-in", .sourceIn),
        ]
        #expect(TransformSpec.blendModes.list == modes.map(\.0))
        for (name, mode) in modes {
            for name in [name, mode.rawValue] {
                let tint = StandardTransformer.tint(.black, blendMode: mode)
                #expect(try identities("tint=black:\(name)") == [tint.identifier], "\(name)")
                let blur = StandardTransformer.blur(radius: 3, tint: .black, tintBlendMode: mode)
                #expect(try identities("blur=3:1:black:\(name)") == [blur.identifier], "\(name)")
                #expect(
                    try identities("overlay=a:center:1:\(name)") == identities("overlay=a:center:1:\(mode.rawValue)"))
            }
        }
        for wrong in ["Top-Left", "topleft", "top_left", "top-Leading", "TopLeading", "left-top", "-top", ""] {
            #expect(throws: TransformListError.self, "\(wrong)") { try identities("crop=3x4:\(wrong)") }
        }
    }

    @Test("All values in the help are in kebab case")
    func valuesInHelp() {
        for spec in TransformSpec.all {
            let values = spec.usage.drop { $0 != "=" }.dropFirst()
            let words = values.split { !$0.isLetter && $0 != "-" }.filter {
                $0 != "x" && $0 != "WxH" && $0 != "xPERCENT"
            }
            for word in words {
                let isPlaceholder = word.allSatisfy(\.isUppercase)
                #expect(isPlaceholder || word.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(spec.name): \(word)")
            }
        }
        for word in Commands.all.flatMap(\.options).flatMap({ option -> [String] in
            if case .words(let words) = option.valueKind { words } else { [String]() }
        }) {
            #expect(word == word.lowercased(), "\(word)")
        }
    }

    @Test("All names are unique and covered by these tests")
    func names() {
        let tested = Set(Self.same.map { String($0.0.prefix { $0.isLetter || $0 == "-" }) } + ["overlay", "mask"])
        #expect(tested == Set(TransformList.names))
        #expect(TransformList.names.count == tested.count)
    }

    @Test("Files of overlays and masks are read once, when the first image is transformed")
    func files() throws {
        let calls = Shared<[String]>([])
        let badge = try PixelCanvas(size: PixelSize(width: 2, height: 2)).finish(isOpaque: false)
        let list = try TransformList("overlay=a.png:top-left:0.5:multiply,overlay=b.png:1:2,mask=c.png:luminance") {
            path throws(ImageError) in
            calls.update { $0.append(path) }
            return badge
        }
        #expect(calls.value.isEmpty)
        var pixels = try PixelCanvas(size: PixelSize(width: 5, height: 4)).finish(isOpaque: false)
        for transformer in list.transformers + list.transformers {
            pixels = try transformer.transform(pixels, context: ImageProcessingContext())
        }
        #expect(calls.value == ["a.png", "b.png", "c.png"])
        #expect(Set(list.transformers.map(\.identifier)).count == 3)
        let missing = try #require(try read("mask=none.png").first)
        #expect(throws: ImageError.request(.fileNotFound(path: "none.png"))) {
            try missing.transform(pixels, context: ImageProcessingContext())
        }
    }

    private static let lengths = "isn’t valid (use a number of pixels greater than 0, up to 1000000)"
    private static let sizes = "isn’t valid (use WxH in pixels, such as 320x240)"
    private static let percentages =
        "isn’t valid (use percentages greater than 0%, up to 10000%, such as 50% or 50%x25%)"
    private static let colors = "isn’t valid (use #rrggbb, #rrggbbaa, black, white, or clear)"

    private static let refusals: [(String, String)] = [
        ("", "--transform, item 1: the name is missing"),
        ("circle,", "--transform, item 2: the name is missing"),
        ("sepia,blur", "--transform, item 2: blur: the radius is missing"),
        ("blur=-1", "--transform, item 1: blur: the radius “-1” \(lengths)"),
        ("blur=nan", "--transform, item 1: blur: the radius “nan” \(lengths)"),
        ("blur=inf", "--transform, item 1: blur: the radius “inf” \(lengths)"),
        ("blur=1e3", "--transform, item 1: blur: the radius “1e3” \(lengths)"),
        ("blur=9999999", "--transform, item 1: blur: the radius “9999999” \(lengths)"),
        ("sepia=2", "--transform, item 1: sepia: the amount “2” isn’t valid (use a number from 0 to 1)"),
        ("sepia=1:2", "--transform, item 1: sepia: unexpected value “2”"),
        ("sepia=", "--transform, item 1: sepia: the amount “” isn’t valid (use a number from 0 to 1)"),
        ("resize=0x0", "--transform, item 1: resize: the size “0x0” \(sizes)"),
        ("resize=x", "--transform, item 1: resize: the size “x” \(sizes)"),
        ("resize=0%", "--transform, item 1: resize: the size “0%” \(percentages)"),
        ("resize=-5%", "--transform, item 1: resize: the size “-5%” \(percentages)"),
        ("resize=1000000%", "--transform, item 1: resize: the size “1000000%” \(percentages)"),
        ("resize=50%:fill", "--transform, item 1: resize: unexpected value “fill”"),
        ("crop=50%", "--transform, item 1: crop: the size “50%” \(sizes)"),
        ("crop=5x", "--transform, item 1: crop: the width or height is missing"),
        ("canvas=5x", "--transform, item 1: canvas: the width or height is missing"),
        ("smart-crop=x5", "--transform, item 1: smart-crop: the width or height is missing"),
        (
            "canvas=5x5:cover",
            "--transform, item 1: canvas: the mode “cover” isn’t valid (use one of fit, fill, stretch, original)"
        ),
        (
            "crop=5x5:north",
            "--transform, item 1: crop: the anchor “north” isn’t valid (use one of top-left, top, top-right, left, center, "
                + "right, bottom-left, bottom, bottom-right)"
        ),
        (
            "rounded-corners=5:top-left+top",
            "--transform, item 1: rounded-corners: the corners “top-left+top” isn’t valid (use all, or some of "
                + "top-left+top-right+bottom-left+bottom-right)"
        ),
        ("trim=2", "--transform, item 1: trim: the tolerance “2” isn’t valid (use a number from 0 to 1)"),
        (
            "rounded-corners=101%",
            "--transform, item 1: rounded-corners: the radius “101%” isn’t valid (use a percentage greater than 0%, up "
                + "to 100%)"
        ),
        (
            "flip=up",
            "--transform, item 1: flip: the direction “up” isn’t valid (use one of horizontal, vertical, both)"
        ),
        ("tint=red", "--transform, item 1: tint: the color “red” \(colors)"),
        ("tint=#12", "--transform, item 1: tint: the color “#12” \(colors)"),
        ("overlay=", "--transform, item 1: overlay: the file is missing"),
        ("color-matrix=1:2", "--transform, item 1: color-matrix: the blue-to-red coefficient is missing"),
    ]

    @Test("An error names the position, the value, and the allowed values", arguments: refusals)
    func refused(_ text: String, _ message: String) {
        #expect {
            _ = try read(text)
        } throws: {
            ($0 as? TransformListError)?.message == message
        }
    }

    @Test("Unknown names cause an error with all names, case and whitespace matter, and the length is limited")
    func strict() {
        for text in ["Blur=1", " blur=1", "blur =1", "blu=1", "frob", "blur;sepia", "=1"] {
            #expect {
                _ = try read(text)
            } throws: { error in
                guard let error = error as? TransformListError, case .unknown = error.problem else { return false }
                return TransformList.names.allSatisfy { error.message.contains($0) }
            }
        }
        #expect(throws: TransformListError(position: 65, problem: .tooMany(limit: 64))) {
            try read([String](repeating: "sepia", count: 65).joined(separator: ","))
        }
        #expect(throws: Never.self) { try read([String](repeating: "sepia", count: 64).joined(separator: ",")) }
    }

    @Test("Random text is rejected or parsed, with one transformer for each name", arguments: 0..<8)
    func fuzz(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let words =
            TransformList.names + ["=", ",", ":", "x", "1", "-1", "0.5", "#fff", "white", "nan", "٣", "e", "top", "🦜"]
            + Self.same.map(\.0)
        let pixels = try PixelCanvas(size: PixelSize(width: 3, height: 2)).finish(isOpaque: false)
        let small = ImageProcessingContext(limits: ImageLimits(maxPixels: 10_000))
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 0..<7, using: &random)).map { _ in
                words.randomElement(using: &random) ?? ""
            }.joined(separator: Bool.random(using: &random) ? "," : "")
            do throws(TransformListError) {
                let transformers = try read(text)
                #expect(transformers.count == text.split(separator: ",", omittingEmptySubsequences: false).count)
                for transformer in transformers { _ = try? transformer.transform(pixels, context: small) }
            } catch {
                #expect(error.position >= 1 && !error.message.isEmpty)
            }
        }
    }
}
