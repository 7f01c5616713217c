// SPDX-License-Identifier: MIT

import WebImageCore

extension Arguments {
    /// The transformers of `--transform`; none where it was not given. Given more than once, the lists follow each
    /// other. `pictures` reads the files of overlays and masks, when they are needed.
    package func transformers(
        _ option: String = "transform", pictures: @escaping PictureReading
    ) throws(UsageError) -> [any ImageTransformer] {
        var all: [any ImageTransformer] = []
        for text in values[option] ?? [] {
            do throws(TransformListError) {
                all += try TransformList(text, pictures: pictures).transformers
            } catch {
                throw UsageError(error.message)
            }
        }
        return all
    }
}
