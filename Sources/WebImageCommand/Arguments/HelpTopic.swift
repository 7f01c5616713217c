// SPDX-License-Identifier: MIT

import WebImageCore

/// A page of the help that doesn't describe a command, such as `webimage help transforms`.
package struct HelpTopic: Sendable {
    /// A titled list of terms.
    package struct Section: Sendable {
        package let title: String
        package let items: [Item]
    }

    /// A term and its meaning.
    package struct Item: Sendable {
        package let term: String
        /// The meaning, in one or more sentences.
        package let meaning: String
    }

    /// The name, which follows `webimage help`.
    package let name: String
    /// The summary, in one sentence.
    package let summary: String
    /// The paragraphs before the sections.
    package let details: [String]
    package let sections: [Section]
    package let examples: [CommandSpec.Example]

    /// All topics, in the order of the help text.
    package static let all = [transforms]

    /// The transformers of `--transform`.
    package static let transforms = HelpTopic(
        name: "transforms",
        summary: "List the transformers of --transform.",
        details: [
            "The value of --transform is a list of up to \(TransformList.limit) transformers, which are separated by commas "
                + "and applied in the given order. An equals sign precedes the values of a transformer, and colons separate "
                + "them. Values in brackets are optional, and | separates alternatives. Lengths are in pixels. The option "
                + "can be repeated. The commands convert, fetch, and thumbnail have it.",
            "The names of files can’t contain commas and colons.",
        ],
        sections: [
            Section(
                title: "Transformers", items: TransformSpec.all.map { Item(term: $0.usage, meaning: $0.summary) }),
            Section(title: "Values", items: TransformSpec.values),
        ],
        examples: [
            .init(
                "Fill a square and round its corners",
                "webimage convert photo.jpg photo.png -t resize=200x200:fill,rounded-corners=16"),
            .init(
                "Crop the border of a scan and place it on a white card",
                "webimage convert scan.png card.png -t trim,canvas=300x200:fit:center:white"),
            .init(
                "Draw a badge in a corner",
                "webimage convert photo.jpg photo.png -t overlay=badge.png:bottom-right:0.8"),
        ])

    /// Returns the topic with a name, or `nil` if there's none.
    package static func named(_ name: String) -> HelpTopic? { all.first { $0.name == name } }
}

extension TransformSpec {
    /// The values that several transformers have in common.
    fileprivate static let values: [HelpTopic.Item] = [
        .init(term: "WxH", meaning: "A size. For resize, Wx and xH leave the other side open."),
        .init(term: "COLOR", meaning: "#rgb, #rrggbb, #rrggbbaa, black, white, or clear."),
        .init(term: "ANCHOR", meaning: "One of \(text(anchors.list))."),
        .init(term: "CORNER", meaning: "One of \(text(corners.list))."),
        .init(
            term: "MODE",
            meaning: "A blend mode: \(text(blendModes.list)). The default is normal, for tint source-in."),
    ]

    private static func text(_ words: [String]) -> String {
        "\(words.dropLast().joined(separator: ", ")), or \(words.last ?? "")"
    }
}
