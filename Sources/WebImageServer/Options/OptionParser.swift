// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Applies the options of URLs and presets to ``ProcessingOptions``.
package struct OptionParser: Sendable {
    /// The presets by name. The preset `default` applies to every URL.
    package private(set) var presets: [String: [ServerURL.Option]] = [:]
    /// The names of the options that URLs may use, or `nil` for all. Presets may use all options, and the names have no
    /// effect if only presets are allowed.
    package var allowedOptions: Set<String>?
    /// Whether the part of the options contains only names of presets.
    package var allowsOnlyPresets = false

    /// Creates a parser without presets.
    package init() {}

    /// Adds a preset of the form `NAME=OPTION/OPTION`.
    ///
    /// - Throws: A failure if the text isn't valid or if one of the options isn't.
    package mutating func addPreset(_ text: String) throws(ServerFailure) {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2 else { throw .notFound("The preset “\(text)” doesn’t have the form “name=options”.") }
        let options = parts[1].split(separator: "/").map { part in
            let words = part.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            return ServerURL.Option(words[0], Array(words.dropFirst()))
        }
        let name = parts[0].trimmingCharacters(in: .whitespaces)
        // A preset can use others that are added later, so their names aren't checked here.
        for option in options where !ServerURL.presetOptions.contains(option.name) {
            var unused = ProcessingOptions()
            guard !option.arguments.isEmpty else { throw .notFound("The option “\(option.name)” has no arguments.") }
            try apply(option, to: &unused, using: [name])
        }
        presets[name] = options
    }

    /// Returns the processing that a URL requests. `defaults` precede the options of presets and of the URL.
    ///
    /// - Throws: A failure with the status code 404 if an option isn't valid, supported, or allowed.
    package func options(
        of url: ServerURL, defaults: ProcessingOptions = ProcessingOptions()
    ) throws(ServerFailure) -> ProcessingOptions {
        var options = defaults
        if presets["default"] != nil { try applyPresets(["default"], to: &options, using: []) }
        for option in url.options {
            if allowsOnlyPresets, !ServerURL.presetOptions.contains(option.name) {
                throw .notFound("The server only allows presets.")
            }
            if !allowsOnlyPresets, let allowedOptions, !allowedOptions.contains(option.name) {
                throw .notFound("The server doesn’t allow the option “\(option.name)”.")
            }
            try apply(option, to: &options, using: [])
        }
        if let name = url.format, !options.isRaw {
            options.format = try OptionReader(ServerURL.Option("format", [name])).format(0)
        }
        return options
    }

    private func applyPresets(
        _ names: [String], to options: inout ProcessingOptions, using used: Set<String>
    ) throws(ServerFailure) {
        for name in names {
            guard let preset = presets[name] else { throw .notFound("The preset “\(name)” doesn’t exist.") }
            // A preset that contains itself has no further effect.
            guard !used.contains(name) else { continue }
            for option in preset { try apply(option, to: &options, using: used.union([name])) }
        }
    }

    private func apply(
        _ option: ServerURL.Option, to options: inout ProcessingOptions, using used: Set<String>
    ) throws(ServerFailure) {
        switch option.name {
        case _ where ServerURL.presetOptions.contains(option.name):
            try applyPresets(option.arguments, to: &options, using: used)
        default:
            if try options.applySize(option) { return }
            if try options.applyContent(option) { return }
            if try options.applyResult(option) { return }
            if let reason = Self.unsupported[option.name] {
                throw .notFound("The option “\(option.name)” isn’t supported. \(reason)")
            }
            throw .notFound("The option “\(option.name)” doesn’t exist.")
        }
    }

    /// The options of imgproxy that this server doesn't support, with the reasons.
    package static let unsupported: [String: String] = {
        let groups: [(names: [String], reason: String)] = [
            (["enforce_thumbnail", "eth"], "The server doesn’t select embedded thumbnails."),
            (
                [
                    "max_src_resolution", "msr", "max_src_file_size", "msfs", "max_animation_frames", "maf",
                    "max_animation_frame_resolution", "mafr", "max_result_dimension", "mrd",
                ], "Only the configuration of the server sets limits."
            ),
            (
                [
                    "adjust", "a", "brightness", "br", "contrast", "co", "saturation", "sa", "monochrome", "mc",
                    "duotone", "dt", "unsharp_masking", "ush", "blur_detections", "bd", "draw_detections", "dd",
                    "crop_aspect_ratio", "crop_ar", "car", "objects_position", "op", "colorize", "col", "gradient",
                    "gr", "watermark_url", "wmu", "watermark_text", "wmt", "watermark_size", "wms", "watermark_rotate",
                    "wm_rot", "wmr", "watermark_shadow", "wmsh", "style", "st", "autoquality", "aq", "jpeg_options",
                    "jpgo", "png_options", "pngo", "webp_options", "webpo", "avif_options", "avifo", "pages", "pgs",
                    "disable_animation", "da", "video_thumbnail_second", "vts", "video_thumbnail_keyframes", "vtk",
                    "video_thumbnail_tile", "vtt", "video_thumbnail_animation", "vta", "fallback_image_url", "fiu",
                    "hashsum", "hs", "dpi", "background_alpha", "bga", "resizing_algorithm", "ra", "color_profile",
                    "cp", "icc",
                ], "It belongs to the commercial edition of imgproxy."
            ),
        ]
        return Dictionary(
            groups.flatMap { group in group.names.map { ($0, group.reason) } }, uniquingKeysWith: { first, _ in first })
    }()
}
