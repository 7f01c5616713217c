// SPDX-License-Identifier: MIT

import WebImageCore

extension Arguments {
    /// Returns the transformers of `--transform`, or an empty array if the option wasn't specified. If it was specified
    /// several times, the lists are concatenated. `readImage` reads the files of overlays and masks when they're
    /// needed.
    package func transformers(
        _ option: String = "transform", readImage: @escaping ImageFileReader
    ) throws(UsageError) -> [any ImageTransformer] {
        var all: [any ImageTransformer] = []
        for text in values[option] ?? [] {
            do throws(TransformListError) {
                all += try TransformList(text, readImage: readImage).transformers
            } catch {
                throw UsageError(error.message)
            }
        }
        return all
    }
}
