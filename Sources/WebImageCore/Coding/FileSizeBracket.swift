// SPDX-License-Identifier: MIT

/// The files of a size search between which the best file is.
struct FileSizeBracket {
    /// The file with the highest index that fits.
    private(set) var low: FileSizePrediction.Sample?
    /// The file with the lowest index that exceeds the limit.
    private(set) var high: FileSizePrediction.Sample?

    /// Records a file, and returns whether it's the best one that fits.
    mutating func add(_ file: FileSizePrediction.Sample, limit: Int) -> Bool {
        if file.byteCount > limit {
            if file.index < high?.index ?? .max { high = file }
        } else if file.index > low?.index ?? -1 {
            low = file
            return true
        }
        return false
    }
}
